"""Places, worst opponents and who beats whom."""

import numpy as np
import pytest

from kille_env.errors import KilleError
from kille_training.statistics.observations import Observations
from kille_training.statistics.places import (
    dominance,
    places,
    worst_opponents,
)


def observed(members, scores, finishes=None, deal=None):
    members, scores = np.array(members, np.int32), np.array(scores, float)
    count, seats = members.shape
    if finishes is None:
        finishes = np.full((count, seats, seats), 1 / seats)
    return Observations(
        members,
        np.arange(count) if deal is None else np.array(deal),
        np.zeros(count, np.int32),
        scores - scores.mean(axis=1, keepdims=True),
        scores,
        np.asarray(finishes, np.float32),
    )


def finishing(orders):
    """[G, P, P] of places that are written down: the rank of each place of the lineup."""
    return np.eye(len(orders[0]))[np.array(orders)]


class TestPlaces:
    def test_are_shares_of_observations(self):
        orders = [[0, 1, 2], [1, 0, 2], [0, 2, 1], [2, 0, 1]]
        given = observed([[0, 1, 2]] * 4, np.zeros((4, 3)), finishing(orders))
        told = places(given, 4)
        assert told.share[0] == pytest.approx([0.5, 0.25, 0.25])
        assert told.share[2] == pytest.approx([0, 0.5, 0.5])
        assert told.finish[:3] == pytest.approx([0.75, 0.75, 1.5])
        assert told.deals.tolist() == [4, 4, 4, 0]
        assert np.isnan(told.share[3]).all() and np.isnan(told.finish[3])

    def test_of_copies_are_their_mean(self):
        given = observed([[0, 1, 0]] * 2, np.zeros((2, 3)), finishing([[0, 1, 2], [0, 2, 1]]))
        told = places(given)
        assert told.share[0] == pytest.approx([0.5, 0.25, 0.25])
        assert told.share[1] == pytest.approx([0, 0.5, 0.5])

    def test_have_students_intervals_over_deals(self):
        orders = [[0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 0, 2]]
        once = places(observed([[0, 1, 2]] * 4, np.zeros((4, 3)), finishing(orders)))
        half = 3.182446 * 0.5 / 2  # the quantile at 3 degrees, s.d. 1/2, four deals
        assert once.finish[0] == pytest.approx(0.25)
        assert once.finish_high[0] == pytest.approx(0.25 + half, abs=1e-6)
        assert once.finish_low[0] == once.low[0, 1] == 0 and once.high[0, 1] == 1  # clipped
        twice = observed([[0, 1, 2]] * 8, np.zeros((8, 3)), finishing(orders * 2), [0, 1, 2, 3] * 2)
        assert places(twice).finish_high == pytest.approx(once.finish_high)


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
    return observed(members, scores, deal=numbers)


CYCLE = np.array(
    [[0, 0.5, -0.5, 0.3], [-0.5, 0, 0.5, 0.3], [0.5, -0.5, 0, 0.3], [-0.3, -0.3, -0.3, 0]]
)


class TestWorstOpponents:
    def test_of_a_cycle_are_found(self):
        told = worst_opponents(round_robin(CYCLE, 100, 0.3, 3), 5)
        assert told.opponent.tolist()[:3] == [2, 0, 1] and told.opponent[4] == -1
        assert told.value[:3] == pytest.approx([-0.5] * 3, abs=0.1)
        assert (told.low < told.value)[:4].all() and (told.value < told.high)[:4].all()
        assert told.possible[:3].sum(axis=1).tolist() == [1, 1, 1]
        assert told.possible[3].tolist() == [True, True, True, False, False]
        assert not told.possible[4].any() and np.isnan(told.low[4])
        assert told.mean[0] == pytest.approx(0.1, abs=0.1)

    def test_the_least_of_equal_numbers_is_luck_and_its_interval_knows(self):
        # Against ten equals the worst seems to win, and by itself its interval is mostly wrong.
        even, inside, naive, kept = np.zeros((11, 11)), [], [], []
        for seed in range(60):
            told = worst_opponents(round_robin(even, 12, 1.0, seed))
            inside.append((told.low <= 0) & (told.high >= 0))
            naive.append(told.value)
            kept.append(told.possible[:, 0][1:])
        assert np.mean(naive) < -0.3
        assert np.mean(inside) >= 0.95
        assert np.mean(kept) >= 0.95

    def test_who_has_one_opponent_has_no_choice(self):
        told = worst_opponents(observed([[0, 1]] * 3, [[1, -1], [2, -2], [3, -3]]))
        assert told.opponent.tolist() == [1, 0]
        assert told.possible.tolist() == [[False, True], [True, False]]
        assert told.low[0] == pytest.approx(2 - 4.302653 / np.sqrt(3), abs=1e-5)

    def test_at_larger_tables_it_is_beside_whom_he_earns_least(self):
        # 0 loses to 1 when 2 sits there too, and wins when 3 does
        members = [[0, 1, 2]] * 3 + [[0, 1, 3]] * 3
        scores = [[-3, 2, 1], [-3, 3, 0], [-4, 3, 1], [3, -2, -1], [3, -3, 0], [4, -3, -1]]
        told = worst_opponents(observed(members, scores))
        assert told.opponent[0] == 2
        assert told.value[0] == pytest.approx(-10 / 3)
        assert not told.possible[0, 3]


class TestDominance:
    def test_shows_who_surely_beats_whom(self):
        told = dominance(round_robin(CYCLE, 100, 0.3, 2), 5)
        assert told.beats[:4, :4].tolist() == (CYCLE > 0).tolist()
        assert told.undefeated.tolist() == [False] * 4 + [True]
        assert told.margin[0, 1] == pytest.approx(1, abs=0.15) == -told.margin[1, 0]

    def test_of_equals_is_mostly_empty(self):
        wrong = [
            dominance(round_robin(np.zeros((6, 6)), 20, 1.0, seed)).beats.any()
            for seed in range(60)
        ]
        assert np.mean(wrong) <= 0.15  # 5% of 60, and two standard deviations

    def test_needs_two(self):
        with pytest.raises(KilleError, match="1 entrants cannot be compared"):
            dominance(observed([[0, 0]], [[0, 0]]))
