"""Is one player better than another by so much? A test that may be watched while it is played.

The scores x_1, x_2, ... are one number per deal: the difference of two players, or what one earns.
The hypothesis "the mean is at most `low`" stands against "the mean is at least `high`". Two bets
run against them. The first begins with the wealth 1 and stakes, before each deal, a share of it on
the score being above `low`:

    wealth_i = wealth_(i-1) (1 + b_i (x_i - low)).

While the mean is at most `low` no way to bet wins on average, so the chance that the wealth ever
reaches 1 / alpha is at most alpha (Ville's inequality), whenever and however often one looks, and
whatever the distribution of the scores between their bounds. When it does, the mean is said to be
above `low`. The second bet is the same against "at least `high`", with `high - x_i` and beta. See
Waudby-Smith and Ramdas, *Estimating means of bounded random variables by betting*, JRSS B 86
(2024).

How much is staked decides how soon a bet wins. b = t / (variance + t^2) grows fastest where the
mean is t from the hypothesis, and is Wald's sequential probability ratio test in the limit of small
t. The wealth is shared out among bets on several t: most for the other hypothesis, t = high - low,
the rest for gaps 4, 16 and 64 times as large, which are then found out after few deals. The
variance is the one seen before the deal. No deal can cost more than nine tenths of a bet, so none
ruins it; for gaps that are large beside the variance over the range of the scores that is what
limits the stakes, and tight bounds pay.

Wald's bound for alpha = beta = 0.05 is 0.49 of the deals of the test with a fixed number of them
where the mean is `low` or `high` itself: no test with these errors needs fewer there. What is
gained beyond that is gained where the gap is larger, which most gaps are.

The confidence sequence beside it is the interval of Waudby-Smith, Arbour, Sinha, Kennedy and
Ramdas, *Time-uniform central limit theory and asymptotic confidence sequences*, Annals of
Statistics 52 (2024): it holds the mean at all times at once with 95%, as far as the central limit
theorem does, so it is not for the first dozens of deals.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from kille_env.core.jit import kernel
from kille_env.errors import KilleError

GOING, ABOVE, BELOW, UNDECIDED = "going on", "above low", "below high", "undecided"

GAPS = (1.0, 4.0, 16.0, 64.0)
"""What the bets expect, in units of high - low."""
SHARES = (0.8, 0.1, 0.06, 0.04)
"""How the wealth is shared out among them at first."""
MOST_STAKED = 0.9
"""Share of the wealth that one deal can cost."""
AIM = 1000
"""Number of deals at which the confidence sequence is narrowest for its kind."""


@dataclass(frozen=True)
class Hypotheses:
    """What is to be distinguished, and the bounds of the scores.

    Attributes:
        low: The mean is at most this...
        high: ...or at least this.
        least: Lowest score that a deal can have; for the difference of two players both ranges
            count.
        greatest: Highest score.
        alpha: Chance of saying "above low" where the mean is `low` or lower.
        beta: Chance of saying "below high" where the mean is `high` or higher.
        most: Deals after which the test ends undecided; 0 is never.
    """

    low: float
    high: float
    least: float
    greatest: float
    alpha: float = 0.05
    beta: float = 0.05
    most: int = 0

    def __post_init__(self) -> None:
        """Refuses what cannot be tested."""
        if not self.least < self.low < self.high < self.greatest:
            raise KilleError(
                f"low is {self.low} and high {self.high}, scores go from {self.least} to "
                f"{self.greatest}; expected least < low < high < greatest"
            )
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise KilleError(f"{name} is {getattr(self, name)}; expected more than 0, below ½")
        if self.most < 0:
            raise KilleError(f"most is {self.most}; expected a number of deals, or 0 for no end")


@dataclass
class SequentialTest:
    """A test that takes scores and knows when to stop.

    Attributes:
        hypotheses: What is tested.
        deals: Scores seen so far.
        mean: Their mean.
        squares: The sum of their squared distances from it.
        wealth: [2][bets], of the bets against `low` and against `high`, until it is decided.
        verdict: `GOING`, `ABOVE`, `BELOW` or `UNDECIDED`.
        decided_after: Deals after which the verdict was reached; 0 while it goes on.
    """

    hypotheses: Hypotheses
    deals: int = 0
    mean: float = 0.0
    squares: float = 0.0
    wealth: list[list[float]] = field(default_factory=lambda: [list(SHARES), list(SHARES)])
    verdict: str = GOING
    decided_after: int = 0

    def feed(self, scores: np.ndarray) -> str:
        """Takes the scores of the next deals, in their order; returns the verdict.

        It does not matter in how many parts the scores come. After the verdict they still count
        for the mean and its interval.

        Args:
            scores: [N].

        Raises:
            KilleError: A score is not between the bounds; nothing is counted.
        """
        known, scores = self.hypotheses, np.asarray(scores, dtype=np.float64)
        outside = ~((scores >= known.least) & (scores <= known.greatest))
        if outside.any():
            raise KilleError(
                f"score {scores[outside.argmax()]} of a deal is not between the bounds "
                f"{known.least} and {known.greatest}; give the test wider bounds"
            )
        moments = np.array([self.deals, self.mean, self.squares], dtype=np.float64)
        wealth = np.array(self.wealth)
        found = _bet(
            scores,
            known.low,
            known.high,
            known.least,
            known.greatest,
            np.array([1 / known.alpha, 1 / known.beta]),
            (known.high - known.low) * np.array(GAPS),
            0 if self.verdict == GOING else 1,
            known.most,
            moments,
            wealth,
        )
        self.deals, self.mean, self.squares = int(moments[0]), float(moments[1]), float(moments[2])
        self.wealth = wealth.tolist()
        if self.verdict == GOING and found[1]:
            self.verdict = (ABOVE, BELOW, UNDECIDED)[int(found[0])]
            self.decided_after = int(found[1])
        return self.verdict

    def interval(self) -> tuple[float, float]:
        """Returns the ends of the confidence sequence; infinite before the second deal."""
        if self.deals < 2:
            return -math.inf, math.inf
        alpha, variance = 0.05, self.squares / self.deals
        tuned = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / AIM
        grown = self.deals * tuned + 1
        spread = 2 * grown / (self.deals**2 * tuned) * np.log(np.sqrt(grown) / alpha)
        half = float(np.sqrt(spread * variance))
        return self.mean - half, self.mean + half


@kernel
def _bet(
    scores, low, high, least, greatest, bars, gaps, decided, most, moments, wealth
):  # moments: deals, mean, sum of squares
    """Bets on scores one by one and keeps count; returns the verdict and after how many deals."""
    verdict, after, up, down = 0, 0, 0.0, 0.0
    bottom = MOST_STAKED / (low - least)
    top = MOST_STAKED / (greatest - high)
    prior = ((greatest - least) / 4) ** 2  # as if one deal had been seen
    for score in scores:
        if decided == 0:
            variance = (prior + moments[2]) / (1.0 + moments[0])
            up, down = 0.0, 0.0
            for k in range(len(gaps)):
                stake = gaps[k] / (variance + gaps[k] * gaps[k])
                wealth[0, k] *= 1.0 + min(stake, bottom) * (score - low)
                wealth[1, k] *= 1.0 + min(stake, top) * (high - score)
                up += wealth[0, k]
                down += wealth[1, k]
        moments[0] += 1.0
        off = score - moments[1]
        moments[1] += off / moments[0]
        moments[2] += off * (score - moments[1])
        if decided == 0:
            ends = True
            if up >= bars[0]:
                verdict = 0
            elif down >= bars[1]:
                verdict = 1
            elif most > 0 and moments[0] >= most:
                verdict = 2
            else:
                ends = False
            if ends:
                decided, after = 1, np.int64(moments[0])
    return verdict, after
