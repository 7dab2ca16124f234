"""Where entrants finish, and beside whom they earn least: what a mean over all opponents hides."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from kille_training.statistics.crosstable import CrossTable
from kille_training.statistics.intervals import (
    CONFIDENCE,
    Intervals,
    means,
    stacked,
    sums_by_deal,
)
from kille_training.statistics.observations import Observations


def places(observations: Observations, entrants: int) -> Intervals:
    """Returns how often each entrant finishes at each rank, 0 for the best, [E, P].

    Ties share the ranks evenly, and copies at a table count as one that finishes like them on
    average. Intervals are of each number by itself; an entrant that never sat has NaN.

    Args:
        observations: Tables of one size.
        entrants: How many entrants there are, E.
    """
    rows = []
    for entrant in range(entrants):
        own = observations.members == entrant
        mine = own.any(axis=1)
        own = own[mine]
        finishes = (observations.finishes[mine].astype(float) * own[:, :, None]).sum(axis=1)
        finishes /= own.sum(axis=1)[:, None]
        rows.append(means(sums_by_deal(observations.deal[mine], finishes)))
    return stacked(rows)


@dataclass(frozen=True)
class Worst:
    """Beside which opponent each of E entrants earns least; NaN and -1 without two deals with any.

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
    met = table.deals >= 2
    count = met.sum(axis=1, keepdims=True)
    tail = (1 - CONFIDENCE) / 2 / np.maximum(count, 1)
    reach = stats.t.isf(tail, table.freedom) * table.error
    mean, low, high = (
        np.where(met, each, np.inf) for each in (table.mean, table.mean - reach, table.mean + reach)
    )
    none = count[:, 0] == 0
    return Worst(
        np.where(none, -1, mean.argmin(axis=1)),
        np.where(none, np.nan, low.min(axis=1)),
        np.where(none, np.nan, high.min(axis=1)),
    )
