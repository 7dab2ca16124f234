"""Intervals hold what they promise, whatever is drawn; crosstables say who earns where."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from kille_env.errors import KilleError
from kille_training.statistics import intervals, standings
from kille_training.statistics.aggregate import bootstrap, difference, interquartile_mean
from kille_training.statistics.intervals import Intervals, ScoreRange
from kille_training.statistics.standings import crosstable, differences, group, holm, units
from kille_training.statistics.tally import Tally
from reference.tallies import everywhere, tallied

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
    assert 0.94 <= coverage(intervals.means(drawn, np.ones(drawn.shape))) <= 0.96


@pytest.mark.parametrize("name", SCORES)
def test_deals_that_are_played_more_often_than_others_are_clusters(name):
    rng = np.random.default_rng(4)
    lineups = rng.integers(1, 7, size=(400, 1))
    total = np.zeros((400, RUNS))
    cards = SCORES[name](rng, total.shape)
    for number in range(6):
        total += (number < lineups) * (0.7 * cards + 0.3 * SCORES[name](rng, total.shape))
    count = np.broadcast_to(lineups, total.shape).astype(float)
    found = intervals.means(total, count)
    assert 0.94 <= coverage(found) <= 0.96
    # As if each observation were a deal of its own, the intervals would be far too short.
    variance = (0.7**2 + 0.3**2) * cards.var() / lineups.sum()
    naive = np.abs(found.mean) <= 1.96 * np.sqrt(variance)
    assert naive.mean() < 0.85


def test_few_deals_with_unequal_numbers_of_lineups_have_fewer_degrees_of_freedom():
    rng = np.random.default_rng(2)
    lineups = np.array([1, 1, 1, 2, 2, 3, 6, 12])[:, None]
    total = rng.normal(size=(8, RUNS)) * lineups
    count = np.broadcast_to(lineups, total.shape).astype(float)
    found = intervals.means(total, count)
    assert 1 < found.freedom[0] < 4
    assert coverage(found) >= 0.94


def test_as_many_observations_a_deal_are_students_interval():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=30)
    given = np.column_stack([scores, -scores])
    found = standings.units(tallied([[0, 1]] * 30, given))
    assert found.freedom == pytest.approx([29, 29])
    known = stats.t.interval(0.95, 29, scores.mean(), stats.sem(scores))
    assert (found.low[0], found.high[0]) == pytest.approx(known)
    assert found.mean[1] == pytest.approx(-scores.mean())
    assert found.count.tolist() == [30, 30]
    again = tallied([[0, 1]] * 60, np.tile(given, (2, 1)), [*range(30)] * 2)
    twice = standings.units(again)
    assert twice.half == pytest.approx(found.half), "playing a deal again adds nothing"


def test_one_deal_has_no_interval():
    found = standings.units(tallied([[0, 0, 1], [1, 0, 2]], [[1, 3, -4], [2, -1, -1]], [0, 0]))
    assert found.mean.tolist() == [0.5, -1.0, -1.0]
    assert np.isnan(found.low).all() and np.isnan(found.p_values()).all()


def test_differences_are_paired_by_folds():
    rng = np.random.default_rng(3)
    cards = rng.normal(size=60)
    own = 0.1 * rng.normal(size=(2, 60)) + cards
    scores = own.ravel()
    told = tallied(
        [[0, 2]] * 60 + [[1, 2]] * 60, np.column_stack([scores, -scores]), [*range(60)] * 2,
        entrants=4,
    )  # fmt: skip
    found = standings.differences(told)
    known = stats.ttest_1samp(own[0] - own[1], 0)
    interval = known.confidence_interval()
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx((interval.low, interval.high))
    assert found.p_values()[0, 1] == pytest.approx(known.pvalue)
    assert found.count[0, 1:].tolist() == [60, 60, 0]
    assert np.array_equal(found.mean, -found.mean.T, equal_nan=True)
    assert np.array_equal(found.low, -found.high.T, equal_nan=True)
    assert np.isnan(found.mean[3]).all() and np.isnan(np.diag(found.mean)).all()


def test_where_no_difference_was_seen_the_rule_of_three_holds():
    told = tallied([[0, 2], [1, 2]] * 90, [[0.3, 0], [0.3, 0]] * 90, np.repeat(range(90), 2))
    twins = standings.differences(told)
    assert twins.mean[0, 1] == 0 and np.isnan(twins.half[0, 1]), "nothing is known of the scores"
    twins = standings.differences(told, ScoreRange(largest=4.0, deals=90))
    assert twins.half[0, 1] == pytest.approx(3 * 4.0 / 90) and twins.p_values()[0, 1] == 1
    fewer = standings.differences(told, ScoreRange(largest=4.0, deals=30))
    assert fewer.half[0, 1] == pytest.approx(3 * 4.0 / 30), "deals count, not observations"
    cell = crosstable(told, ScoreRange(4.0, 90))
    assert cell.half[0, 2] == pytest.approx(3 * 4.0 / 90)
    assert cell.above.half[0, 2] == pytest.approx(3 * 0.5 / 90)


@pytest.mark.parametrize("deals", [200, 1_000, 10_000])
@pytest.mark.parametrize("sizes", [[-1.0], [0.25, 0.25, 2.0], [0.5, -1.0, 1.0, 2.0]], ids=str)
def test_intervals_of_rare_differences_hold_the_truth(deals, sizes):
    """Players that differ in one deal of a thousand, of which Student's intervals know nothing."""
    rng = np.random.default_rng(deals)
    hits, student = [], []
    for _ in range(400):
        scores = np.where(rng.random(deals) < 1e-3, rng.choice(sizes, deals), 0.0)
        total, count = np.zeros(256), np.bincount(np.arange(deals) % 256, minlength=256)
        np.add.at(total, np.arange(deals) % 256, scores)
        found = intervals.means(total, count, ScoreRange(4.0, deals))
        hits.append(found.low <= 1e-3 * np.mean(sizes) <= found.high)
        found = intervals.means(total, count)
        student.append(found.low <= 1e-3 * np.mean(sizes) <= found.high)
    assert np.mean(hits) >= 0.94
    assert np.mean(student) < 0.9 or deals == 10_000


