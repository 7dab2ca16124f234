"""Standings of a tally: means, differences, places and crosstables, with intervals.

Many tests that are looked at together are made by Holm's method: S. Holm, *A simple sequentially
rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 1979. It holds however the
tests depend on each other.

**Places.** All pairs are tested at once, so all of it holds together with 95%: whoever is said to
be above another truly is, and every true place is within its range. Places that follow from tests
of all pairs are those of Mogstad, Romano, Shaikh and Wilhelm, *Inference for ranks with
applications to mobility across neighbourhoods and academic achievement across countries*, Review of
Economic Studies 91 (2024).

**Crosstables.** The cell of a row and a column is the mean score of the row's entrant over the
observations in which the column's entrant also sits at the table. At tables of two seats that is
the score of one against the other, and the table is antisymmetric; at larger ones both can earn at
the cost of a third. Two marks say what is significant at 5%: one for a cell looked at alone, and
one that stands up to looking at all cells at once. The crosstables of the Annual Computer Poker
Competition are the model: means with 95% intervals, shaded where significant.
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

HALF = 0.5
"""Effect on the share of deals above another of one deal that does not end even."""


def units(tally: Tally, scale: ScoreRange | None = None) -> Intervals:
    """Return the units per deal that each entrant earns, less the mean of its table, [E]."""
    return means(tally.total / NANO, tally.count, scale)


def differences(tally: Tally, scale: ScoreRange | None = None) -> Intervals:
    """Return how much more the row's entrant earns than the column's, [E, E].

    Deals are the same for all lineups, so the luck of the cards that meets both is no part of the
    error; they need not have sat at one table. The diagonal is NaN. Behind a difference are as many
    observations as the entrant has that sat less often.
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
    """The order of E entrants by units per deal, as far as it is certain.

    Attributes:
        clear: [E, E] bool, whether the row's entrant earns more than the column's, all pairs looked
            at together.
        best: [E] int64, the best place, counted from 1, that an entrant may truly have; 0 if it
            never sat.
        worst: [E] int64, the worst one.
    """

    clear: np.ndarray
    best: np.ndarray
    worst: np.ndarray


def group(mean: np.ndarray, gaps: Intervals) -> Grouping:
    """Group the entrants whose order is certain."""
    sat = np.isfinite(mean)
    p_values = np.where(sat[:, None] & sat, gaps.p_values(), np.nan)
    clear = holm_cells(p_values, mirrored=True) & (gaps.mean > 0)
    best = np.where(sat, 1 + clear.sum(axis=0), 0)
    worst = np.where(sat, sat.sum() - clear.sum(axis=1), 0)
    return Grouping(clear, best, worst)


@dataclass(frozen=True)
class CrossTable(Intervals):
    """Units per deal that the row's entrant earns where the column's also sits, of E entrants.

    All arrays are [E, E], with NaN and a count of 0 where two never met. Entrants that sit at a
    table several times have the mean of their places.

    Attributes:
        mark: 1 where the mean is significantly above 0, -1 below, 0 neither; each cell by itself.
        firm: The same with all cells looked at together.
        above: Share of the observations of both in which the row's entrant earned more than the
            column's; equal scores count half.
        margin: Units per deal that the row's entrant earned more than the column's.
        beats: Whether that margin is significantly above 0, all pairs looked at together: the
            chance that any of these marks is wrong is at most 5%.
    """

    mark: np.ndarray
    firm: np.ndarray
    above: Intervals
    margin: Intervals
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
    """Return the means of all cells, [E, E], row by row: all at once would take much memory."""
    return stacked([means(total(row), met[:, row], scale) for row in range(met.shape[1])])


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return which of many tests are significant together at 5%, [K] bool.

    The chance that any of those whose hypothesis is true is among them is at most 5%.
    """
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    kept = np.maximum.accumulate(steps) < 1 - CONFIDENCE
    significant = np.zeros(len(p_values), dtype=bool)
    significant[order] = kept
    return significant


def holm_cells(p_values: np.ndarray, *, mirrored: bool) -> np.ndarray:
    """Return which cells of a table are significant together, [E, E] bool."""
    family = np.isfinite(p_values)
    if mirrored:
        family = np.triu(family)
    firm = np.zeros(p_values.shape, dtype=bool)
    firm[family] = holm(p_values[family])
    return firm | firm.T if mirrored else firm
