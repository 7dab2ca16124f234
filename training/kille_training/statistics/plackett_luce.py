"""Ratings that do not depend on the order of the deals: batch Plackett-Luce with honest intervals.

The model: entrant i has a strength `exp(theta_i)`. The best of a table is drawn with probabilities
proportional to the strengths, then the second best of those that are left, and so on (Luce 1959;
Plackett 1975). At a table of any size, i finishes above j with probability
`1 / (1 + exp(theta_j - theta_i))`, whoever else sits there. The log-likelihood is concave in theta
and is maximised by Newton's method; Hunter's MM algorithm (2004) has the same maximum and needs
many more steps.

**Ties are broken at random.** Cards tie often, and a tie says that neither was ahead. The
log-likelihood of a table with ties is the mean over all orders that breaking the ties could
give. For two players a tie is then half a win for each, and "finishes above" always means: with
ties broken at random. Up to `EXACT` tied players the mean is over all orders; for more it is over
the rotations of a few of them, in which each of the tied is equally often at each place.

**Copies** of an entrant at a table are players of the same strength. Which of them finished where
says nothing, but that they finished above or below others does. A table of copies alone says
nothing at all.

**The prior** keeps entrants finite that won or lost everything: besides its tables, each has met an
imaginary player of strength 1, and finished above it and below it, `prior` times each. The
default 0.5 is that of the R package PlackettLuce (Turner, van Etten, Firth, Kosmidis 2020); of a
hundred tables it moves little.

**Intervals** come from a bootstrap over deals: all tables of a deal have the same cards and are
drawn together, with as many draws as there are deals. A draw is only a weight for each deal.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from math import comb, gcd, log

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from kille_env.core.jit import kernel
from kille_env.errors import KilleError
from kille_training.statistics.rankings import Rankings

ELO = 400 / log(10)
"""Points of Elo's scale in one unit of log-strength: 400 points are odds of ten to one."""

PRIOR = 0.5
"""How often each entrant has finished above, and how often below, the imaginary player."""

EXACT = 7
"""Up to so many tied players the mean is over all orders: 127 groups of those that are left."""

ROTATED = 3
"""How many orders of more tied players are rotated."""

TOLERANCE = 1e-9
"""Largest change of a log-strength in the last step."""

DRAW_TOLERANCE = 1e-6
"""The same for a draw of the bootstrap, whose spread is a thousand times that and more."""

LONGEST = 2.0
"""Further than this the second derivatives of one place say nothing of another."""

MAX_STEPS = 100


