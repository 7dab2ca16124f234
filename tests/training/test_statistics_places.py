"""Places, worst opponents and who beats whom."""

import numpy as np
import pytest

from kille_training.statistics.crosstable import crosstable
from kille_training.statistics.places import places, worst_opponents
from reference.tallies import tallied


def finishing(orders):
    """[G, P, P] of places that are written down: the rank of each place of the lineup."""
    return np.eye(len(orders[0]))[np.array(orders)]


class TestPlaces:
    def test_are_shares_of_observations(self):
        orders = [[0, 1, 2], [1, 0, 2], [0, 2, 1], [2, 0, 1]]
        given = tallied([[0, 1, 2]] * 4, np.zeros((4, 3)), finishes=finishing(orders), entrants=4)
        told = places(given)
        assert told.mean[0] == pytest.approx([0.5, 0.25, 0.25])
        assert told.mean[2] == pytest.approx([0, 0.5, 0.5])
        assert told.count[:, 0].tolist() == [4, 4, 4, 0]
        assert np.isnan(told.mean[3]).all()

    def test_of_copies_are_their_mean(self):
        orders = finishing([[0, 1, 2], [0, 2, 1]])
        told = places(tallied([[0, 1, 0]] * 2, np.zeros((2, 3)), finishes=orders))
        assert told.mean[0] == pytest.approx([0.5, 0.25, 0.25])
        assert told.mean[1] == pytest.approx([0, 0.5, 0.5])

    def test_have_students_intervals_over_deals(self):
        orders = finishing([[0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 0, 2]])
        once = places(tallied([[0, 1, 2]] * 4, np.zeros((4, 3)), finishes=orders))
        assert once.mean[0, 1] == pytest.approx(0.25)
        half = 3.182446 * 0.5 / 2  # the quantile at 3 degrees, s.d. 1/2, four deals
        assert once.high[0, 1] == pytest.approx(0.25 + half, abs=1e-6)
        deals, orders = [0, 1, 2, 3] * 2, np.tile(orders, (2, 1, 1))
        twice = places(tallied([[0, 1, 2]] * 8, np.zeros((8, 3)), deals, orders))
        assert twice.high == pytest.approx(once.high, nan_ok=True)


def round_robin(edges, deals, noise, seed):
    """Everybody plays everybody, and earns `edges[row, column]` and some luck."""
    generator = np.random.default_rng(seed)
    members, scores, numbers = [], [], []
    for deal in range(deals):
        for one in range(len(edges)):
            for other in range(one + 1, len(edges)):
                earned = edges[one, other] + noise * generator.normal()
                members.append([one, other])
                scores.append([earned, -earned])
                numbers.append(deal)
    return tallied(members, scores, numbers, entrants=len(edges) + 1)


CYCLE = np.array(
    [[0, 0.5, -0.5, 0.3], [-0.5, 0, 0.5, 0.3], [0.5, -0.5, 0, 0.3], [-0.3, -0.3, -0.3, 0]]
)


class TestWorstOpponents:
    def test_of_a_cycle_are_found(self):
        table = crosstable(round_robin(CYCLE, 100, 0.3, 3))
        told = worst_opponents(table)
        assert told.opponent.tolist()[:3] == [2, 0, 1] and told.opponent[4] == -1
        seen = table.mean[range(4), told.opponent[:4]]
        assert seen[:3] == pytest.approx([-0.5] * 3, abs=0.1)
        assert (told.low[:4] < seen).all() and (seen < told.high[:4]).all()
        assert np.isnan(told.low[4])

    def test_the_least_of_equal_numbers_is_luck_and_its_interval_knows(self):
        # Against ten equals the worst seems to win, and by itself its interval is mostly wrong.
        even, inside, naive = np.zeros((11, 11)), [], []
        for seed in range(60):
            table = crosstable(round_robin(even, 12, 1.0, seed))
            told = worst_opponents(table)
            inside.append((told.low[:11] <= 0) & (told.high[:11] >= 0))
            naive.append(np.nanmin(table.mean[:11], axis=1))
        assert np.mean(naive) < -0.3
        assert np.mean(inside) >= 0.95

    def test_who_has_one_opponent_has_no_choice(self):
        told = worst_opponents(crosstable(tallied([[0, 1]] * 3, [[1, -1], [2, -2], [3, -3]])))
        assert told.opponent.tolist() == [1, 0]
        assert told.low[0] == pytest.approx(2 - 4.302653 / np.sqrt(3), abs=1e-5)

    def test_at_larger_tables_it_is_beside_whom_one_earns_least(self):
        # 0 loses to 1 when 2 sits there too, and wins when 3 does
        members = [[0, 1, 2]] * 3 + [[0, 1, 3]] * 3
        scores = [[-3, 2, 1], [-3, 3, 0], [-4, 3, 1], [3, -2, -1], [3, -3, 0], [4, -3, -1]]
        assert worst_opponents(crosstable(tallied(members, scores))).opponent[0] == 2


class TestBeating:
    def test_shows_who_surely_beats_whom(self):
        told = crosstable(round_robin(CYCLE, 100, 0.3, 2))
        assert told.beats[:4, :4].tolist() == (CYCLE > 0).tolist()
        assert told.beats.any(axis=0).tolist() == [True] * 4 + [False]
        assert told.margin.mean[0, 1] == pytest.approx(1, abs=0.15) == -told.margin.mean[1, 0]

    def test_of_equals_is_mostly_empty(self):
        wrong = [
            crosstable(round_robin(np.zeros((6, 6)), 20, 1.0, seed)).beats.any()
            for seed in range(60)
        ]
        assert np.mean(wrong) <= 0.15  # 5% of 60, and two standard deviations
