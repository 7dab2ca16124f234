"""Is one player better than another by so much? A test that you may watch while it is played.

The scores x_1, x_2, ... are one number per deal: the difference of two players, or what one earns.
The hypothesis "the mean is at most `low`" stands against "the mean is at least `high`". For any
mean m, bet against "the mean is at most m": begin with the wealth 1 and stake, before each deal, a
share of it on the score being above m:

    wealth after = wealth before * (1 + b (x - m)).

While the mean is at most m no way to bet wins on average, so the chance that the wealth ever
reaches 1 / alpha is at most alpha (Ville's inequality), whenever and however often one looks, and
whatever the distribution of the scores between their bounds. When it does, m is ruled out from
above. A second bet, with m - x and beta, rules out means from below. See Waudby-Smith and Ramdas,
*Estimating means of bounded random variables by betting*, JRSS B 86 (2024).

**Verdict and interval are one thing.** The interval holds all means that have not been ruled out:
its lower end is wrong with a chance of alpha, its upper end with beta, at all times at once. The
verdict is "above low" as soon as `low` is ruled out, and "below high" as soon as `high` is. The
stakes do not depend on m, so the wealth falls as m rises and each end is found by a root search.

**Stakes.** b = t / (variance + t^2) grows fastest where the mean is t from m, and is Wald's
sequential probability ratio test in the limit of small t. The wealth is shared out among bets on
several t: most for the other hypothesis, t = high - low, the rest for gaps 4, 16 and 64 times as
large, which are then found out after few deals. The first deals are not bet on; they show the
variance. Later the stakes are set anew whenever a quarter more deals have been seen. No deal can
cost more than a bet's wealth: a stake against m is at most 1 / (m - least).

**What bounds cost.** Wald's bound for alpha = beta = 0.05 is 0.49 of the deals of the test with a
fixed number of them where the mean is `low` or `high` itself: no test with these errors needs fewer
there. And no test that holds for all scores within the bounds can usually rule out `low` in fewer
than log((1 - beta) / alpha) (high - least) / (high - low) deals where the mean is `high`: the same
scores with a rare loss of `least` among them have the mean `low`, and so many deals may not show
one. A match can move a hundred times what it ever does, so there is `uncut`: scores that are far
beyond these bounds and beyond those of the first deals count as less. The test then holds for the
mean of the scores so cut, and tells how many were.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import root_scalar

from kille_env.errors import KilleError

GOING, ABOVE, BELOW, UNDECIDED = "going on", "above low", "below high", "undecided"

GAPS = np.array([1.0, 4.0, 16.0, 64.0])
"""Expected means behind the bets, in units of high - low."""
SHARES = np.array([0.86, 0.06, 0.05, 0.03])
"""How the wealth is shared out among them at first."""
MOST_STAKED = 0.99
"""Share of a bet that one deal can cost."""
FIRST = 100
"""Deals that are only looked at."""
GROWTH = 1.25
"""Deals after which the stakes are set anew, as a multiple of those before."""
REACH = 4.0
"""Multiple of the largest of the first scores up to which nothing is cut."""
DECIMALS = 9
"""Scores are rounded to these, so that equal ones are equal."""
CHUNK = 65_536
"""Scores that are looked at together; bounds the memory."""


@dataclass(frozen=True)
class Hypotheses:
    """The two hypotheses, and the bounds of the scores.

    Attributes:
        low: The mean is at most this...
        high: ...or at least this.
        least: Lowest score that a deal can have.
        greatest: Highest score.
        alpha: Chance of saying "above low" where the mean is `low` or lower.
        beta: Chance of saying "below high" where the mean is `high` or higher.
        most: Deals after which the test ends undecided; 0 is never.
        uncut: Bounds within which every score counts as it is. Beyond them it counts up to 4 times
            the largest of the first 100 scores, whichever is further. None: nothing is cut.
    """

    low: float
    high: float
    least: float
    greatest: float
    alpha: float = 0.05
    beta: float = 0.05
    most: int = 0
    uncut: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse hypotheses that cannot be tested."""
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
            raise KilleError(f"most is {self.most}; expected a number of deals, or 0 for no end")

    @property
    def confidence(self) -> float:
        """The chance that the interval holds the mean at all times: 1 - alpha - beta."""
        return round(1 - self.alpha - self.beta, DECIMALS)

    def bounds(self, largest: float) -> tuple[float, float]:
        """Return the bounds within which scores count as they are."""
        if self.uncut is None:
            return self.least, self.greatest
        return (
            max(self.least, min(self.uncut[0], -REACH * largest)),
            min(self.greatest, max(self.uncut[1], REACH * largest)),
        )


