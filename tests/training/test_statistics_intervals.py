"""Intervals hold what they promise, whatever is drawn; crosstables say who earns where."""

import numpy as np
import pytest
from scipy import stats

from kille_training.statistics import crosstable as tables
from kille_training.statistics import intervals
from kille_training.statistics.intervals import Sums
from reference.orders import observed

RUNS = 4000


def coverage(found, truth=0.0):
    return float(np.mean((found.low <= truth) & (found.high >= truth)))


SCORES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "a pot": lambda rng, size: 5.0 * (rng.random(size) < 0.2) - 1 + rng.normal(0, 0.5, size),
    "exponential": lambda rng, size: rng.exponential(size=size) - 1,
}


@pytest.mark.parametrize("name", SCORES)
def test_ninety_five_of_a_hundred_intervals_hold_the_truth(name):
    rng = np.random.default_rng(8)
    drawn = SCORES[name](rng, (400, RUNS))
    sums = Sums(np.arange(400), drawn, np.ones(drawn.shape))
    assert 0.94 <= coverage(intervals.means(sums)) <= 0.96


@pytest.mark.parametrize("name", SCORES)
def test_deals_that_are_played_more_often_than_others_are_clusters(name):
    rng = np.random.default_rng(4)
    lineups = rng.integers(1, 7, size=(400, 1))
    total = np.zeros((400, RUNS))
    cards = SCORES[name](rng, total.shape)
    for number in range(6):
        total += (number < lineups) * (0.7 * cards + 0.3 * SCORES[name](rng, total.shape))
    count = np.broadcast_to(lineups, total.shape).astype(float)
    clustered = Sums(np.arange(400), total, count)
    assert 0.94 <= coverage(intervals.means(clustered)) <= 0.96
    # As if each observation were a deal of its own, the intervals would be far too short.
    variance = (0.7**2 + 0.3**2) * cards.var() / lineups.sum()
    naive = np.abs(intervals.means(clustered).mean) <= 1.96 * np.sqrt(variance)
    assert naive.mean() < 0.85


def test_few_deals_with_unequal_numbers_of_lineups_have_fewer_degrees_of_freedom():
    rng = np.random.default_rng(2)
    lineups = np.array([1, 1, 1, 2, 2, 3, 6, 12])[:, None]
    total = rng.normal(size=(8, RUNS)) * lineups
    count = np.broadcast_to(lineups, total.shape).astype(float)
    found = intervals.means(Sums(np.arange(8), total, count))
    assert 1 < found.freedom[0] < 4
    assert coverage(found) >= 0.94


def test_as_many_observations_a_deal_are_students_interval():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=30)
    told = observed([[0, 1]] * 30, np.column_stack([scores, -scores]))
    found = intervals.units(told, 2)
    assert found.freedom == pytest.approx([29, 29])
    known = stats.t.interval(0.95, 29, scores.mean(), stats.sem(scores))
    assert (found.low[0], found.high[0]) == pytest.approx(known)
    assert found.mean[1] == pytest.approx(-scores.mean())
    assert found.deals.tolist() == [30, 30]
    again = observed([[0, 1]] * 60, np.tile(told.scores, (2, 1)), [*range(30)] * 2)
    twice = intervals.units(again, 2)
    assert twice.half == pytest.approx(found.half), "playing a deal again adds nothing"


def test_who_sits_twice_has_the_mean_of_his_places():
    told = observed([[0, 0, 1], [1, 0, 2]], [[1.0, 3.0, -4.0], [2.0, -1.0, -1.0]], [0, 0])
    scores = intervals.entrant_scores(told, 4)
    assert scores[0, :2].tolist() == [2.0, -4.0]
    assert np.isnan(scores[0, 2:]).all()
    assert intervals.units(told, 4).mean[:3].tolist() == [0.5, -1.0, -1.0]
    assert np.isnan(intervals.units(told, 4).low).all(), "one deal has no interval"


def test_a_difference_is_paired_by_deals_that_both_played():
    rng = np.random.default_rng(3)
    cards = rng.normal(size=60)
    own = 0.1 * rng.normal(size=(2, 60)) + cards
    members = [[0, 2]] * 60 + [[1, 2]] * 50
    deal = [*range(60), *range(10, 60)]
    scores = np.concatenate([own[0], own[1, 10:]])
    told = observed(members, np.column_stack([scores, -scores]), deal)
    found = intervals.difference(told, 0, 1)
    known = stats.ttest_1samp(own[0, 10:] - own[1, 10:], 0)
    interval = known.confidence_interval()
    assert (found.low[0], found.high[0]) == pytest.approx((interval.low, interval.high))
    assert found.p_values() == pytest.approx([known.pvalue])
    assert found.deals.tolist() == [50]
    assert intervals.difference(told, 1, 0).mean == pytest.approx(-found.mean)
    nobody = intervals.difference(told, 0, 7)
    assert np.isnan(nobody.mean).all()
    assert nobody.deals.tolist() == [0]