def test_dense_scores_have_intervals_about_as_long_as_students():
    rng = np.random.default_rng(1)
    scores, count = rng.normal(size=(256, 300)), np.ones((256, 300))
    longer = intervals.means(scores, count, ScoreRange(8.0, 256)).half
    assert 1.0 < (longer / intervals.means(scores, count).half).mean() < 1.05


@pytest.mark.compiled
def test_more_deals_than_folds_have_intervals_as_long_and_as_true():
    """Three lineups meet the same cards at each of 3,000 deals, which share 256 folds."""
    rng = np.random.default_rng(6)
    members = np.tile([[0, 1, 2], [0, 0, 1], [2, 0, 3]], (3000, 1))
    deal = np.repeat(np.arange(3000), 3)
    hits, longer = [], []
    for _ in range(400):
        cards = rng.normal(size=(3000, 1, 4)) * [1.0, 0.5, 2.0, 0.1]
        scores = np.take_along_axis(cards, members.reshape(3000, 3, 3), axis=2).reshape(-1, 3)
        scores += rng.normal(0, 0.3, scores.shape)
        scores -= scores.mean(axis=1, keepdims=True)
        made = Tally.empty(3, 4)
        made.add(members, deal, everywhere(scores))
        found = standings.units(made)
        hits.append((found.low <= 0) & (found.high >= 0))
        if len(hits) <= 20:
            alone = 1.96 * stats.sem(scores[::3, 2])  # at one table of each deal
            longer.append(crosstable(made).half[2, 1] / alone)
    assert 0.93 <= np.mean(hits) <= 0.97
    assert 0.98 <= np.mean(longer) <= 1.03


def test_a_crosstable_of_two_seats_is_antisymmetric():
    rng = np.random.default_rng(1)
    pairs = np.array([(a, b) for a in range(5) for b in range(a)])
    strength = np.array([0.0, 0.02, 0.3, 0.35, 1.0])
    members = np.repeat(pairs, 200, axis=0)
    gap = strength[members[:, 0]] - strength[members[:, 1]]
    scores = rng.normal(gap, 1)
    deal = np.tile(np.arange(200), len(pairs))
    told = tallied(members, np.column_stack([scores, -scores]), deal, entrants=6)
    found = crosstable(told)
    assert found.mean[:5, :5] == pytest.approx(-found.mean[:5, :5].T, nan_ok=True)
    assert (found.firm == -found.firm.T).all()
    assert (np.abs(found.firm) <= np.abs(found.mark)).all()
    assert found.mark[4, 0] == found.firm[4, 0] == 1
    assert np.isnan(np.diag(found.mean)).all()
    assert np.isnan(found.mean[5]).all()
    assert not found.mark[5].any()
    assert found.count[4, 0] == 200
    assert found.above.mean[4, 0] + found.above.mean[0, 4] == pytest.approx(1)
    assert found.above.low[4, 0] < found.above.mean[4, 0] < found.above.high[4, 0]


