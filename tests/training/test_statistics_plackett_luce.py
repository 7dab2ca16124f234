"""Plackett-Luce ratings against closed forms, brute force and simulation."""

from itertools import chain, permutations, product

import numpy as np
import pytest
from scipy.optimize import minimize

from kille_env.errors import KilleError
from kille_training.statistics.observations import Observations
from kille_training.statistics.plackett_luce import ELO, EXACT, _Problem, fit
from kille_training.statistics.rankings import rankings
from reference.orders import observed, rankings_of


def strict_likelihood(order, strength):
    """log P(order), written down as the model is told."""
    theta = np.asarray(strength)[list(order)]
    return sum(theta[k] - np.log(np.exp(theta[k:]).sum()) for k in range(len(theta)))


def lot_likelihood(groups, strength):
    """Mean over all orders that breaking the ties by lot could give."""
    orders = [list(chain(*order)) for order in product(*map(permutations, groups))]
    return np.mean([strict_likelihood(order, strength) for order in orders])


def brute_force(orders, entrants, prior):
    def loss(theta):
        told = sum(lot_likelihood(groups, theta) for groups in orders)
        pulled = -np.logaddexp(0, theta) - np.logaddexp(0, -theta)
        return -told - prior * pulled.sum()

    theta = minimize(loss, np.zeros(entrants), method="BFGS", options={"gtol": 1e-9}).x
    return theta - theta.mean()


def slope(likelihood, strength):
    """The gradient of a function, from differences."""
    steps = np.eye(len(strength)) * 1e-5
    rises = [likelihood(strength + step) - likelihood(strength - step) for step in steps]
    return np.array(rises) / 2e-5


def gradient_of(tables, strength):
    """The gradient that is climbed, without the prior's part."""
    prior = 1e-12
    return _Problem(tables, prior).gradient(np.ones(len(tables)), strength)


MIXED = [
    [[0], [1], [2], [3]],
    [[1], [0], [3], [2]],
    [[2, 3], [0], [1]],
    [[3], [0, 1, 2]],
    [[0, 1], [2, 3]],
    [[1, 1], [3], [0]],
    [[0], [2], [2], [1]],
    [[2], [1, 0, 0]],
]
LITTLE = 1e-9
"""A prior that leaves the maximum of the likelihood where it is."""