def test_intervals_of_tournaments_of_several_lineups_hold_the_truth():
    """From a bank of deals, at which the lineups 0, 1, 2 and 0, 0, 1 meet the same cards."""
    rng = np.random.default_rng(6)
    bank = rng.gamma(0.5, size=(5000, 3)) @ rng.normal(size=(3, 3))
    bank -= bank.mean(axis=1, keepdims=True)
    truth = bank.mean(axis=0)
    hits = np.zeros(3)
    for _ in range(2000):
        drawn = bank[rng.integers(5000, size=200)]
        scores = np.stack([drawn, drawn[:, [0, 0, 1]] + rng.normal(0, 0.2, (200, 3))])
        told = Sums(
            np.arange(200),
            np.column_stack([scores[0, :, 0] + scores[1, :, :2].mean(axis=1), scores[0, :, 1:]]),
            np.tile([2.0, 1.0, 1.0], (200, 1)),
        )
        found = intervals.means(told)
        hits += (found.low <= truth) & (truth <= found.high)
    assert ((hits / 2000 >= 0.935) & (hits / 2000 <= 0.965)).all()


def test_intervals_narrow_with_the_root_of_the_deals():
    rng = np.random.default_rng(0)
    sums = Sums(np.arange(4000), rng.normal(size=(4000, 2)), np.ones((4000, 2)))
    played, half = intervals.convergence(sums, 20)
    assert played[0] == 2
    assert played[-1] == 4000
    assert half.shape == (len(played), 2)
    assert half[-1] == pytest.approx(intervals.means(sums).half)
    slope = np.polyfit(np.log(played[10:]), np.log(half[10:, 0]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.05)


def test_a_crosstable_of_two_seats_is_antisymmetric():
    rng = np.random.default_rng(1)
    pairs = np.array([(a, b) for a in range(5) for b in range(a)])
    strength = np.array([0.0, 0.02, 0.3, 0.35, 1.0])
    members = np.repeat(pairs, 200, axis=0)
    gap = strength[members[:, 0]] - strength[members[:, 1]]
    scores = rng.normal(gap, 1)
    deal = np.tile(np.arange(200), len(pairs))
    told = observed(members, np.column_stack([scores, -scores]), deal)
    found = tables.crosstable(told, 6)
    assert found.mean[:5, :5] == pytest.approx(-found.mean[:5, :5].T, nan_ok=True)
    assert (found.firm == -found.firm.T).all()
    assert (np.abs(found.firm) <= np.abs(found.mark)).all()
    assert found.mark[4, 0] == found.firm[4, 0] == 1
    assert np.isnan(np.diag(found.mean)).all()
    assert np.isnan(found.mean[5]).all()
    assert not found.mark[5].any()
    assert found.deals[4, 0] == 200
    assert found.above.mean[4, 0] + found.above.mean[0, 4] == pytest.approx(1)
    assert found.above.low[4, 0] < found.above.mean[4, 0] < found.above.high[4, 0]


def test_cells_count_tables_where_both_sit():
    told = observed(
        [[0, 1, 1], [0, 1, 1], [0, 2, 2], [0, 2, 2]],
        [[2, -1, -1], [4, -2, -2], [-2, 1, 1], [-2, 3, -1]],
        [0, 1, 0, 1],
    )
    found = tables.crosstable(told, 3)
    assert found.mean[0, 1:].tolist() == [3.0, -2.0]
    assert found.mean[1, 0] == -1.5
    assert found.above.mean[0, 1:].tolist() == [1.0, 0.0]
    assert np.isnan(found.mean[1, 1])  # sat with nobody but copies of itself and 0
    assert found.low[0, 2] == found.high[0, 2] == -2.0


def test_entrants_are_compared_at_shared_tables():
    # 0 and 1 meet twice, once with copies of 1 beside 0; 2 meets 0 alone
    told = observed([[0, 1, 1], [0, 2, 0], [1, 0, 3]], [[4, -1, -3], [1, -1, 0], [1, 1, -2]])
    found = tables.crosstable(told, 4)
    assert found.margin.mean[0, 1] == pytest.approx((4 - -2 + 0) / 2)
    assert found.above.mean[0, 1] == pytest.approx(3 / 4)
    assert found.margin.mean[0, 2] == pytest.approx(1.5)
    assert np.isnan(found.margin.mean[1, 2]) and found.deals[1, 2] == 0
    assert found.margin.deals[0].tolist() == [0, 2, 1, 1]
    assert np.array_equal(found.margin.mean, -found.margin.mean.T, equal_nan=True)


def test_scores_that_differ_by_rounding_are_equal():
    found = tables.crosstable(observed([[1, 0, 2]] * 2, [[0.1 + 0.2, 0.3, -0.6]] * 2), 3)
    assert found.above.mean[0].tolist()[1:] == [0.5, 1.0]


def test_holm_counts_all_tests():
    p_values = np.array([0.04, 0.001, 0.03, 0.012])
    assert tables.holm(p_values).tolist() == [False, True, False, True]
    rng = np.random.default_rng(0)
    wrong = [tables.holm(rng.random(50)).any() for _ in range(2000)]
    assert 0.03 <= np.mean(wrong) <= 0.06
