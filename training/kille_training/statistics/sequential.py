"""Sequential test of a mean, valid at every stopping time.

The scores x_1, x_2, ... are one number per deal: the difference of two players, or what one earns.
The hypothesis "the mean is at most `low`" stands against "the mean is at least `high`". For any
mean m, bet against "the mean is at most m": begin with the wealth 1 and stake, before each deal, a
share of it on the score being above m:

    wealth after = wealth before * (1 + b (x - m)).

If the mean is at most m, the wealth is a supermartingale, so it ever reaches 1 / alpha with
probability at most alpha (Ville's inequality), at any stopping time and for any distribution of
scores within the bounds. When it does, m is rejected from above. A second bet, with m - x and beta,
rejects means from below. See Waudby-Smith and Ramdas, *Estimating means of bounded random variables
by betting*, JRSS B 86 (2024).

**Verdict and interval** are the same test. The interval holds all means that are not rejected: with
error probabilities alpha of its lower end and beta of its upper end, at all times simultaneously.
The verdict is "above low" as soon as `low` is rejected, and "below high" as soon as `high` is. The
stakes do not depend on m, so the wealth falls as m rises and each end is found by a root search.

**Stakes.** b = t / (variance + t^2) grows fastest where the mean is t from m, and is Wald's
sequential probability ratio test in the limit of small t. The wealth is divided among bets on
several t: most for the other hypothesis, t = high - low, the rest for gaps 4, 16 and 64 times as
large, which are then detected after few deals. The first deals are not bet on; they estimate the
variance. Later the stakes are updated whenever the number of deals has grown by a quarter. No deal
can cost more than a bet's wealth: a stake against m is at most 1 / (m - least).

**Cost of bounds.** Wald's bound for alpha = beta = 0.05 is 0.49 of the deals of the test with a
fixed sample size if the mean is `low` or `high` itself: no test with these errors needs fewer. And
no test valid for all scores within the bounds can usually reject `low` in fewer than
log((1 - beta) / alpha) (high - least) / (high - low) deals if the mean is `high`: with a rare score
of `least` added, the mean would be `low`, and so many deals may not show one. The bounds of a match
are far wider than its scores, so `uncut` allows clipping: scores far beyond these bounds and those
of the first deals are clipped. The test is then valid for the mean of the clipped scores, and
reports their number.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import root_scalar

from kille_env.errors import KilleError

GOING, ABOVE, BELOW, UNDECIDED = "going on", "above low", "below high", "undecided"

GAPS = np.array([1.0, 4.0, 16.0, 64.0])  # gaps t of the bets, in multiples of high - low
SHARES = np.array([0.86, 0.06, 0.05, 0.03])  # initial shares of the wealth
MOST_STAKED = 0.99  # maximum share of a bet lost in one deal
FIRST = 100  # deals before the first bet
GROWTH = 1.25  # growth of the number of deals between two updates of the stakes
REACH = 4.0  # clipping threshold as a multiple of the largest of the first scores
DECIMALS = 9  # decimals of scores, to remove rounding errors
CHUNK = 65_536  # scores processed together, which bounds the memory


@dataclass(frozen=True)
class Hypotheses:
    """The two hypotheses, and the bounds of the scores."""

    low: float  # hypothesis that the mean is at most this
    high: float  # hypothesis that the mean is at least this
    least: float  # lowest possible score of a deal
    greatest: float
    alpha: float = 0.05  # probability of "above low" if the mean is `low` or lower
    beta: float = 0.05  # probability of "below high" if the mean is `high` or higher
    most: int = 0  # deals after which the test ends undecided; 0 for no limit
    # range in which scores are never clipped. Beyond it they are clipped at 4 times the largest of
    # the first 100 scores, if that is further. None: no clipping
    uncut: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse inconsistent hypotheses."""
        least, greatest = self.bounds(0.0)
        if not -math.inf < least < self.low < self.high < greatest < math.inf:
            raise KilleError(
                f"low is {self.low:g} and high {self.high:g}, scores go from {least:g} to "
                f"{greatest:g}; expected least < low < high < greatest"
            )
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise KilleError(f"{name} is {getattr(self, name)}; expected more than 0, below ½")
        if self.most < 0:
            raise KilleError(f"most is {self.most}; expected a number of deals, or 0 for no limit")

    @property
    def confidence(self) -> float:
        """Probability that the interval holds the mean at all times: 1 - alpha - beta."""
        return round(1 - self.alpha - self.beta, DECIMALS)

    def bounds(self, largest: float) -> tuple[float, float]:
        """Return the range of scores that are not clipped."""
        if self.uncut is None:
            return self.least, self.greatest
        return (
            max(self.least, min(self.uncut[0], -REACH * largest)),
            min(self.greatest, max(self.uncut[1], REACH * largest)),
        )


