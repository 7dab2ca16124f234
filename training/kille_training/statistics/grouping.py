"""Which entrants can be told apart, and which places each may truly have.

All pairs are tested at once, by Holm's method, so all of it holds together with 95%: whoever is
said to be above another truly is, and every true place is within its range. Places that follow from
tests of all pairs are those of Mogstad, Romano, Shaikh and Wilhelm, *Inference for ranks with
applications to mobility across neighbourhoods and academic achievement across countries*, Review of
Economic Studies 91 (2024).
"""

from dataclasses import dataclass

import numpy as np

from kille_training.statistics.holm import holm_cells
from kille_training.statistics.intervals import Intervals, ScoreRange, differences, units
from kille_training.statistics.tally import Tally


@dataclass(frozen=True)
class Grouping:
    """What is certain about the order of E entrants by units per deal.

    Attributes:
        order: Entrants that sat, by what they were seen to earn, the most first.
        clear: [E, E] bool, whether the row's entrant earns more than the column's, all pairs looked
            at together.
        best: [E] int64, the best place, counted from 1, that an entrant may truly have; 0 if it
            never sat.
        worst: [E] int64, the worst one.
    """

    order: tuple[int, ...]
    clear: np.ndarray
    best: np.ndarray
    worst: np.ndarray


def grouping(tally: Tally, scale: ScoreRange | None = None) -> Grouping:
    """Returns which entrants of tables of one size can be told apart."""
    return group(units(tally).mean, differences(tally, scale))


def group(mean: np.ndarray, gaps: Intervals) -> Grouping:
    """Returns which entrants can be told apart.

    Args:
        mean: [E] what each earns, NaN if it never sat or does not count.
        gaps: [E, E] how much more the row's entrant earns than the column's.
    """
    sat = np.isfinite(mean)
    order = tuple(np.argsort(-mean, kind="stable")[: sat.sum()].tolist())
    p_values = np.where(sat[:, None] & sat, gaps.p_values(), np.nan)
    clear = holm_cells(p_values, mirrored=True) & (gaps.mean > 0)
    best = np.where(sat, 1 + clear.sum(axis=0), 0)
    worst = np.where(sat, len(order) - clear.sum(axis=1), 0)
    return Grouping(order, clear, best, worst)
