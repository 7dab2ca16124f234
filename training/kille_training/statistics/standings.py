"""Standings of a tally: means, differences, places and crosstables, with intervals.

Multiple tests use Holm's method: S. Holm, *A simple sequentially rejective multiple test
procedure*, Scandinavian Journal of Statistics 6, 1979, valid for dependent tests.

**Places.** All pairs are tested together, so with 95% confidence all significant differences are
real and all true places are within their ranges. The ranges follow Mogstad, Romano, Shaikh and
Wilhelm, *Inference for ranks with applications to mobility across neighbourhoods and academic
achievement across countries*, Review of Economic Studies 91 (2024).

**Crosstables.** A cell is the mean score of the row's entrant over the observations in which the
column's entrant also sits at the table. At two seats that is the score of one against the other,
and the table is antisymmetric; at larger tables both can earn at the cost of a third. Two marks
show significance at 5%: of a cell by itself, and with all cells tested together. The model is the
crosstables of the Annual Computer Poker Competition: means with 95% intervals, shaded if
significant.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kille_training.statistics.intervals import (
    CONFIDENCE,
    Intervals,
    ScoreRange,
    intervals_of,
    means,
    residuals,
    stacked,
)
from kille_training.statistics.tally import NANO, Tally

HALF = 0.5  # effect of one uneven deal on the share of deals above another entrant


def units(tally: Tally, scale: ScoreRange | None = None) -> Intervals:
    """Return the units per deal of each entrant, minus the mean of its table, [E]."""
    return means(tally.total / NANO, tally.count, scale)


def differences(tally: Tally, scale: ScoreRange | None = None) -> Intervals:
    """Return the differences of earnings, row's entrant minus column's, [E, E].

    Deals are the same for all lineups, so the luck of the cards cancels, also for entrants that
    never met. The diagonal is NaN. The count of a difference is the smaller of the two.
    """
    share, residual, mean = residuals(tally.total / NANO, tally.count)
    count = tally.count.sum(axis=0)
    rows = []
    for entrant in range(tally.entrants):
        own = slice(entrant, entrant + 1)
        found = mean[own] - mean
        found[entrant] = np.nan
        joint = (share[:, own] + share) / 2
        less = np.minimum(count[entrant], count)
        rows.append(intervals_of(found, joint, residual[:, own] - residual, less, scale))
    return stacked(rows)


@dataclass(frozen=True)
class Grouping:
    """The significant part of the order of E entrants by units per deal."""

    # [E, E] bool, whether the row's entrant earns significantly more than the column's, all pairs
    # tested together
    clear: np.ndarray
    # [E] int64, the best place consistent with the results, from 1; 0 if it never sat
    best: np.ndarray
    worst: np.ndarray  # [E] int64, the worst such place


def group(mean: np.ndarray, gaps: Intervals) -> Grouping:
    """Order the entrants by significant differences."""
    sat = np.isfinite(mean)
    p_values = np.where(sat[:, None] & sat, gaps.p_values(), np.nan)
    clear = holm_cells(p_values, mirrored=True) & (gaps.mean > 0)
    best = np.where(sat, 1 + clear.sum(axis=0), 0)
    worst = np.where(sat, sat.sum() - clear.sum(axis=1), 0)
    return Grouping(clear, best, worst)


@dataclass(frozen=True)
class CrossTable(Intervals):
    """Units per deal of the row's entrant at tables with the column's, for E entrants.

    All arrays are [E, E], with NaN and a count of 0 for pairs that never met. An entrant with
    several places at a table has the mean of its places.
    """

    # 1 if the mean is significantly above 0, -1 below, 0 neither; each cell by itself
    mark: np.ndarray
    firm: np.ndarray  # same with all cells tested together
    # share of shared observations in which the row's entrant earned more than the column's; equal
    # scores count half
    above: Intervals
    margin: Intervals  # units per deal of the row's entrant minus those of the column's
    # whether that margin is significantly above 0, all pairs tested together: the probability of
    # any error is at most 5%
    beats: np.ndarray


def crosstable(tally: Tally, scale: ScoreRange | None = None) -> CrossTable:
    """Return the crosstable of tables of one size; `scale` is the prior knowledge of scores."""
    met, shared, above = tally.met, tally.shared, tally.above
    earned = _cells(met, lambda row: shared[:, row] / NANO, scale)
    margin = _cells(met, lambda row: (shared[:, row] - shared[:, :, row]) / NANO, scale)
    halves = None if scale is None else ScoreRange(HALF, scale.deals)
    p_values = earned.p_values()
    sign = np.sign(np.nan_to_num(earned.mean)).astype(np.int8)
    return CrossTable(
        **vars(earned),
        mark=np.where(p_values < 1 - CONFIDENCE, sign, 0).astype(np.int8),
        firm=np.where(holm_cells(p_values, mirrored=tally.seats == 2), sign, 0).astype(np.int8),
        above=_cells(met, lambda row: above[:, row] / 2, halves),
        margin=margin,
        beats=holm_cells(margin.p_values(), mirrored=True) & (margin.mean > 0),
    )


def _cells(
    met: np.ndarray, total: Callable[[int], np.ndarray], scale: ScoreRange | None
) -> Intervals:
    """Return the means of all cells, [E, E], computed row by row to save memory."""
    return stacked([means(total(row), met[:, row], scale) for row in range(met.shape[1])])


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return whether each of K tests is significant with all tested together, [K] bool.

    The probability of any false rejection is at most 5%.
    """
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    kept = np.maximum.accumulate(steps) < 1 - CONFIDENCE
    significant = np.zeros(len(p_values), dtype=bool)
    significant[order] = kept
    return significant


def holm_cells(p_values: np.ndarray, *, mirrored: bool) -> np.ndarray:
    """Return whether each cell of a table is significant with all tested together, [E, E] bool."""
    family = np.isfinite(p_values)
    if mirrored:
        family = np.triu(family)
    firm = np.zeros(p_values.shape, dtype=bool)
    firm[family] = holm(p_values[family])
    return firm | firm.T if mirrored else firm
