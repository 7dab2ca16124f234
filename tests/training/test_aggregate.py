"""The interquartile mean, its stratified bootstrap, and performance profiles."""

from functools import partial

import numpy as np
import pytest

from kille_env.errors import KilleError
from kille_training.statistics.aggregate import (
    bootstrap,
    interquartile_mean,
    performance_profile,
)


def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end() -> None:
    scores = np.array([[100.0, 3.0], [1.0, 4.0], [2.0, -50.0], [5.0, 6.0]])
    assert interquartile_mean(scores) == (2 + 3 + 4 + 5) / 4
    assert interquartile_mean(np.stack([scores, scores + 1])).tolist() == [3.5, 4.5]


def test_five_runs_of_one_task_leave_out_one_at_each_end() -> None:
    assert interquartile_mean(np.array([[9.0], [1.0], [2.0], [3.0], [-7.0]])) == 2.0


def test_a_profile_counts_the_runs_that_reach_a_threshold() -> None:
    scores = np.array([[0.1, 0.2], [0.3, 0.4]])
    found = performance_profile(scores, np.array([0.0, 0.1, 0.25, 1.0]))
    assert found.tolist() == [0.0, 0.25, 0.5, 1.0]


def test_runs_are_drawn_anew_within_each_task_only() -> None:
    scores = np.array([[1.0, 1000.0], [1.0, 1000.0], [1.0, 1000.0]])
    found = bootstrap(scores, lambda some: some.mean(axis=(-2, -1)))
    assert found.low == found.value == found.high == 500.5


def test_the_interval_covers_the_true_mean_as_often_as_it_says() -> None:
    generator, covered = np.random.default_rng(1), 0
    for _ in range(200):
        found = bootstrap(generator.normal(size=(20, 2)), interquartile_mean, draws=200)
        covered += int(found.low <= 0.0 <= found.high)
    assert 175 <= covered <= 199


def test_profiles_have_intervals_and_equal_seeds_equal_ones() -> None:
    scores = np.random.default_rng(2).random((5, 3))
    profile = partial(performance_profile, thresholds=np.array([0.2, 0.8]))
    first, again = (bootstrap(scores, profile, seed=3) for _ in range(2))
    assert first.low.tolist() == again.low.tolist()
    assert (first.low <= first.value).all() and (first.value <= first.high).all()


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(KilleError, match="expected finite numbers"):
        bootstrap(np.array([[np.nan]]), interquartile_mean)