@dataclass
class Stretch:
    """Deals with the same stakes.

    Attributes:
        begin: The first of them.
        end: Behind the last.
        stakes: [bets] units^-1, before the bounds limit them.
        values: [V] different scores so far, sorted.
        counts: [V] how often each was seen.
    """

    begin: int
    end: int
    stakes: np.ndarray
    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    counts: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def count(self, scores: np.ndarray) -> None:
        """Count more scores."""
        values = np.concatenate([self.values, scores])
        weights = np.concatenate([self.counts, np.ones(len(scores), dtype=np.int64)])
        self.values, place = np.unique(values, return_inverse=True)
        self.counts = np.bincount(place, weights).astype(np.int64)


class SequentialTest:
    """A test that takes scores and knows when to stop.

    It keeps how often each score was seen, not the scores: memory grows with the logarithm of the
    number of deals where only so many different scores can occur.

    Attributes:
        hypotheses: What is tested.
        deals: Scores seen so far.
        cut: How many of them count as less than they are.
        bounds: Lowest and highest score that counts as it is.
        verdict: `GOING`, `ABOVE`, `BELOW` or `UNDECIDED`.
        decided_after: Deals after which the verdict was reached; 0 while it goes on.
    """

    def __init__(self, hypotheses: Hypotheses) -> None:
        self.hypotheses = hypotheses
        self.deals = self.cut = self.decided_after = 0
        self.bounds = hypotheses.bounds(0.0)
        self.verdict = GOING
        self._stretches = [Stretch(0, FIRST, np.zeros(len(GAPS)))]
        self._wealth = np.log([SHARES, SHARES])  # [2][bets], against low and against high

    @property
    def mean(self) -> float:
        """The mean of the scores; 0 before the first."""
        values, counts, _ = self._seen()
        return float(values @ counts) / max(1, self.deals)

    def feed(self, scores: np.ndarray) -> str:
        """Take the scores of the next deals, in their order; returns the verdict.

        It does not matter in how many parts the scores come. After the verdict they still count
        for the mean and its interval.
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
        """Return the ends of the interval of all means that have not been ruled out.

        It holds the true mean at all times at once with the chance `hypotheses.confidence`, never
        holds a hypothesis that the verdict rejects, and begins as the bounds.
        """
        known, (least, greatest) = self.hypotheses, self.bounds
        low = self._end(+1, least, greatest, known.alpha)
        high = -self._end(-1, -greatest, -least, known.beta)
        # The wealth may have fallen again since; what is ruled out stays so.
        if self.verdict == ABOVE:
            low = max(low, known.low)
        if self.verdict == BELOW:
            high = min(high, known.high)
        return low, high

    def _checked(self, scores: np.ndarray) -> np.ndarray:
        """Return scores that are between the bounds and free of the dust of divisions."""
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
        """Bets on scores of the present stretch and counts them."""
        if self._stretches[-1].begin:  # of the first ones the largest is not known yet
            counted = np.clip(scores, *self.bounds)
            self.cut += int((counted != scores).sum())
            scores = counted
        if self.verdict == GOING:
            self._bet(scores)
        self._stretches[-1].count(scores)
        self.deals += len(scores)

    def _bet(self, scores: np.ndarray) -> None:
        """Move the wealth of the bets against both hypotheses, and reaches a verdict."""
        known, stakes = self.hypotheses, self._stretches[-1].stakes
        reached = np.full(3, np.inf)  # after how many of these scores: above, below, undecided
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
        # As if one more deal had been seen, half way to the bounds.
        prior = ((self.bounds[1] - self.bounds[0]) / 4) ** 2
        variance = (prior + counts @ np.square(values - self.mean)) / (1 + self.deals)
        gaps = (self.hypotheses.high - self.hypotheses.low) * GAPS
        stakes = gaps / (variance + np.square(gaps))
        self._stretches.append(Stretch(self.deals, math.ceil(self.deals * GROWTH), stakes))

    def _seen(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return scores [V], how often each was seen, and the stakes then, [V, bets]."""
        stretches = self._stretches
        sizes = [len(each.values) for each in stretches]
        return (
            np.concatenate([each.values for each in stretches]),
            np.concatenate([each.counts for each in stretches]),
            np.repeat([each.stakes for each in stretches], sizes, axis=0),
        )

    def _end(self, sign: int, least: float, greatest: float, error: float) -> float:
        """Return the largest mean that the bets on sign * score have ruled out, or `least`."""
        values, counts, stakes = self._seen()

        def over(mean: float) -> float:
            """Return the logarithm of the wealth over the one that rules `mean` out."""
            grown = counts @ _growth(sign * values, stakes, mean, least)
            return float(np.logaddexp.reduce(np.log(SHARES) + grown)) + math.log(error)

        if over(least) < 0:
            return least
        return float(root_scalar(over, bracket=(least, greatest), xtol=1e-12).root)


def _growth(scores: np.ndarray, stakes: np.ndarray, mean: float, least: float) -> np.ndarray:
    """Return the growth of bets on scores [N] against "at most `mean`", logarithms [N, bets]."""
    limit = MOST_STAKED / (mean - least) if mean > least else np.inf
    return np.log1p(np.minimum(stakes, limit) * (scores - mean)[:, None])