class TestMaximum:
    @pytest.mark.parametrize("prior", [LITTLE, 0.5])
    def test_small_cases_have_the_maximum_that_brute_force_finds(self, prior):
        strength = fit(rankings_of(MIXED, 4), prior=prior, bootstraps=0).strength
        assert strength == pytest.approx(brute_force(MIXED, 4, prior), abs=1e-6)

    def test_derivatives_are_those_of_the_likelihood(self):
        # A wrong second derivative would find the same maximum, only more slowly.
        generator = np.random.default_rng(6)
        problem = _Problem(rankings_of(MIXED, 5), 0.5)
        weight, theta = generator.random(len(MIXED)), generator.normal(size=5)

        def value(theta):
            told = [lot_likelihood(groups, theta) for groups in MIXED]
            pulled = -np.logaddexp(0, theta) - np.logaddexp(0, -theta)
            return weight @ told + 0.5 * pulled.sum()

        curvature = np.zeros((5, 5))
        gradient = problem.derivatives(weight, theta, curvature)
        assert gradient == pytest.approx(slope(value, theta), abs=1e-7)
        bend = slope(lambda theta: problem.gradient(weight, theta), theta)
        assert curvature == pytest.approx(-bend, abs=1e-7)

    def test_is_found_from_far_away(self):
        # There the likelihood hardly bends, and a whole step of Newton's leads nowhere.
        tables = rankings_of([[[0], [1]]] * 3 + [[[1], [0]]] * 2, 2)
        found = _Problem(tables, 0.5).climb(np.ones(5), np.array([12.0, -12.0]), 1e-9)
        expected = fit(tables, bootstraps=0).strength
        assert found - found.mean() == pytest.approx(expected, abs=1e-7)

    def test_draws_far_from_the_maximum_are_found_too(self):
        # With almost no prior, some draws without a defeat lie at 7 and others at 0.
        tables = rankings_of([[[0], [1]]] * 9 + [[[1], [0]]] * 2, 2)
        draws = fit(tables, prior=0.01, bootstraps=50, seed=1).draws
        generator = np.random.default_rng(1)
        for draw in draws:
            chosen = generator.integers(11, size=11)
            refit = fit(tables.take(chosen), prior=0.01, bootstraps=0).strength
            assert draw == pytest.approx(refit, abs=1e-5)

    def test_two_players_without_a_prior_have_the_closed_form(self):
        orders = [[[0], [1]]] * 17 + [[[1], [0]]] * 5 + [[[0, 1]]] * 4
        ratings = fit(rankings_of(orders, 2), prior=LITTLE, bootstraps=0)
        assert ratings.elo[0] - ratings.elo[1] == pytest.approx(400 * np.log10(19 / 7))
        assert pytest.approx(173.7178, abs=1e-4) == ELO

    def test_of_three_players_those_counts_come_back_that_the_model_expects(self):
        # 60 tables as the strengths 1, 2 and 3 would have them on average
        counts = {
            (2, 1, 0): 20,
            (2, 0, 1): 10,
            (1, 2, 0): 15,
            (1, 0, 2): 5,
            (0, 2, 1): 6,
            (0, 1, 2): 4,
        }
        orders = [[[p] for p in order] for order, many in counts.items() for _ in range(many)]
        strength = fit(rankings_of(orders, 3), prior=LITTLE, bootstraps=0).strength
        assert np.exp(strength - strength[0]) == pytest.approx([1, 2, 3])

    def test_the_order_of_tables_and_of_who_ties_changes_nothing(self):
        one = fit(rankings_of(MIXED, 4), bootstraps=0).strength
        mirrored = [[group[::-1] for group in groups] for groups in MIXED[::-1]]
        assert fit(rankings_of(mirrored, 4), bootstraps=0).strength == pytest.approx(one)

    def test_a_winner_of_everything_stays_finite_by_the_prior(self):
        orders = [[[0], [1], [2]], [[0], [2], [1]]] * 10
        strength = fit(rankings_of(orders, 3), bootstraps=0).strength
        assert 1 < strength[0] - strength[1] < 10
        assert strength[1] == pytest.approx(strength[2])
        with pytest.raises(KilleError, match="a prior of 0 tables"):
            fit(rankings_of(orders, 3), prior=0)

    def test_a_winner_of_nearly_everything_has_finite_draws(self):
        # Who draws neither of the two deals that 0 lost is held by the prior alone.
        orders = [[[0], [1]]] * 8 + [[[1], [0]]] * 2
        assert np.isfinite(fit(rankings_of(orders, 2)).draws).all()

    def test_copies_alone_say_nothing_and_copies_beside_others_do(self):
        orders = [[[0], [1], [2]]] * 3 + [[[1], [0], [2]]] * 2
        plain = fit(rankings_of(orders, 3), bootstraps=0).strength
        alone = fit(rankings_of([*orders, [[0], [0], [0]]], 3), bootstraps=0).strength
        beside = fit(rankings_of([*orders, [[0], [0], [1]]], 3), bootstraps=0).strength
        assert alone == pytest.approx(plain)
        assert beside[0] > plain[0] + 0.05

    def test_who_never_sat_has_no_rating(self):
        orders = [[[0], [1]], [[1], [0]], [[3], [4]], [[3], [4]]]
        ratings = fit(rankings_of(orders, 5), bootstraps=5)
        assert np.isnan(ratings.strength).tolist() == [False, False, True, False, False]
        assert np.nansum(ratings.strength) == pytest.approx(0)
        assert np.isnan(ratings.interval()[0]).tolist() == [False, False, True, False, False]


class TestTies:
    @pytest.mark.parametrize(
        "groups",
        [[[0, 1]], [[0, 1, 2]], [[3], [0, 1, 2], [4]], [[0, 1, 2, 3, 4], [5]], [[0, 1], [2, 2]]],
    )
    def test_are_the_mean_over_all_lots(self, groups):
        strength = np.array([0.3, -1.2, 0.8, 2.0, -0.1, 0.5])
        expected = slope(lambda at: lot_likelihood(groups, at), strength)
        found = gradient_of(rankings_of([groups], 6), strength)
        assert found == pytest.approx(expected, abs=1e-7)

    @pytest.mark.parametrize("tied", [EXACT + 1, 9, 12, 20])
    def test_of_many_are_close_to_the_mean_over_lots_that_are_drawn(self, tied):
        generator = np.random.default_rng(tied)
        strength = generator.normal(0, 0.7, tied)
        everybody = [list(range(tied))]
        lots = [[[one] for one in generator.permutation(tied)] for _ in range(8_000)]
        expected = gradient_of(rankings_of(lots, tied), strength) / len(lots)
        found = gradient_of(rankings_of([everybody], tied), strength)
        assert found == pytest.approx(expected, abs=0.12)  # of entries up to 1.2

    def test_scores_that_differ_by_rounding_tie(self):
        made = rankings(observed([[1, 0, 2]], [[0.1 + 0.2, 0.3, -0.6]]), 3)
        assert made.rank.tolist() == [[0, 0, 2]]
        assert made.players.tolist() == [[0, 1, 2]]  # by number, not by rounding

    def test_of_everybody_pull_together(self):
        orders = [[[0], [1], [2]], [[0], [2], [1]]] * 5
        apart = fit(rankings_of(orders, 3), bootstraps=0).strength
        together = fit(rankings_of(orders + [[[0, 1, 2]]] * 10, 3), bootstraps=0).strength
        assert together[0] < apart[0] - 0.5


