"""The interquartile mean and its stratified bootstrap."""

import numpy as np
import pytest

from kille_env.errors import KilleError
from kille_training.statistics.aggregate import bootstrap, difference, interquartile_mean


def test_the_interquartile_mean_leaves_out_a_quarter_at_each_end() -> None:
    scores = np.array([[100.0, 3.0], [1.0, 4.0], [2.0, -50.0], [5.0, 6.0]])
    assert interquartile_mean(scores) == (2 + 3 + 4 + 5) / 4
    assert interquartile_mean(np.stack([scores, scores + 1])).tolist() == [3.5, 4.5]


def test_five_runs_of_one_task_leave_out_one_at_each_end() -> None:
    assert interquartile_mean(np.array([[9.0], [1.0], [2.0], [3.0], [-7.0]])) == 2.0


def test_runs_are_drawn_anew_within_each_task_only() -> None:
    scores = np.array([[1.0, 1000.0], [1.0, 1000.0], [1.0, 1000.0]])
    found = bootstrap(scores, lambda some: some.mean(axis=(-2, -1)))
    assert found.low == found.value == found.high == 500.5


@pytest.mark.parametrize("runs", [2, 4, 10])
def test_the_interval_covers_the_truth_as_often_as_it_says(runs: int) -> None:
    generator, covered = np.random.default_rng(1), 0
    for _ in range(200):
        found = bootstrap(generator.normal(size=(runs, 1)), interquartile_mean, draws=200)
        covered += int(found.low <= 0.0 <= found.high)
    assert covered >= 184


@pytest.mark.parametrize(("runs", "luck"), [((2, 2), 0.0), ((4, 4), 1.0), ((4, 8), 3.0)])
def test_differences_cover_the_truth_over_seeds_and_deals(
    runs: tuple[int, int], luck: float
) -> None:
    """All play the same deals, in which each run has luck of its own and luck that all share."""
    generator, covered, deals = np.random.default_rng(2), 0, 20
    for _ in range(200):
        shared = generator.normal(size=deals) * 9
        first, second = (
            generator.normal(size=(count, 1)) + shared + luck * generator.normal(size=deals)
            for count in runs
        )
        found = difference(first, second, draws=200)
        covered += int(found.low <= 0.0 <= found.high)
    assert covered >= 182


def test_the_difference_is_over_all_pairs_of_runs_and_one_collapsed_run_does_not_move_it() -> None:
    first, second = np.array([[3.0], [4.0], [5.0], [-99.0]]), np.array([[1.0]] * 3)
    assert difference(first, second).value == 2.5
    assert difference(first, first).value == 0.0
    ahead = difference(first[:3] + 10, second)
    assert 0 < ahead.low < ahead.value == 13.0 < ahead.high


def test_one_run_has_no_interval_over_seeds() -> None:
    for call in (
        lambda: bootstrap(np.ones((1, 3)), interquartile_mean),
        lambda: difference(np.ones((3, 5)), np.ones((1, 5))),
    ):
        with pytest.raises(KilleError, match="one run has no interval over seeds"):
            call()


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(KilleError, match="expected finite numbers"):
        bootstrap(np.array([[np.nan]]), interquartile_mean)
