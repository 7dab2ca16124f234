"""Results of few runs on several tasks, with honest intervals.

Agarwal, Schwarzer, Castro, Courville and Bellemare, "Deep reinforcement learning at the edge of the
statistical precipice", NeurIPS 2021, and the conventions of its library, rliable: the interquartile
mean over all runs of all tasks, a bootstrap that draws runs anew within each task (stratified), and
performance profiles, the share of runs beyond each threshold.

Its percentile intervals are too short for few runs: of five runs they hold the truth in 88% where
they say 95%, of two in half. So the ends here are Student's quantile times the bootstrap's standard
error, which is widened by sqrt(R / (R - 1)) because a bootstrap of R runs sees (R - 1) / R of their
variance. That holds the truth in 95% and more from two runs on, see docs/statistics.md.

Two configurations are compared by the difference between a run of the one and a run of the other,
in all pairs. Runs of both are drawn anew, and so are the deals, the same ones for all runs: the
interval is over seeds and deals, and what the cards do to both is no part of it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit
from scipy.stats import trim_mean

from kille_env.errors import KilleError

DRAWS = 2000
"""Bootstrap draws."""
CHUNK = 1 << 22
"""Deals that are drawn at a time; bounds the memory."""
CONFIDENCE = 0.95
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
    """Return the mean of the middle half of all runs.

    As in rliable, a quarter of the runs, rounded down, is left out at each end.
    """
    means = trim_mean(scores.reshape(*scores.shape[:-2], -1), TRIM, axis=-1)
    return np.asarray(means)[()]  # of two dimensions it is a number, which can be rounded


def performance_profile(scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return the share of runs at or below each threshold, every task counting alike.

    Less is better here, as with NashConv, where rliable counts the runs above a threshold.
    """
    below = scores[..., None, :, :] <= thresholds[:, None, None]
    return below.mean(axis=(-2, -1))


def bootstrap(
    scores: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    draws: int = DRAWS,
    seed: int = 0,
) -> Interval:
    """Return a statistic with its interval over runs by a stratified bootstrap."""
    _check(scores)
    runs, tasks = scores.shape
    drawn = np.random.default_rng(seed).integers(runs, size=(draws, runs, tasks))
    found = statistic(scores[drawn, np.arange(tasks)])
    return _interval(statistic(scores), found.std(axis=0), runs, tasks * (runs - 1))


def difference(
    first: np.ndarray, second: np.ndarray, draws: int = DRAWS, seed: int = 0
) -> Interval:
    """Return the interquartile mean of the difference between two configurations."""
    for scores in (first, second):
        _check(scores)
    deals = first.shape[1]
    if second.shape[1] != deals:
        raise KilleError(f"scores of {deals} and of {second.shape[1]} deals cannot be compared")
    rng, size, parts = np.random.default_rng(seed), max(1, CHUNK // deals), []
    for some in (min(size, draws - begin) for begin in range(0, draws, size)):
        chosen = rng.integers(deals, size=(some, deals)) + deals * np.arange(some)[:, None]
        often = np.bincount(chosen.ravel(), minlength=some * deals).reshape(some, deals) / deals
        ours, theirs = (
            np.take_along_axis(
                often @ scores.T, rng.integers(len(scores), size=(some, len(scores))), axis=1
            )
            for scores in (first, second)
        )
        parts.append(ours[:, :, None] - theirs[:, None, :])
    found = np.concatenate(parts)
    error = interquartile_mean(found).std()
    value = interquartile_mean(pairs(first.mean(axis=1), second.mean(axis=1)))
    freedom = len(first) + len(second) - 2
    return _interval(value, error, min(len(first), len(second)), freedom)


def pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return how much more each run of one configuration, [R], has than each of another, [S]."""
    return first[:, None] - second[None, :]


def _check(scores: np.ndarray) -> None:
    if scores.ndim != 2 or not scores.size or not np.isfinite(scores).all():
        raise KilleError(f"scores are {scores.shape}, expected finite numbers by run and task")
    if len(scores) < 2:
        raise KilleError("one run has no interval over seeds, expected two runs or more")


def _interval(value: np.ndarray, error: np.ndarray, runs: int, freedom: int) -> Interval:
    half = stdtrit(freedom, (1 + CONFIDENCE) / 2) * error * np.sqrt(runs / (runs - 1))
    return Interval(value, value - half, value + half)