@dataclass(frozen=True)
class Ratings:
    """Strengths of E entrants, with B draws of the bootstrap.

    Attributes:
        strength: [E] float64, log-strength; those of all who sat have the mean 0. NaN: never sat.
        draws: [B, E] float64, the same for each draw; each has the mean 0.
    """

    strength: np.ndarray
    draws: np.ndarray

    @cached_property
    def elo(self) -> np.ndarray:
        """[E] float64, strengths on Elo's scale, with the mean 0."""
        return self.strength * ELO

    def interval(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the ends of the 95% interval of each log-strength: percentiles, [E] both."""
        if not len(self.draws):
            raise KilleError("ratings without draws have no intervals; fit with bootstraps=200")
        low, high = np.percentile(self.draws, [2.5, 97.5], axis=0)
        return low, high


def fit(rankings: Rankings, prior: float = PRIOR, bootstraps: int = 200, seed: int = 0) -> Ratings:
    """Returns the ratings that make the orders most likely.

    Args:
        rankings: The tables. In which order they stand changes nothing.
        prior: How often each entrant has finished above, and how often below, an imaginary player
            of strength 1.
        bootstraps: How many draws the intervals are made of.
        seed: Of the draws.
    """
    if not prior > 0:
        raise KilleError(f"a prior of {prior} tables is impossible; expected more than 0")
    problem = _Problem(rankings, prior)
    everything = np.ones(len(rankings))
    best = problem.climb(everything, np.zeros(rankings.entrants), TOLERANCE)
    factors = problem.information(everything, best)
    generator = np.random.default_rng(seed)
    clusters = rankings.num_clusters
    draws = np.empty((bootstraps, rankings.entrants))
    for draw in draws:
        chosen = generator.integers(clusters, size=clusters)
        weight = np.bincount(chosen, minlength=clusters)[rankings.cluster].astype(np.float64)
        draw[:] = problem.climb(weight, best, DRAW_TOLERANCE, factors)
    sat = np.isin(np.arange(rankings.entrants), rankings.players)
    return Ratings(_centred(best, sat), _centred(draws, sat))


def _centred(strength: np.ndarray, sat: np.ndarray) -> np.ndarray:
    """Returns strengths with the mean 0 over those who sat, NaN for the others."""
    shown = np.where(sat, strength, np.nan)
    return shown - np.nanmean(shown, axis=-1, keepdims=True)


@cache
def _left_groups(seats: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns who may be left of tied players while lots rank them one after the other.

    Args:
        seats: The largest number of players who may tie.

    Returns:
        Three arrays: who is left, as bits [M]; how likely that is when so many are left, [M]; and
        where those of d tied players begin and end, [seats + 2].
    """
    masks: list[int] = []
    shares: list[float] = []
    first = [0]
    for tied in range(seats + 1):
        if 0 < tied <= EXACT:
            for size in range(1, tied + 1):
                for members in combinations(range(tied), size):
                    masks.append(sum(1 << member for member in members))
                    shares.append(1 / comb(tied, size))
        elif tied > EXACT:
            steps = [step for step in range(1, tied // 2 + 1) if gcd(step, tied) == 1][:ROTATED]
            for step in steps:
                for begin in range(tied):
                    for size in range(1, tied):
                        places = ((begin + step * at) % tied for at in range(size))
                        masks.append(sum(1 << place for place in places))
                        shares.append(1 / (tied * len(steps)))
            masks.append((1 << tied) - 1)
            shares.append(1.0)
        first.append(len(masks))
    return np.array(masks, np.int64), np.array(shares), np.array(first, np.int64)


class _Problem:
    """The penalised log-likelihood of some tables, for any weights of them, [T] float64."""

    def __init__(self, rankings: Rankings, prior: float) -> None:
        self.rankings, self.prior = rankings, prior
        seats = rankings.players.shape[1]
        self.groups, self.scratch = _left_groups(seats), np.empty((3, seats + 1))

    def derivatives(
        self, weight: np.ndarray, theta: np.ndarray, curvature: np.ndarray
    ) -> np.ndarray:
        """Returns the gradient, [E]; adds minus the second derivatives to [E, E] if not [0, 0]."""
        tables, above = self.rankings, expit(theta)
        gradient = np.zeros(len(theta))
        _derivatives(
            tables.players, tables.rank, weight, np.exp(theta),
            self.groups, self.scratch, gradient, curvature,
        )  # fmt: skip
        if len(curvature):
            curvature[np.diag_indices_from(curvature)] += 2 * self.prior * above * (1 - above)
        return gradient + self.prior * (1 - 2 * above)

    def gradient(self, weight: np.ndarray, theta: np.ndarray) -> np.ndarray:
        """Returns the gradient, [E]."""
        return self.derivatives(weight, theta, np.empty((0, 0)))

    def information(self, weight: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, bool]:
        """Returns the factors of minus the second derivatives, for `cho_solve`."""
        curvature = np.zeros((len(theta), len(theta)))
        self.derivatives(weight, theta, curvature)
        return cho_factor(curvature)

    def climb(
        self,
        weight: np.ndarray,
        start: np.ndarray,
        tolerance: float,
        factors: tuple[np.ndarray, bool] | None = None,
    ) -> np.ndarray:
        """Returns the strengths, [E], that make the weighted tables most likely.

        Near the maximum, second derivatives of almost the same problem lead there too, and are for
        nothing: that is what a draw of the bootstrap begins with. Where such steps shrink slowly,
        the problem's own take their place.

        Args:
            weight: How often each table counts.
            start: [E] float64, where to begin.
            tolerance: How large the last step may be.
            factors: What `information` returned for a problem like this one.
        """
        theta, last = start, np.inf
        borrowed = factors is not None
        for _ in range(MAX_STEPS):
            gradient = self.gradient(weight, theta)
            if not borrowed:
                factors = self.information(weight, theta)
            step = cho_solve(factors, gradient)
            size = np.abs(step).max()
            if borrowed and size > min(last / 2, LONGEST):
                borrowed = False
                continue
            if not borrowed and size > 0.1:
                step = self._shortened(weight, theta, step * min(1, LONGEST / size))
            theta, last = theta + step, size
            if size < tolerance:
                return theta
        raise KilleError("the ratings do not settle; fit with a larger prior")

    def _shortened(self, weight: np.ndarray, theta: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Returns the step, halved until it does not lead far beyond the maximum on its way."""
        rise = self.gradient(weight, theta) @ step
        while self.gradient(weight, theta + step) @ step < -0.9 * rise:
            step, rise = step / 2, rise / 2
        return step


@kernel
def _derivatives(players, rank, weight, strength, groups, scratch, gradient, curvature):
    """Adds the gradient of the weighted log-likelihood and, if it is wanted, its curvature.

    A stage in which those with the sum D are left takes `log D` off; so a member who is left gets
    `-s / D` from it, and each two of them `s s' / D^2`. `passed` and `passed_two` are the sums of
    `1 / D` and `1 / D^2` over all stages before, in which all behind it were left.

    Args:
        players: [T, P] int32, see `Rankings`.
        rank: [T, P] int32.
        weight: [T] float64.
        strength: [E] float64, not its logarithm.
        groups: Who may be left of the tied, see `_left_groups`.
        scratch: [3, P + 1] float64.
        gradient: [E] float64, is added to.
        curvature: [E, E] float64, minus the second derivatives are added; or [0, 0].
    """
    masks, shares, first = groups
    seats = players.shape[1]
    suffix, inside, inside_two = scratch[0], scratch[1], scratch[2]
    curved = len(curvature) > 0
    for table in range(len(players)):
        factor = weight[table]
        if factor == 0:
            continue
        seated = players[table]
        suffix[seats] = 0.0
        for place in range(seats - 1, -1, -1):
            suffix[place] = suffix[place + 1] + strength[seated[place]]
        passed = 0.0
        passed_two = 0.0
        begin = 0
        while begin < seats:
            end = begin + 1
            while end < seats and rank[table, end] == rank[table, begin]:
                end += 1
            tied = end - begin
            stages = 0.0
            stages_two = 0.0
            if tied == 1:
                inside[0] = 1 / suffix[begin]
                inside_two[0] = inside[0] * inside[0]
                stages = inside[0]
                stages_two = inside_two[0]
                if curved:
                    player = seated[begin]
                    curvature[player, player] -= factor * strength[player] ** 2 * inside_two[0]
            else:
                inside[:tied] = 0.0
                inside_two[:tied] = 0.0
                for at in range(first[tied], first[tied + 1]):
                    left = suffix[end]
                    for member in range(tied):
                        if masks[at] >> member & 1:
                            left += strength[seated[begin + member]]
                    once = shares[at] / left
                    stages += once
                    for member in range(tied):
                        if masks[at] >> member & 1:
                            inside[member] += once
                    if curved:
                        twice = once / left
                        stages_two += twice
                        for a in range(tied):
                            if masks[at] >> a & 1:
                                inside_two[a] += twice
                                mine = seated[begin + a]
                                for b in range(tied):
                                    if masks[at] >> b & 1:
                                        other = seated[begin + b]
                                        curvature[mine, other] -= (
                                            factor * twice * strength[mine] * strength[other]
                                        )
            for member in range(tied):
                player = seated[begin + member]
                share = strength[player] * (passed + inside[member])
                gradient[player] += factor * (1 - share)
                if curved:
                    curvature[player, player] += factor * share
                    for place in range(begin, seats):
                        other = seated[place]
                        both = passed_two
                        if place >= end:
                            both += inside_two[member]
                        product = factor * strength[player] * strength[other] * both
                        curvature[player, other] -= product
                        if place >= end:
                            curvature[other, player] -= product
            passed += stages
            passed_two += stages_two
            begin = end
