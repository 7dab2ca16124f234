"""Plackett-Luce ratings against closed forms, brute force and simulation."""

from itertools import chain, permutations, product

import numpy as np
import pytest
from scipy.optimize import minimize

from kille_env.errors import KilleError
from kille_training.statistics.observations import Observations
from kille_training.statistics.plackett_luce import ELO, EXACT, _Problem, fit, log_likelihood
from kille_training.statistics.rankings import rankings
from reference.orders import rankings_of


def observed(members, scores, deal=None):
    members, scores = np.array(members, np.int32), np.array(scores, float)
    count, seats = members.shape
    return Observations(
        members,
        np.arange(count) if deal is None else np.array(deal),
        np.zeros(count, np.int32),
        scores - scores.mean(axis=1, keepdims=True),
        scores,
        np.full((count, seats, seats), 1 / seats, np.float32),
    )


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


MIXED = [
    [[0], [1], [2]],
    [[1], [0]],
    [[2, 3], [0], [1]],
    [[3], [0, 1, 2]],
    [[0, 1], [2, 3]],
    [[1, 1], [3], [0]],
    [[0], [2], [2], [3], [1]],
    [[3], [2]],
    [[2], [1, 3, 0, 0], [3]],
]


class TestMaximum:
    @pytest.mark.parametrize("prior", [0, 0.5])
    def test_small_cases_have_the_maximum_that_brute_force_finds(self, prior):
        strength = fit(rankings_of(MIXED, 4), prior=prior, bootstraps=0).strength
        assert strength == pytest.approx(brute_force(MIXED, 4, prior), abs=1e-6)

    def test_derivatives_are_those_of_the_likelihood(self):
        # A wrong second derivative would find the same maximum, only more slowly.
        generator = np.random.default_rng(6)
        many = [[[0, 1, 2, 3, 4, 5, 6, 7], [3, 1]], *MIXED]
        problem = _Problem(rankings_of(many, 8), 0.5)
        weight = generator.random(len(many))
        theta, nothing = generator.normal(size=8), np.empty((0, 0))
        curvature = np.zeros((8, 8))
        gradient = problem._derivatives(weight, theta, curvature)
        above = 1 / (1 + np.exp(-theta))
        curvature += np.diag(above * (1 - above))  # of the prior
        for player, step in enumerate(np.eye(8) * 1e-5):
            ahead, behind = theta + step, theta - step
            rise = problem.value(weight, ahead) - problem.value(weight, behind)
            assert gradient[player] == pytest.approx(rise / 2e-5, abs=1e-7)
            bend = problem._derivatives(weight, behind, nothing)
            bend -= problem._derivatives(weight, ahead, nothing)
            assert curvature[player] == pytest.approx(bend / 2e-5, abs=1e-7)

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
        ratings = fit(rankings_of(orders, 2), prior=0, bootstraps=0)
        assert ratings.finishes_above()[0, 1] == pytest.approx((17 + 2) / 26)
        assert ratings.elo[0] - ratings.elo[1] == pytest.approx(400 * np.log10(19 / 7))

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
        strength = fit(rankings_of(orders, 3), prior=0, bootstraps=0).strength
        assert np.exp(strength - strength[0]) == pytest.approx([1, 2, 3])

    def test_the_order_of_tables_and_of_who_ties_changes_nothing(self):
        one = fit(rankings_of(MIXED, 4), bootstraps=0).strength
        mirrored = [[group[::-1] for group in groups] for groups in MIXED[::-1]]
        assert fit(rankings_of(mirrored, 4), bootstraps=0).strength == pytest.approx(one)

    def test_a_winner_of_everything_stays_finite_by_the_prior_and_is_refused_without(self):
        orders = [[[0], [1], [2]], [[0], [2], [1]]] * 10
        strength = fit(rankings_of(orders, 3), bootstraps=0).strength
        assert 1 < strength[0] - strength[1] < 10
        assert strength[1] == pytest.approx(strength[2])
        with pytest.raises(KilleError, match=r"entrants 0 and the others.*prior=0\.5"):
            fit(rankings_of(orders, 3), prior=0, bootstraps=0)

    def test_draws_without_a_maximum_are_refused_too_when_there_is_no_prior(self):
        # Whoever draws neither of the two deals that 0 lost has nothing that holds it.
        orders = [[[0], [1]]] * 8 + [[[1], [0]]] * 2
        assert np.isfinite(fit(rankings_of(orders, 2)).draws).all()
        with pytest.raises(KilleError, match="strengths grow without end"):
            fit(rankings_of(orders, 2), prior=0)

    def test_who_is_in_no_deal_of_a_draw_stays_where_he_is_without_a_prior(self):
        orders = [[[0], [1]], [[1], [0]]] * 100 + [[[2], [1]], [[1], [2]]]
        both = rankings_of(orders, 4, [*range(200), 200, 200])
        draws = fit(both, prior=0, bootstraps=20).draws
        assert np.isfinite(draws[:, :3]).all() and np.isnan(draws[:, 3]).all()

    def test_copies_alone_say_nothing_and_copies_beside_others_do(self):
        orders = [[[0], [1]]] * 3 + [[[1], [0]]] * 2
        plain = fit(rankings_of(orders, 2), bootstraps=0).strength
        alone = fit(rankings_of([*orders, [[0], [0], [0]]], 2), bootstraps=0).strength
        beside = fit(rankings_of([*orders, [[0], [0], [1]]], 2), bootstraps=0).strength
        assert alone == pytest.approx(plain)
        assert beside[0] > plain[0] + 0.05

    def test_who_never_sat_has_no_rating_and_islands_are_told_apart(self):
        orders = [[[0], [1]], [[1], [0]], [[3], [4]], [[3], [4]]]
        ratings = fit(rankings_of(orders, 5), bootstraps=5)
        assert np.isnan(ratings.strength).tolist() == [False, False, True, False, False]
        assert np.nansum(ratings.strength) == pytest.approx(0)
        assert ratings.tables.tolist() == [2, 2, 0, 2, 2]
        same = ratings.island[:, None] == ratings.island
        assert same[0, 1] and same[3, 4] and not same[0, 3] and not same[2].sum() > 1
        assert np.isnan(ratings.rated_above()[2]).all()
        assert np.isnan(ratings.interval()[0]).tolist() == [False, False, True, False, False]


