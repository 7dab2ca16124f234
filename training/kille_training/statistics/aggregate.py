"""Results of few runs on several tasks, with honest intervals.

Agarwal, Schwarzer, Castro, Courville and Bellemare, "Deep reinforcement learning at the edge of the
statistical precipice", NeurIPS 2021, and the conventions of its library, rliable: the interquartile
mean over all runs of all tasks; 95% intervals by a percentile bootstrap that draws runs anew within
each task (stratified); and performance profiles, the share of runs beyond each threshold.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import trim_mean

from kille_env.errors import KilleError

DRAWS = 2000
"""Bootstrap draws."""
TRIM = 0.25
"""Share of the runs that the interquartile mean leaves out at each end."""


@dataclass(frozen=True)
class Interval:
    """A statistic with its 95% interval.

    Attributes:
        value: Of the runs themselves; a number, or [K].
        low: Lower end; likewise.
        high: Upper end; likewise.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """Returns the mean of the middle half of all runs.

    As in rliable, a quarter of the runs, rounded down, is left out at each end.

    Args:
        scores: [..., R, T], R runs of each of T tasks.

    Returns:
        [...] float64.
    """
    means = trim_mean(scores.reshape(*scores.shape[:-2], -1), TRIM, axis=-1)
    return np.asarray(means)[()]  # of two dimensions it is a number, which can be rounded


def performance_profile(scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Returns the share of runs at or below each threshold, every task counting alike.

    Less is better here, as with NashConv, where rliable counts the runs above a threshold.

    Args:
        scores: [..., R, T].
        thresholds: [K].

    Returns:
        [..., K] float64.
    """
    below = scores[..., None, :, :] <= thresholds[:, None, None]
    return below.mean(axis=(-2, -1))


def bootstrap(
    scores: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    draws: int = DRAWS,
    seed: int = 0,
) -> Interval:
    """Returns a statistic with its interval by a stratified percentile bootstrap.

    Args:
        scores: [R, T], R runs of each of T tasks.
        statistic: From [..., R, T] to [...] or [..., K].
        draws: How often the runs are drawn anew.
        seed: Of the draws; the same seed gives the same bytes.

    Raises:
        KilleError: There are no scores, or one is not a number.
    """
    if scores.ndim != 2 or not scores.size or not np.isfinite(scores).all():
        raise KilleError(f"scores are {scores.shape}, expected finite numbers by run and task")
    runs, tasks = scores.shape
    drawn = np.random.default_rng(seed).integers(runs, size=(draws, runs, tasks))
    low, high = np.quantile(statistic(scores[drawn, np.arange(tasks)]), (0.025, 0.975), axis=0)
    return Interval(statistic(scores), low, high)
