"""What each entrant earns where each other one also sits, and how sure that is.

The cell of a row and a column is the mean score of the row's entrant over the observations in which
the column's entrant also sits at the table. At tables of two seats that is the score of one against
the other, and the table is antisymmetric; at larger ones both can earn at the cost of a third.

Two marks say what is significant at 5%: one for a cell looked at alone, and one that stands up to
looking at all cells at once, by Holm's method (*A simple sequentially rejective multiple test
procedure*, Scandinavian Journal of Statistics 6, 1979), which holds however cells depend on each
other. The crosstables of the Annual Computer Poker Competition are the model: means with 95%
intervals, shaded where significant.
"""

from dataclasses import dataclass

import numpy as np

from kille_training.statistics.intervals import (
    CONFIDENCE,
    entrant_scores,
    means,
    sums_by_deal,
)
from kille_training.statistics.observations import Observations


@dataclass(frozen=True)
class CrossTable:
    """A crosstable of E entrants; NaN, and 0 deals, where two never sat together. All [E, E].

    Attributes:
        mean: Units per deal that the row's entrant earns where the column's also sits.
        low: Lower ends of the 95% intervals.
        high: Upper ends.
        deals: Deals behind each cell.
        mark: 1 where the mean is significantly above 0, -1 below, 0 neither; each cell by itself.
        firm: The same with all cells looked at together.
        above: Share of the observations of both in which the row's entrant earned more than the
            column's; equal scores count half.
        above_low: Lower ends of its 95% intervals.
        above_high: Upper ends.
    """

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    deals: np.ndarray
    mark: np.ndarray
    firm: np.ndarray
    above: np.ndarray
    above_low: np.ndarray
    above_high: np.ndarray


def crosstable(
    observations: Observations, entrants: int | None = None, *, skewed: bool = False
) -> CrossTable:
    """Returns the crosstable of tables of one size.

    Args:
        observations: What was played.
        entrants: E; None is one more than the highest number seen.
        skewed: Whether to bend the intervals of the means for skewed scores.
    """
    scores = entrant_scores(observations, entrants)
    size = scores.shape[1]
    sits = np.isfinite(scores)
    rows, shares = [], []
    for entrant in range(size):
        mine = np.flatnonzero(sits[:, entrant])
        deal, own, theirs = observations.deal[mine], scores[mine, entrant, None], scores[mine]
        together = sits[mine].copy()
        together[:, entrant] = False
        cell = np.where(together, own, np.nan)
        rows.append(means(sums_by_deal(deal, cell), skewed=skewed))
        with np.errstate(invalid="ignore"):
            more = (np.sign(own - theirs) + 1) / 2
        shares.append(means(sums_by_deal(deal, np.where(together, more, np.nan))))
    mean = np.array([row.mean for row in rows])
    p_values = np.array([row.p_values() for row in rows])
    family = np.isfinite(p_values)
    if observations.seats == 2:  # a cell and its mirror image are one test
        family &= np.triu(np.ones((size, size), dtype=bool))
    firm = np.zeros((size, size), dtype=bool)
    firm[family] = holm(p_values[family])
    if observations.seats == 2:
        firm |= firm.T
    sign = np.sign(np.nan_to_num(mean)).astype(np.int8)
    return CrossTable(
        mean=mean,
        low=np.array([row.low for row in rows]),
        high=np.array([row.high for row in rows]),
        deals=np.array([row.deals for row in rows]),
        mark=np.where(p_values < 1 - CONFIDENCE, sign, 0).astype(np.int8),
        firm=np.where(firm, sign, 0).astype(np.int8),
        above=np.array([row.mean for row in shares]),
        above_low=np.clip([row.low for row in shares], 0, 1),
        above_high=np.clip([row.high for row in shares], 0, 1),
    )


def holm(p_values: np.ndarray) -> np.ndarray:
    """Returns which of many tests are significant together at 5%, [K] bool.

    The chance that any of those whose hypothesis is true is among them is at most 5%.

    Args:
        p_values: [K], none of them NaN.
    """
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    kept = np.maximum.accumulate(steps) < 1 - CONFIDENCE
    significant = np.zeros(len(p_values), dtype=bool)
    significant[order] = kept
    return significant
