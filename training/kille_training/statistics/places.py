"""Where entrants finish, and beside whom they earn least: what a mean over all opponents hides."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from kille_training.statistics.crosstable import CrossTable
from kille_training.statistics.intervals import (
    CONFIDENCE,
    Intervals,
    ScoreRange,
    means,
)
from kille_training.statistics.tally import NANO, Tally


def places(tally: Tally, deals: int | None = None) -> Intervals:
    """Returns how often each entrant finishes at each rank, 0 for the best, [E, P].

    Ties share the ranks evenly, and copies at a table count as one that finishes like them on
    average. Intervals are of each number by itself; an entrant that never sat has NaN.

    Args:
        tally: What was played.
        deals: Deals behind it; None gives intervals without the floor for rare differences.
    """
    count = np.broadcast_to(tally.count[:, :, None], tally.finishes.shape)
    return means(tally.finishes / NANO, count, None if deals is None else ScoreRange(1.0, deals))


@dataclass(frozen=True)
class Worst:
    """Beside which opponent each of E entrants earns least; NaN and -1 if it met nobody.

    At tables of two seats it is the opponent against which it does worst. At larger ones it may
    lose to a third because of that opponent.

    Attributes:
        opponent: [E] int64, the one beside which it was seen to earn least.
        low: [E] float64, lower end of the 95% interval of what it earns beside its true worst
            opponent, whichever that is.
        high: [E] float64, upper end of it.
    """

    opponent: np.ndarray
    low: np.ndarray
    high: np.ndarray


def worst_opponents(table: CrossTable) -> Worst:
    """Returns beside which opponent each entrant earns least.

    What was seen beside it is the least of many numbers, so it is too low on average. The interval
    allows for that: it is made of intervals for all K opponents that hold together (Bonferroni:
    each at 1 - 5% / K), and the true least mean lies between the least of their lower ends and the
    least of their upper ends.
    """
    met = np.isfinite(table.error)
    count = met.sum(axis=1, keepdims=True)
    tail = (1 - CONFIDENCE) / 2 / np.maximum(count, 1)
    reach = -stdtrit(table.freedom, tail) * table.error
    mean, low, high = (
        np.where(met, each, np.inf) for each in (table.mean, table.mean - reach, table.mean + reach)
    )
    none = count[:, 0] == 0
    return Worst(
        np.where(none, -1, mean.argmin(axis=1)),
        np.where(none, np.nan, low.min(axis=1)),
        np.where(none, np.nan, high.min(axis=1)),
    )