@dataclass
class Stretch:
    """Consecutive deals with the same stakes."""

    begin: int  # first deal
    end: int  # one past the last deal (exclusive)
    stakes: np.ndarray  # [bets] units^-1, before limiting by the bounds
    # [V] distinct scores so far, sorted
    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    # [V] their numbers
    counts: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def count(self, scores: np.ndarray) -> None:
        """Count more scores."""
        values = np.concatenate([self.values, scores])
        weights = np.concatenate([self.counts, np.ones(len(scores), dtype=np.int64)])
        self.values, place = np.unique(values, return_inverse=True)
        self.counts = np.bincount(place, weights).astype(np.int64)


class SequentialTest:
    """A sequential test.

    It stores counts of distinct scores: memory grows with the logarithm of the number of deals if
    there are finitely many possible scores.
    """

    def __init__(self, hypotheses: Hypotheses) -> None:
        self.hypotheses = hypotheses
        # Scores so far, clipped ones, and those until the verdict (0 before it).
        self.deals = self.cut = self.decided_after = 0
        self.bounds = hypotheses.bounds(0.0)  # lowest and highest score that is not clipped
        self.verdict = GOING  # `GOING`, `ABOVE`, `BELOW` or `UNDECIDED`
        self._stretches = [Stretch(0, FIRST, np.zeros(len(GAPS)))]
        self._wealth = np.log([SHARES, SHARES])  # [2][bets], against low and against high

    @property
    def mean(self) -> float:
        """The mean of the scores; 0 before the first."""
        values, counts, _ = self._seen()
        return float(values @ counts) / max(1, self.deals)

    def feed(self, scores: np.ndarray) -> str:
        """Add the scores of the next deals, in order, and return the verdict.

        The result does not depend on the split into calls. After the verdict scores still count for
        the mean and its interval.
        """
        left = self._checked(scores)
        while len(left):
            if self.deals == self._stretches[-1].end:
                self._set_stakes()
            taken = min(self._stretches[-1].end - self.deals, CHUNK)
            self._take(left[:taken])
            left = left[taken:]
        return self.verdict

    def interval(self) -> tuple[float, float]:
        """Return the ends of the interval of all means that are not rejected.

        It holds the true mean at all times simultaneously with probability `hypotheses.confidence`,
        excludes a hypothesis that the verdict rejects, and begins as the bounds.
        """
        known, (least, greatest) = self.hypotheses, self.bounds
        low = self._end(+1, least, greatest, known.alpha)
        high = -self._end(-1, -greatest, -least, known.beta)
        # The wealth may have fallen again since; a rejection stays.
        if self.verdict == ABOVE:
            low = max(low, known.low)
        if self.verdict == BELOW:
            high = min(high, known.high)
        return low, high

    def _checked(self, scores: np.ndarray) -> np.ndarray:
        """Return rounded scores; refuse scores outside the bounds."""
        known, dust = self.hypotheses, 10.0**-DECIMALS
        scores = np.round(np.asarray(scores, dtype=np.float64), DECIMALS)
        inside = (scores >= known.least - dust) & (scores <= known.greatest + dust)
        if not inside.all():
            raise KilleError(
                f"a score is {scores[inside.argmin()]:g}, expected {known.least:g} to "
                f"{known.greatest:g}; give the test wider bounds"
            )
        return np.clip(scores, known.least, known.greatest)

    def _take(self, scores: np.ndarray) -> None:
        """Bet on scores of the current stretch, and count them."""
        if self._stretches[-1].begin:  # the clipping threshold is unknown at first
            counted = np.clip(scores, *self.bounds)
            self.cut += int((counted != scores).sum())
            scores = counted
        if self.verdict == GOING:
            self._bet(scores)
        self._stretches[-1].count(scores)
        self.deals += len(scores)

    def _bet(self, scores: np.ndarray) -> None:
        """Update the wealth of the bets against both hypotheses, and the verdict."""
        known, stakes = self.hypotheses, self._stretches[-1].stakes
        reached = np.full(3, np.inf)  # number of these scores until above, below, undecided
        for number, (sign, hypothesis, bound, error) in enumerate(
            [
                (+1, known.low, self.bounds[0], known.alpha),
                (-1, known.high, -self.bounds[1], known.beta),
            ]
        ):
            grown = _growth(sign * scores, stakes, sign * hypothesis, bound)
            path = np.cumsum(np.vstack([self._wealth[number], grown]), axis=0)[1:]
            over = np.logaddexp.reduce(path, axis=1) >= -math.log(error)
            if over.any():
                reached[number] = over.argmax() + 1
            self._wealth[number] = path[-1]
        if 0 < known.most <= self.deals + len(scores):
            reached[2] = known.most - self.deals
        if np.isfinite(reached).any():
            self.verdict = (ABOVE, BELOW, UNDECIDED)[reached.argmin()]
            self.decided_after = self.deals + int(reached.min())

    def _set_stakes(self) -> None:
        """Begin a stretch with stakes for the variance seen so far."""
        values, counts, _ = self._seen()
        if self.deals == FIRST:
            self.bounds = self.hypotheses.bounds(float(np.abs(values).max()))
        # A pseudo-observation half way to the bounds.
        prior = ((self.bounds[1] - self.bounds[0]) / 4) ** 2
        variance = (prior + counts @ np.square(values - self.mean)) / (1 + self.deals)
        gaps = (self.hypotheses.high - self.hypotheses.low) * GAPS
        stakes = gaps / (variance + np.square(gaps))
        self._stretches.append(Stretch(self.deals, math.ceil(self.deals * GROWTH), stakes))

    def _seen(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return distinct scores [V], their counts, and their stakes, [V, bets]."""
        stretches = self._stretches
        sizes = [len(each.values) for each in stretches]
        return (
            np.concatenate([each.values for each in stretches]),
            np.concatenate([each.counts for each in stretches]),
            np.repeat([each.stakes for each in stretches], sizes, axis=0),
        )

    def _end(self, sign: int, least: float, greatest: float, error: float) -> float:
        """Return the largest mean that the bets on sign * score reject, or `least`."""
        values, counts, stakes = self._seen()

        def over(mean: float) -> float:
            """Return the logarithm of the wealth against `mean` over the rejection threshold."""
            grown = counts @ _growth(sign * values, stakes, mean, least)
            return float(np.logaddexp.reduce(np.log(SHARES) + grown)) + math.log(error)

        if over(least) < 0:
            return least
        return float(root_scalar(over, bracket=(least, greatest), xtol=1e-12).root)


def _growth(scores: np.ndarray, stakes: np.ndarray, mean: float, least: float) -> np.ndarray:
    """Return the log-growth [N, bets] of bets on scores [N] against "at most `mean`"."""
    limit = MOST_STAKED / (mean - least) if mean > least else np.inf
    return np.log1p(np.minimum(stakes, limit) * (scores - mean)[:, None])