def test_holm_counts_all_tests():
    p_values = np.array([0.04, 0.001, 0.03, 0.012])
    assert holm(p_values).tolist() == [False, True, False, True]
    rng = np.random.default_rng(0)
    wrong = [holm(rng.random(50)).any() for _ in range(2000)]
    assert 0.03 <= np.mean(wrong) <= 0.06


CYCLE = np.array(
    [[0, 0.5, -0.5, 0.3], [-0.5, 0, 0.5, 0.3], [0.5, -0.5, 0, 0.3], [-0.3, -0.3, -0.3, 0]]
)


def round_robin(edges, deals, noise, seed):
    """All pairs at each deal; a row earns `edges[row, column]` and some luck."""
    rng = np.random.default_rng(seed)
    members = np.array(list(combinations(range(len(edges)), 2)) * deals)
    earned = edges[tuple(members.T)] + noise * rng.normal(size=len(members))
    deal = np.repeat(np.arange(deals), len(members) // deals)
    return tallied(members, np.stack([earned, -earned], axis=1), deal, entrants=len(edges) + 1)


def test_who_surely_beats_whom_is_shown_and_of_equals_hardly_anything():
    told = crosstable(round_robin(CYCLE, 100, 0.3, 2))
    assert told.beats[:4, :4].tolist() == (CYCLE > 0).tolist()
    assert told.beats.any(axis=0).tolist() == [True] * 4 + [False]
    assert told.margin.mean[0, 1] == pytest.approx(1, abs=0.15) == -told.margin.mean[1, 0]
    even = np.zeros((6, 6))
    wrong = [crosstable(round_robin(even, 20, 1.0, seed)).beats.any() for seed in range(60)]
    assert np.mean(wrong) <= 0.15  # 5% of 60, and two standard deviations


# Places


def gaps(mean, error):
    """Differences of means whose errors are given."""
    mean = np.array(mean, float)
    found = mean[:, None] - mean
    np.fill_diagonal(found, np.nan)
    error = np.broadcast_to(np.array(error, float), found.shape)
    return Intervals(found, found, found, error, np.full(found.shape, 1e6), np.ones(found.shape))


def field(strength, deals, rng, noise=1.0):
    """All pairs at the same deals."""
    pairs = np.array([(a, b) for b in range(len(strength)) for a in range(b)])
    members = np.tile(pairs, (deals, 1))
    gap = strength[members[:, 0]] - strength[members[:, 1]] + rng.normal(0, noise, len(members))
    made = Tally.empty(2, len(strength))
    deal = np.repeat(np.arange(deals), len(pairs))
    made.add(members, deal, everywhere(np.column_stack([gap, -gap]) / 2))
    return made


def grouping(tally):
    return group(units(tally).mean, differences(tally))


class TestGrouping:
    def test_of_what_is_far_apart_is_an_order(self):
        told = group(np.array([0.0, 3, 1, 2]), gaps([0, 3, 1, 2], 0.1))
        assert told.best.tolist() == told.worst.tolist() == [4, 1, 3, 2]

    def test_of_neighbours_overlaps(self):
        # Neighbours are one standard error apart; Holm's bound for six pairs is 2.6 of them.
        told = group(np.array([4.0, 3, 2, 1]), gaps([4, 3, 2, 1], 0.8))
        assert told.best.tolist() == [1, 1, 1, 2] and told.worst.tolist() == [3, 4, 4, 4]
        assert np.argwhere(told.clear).tolist() == [[0, 3]]

    def test_of_what_cannot_be_told_apart_is_one_group(self):
        told = group(np.array([1.0, np.nan, 2]), gaps([1, np.nan, 2], 9))
        assert told.best.tolist() == [1, 0, 1] and told.worst.tolist() == [2, 0, 2]

    def test_of_nobody_and_of_one_deal(self):
        assert grouping(Tally.empty(2, 2)).worst.tolist() == [0, 0]
        told = grouping(tallied([[0, 1]], [[1, -1]]))
        assert told.worst.tolist() == [2, 2]

    @pytest.mark.compiled
    def test_places_are_wrong_in_one_of_twenty_tournaments_at_most(self):
        rng = np.random.default_rng(5)
        strength = np.array([0.0, 0.0, 0.0, 0.2, 0.5])
        true_best, true_worst = np.array([3, 3, 3, 2, 1]), np.array([5, 5, 5, 2, 1])
        wrong, narrow = [], []
        for _ in range(400):
            told = grouping(field(strength, 60, rng))
            # Of equals, any order is true.
            wrong.append(((told.best > true_best) | (told.worst < true_worst)).any())
            narrow.append(told.worst[4] == 1)
        assert np.mean(wrong) <= 0.08 and np.mean(narrow) > 0.5


# Aggregates


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