class TestRankings:
    def test_come_by_deal_and_are_clusters_by_deal(self):
        told = observed([[0, 1], [1, 2], [2, 0]], [[1, -1], [-1, 1], [0, 0]], deal=[5, 5, 0])
        made = rankings(told, 4)
        assert made.players.tolist() == [[0, 2], [0, 1], [2, 1]]
        assert made.rank.tolist() == [[0, 0], [0, 1], [0, 1]]
        assert made.cluster.tolist() == [0, 1, 1]
        part = made.take(np.array([2, 1]))
        assert part.players.tolist() == [[2, 1], [0, 1]] and part.num_clusters == 1

    def test_refuse_what_cannot_be(self):
        with pytest.raises(KilleError, match="no observations"):
            rankings(observed(np.zeros((0, 2)), np.zeros((0, 2))), 3)
        with pytest.raises(KilleError, match="entrant 5 sat"):
            rankings(observed([[5, 1]], [[0, 0]]), 5)


class TestObservations:
    def test_that_do_not_fit_together_are_refused(self):
        one = observed([[0, 1]], [[1, -1]])
        parts = (one.members, one.deal, one.lineup, one.scores, one.earned)
        with pytest.raises(KilleError, match=r"scores of observations has shape \(2, 2\)"):
            Observations(*parts[:3], np.zeros((2, 2)), one.earned, one.finishes)
        with pytest.raises(KilleError, match="do not sum to 1"):
            Observations(*parts, np.eye(2, dtype=np.float32)[None] * 0.9)
        with pytest.raises(KilleError, match=r"earned .* not finite"):
            Observations(*parts[:4], np.full((1, 2), np.nan), one.finishes)
        with pytest.raises(KilleError, match=r"members .* counted from 0"):
            Observations(one.members - 1, *parts[1:], one.finishes)


def simulate(strength, deals, lineups, seats, generator):
    """Tables with a luck of their own and one that all tables of a deal share."""
    count = deals * lineups
    members = np.argsort(generator.random((count, len(strength))), axis=1)[:, :seats]
    scores = strength[members] + generator.gumbel(size=(count, seats))
    return members, scores, np.repeat(np.arange(deals), lineups)


def simulated(strength, deals, lineups, seats, generator):
    """The rankings of such tables."""
    return rankings(observed(*simulate(strength, deals, lineups, seats, generator)), len(strength))


class TestBootstrap:
    def test_intervals_hold_the_truth_as_often_as_they_say(self):
        truth = np.array([-0.6, -0.2, 0.0, 0.8])
        generator = np.random.default_rng(11)
        held = []
        for seed in range(50):
            tables = simulated(truth, 60, 1, 3, generator)
            low, high = fit(tables, prior=0.1, bootstraps=100, seed=seed).interval()
            held.append((low <= truth) & (truth <= high))
        # 200 intervals: their share has a standard deviation of about 0.015
        assert 0.90 <= np.mean(held) <= 0.99

    def test_deals_are_drawn_and_not_tables(self):
        generator = np.random.default_rng(2)
        members, scores, deal = simulate(np.zeros(3), 100, 1, 3, generator)
        members4, scores4 = np.tile(members, (4, 1)), np.tile(scores, (4, 1))
        spread = [
            fit(rankings(given, 3), prior=1e-3, bootstraps=200).draws.std(axis=0).mean()
            for given in (
                observed(members, scores, deal),
                observed(members4, scores4, np.tile(deal, 4)),
                observed(members4, scores4),
            )
        ]
        assert spread[1] == pytest.approx(spread[0], rel=1e-4)  # four times the same says no more
        assert spread[2] == pytest.approx(spread[0] / 2, rel=0.15)

    def test_the_same_seed_gives_the_same_bytes(self):
        tables = simulated(np.zeros(4), 30, 2, 3, np.random.default_rng(5))
        first, second, other = (fit(tables, bootstraps=10, seed=seed).draws for seed in (1, 1, 2))
        assert first.tobytes() == second.tobytes() != other.tobytes()

    def test_draws_are_what_a_fit_to_the_drawn_tables_gives(self):
        truth = np.array([1.0, 0, 0, -1])
        tables = simulated(truth, 25, 2, 3, np.random.default_rng(8))
        draws = fit(tables, bootstraps=3, seed=4).draws
        generator = np.random.default_rng(4)
        for draw in draws:
            chosen = generator.integers(25, size=25)
            copied = np.concatenate([np.flatnonzero(tables.cluster == deal) for deal in chosen])
            assert draw == pytest.approx(fit(tables.take(copied), bootstraps=0).strength, abs=1e-5)

    def test_without_draws_there_is_no_interval(self):
        with pytest.raises(KilleError, match="without draws"):
            fit(rankings_of(MIXED, 4), bootstraps=0).interval()
