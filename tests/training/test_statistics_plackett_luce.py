"""Plackett-Luce ratings against closed forms, brute force and simulation."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kille_env.errors import KilleError
from kille_training.statistics.plackett_luce import ELO, fit
from kille_training.statistics.tally import Tally
from reference.tallies import everywhere, tallied

LITTLE = 1e-9
"""A prior that leaves the maximum of the likelihood where it is."""

MIXED = [[0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 0, 1], [3, 0, 2, 1], [0, 2, 1, 3], [2, 1, 0, 3]]


def ordered(orders, entrants=None, deal=None):
    """A tally of tables that finished in these orders, the best first."""
    members = np.array(orders)
    scores = np.tile(np.arange(members.shape[1])[::-1], (len(members), 1))
    return tallied(members, scores, deal, entrants=entrants)


def brute_force(orders, entrants, prior):
    """Maximises the likelihood of all pairs of the orders by a general method."""
    pairs = [(order[a], order[b]) for order in orders for b in range(len(order)) for a in range(b)]

    def loss(theta):
        pulled = np.logaddexp(0, theta) + np.logaddexp(0, -theta)
        return sum(np.logaddexp(0, theta[b] - theta[a]) for a, b in pairs) + prior * pulled.sum()

    theta = minimize(loss, np.zeros(entrants), method="BFGS", options={"gtol": 1e-9}).x
    return theta - theta.mean()


def simulated(strength, deals, lineups, seats, rng):
    """Tables of which each deal has several, whose winners are drawn as the model says."""
    count = deals * lineups
    members = np.argsort(rng.random((count, len(strength))), axis=1)[:, :seats]
    scores = strength[members] + rng.gumbel(size=members.shape)
    made = Tally.empty(seats, len(strength))
    made.add(members, np.repeat(np.arange(deals), lineups), everywhere(scores))
    return made


class TestMaximum:
    @pytest.mark.parametrize("prior", [1e-3, 0.5])
    def test_is_the_one_that_brute_force_finds(self, prior):
        strength = fit(ordered(MIXED), prior=prior).strength
        assert strength == pytest.approx(brute_force(MIXED, 4, prior), abs=1e-6)

    def test_of_two_players_has_the_closed_form_with_ties_as_half_wins(self):
        scores = [[1, -1]] * 17 + [[-1, 1]] * 5 + [[0, 0]] * 4
        ratings = fit(tallied([[0, 1]] * 26, scores), prior=LITTLE)
        assert ratings.elo[0] - ratings.elo[1] == pytest.approx(400 * np.log10(19 / 7))
        assert pytest.approx(173.7178, abs=1e-4) == ELO

    def test_of_three_players_gives_back_the_counts_that_the_model_expects(self):
        # 60 tables as the strengths 1, 2 and 3 would have them on average
        counts = {
            (2, 1, 0): 20,
            (2, 0, 1): 10,
            (1, 2, 0): 15,
            (1, 0, 2): 5,
            (0, 2, 1): 6,
            (0, 1, 2): 4,
        }
        orders = [order for order, many in counts.items() for _ in range(many)]
        strength = fit(ordered(orders), prior=LITTLE).strength
        assert np.exp(strength - strength[0]) == pytest.approx([1, 2, 3])

    def test_a_winner_of_everything_stays_finite_and_has_no_interval(self):
        ratings = fit(ordered([[0, 1, 2], [0, 2, 1]] * 10, entrants=4))
        assert 1 < ratings.strength[0] - ratings.strength[1] < 10
        assert ratings.strength[1] == pytest.approx(ratings.strength[2])
        assert np.isnan(ratings.low).tolist() == [True, False, False, True]
        assert np.isnan(ratings.strength).tolist() == [False, False, False, True]

    def test_groups_that_never_lose_to_another_have_no_interval(self):
        # 0 and 1 beat each other and always beat 2, 3 and 4, who beat each other in a circle.
        orders = [[0, 1], [1, 0], [2, 3], [3, 4], [4, 2], [0, 2], [1, 4]] * 5
        assert np.isnan(fit(ordered(orders)).low).tolist() == [True, True, False, False, False]
        upset = fit(ordered([*orders, [2, 1]]))
        assert np.isfinite(upset.low).all()
        even = fit(ordered([[0, 1], [1, 0], [2, 3], [3, 2], [1, 2]] * 5))
        assert np.isnan(even.low).sum() == 2
        assert np.isnan(fit(ordered([[0, 1]] * 5)).low).all()

    def test_copies_compare_as_one(self):
        plain = fit(tallied([[0, 1], [1, 0], [0, 1]], [[1, -1]] * 3)).strength
        copied = fit(tallied([[0, 1, 1], [1, 0, 0], [0, 0, 1]], [[2, -1, -1]] * 2 + [[1, 3, -4]]))
        assert copied.strength == pytest.approx(plain)

    def test_impossible_questions_are_refused(self):
        with pytest.raises(KilleError, match="prior is 0"):
            fit(ordered(MIXED), prior=0)
        with pytest.raises(KilleError, match="no two entrants met"):
            fit(Tally.empty(2, 3))


@pytest.mark.compiled
class TestConsistency:
    @pytest.mark.parametrize("seats", [2, 3, 5])
    def test_strengths_of_the_model_are_found(self, seats):
        truth = np.array([-1.2, -0.5, 0.0, 0.2, 0.5, 1.0])
        made = simulated(truth, 40_000, 1, seats, np.random.default_rng(seats))
        assert fit(made).strength == pytest.approx(truth, abs=0.05)


class TestIntervals:
    @pytest.mark.compiled
    @pytest.mark.parametrize("seats", [2, 4])
    def test_hold_the_truth_as_often_as_they_say(self, seats):
        truth = np.array([-0.8, -0.2, 0.0, 0.1, 0.9])
        rng = np.random.default_rng(11)
        held = []
        for _ in range(400):
            found = fit(simulated(truth, 200, 2, seats, rng), prior=1e-3)
            held.append((found.low <= truth) & (truth <= found.high))
        # 2,000 intervals: their share has a standard deviation of about 0.005
        assert 0.935 <= np.mean(held) <= 0.965

    def test_know_that_tables_of_a_deal_depend_on_each_other(self):
        rng = np.random.default_rng(2)
        members = np.argsort(rng.random((100, 3)), axis=1)
        scores, deal = rng.gumbel(size=members.shape), np.arange(100)
        four = np.tile(members, (4, 1)), np.tile(scores, (4, 1))
        once = fit(tallied(members, scores, deal), prior=LITTLE).error
        same = fit(tallied(*four, np.tile(deal, 4)), prior=LITTLE).error
        apart = fit(tallied(*four, np.arange(400) % 256), prior=LITTLE).error
        assert same == pytest.approx(once)  # four times the same says no more
        assert (apart < 0.8 * once).all()

    def test_one_deal_has_none(self):
        found = fit(ordered(MIXED, deal=[0] * len(MIXED)))
        assert np.isfinite(found.strength).all() and np.isnan(found.low).all()

    @pytest.mark.parametrize("rate", [0.0003, 0.001, 0.01])
    def test_hold_the_truth_where_two_players_seldom_differ(self, rate):
        """Without the floor half of them or fewer would: 200 to 1,000 deals show no difference."""
        rng, share = np.random.default_rng(1), 0.5 + rate / 2
        truth, held = np.log(share / (1 - share)) / 2, []
        for deals in (200, 1000) * 15:
            gap = (rng.random(deals) < rate).astype(float)
            made = tallied([[0, 1]] * deals, np.stack([gap, -gap], axis=1))
            ratings = fit(made, deals=deals)
            held.append(ratings.low[0] <= truth <= ratings.high[0])
        assert np.mean(held) >= 0.93

    def test_are_the_same_with_a_floor_where_differences_are_frequent(self):
        rng = np.random.default_rng(4)
        members = np.argsort(rng.random((300, 4)), axis=1)[:, :3]
        made = tallied(members, rng.gumbel(size=members.shape))
        plain, floored = fit(made), fit(made, deals=300)
        assert plain.low.tobytes() == floored.low.tobytes()
