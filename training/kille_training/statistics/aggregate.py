"""Results of few runs on several tasks, with valid intervals.

Agarwal, Schwarzer, Castro, Courville and Bellemare, "Deep reinforcement learning at the edge of the
statistical precipice", NeurIPS 2021, and the conventions of its library, rliable: the interquartile
mean over all runs of all tasks, and a bootstrap that draws runs anew within each task (stratified).

Its percentile intervals are too short for few runs: the coverage of nominal 95% intervals is 88%
with five runs and 50% with two. So intervals here are Student's quantile times the bootstrap's
standard error, multiplied by sqrt(R / (R - 1)) because a bootstrap of R runs underestimates their
variance by (R - 1) / R. Their coverage is 95% or more from two runs on, see docs/statistics.md.

Two configurations are compared by the difference between a run of the one and a run of the other,
in all pairs. The bootstrap resamples the runs of both and the shared deals: the interval is over
seeds and deals, and the luck of the cards cancels.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit
from scipy.stats import trim_mean

from kille_env.errors import KilleError

DRAWS = 2000  # bootstrap draws
CHUNK = 1 << 22  # deals resampled at a time, which bounds the memory
CONFIDENCE = 0.95
TRIM = 0.25  # share of the runs trimmed at each end by the interquartile mean


@dataclass(frozen=True)
class Interval:
    """A statistic with its 95% interval."""

    value: np.ndarray  # statistic of the runs; a number, or [K]
    low: np.ndarray  # lower end; likewise
    high: np.ndarray


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """Return the mean of the middle half of all runs.

    As in rliable, a quarter of the runs, rounded down, is trimmed at each end.
    """
    means = trim_mean(scores.reshape(*scores.shape[:-2], -1), TRIM, axis=-1)
    return np.asarray(means)[()]  # a number for two dimensions


def bootstrap(
    scores: np.ndarray,
    statistic: Callable[[np.ndarray], np.ndarray],
    draws: int = DRAWS,
    seed: int = 0,
) -> Interval:
    """Return a statistic with its interval over runs, by a stratified bootstrap."""
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
    """Return the differences of all pairs of runs, [R] of one minus [S] of another."""
    return first[:, None] - second[None, :]


def _check(scores: np.ndarray) -> None:
    if scores.ndim != 2 or not scores.size or not np.isfinite(scores).all():
        raise KilleError(f"scores are {scores.shape}, expected finite numbers by run and task")
    if len(scores) < 2:
        raise KilleError("one run has no interval over seeds, expected at least 2 runs")


def _interval(value: np.ndarray, error: np.ndarray, runs: int, freedom: int) -> Interval:
    half = stdtrit(freedom, (1 + CONFIDENCE) / 2) * error * np.sqrt(runs / (runs - 1))
    return Interval(value, value - half, value + half)