class TestTies:
    @pytest.mark.parametrize(
        "groups",
        [[[0, 1]], [[0, 1, 2]], [[3], [0, 1, 2], [4]], [[0, 1, 2, 3, 4], [5]], [[0, 1], [2, 2]]],
    )
    def test_are_the_mean_over_all_lots(self, groups):
        strength = np.array([0.3, -1.2, 0.8, 2.0, -0.1, 0.5])
        expected = lot_likelihood(groups, strength)
        assert log_likelihood(rankings_of([groups], 6), strength) == pytest.approx([expected])

    @pytest.mark.parametrize("tied", [EXACT + 1, 9, 12, 20])
    def test_of_many_are_close_to_the_mean_over_lots_that_are_drawn(self, tied):
        generator = np.random.default_rng(tied)
        strength = generator.normal(0, 0.7, tied)
        groups = [list(range(tied))]
        lots = [strict_likelihood(generator.permutation(tied), strength) for _ in range(8_000)]
        error = np.std(lots) / np.sqrt(len(lots))
        told = log_likelihood(rankings_of([groups], tied), strength)
        assert told == pytest.approx([np.mean(lots)], abs=0.02 + 4 * error)

    def test_scores_that_differ_by_rounding_tie(self):
        made = rankings(observed([[1, 0, 2]], [[0.1 + 0.2, 0.3, -0.6]]), 3)
        assert made.rank.tolist() == [0, 0, 2]
        assert made.players.tolist() == [0, 1, 2]  # by number, not by rounding

    def test_of_everybody_pull_together(self):
        orders = [[[0], [1], [2]], [[0], [2], [1]]] * 5
        apart = fit(rankings_of(orders, 3), bootstraps=0).strength
        together = fit(rankings_of(orders + [[[0, 1, 2]]] * 10, 3), bootstraps=0).strength
        assert together[0] < apart[0] - 0.5


