"""How each two entrants compare at the tables where both sit, and how sure that is.

The cell of a row and a column is the mean score of the row's entrant over the observations in which
the column's entrant also sits at the table. At tables of two seats that is the score of one against
the other, and the table is antisymmetric; at larger ones both can earn at the cost of a third.

Two marks say what is significant at 5%: one for a cell looked at alone, and one that stands up to
looking at all cells at once, by Holm's method. The crosstables of the Annual Computer Poker
Competition are the model: means with 95% intervals, shaded where significant.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kille_training.statistics.holm import holm_cells
from kille_training.statistics.intervals import (
    CONFIDENCE,
    Intervals,
    ScoreRange,
    means,
    stacked,
)
from kille_training.statistics.tally import NANO, Tally

HALF = 0.5
"""What a deal that does not end even moves how often one is above the other."""


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
    """Returns the crosstable of tables of one size; `scale` is what is known of its scores."""
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
    """Returns the means of all cells, [E, E], row by row: all at once would take much memory.

    Args:
        met: [F, E, E] observations of each cell.
        total: Returns the sums of a row of cells, [F, E].
        scale: What is known of the scores.
    """
    return stacked([means(total(row), met[:, row], scale) for row in range(met.shape[1])])
