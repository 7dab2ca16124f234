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
hundred tables it moves little. With `prior=0` it is maximum likelihood, which exists only if, for
any two groups that the entrants could be split into, someone of each finished above someone of the
other (Hunter 2004, assumption 1); otherwise an error says so.

**Intervals** come from a bootstrap over deals: all tables of a deal have the same cards and are
drawn together, with as many draws as there are deals. A draw is only a weight for each deal.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from math import comb, gcd, log

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
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
FAR = 40.0
"""Log-strengths beyond this are on the way to infinity."""


@dataclass(frozen=True)
class Ratings:
    """Strengths of E entrants, with B draws of the bootstrap.

    Attributes:
        strength: [E] float64, log-strength; those of all who sat have the mean 0. NaN: never sat.
        draws: [B, E] float64, the same for each draw; each has the mean 0.
        tables: [E] int64, at how many tables each sat.
        island: [E] int64, entrants of different numbers never met, not even through others:
            nothing but the prior compares them.
    """

    strength: np.ndarray
    draws: np.ndarray
    tables: np.ndarray
    island: np.ndarray

    @cached_property
    def elo(self) -> np.ndarray:
        """[E] float64, strengths on Elo's scale, with the mean 0."""
        return self.strength * ELO

    def interval(self, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Returns the lower and the upper end for each log-strength, [E] both.

        Args:
            confidence: How often such an interval should hold the truth; percentiles of the draws.
        """
        if not len(self.draws):
            raise KilleError("ratings without draws have no intervals; fit with bootstraps=200")
        tail = 50 * (1 - confidence)
        low, high = np.percentile(self.draws, [tail, 100 - tail], axis=0)
        return low, high

    def finishes_above(self) -> np.ndarray:
        """Returns the probability that the row finishes above the column at one deal, [E, E].

        Ties are broken by lot; the diagonal is one half, for copies.
        """
        return expit(self.strength[:, None] - self.strength[None, :])

    def rated_above(self) -> np.ndarray:
        """Returns how sure the order of two is: share of draws with the row above, [E, E].

        It says nothing of how far above. Equal ones count half; so does the diagonal.
        """
        if not len(self.draws):
            raise KilleError("ratings without draws say nothing of sureness; fit with bootstraps")
        count = np.zeros((self.draws.shape[1],) * 2)
        for draw in self.draws:
            count += (draw[:, None] > draw) + 0.5 * (draw[:, None] == draw)
        unseen = np.isnan(self.strength)
        count[unseen, :] = count[:, unseen] = np.nan
        return count / len(self.draws)


def fit(rankings: Rankings, prior: float = PRIOR, bootstraps: int = 200, seed: int = 0) -> Ratings:
    """Returns the ratings that make the orders most likely.

    Args:
        rankings: The tables. In which order they stand changes nothing.
        prior: How often each entrant has finished above, and how often below, an imaginary player
            of strength 1; 0 is maximum likelihood.
        bootstraps: How many draws the intervals are made of.
        seed: Of the draws.
    """
    if prior < 0:
        raise KilleError(f"a prior of {prior} tables is impossible; expected 0 or more")
    problem = _Problem(rankings, prior)
    beaten = np.zeros((rankings.entrants,) * 2, np.bool_)
    _mark_beaten(rankings.players, rankings.rank, rankings.start, beaten)
    tables = rankings.tables()
    island = connected_components(csr_array(beaten), directed=False)[1]
    if prior == 0:
        _check_finite(beaten, tables > 0)
    everything = np.ones(len(rankings))
    best = problem.climb(everything, np.zeros(rankings.entrants), TOLERANCE)
    information = problem.information(everything, best)
    generator = np.random.default_rng(seed)
    clusters = rankings.num_clusters
    draws = np.empty((bootstraps, rankings.entrants))
    for draw in draws:
        chosen = generator.integers(clusters, size=clusters)
        weight = np.bincount(chosen, minlength=clusters)[rankings.cluster].astype(np.float64)
        draw[:] = problem.climb(weight, best, DRAW_TOLERANCE, information)
    return Ratings(_centred(best, tables), _centred(draws, tables), tables, island.astype(np.int64))


def _centred(strength: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Returns strengths with the mean 0 over those who sat, NaN for the others."""
    shown = np.where(tables > 0, strength, np.nan)
    return shown - np.nanmean(shown, axis=-1, keepdims=True)


def _check_finite(beaten: np.ndarray, seated: np.ndarray) -> None:
    """Raises if the likelihood has no maximum: no member of some group ever lost to the others."""
    count, group = connected_components(
        csr_array(beaten[np.ix_(seated, seated)]), directed=True, connection="strong"
    )
    if count > 1:
        smallest = np.bincount(group).argmin()
        members = np.flatnonzero(seated)[group == smallest]
        raise KilleError(
            f"entrants {', '.join(map(str, members))} and the others do not each finish above the "
            "other side at some table, so the most likely strengths are infinite; use prior=0.5"
        )


def log_likelihood(rankings: Rankings, strength: np.ndarray) -> np.ndarray:
    """Returns the logarithm of how likely each table's order was, ties broken by lot, [T].

    Args:
        rankings: The tables.
        strength: [E] float64, log-strength of each entrant, or [T, E] for others at each table.
    """
    own = np.ndim(strength) == 2
    rows = rankings.table if own else 0
    theta = (strength[rows, rankings.players] if own else strength[rankings.players]).astype(float)
    likelihood = np.empty(len(rankings))
    _log_likelihood(
        rankings.rank, rankings.start, theta, *_left_groups(_largest(rankings)), likelihood
    )
    return likelihood


def _largest(rankings: Rankings) -> int:
    return int(rankings.sizes.max(initial=0))


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
    """The penalised log-likelihood of some tables, for any weights of them."""

    def __init__(self, rankings: Rankings, prior: float) -> None:
        self.rankings, self.prior = rankings, prior
        largest = _largest(rankings)
        self.groups = _left_groups(largest)
        self.suffix, self.inside, self.inside_two = np.empty((3, largest + 1))
        self.no_curvature = np.empty((0, 0))

    def _derivatives(self, weight: np.ndarray, theta: np.ndarray, curvature: np.ndarray):
        """Returns the gradient, [E]; adds the information to `curvature` unless it is empty."""
        gradient = np.zeros(len(theta))
        tables = self.rankings
        _derivatives(
            tables.players,
            tables.rank,
            tables.start,
            weight,
            np.exp(theta),
            *self.groups,
            gradient,
            curvature,
            self.suffix,
            self.inside,
            self.inside_two,
        )
        above = expit(theta)
        gradient += self.prior * (1 - 2 * above)
        return gradient

    def value(self, weight: np.ndarray, theta: np.ndarray) -> float:
        """Returns the penalised log-likelihood."""
        likelihood = log_likelihood(self.rankings, theta)
        # log(expit(x) expit(-x)): once above and once below the imaginary player
        penalty = -np.logaddexp(0, -theta) - np.logaddexp(0, theta)
        return float(weight @ likelihood + self.prior * penalty.sum())

    def information(self, weight: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, bool]:
        """Returns the factors of minus the second derivatives, for `cho_solve`."""
        curvature = np.zeros((len(theta), len(theta)))
        self._derivatives(weight, theta, curvature)
        above = expit(theta)
        curvature[np.diag_indices_from(curvature)] += 2 * self.prior * above * (1 - above)
        if self.prior == 0:
            # Only differences are known. A spring on the mean leaves them alone, and one on who
            # has no tables keeps it where it is.
            alone = np.flatnonzero(curvature.diagonal() == 0)
            scale = curvature.trace() / len(theta)
            curvature += scale / len(theta)
            curvature[alone, alone] += scale
        return cho_factor(curvature)

    def climb(
        self,
        weight: np.ndarray,
        start: np.ndarray,
        tolerance: float,
        information: tuple[np.ndarray, bool] | None = None,
    ) -> np.ndarray:
        """Returns the strengths, [E], that make the weighted tables most likely.

        Near the maximum, second derivatives of almost the same problem lead there too, and are for
        nothing: that is what a draw of the bootstrap begins with. Where such steps shrink slowly,
        the problem's own take their place.

        Args:
            weight: [T] float64, how often each table counts.
            start: [E] float64, where to begin.
            tolerance: How large the last step may be.
            information: What `information` returned for a problem like this one.
        """
        theta, last = start, np.inf
        borrowed = information is not None
        for _ in range(MAX_STEPS):
            gradient = self._derivatives(weight, theta, self.no_curvature)
            if not borrowed:
                try:
                    information = self.information(weight, theta)
                except LinAlgError:  # so far out that nothing bends any more
                    break
            step = cho_solve(information, gradient)
            size = np.abs(step).max()
            if borrowed and size > min(last / 2, LONGEST):
                borrowed = False
                continue
            if not borrowed and size > 0.1:
                step = self._shortened(weight, theta, step, gradient)
            theta, last = theta + step, size
            if size < tolerance:
                return theta
            if np.abs(theta).max() > FAR:
                break
        raise KilleError(
            "strengths grow without end: some entrants won or lost everything in a draw of the "
            "deals, and the prior does not hold them; use prior=0.5"
        )

    def _shortened(
        self, weight: np.ndarray, theta: np.ndarray, step: np.ndarray, gradient: np.ndarray
    ) -> np.ndarray:
        """Returns the step, cut and halved until the likelihood grows by a part of its promise."""
        step = step * min(1, LONGEST / np.abs(step).max())
        before = self.value(weight, theta)
        promised = 1e-4 * float(gradient @ step)
        while self.value(weight, theta + step) < before + promised and np.abs(step).max() > 1e-6:
            step, promised = step / 2, promised / 2
        return step


@kernel
def _mark_beaten(players, rank, start, beaten):
    """Marks in `beaten[i, j]` that i finished above j, or tied with it, at some table."""
    for table in range(len(start) - 1):
        for a in range(start[table], start[table + 1]):
            for b in range(start[table], start[table + 1]):
                if rank[a] <= rank[b]:
                    beaten[players[a], players[b]] = True


@kernel
def _log_likelihood(rank, start, theta, masks, shares, first, likelihood):
    """Writes the log-likelihood of each table; `theta` has one strength for each member."""
    for table in range(len(start) - 1):
        low, high = start[table], start[table + 1]
        top = theta[low]
        for place in range(low, high):
            top = max(top, theta[place])
        total = 0.0
        rest = 0.0
        end = high
        while end > low:
            begin = end - 1
            while begin > low and rank[begin - 1] == rank[end - 1]:
                begin -= 1
            tied = end - begin
            for place in range(begin, end):
                total += theta[place] - top
            for at in range(first[tied], first[tied + 1]):
                left = rest
                for member in range(tied):
                    if masks[at] >> member & 1:
                        left += np.exp(theta[begin + member] - top)
                total -= shares[at] * np.log(left)
            for place in range(begin, end):
                rest += np.exp(theta[place] - top)
            end = begin
        likelihood[table] = total


@kernel
def _derivatives(
    players,
    rank,
    start,
    weight,
    strength,
    masks,
    shares,
    first,
    gradient,
    curvature,
    suffix,
    inside,
    inside_two,
):
    """Adds the gradient of the weighted log-likelihood and, if it is wanted, its curvature.

    A stage in which those with the sum D are left takes `log D` off; so a member who is left gets
    `-s / D` from it, and each two of them `s s' / D^2`. `passed` and `passed_two` are the sums of
    `1 / D` and `1 / D^2` over all stages before, in which all behind it were left.

    Args:
        players: [N] int32, see `Rankings`.
        rank: [N] int32.
        start: [T + 1] int64.
        weight: [T] float64.
        strength: [E] float64, not its logarithm.
        masks: [M] int64, who may be left of the tied, see `_left_groups`.
        shares: [M] float64.
        first: [seats + 2] int64.
        gradient: [E] float64, is added to.
        curvature: [E, E] float64, minus the second derivatives are added; or [0, 0].
        suffix: [seats + 1] float64, scratch.
        inside: [seats + 1] float64, scratch.
        inside_two: [seats + 1] float64, scratch.
    """
    curved = len(curvature) > 0
    for table in range(len(start) - 1):
        factor = weight[table]
        if factor == 0:
            continue
        low, high = start[table], start[table + 1]
        suffix[high - low] = 0.0
        for place in range(high - 1, low - 1, -1):
            suffix[place - low] = suffix[place - low + 1] + strength[players[place]]
        passed = 0.0
        passed_two = 0.0
        begin = low
        while begin < high:
            end = begin + 1
            while end < high and rank[end] == rank[begin]:
                end += 1
            tied = end - begin
            stages = 0.0
            stages_two = 0.0
            if tied == 1:
                inside[0] = 1 / suffix[begin - low]
                inside_two[0] = inside[0] * inside[0]
                stages = inside[0]
                stages_two = inside_two[0]
                if curved:
                    player = players[begin]
                    curvature[player, player] -= factor * strength[player] ** 2 * inside_two[0]
            else:
                for member in range(tied):
                    inside[member] = 0.0
                    inside_two[member] = 0.0
                for at in range(first[tied], first[tied + 1]):
                    left = suffix[end - low]
                    for member in range(tied):
                        if masks[at] >> member & 1:
                            left += strength[players[begin + member]]
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
                                mine = players[begin + a]
                                for b in range(tied):
                                    if masks[at] >> b & 1:
                                        other = players[begin + b]
                                        curvature[mine, other] -= (
                                            factor * twice * strength[mine] * strength[other]
                                        )
            for member in range(tied):
                player = players[begin + member]
                share = strength[player] * (passed + inside[member])
                gradient[player] += factor * (1 - share)
                if curved:
                    curvature[player, player] += factor * share
                    for place in range(begin, high):
                        other = players[place]
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