class TestRankings:
    def test_of_several_sizes_come_by_deal_and_cluster_by_size_and_deal(self):
        two = observed([[0, 1], [1, 2], [2, 0]], [[1, -1], [-1, 1], [0, 0]], deal=[5, 5, 0])
        three = observed([[0, 1, 2], [1, 1, 0]], [[-1, 2, -1], [0, 1, -1]], deal=[5, 3])
        made = rankings({3: three, 2: two}, 4)
        assert made.sizes.tolist() == [2, 3, 2, 2, 3]
        assert made.players.tolist() == [0, 2, 1, 1, 0, 0, 1, 2, 1, 1, 0, 2]
        assert made.rank.tolist() == [0, 0, 0, 1, 2, 0, 1, 0, 1, 0, 1, 1]
        assert len(set(made.cluster)) == 4 and made.cluster[2] == made.cluster[3]
        assert made.tables().tolist() == [4, 4, 3, 0]  # copies are at one table
        part = made.take(np.array([4, 2]))
        assert part.players.tolist() == [1, 0, 2, 0, 1] and part.num_clusters == 2

    def test_refuse_what_cannot_be(self):
        with pytest.raises(KilleError, match="no observations"):
            rankings({}, 3)
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

    def test_are_taken(self):
        both = observed([[0, 1], [2, 3]], [[1, -1], [0, 0]])
        assert len(both) == 2 and both.entrants == 4 and both.seats == 2
        assert both.take(np.array([1])).members.tolist() == [[2, 3]]


def simulate(strength, deals, lineups, seats, generator):
    """Tables with a luck of their own and one that all tables of a deal share."""
    count = deals * lineups
    members = np.argsort(generator.random((count, len(strength))), axis=1)[:, :seats]
    scores = strength[members] + generator.gumbel(size=(count, seats))
    return observed(members, scores, np.repeat(np.arange(deals), lineups))


class TestBootstrap:
    def test_intervals_hold_the_truth_as_often_as_they_say(self):
        truth = np.array([-0.6, -0.2, 0.0, 0.8])
        generator = np.random.default_rng(11)
        held = []
        for seed in range(50):
            tables = rankings(simulate(truth, 60, 1, 3, generator), 4)
            low, high = fit(tables, prior=0.1, bootstraps=100, seed=seed).interval()
            held.append((low <= truth) & (truth <= high))
        # 200 intervals: their share has a standard deviation of about 0.015
        assert 0.90 <= np.mean(held) <= 0.99

    def test_deals_are_drawn_and_not_tables(self):
        generator = np.random.default_rng(2)
        once = simulate(np.zeros(3), 100, 1, 3, generator)
        copies = once.take(np.tile(np.arange(len(once)), 4))
        apart = observed(copies.members, copies.scores)
        spread = [
            fit(rankings(given, 3), prior=0, bootstraps=200).draws.std(axis=0).mean()
            for given in (once, copies, apart)
        ]
        assert spread[1] == pytest.approx(spread[0], rel=1e-4)  # four times the same says no more
        assert spread[2] == pytest.approx(spread[0] / 2, rel=0.15)

    def test_the_same_seed_gives_the_same_bytes(self):
        tables = rankings(simulate(np.zeros(4), 30, 2, 3, np.random.default_rng(5)), 4)
        first, second, other = (fit(tables, bootstraps=10, seed=seed).draws for seed in (1, 1, 2))
        assert first.tobytes() == second.tobytes() != other.tobytes()

    def test_draws_are_what_a_fit_to_the_drawn_tables_gives(self):
        tables = rankings(
            simulate(np.array([1.0, 0, 0, -1]), 25, 2, 3, np.random.default_rng(8)), 4
        )
        draws = fit(tables, bootstraps=3, seed=4).draws
        generator = np.random.default_rng(4)
        for draw in draws:
            chosen = generator.integers(25, size=25)
            copied = np.concatenate([np.flatnonzero(tables.cluster == deal) for deal in chosen])
            assert draw == pytest.approx(fit(tables.take(copied), bootstraps=0).strength, abs=1e-5)

    def test_sureness_grows_with_the_deals_and_the_probability_does_not(self):
        truth = np.array([0.3, -0.3])
        few, many = (
            fit(rankings(simulate(truth, deals, 1, 2, np.random.default_rng(1)), 2))
            for deals in (30, 3000)
        )
        assert many.rated_above()[0, 1] == 1 > few.rated_above()[0, 1] > 0.5
        assert many.finishes_above()[0, 1] == pytest.approx(1 / (1 + np.exp(-0.6)), abs=0.03)
        assert many.rated_above()[1, 1] == many.finishes_above()[1, 1] == 0.5
        assert pytest.approx(173.7178, abs=1e-4) == ELO

    def test_without_draws_there_is_no_interval(self):
        ratings = fit(rankings_of(MIXED, 4), bootstraps=0)
        for asked in (ratings.interval, ratings.rated_above):
            with pytest.raises(KilleError, match="without draws"):
                asked()
