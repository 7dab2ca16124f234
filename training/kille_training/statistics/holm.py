"""Which of many tests are significant together, by Holm's method.

S. Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of
Statistics 6, 1979. It holds however the tests depend on each other.
"""

import numpy as np

from kille_training.statistics.intervals import CONFIDENCE


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


def holm_cells(p_values: np.ndarray, *, mirrored: bool) -> np.ndarray:
    """Returns which cells of a table are significant together, [E, E] bool.

    Args:
        p_values: [E, E], NaN where there is nothing to test.
        mirrored: Whether a cell and its mirror image are one test.
    """
    family = np.isfinite(p_values)
    if mirrored:
        family = np.triu(family)
    firm = np.zeros(p_values.shape, dtype=bool)
    firm[family] = holm(p_values[family])
    return firm | firm.T if mirrored else firm
