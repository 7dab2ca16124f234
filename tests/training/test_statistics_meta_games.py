"""Alpha-rank, Nash averaging and maximal lotteries, against OpenSpiel and known answers."""

from itertools import combinations

import numpy as np
import pyspiel
import pytest
from open_spiel.python.egt import alpharank
from scipy.optimize import linprog

from kille_env.errors import KilleError
from kille_training.statistics.alpha_rank import settle, single_population
from kille_training.statistics.lotteries import levels
from kille_training.statistics.nash_averaging import (
    essential,
    max_entropy_equilibrium,
    nash_average,
    top_cycle,
)
from kille_training.statistics.stability import choice

ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
TRANSITIVE = np.array([[0.0, -1, -1], [1, 0, -1], [1, 1, 0]])
STAG_HUNT = np.array([[4.0, 1], [3, 3]])
PRISONERS = np.array([[3.0, 0], [5, 1]])
CLASSIC = {
    "rock, paper, scissors": ROCK_PAPER_SCISSORS,
    "transitive": TRANSITIVE,
    "stag hunt": STAG_HUNT,
    "prisoners": PRISONERS,
    "nothing": np.zeros((4, 4)),
}


def random_table(seed, entrants=6):
    return np.random.default_rng(seed).normal(0, 0.3, (entrants, entrants))


def antisymmetric(seed, entrants=7):
    table = random_table(seed, entrants)
    return table - table.T


class TestAlphaRank:
    @pytest.mark.parametrize("name", CLASSIC)
    @pytest.mark.parametrize(("alpha", "population"), [(0.1, 50), (1, 5), (5, 10)])
    def test_of_classic_games_is_openspiels(self, name, alpha, population):
        expected = alpharank.compute([CLASSIC[name]], m=population, alpha=alpha)[2]
        ranks = single_population(CLASSIC[name], alpha, population)
        assert ranks == pytest.approx(expected, abs=1e-8)

    @pytest.mark.parametrize("seed", range(10))
    def test_of_random_tables_is_openspiels(self, seed):
        table = random_table(seed)
        expected = alpharank.compute([table], m=20, alpha=2)[2]
        assert single_population(table, 2, 20) == pytest.approx(expected, abs=1e-8)

    def test_settles_where_openspiel_cannot_go(self):
        table = antisymmetric(5) / 1000  # payoffs of a card game are small
        ranks, alpha = settle(table)
        assert ranks == pytest.approx(single_population(table, 1000 * alpha), abs=1e-3)
        assert ranks.sum() == pytest.approx(1)
        same, _ = settle(np.zeros((3, 3)))
        assert same == pytest.approx([1 / 3] * 3)
        ranks, _ = settle(TRANSITIVE)
        assert ranks == pytest.approx([0, 0, 1])
        close = np.array([[0, 1], [1 - 1e-9, 0]])
        ranks, _ = settle(close)
        assert ranks == pytest.approx([1, 0], abs=1e-6)


def check_equilibrium(payoff, chosen):
    """A mixture against which nobody earns more than 0."""
    assert chosen.sum() == pytest.approx(1, abs=1e-12)
    assert chosen.min() >= 0
    scale = np.abs(payoff).max()
    assert (payoff @ chosen).max() <= 1e-9 * scale


class TestNashAveraging:
    @pytest.mark.parametrize("seed", range(20))
    @pytest.mark.parametrize("entrants", [3, 8, 25])
    def test_of_random_games_is_the_only_equilibrium(self, seed, entrants):
        payoff = antisymmetric(seed, entrants)
        chosen = max_entropy_equilibrium(payoff)
        check_equilibrium(payoff, chosen)
        support = np.flatnonzero(chosen)
        # Odd, and Kaplansky's equations have one solution: there is no other equilibrium.
        assert len(support) % 2 == 1
        inside = payoff[np.ix_(support, support)]
        assert np.linalg.matrix_rank(inside) == len(support) - 1
        assert inside @ chosen[support] == pytest.approx(np.zeros(len(support)), abs=1e-9)
        assert (payoff @ chosen)[chosen == 0].max(initial=-1) < 0

    @pytest.mark.parametrize(
        ("payoff", "expected"),
        [
            (TRANSITIVE, [0, 0, 1]),
            (ROCK_PAPER_SCISSORS, [1 / 3] * 3),
            (np.zeros((4, 4)), [1 / 4] * 4),
            (np.zeros((1, 1)), [1]),
            # OpenSpiel's own test: one strategy dominates
            (
                np.array(
                    [
                        [0, 234, 34, -270],
                        [-234, 0, -38, -464],
                        [-34, 38, 0, -270],
                        [270, 464, 270, 0],
                    ]
                ),
                [0, 0, 0, 1],
            ),
        ],
    )
    def test_of_known_games(self, payoff, expected):
        average = nash_average(payoff)
        assert average.chosen == pytest.approx(expected, abs=1e-9)
        assert average.rating == pytest.approx(payoff @ np.array(expected), abs=1e-6)

    @pytest.mark.parametrize("seed", range(40))
    def test_of_games_with_many_equilibria_is_the_most_even_one(self, seed):
        generator = np.random.default_rng(seed)
        count = int(generator.integers(3, 10))
        payoff = np.triu(generator.integers(-1, 2, (count, count)), 1).astype(float)
        payoff -= payoff.T
        chosen = max_entropy_equilibrium(payoff)
        check_equilibrium(payoff, chosen)

        def furthest(direction):
            """The largest value of a linear function over all equilibria."""
            return -linprog(
                -direction,
                A_ub=payoff,
                b_ub=np.zeros(count),
                A_eq=np.ones((1, count)),
                b_eq=[1],
            ).fun

        # Entropy is concave: nothing is above the tangent at the result, over all equilibria.
        played = chosen > 0
        for other in np.flatnonzero(~played):
            assert furthest(np.eye(count)[other]) == pytest.approx(0, abs=1e-7)
        slope = np.where(played, -np.log(np.where(played, chosen, 1)), 0)
        assert furthest(slope) <= slope @ chosen + 1e-6

    @pytest.mark.parametrize("seed", [161, 162])
    def test_of_a_large_game_full_of_ties_is_found(self, seed):
        # The simplex method gives up on one of these with the tolerance that is asked for first.
        generator = np.random.default_rng(seed)
        count = int(generator.integers(2, 75))
        payoff = np.triu(generator.integers(-3, 4, (count, count)), 1).astype(float)
        check_equilibrium(payoff - payoff.T, max_entropy_equilibrium(payoff - payoff.T))

    def test_shares_among_copies_and_leaves_the_others_alone(self):
        # Rock enters three times, as in the paper's example of redundant agents.
        copies = [0, 0, 0, 1, 2]
        payoff = ROCK_PAPER_SCISSORS[np.ix_(copies, copies)]
        average = nash_average(payoff)
        assert average.chosen == pytest.approx([1 / 9] * 3 + [1 / 3] * 2, abs=1e-9)
        assert average.rating == pytest.approx(np.zeros(5), abs=1e-9)

    def test_is_the_most_even_where_equilibria_are_many(self):
        # Two pairs of copies in a cycle of weights 1, 2, 3 and a strategy that is sometimes best.
        cycle = np.array([[0.0, -1, 2], [1, 0, -3], [-2, 3, 0]])
        copies = [0, 0, 1, 1, 1, 2]
        chosen = max_entropy_equilibrium(cycle[np.ix_(copies, copies)])
        assert chosen == pytest.approx([1 / 4, 1 / 4, 1 / 9, 1 / 9, 1 / 9, 1 / 6], abs=1e-9)

    def test_is_the_most_even_where_somebody_else_must_be_kept_from_earning(self):
        # Any mixture of the first three is an equilibrium among them. The fourth loses to the
        # first and wins against the second, so the first must be played as often as the second
        # at least, and twice as often if that is what it loses.
        payoff = np.zeros((4, 4))
        payoff[3, :3] = [-1, 2, 0]
        payoff[:3, 3] = -payoff[3, :3]
        chosen = max_entropy_equilibrium(payoff)
        check_equilibrium(payoff, chosen)
        # maximum of the entropy on a = 2 b: a, b, 1 - 3 b
        b = max(
            np.linspace(0.01, 0.33, 320_001),
            key=lambda b: -2 * b * np.log(2 * b) - b * np.log(b) - (1 - 3 * b) * np.log(1 - 3 * b),
        )
        assert chosen == pytest.approx([2 * b, b, 1 - 3 * b, 0], abs=2e-6)
        # Lagrange: with multipliers of the sum and of the bound, logarithms are linear in them
        logs = np.log(chosen[:3])
        assert logs[0] - logs[2] == pytest.approx(-(logs[1] - logs[2]) / 2, abs=1e-7)

    @pytest.mark.parametrize(
        ("payoff", "message"),
        [
            (STAG_HUNT, "not antisymmetric"),
            (np.array([[0, np.nan], [np.nan, 0]]), "payoff of 0 against 1 is unknown"),
            (np.zeros((0, 0)), r"shape \(0, 0\)"),
        ],
    )
    def test_refuses_what_is_no_such_game(self, payoff, message):
        with pytest.raises(KilleError, match=message):
            nash_average(payoff)

    @pytest.mark.parametrize("seed", range(5))
    def test_is_openspiels_where_its_solver_is_installed(self, seed):
        pytest.importorskip("cvxpy", reason="OpenSpiel's Nash averaging needs cvxpy")
        from open_spiel.python.algorithms.nash_averaging import nash_averaging

        payoff = antisymmetric(seed)
        expected, rating = nash_averaging(pyspiel.create_matrix_game(payoff, -payoff))
        average = nash_average(payoff)
        assert average.chosen == pytest.approx(expected.ravel(), abs=1e-6)
        assert average.rating == pytest.approx(rating.ravel(), abs=1e-6)


def majority_of(votes, count):
    majority = np.zeros((count, count))
    for vote in votes:
        for place, better in enumerate(vote):
            for worse in vote[place + 1 :]:
                majority[better, worse] += 1
                majority[worse, better] -= 1
    return majority


def score(told):
    """OpenSpiel's: how many levels lie below, plus how often each entrant is drawn."""
    return told.level.max() - told.level + told.chosen


class TestLotteries:
    def test_of_openspiels_examples(self):
        beaten = majority_of([[0, 1, 2], [0, 2, 1], [1, 0, 2]], 3)
        assert score(levels(beaten)) == pytest.approx([3, 2, 1])
        cycle = majority_of([[0, 1, 2], [1, 2, 0], [2, 0, 1]], 3)
        assert score(levels(cycle)) == pytest.approx([1 / 3] * 3)

    @pytest.mark.parametrize("seed", range(10))
    def test_is_beaten_by_nobody_and_indifferent_to_who_loses_to_all(self, seed):
        votes = [np.random.default_rng([seed, vote]).permutation(6).tolist() for vote in range(21)]
        majority = majority_of(votes, 6)
        lottery = max_entropy_equilibrium(majority)
        check_equilibrium(majority, lottery)
        with_loser = majority_of([[*vote, 6] for vote in votes], 7)
        assert max_entropy_equilibrium(with_loser) == pytest.approx([*lottery, 0], abs=1e-9)
        told = levels(with_loser)
        assert told.level[6] == told.level.max()
        for level in range(told.level.max() + 1):
            assert told.chosen[told.level == level].sum() == pytest.approx(1)

    @pytest.mark.parametrize("seed", range(5))
    def test_is_openspiels_where_its_solver_is_installed(self, seed):
        for solver in ("cvxpy", "ecos"):
            pytest.importorskip(solver, reason="OpenSpiel's linear programmes need it")
        from open_spiel.python.voting import base, maximal_lotteries

        votes = [np.random.default_rng([seed, vote]).permutation(6).tolist() for vote in range(21)]
        profile = base.PreferenceProfile(votes=votes, alternatives=list(range(6)))
        outcome = maximal_lotteries.MaximalLotteriesVoting().run_election(profile)
        expected = dict(zip(*outcome.ranking_with_scores(), strict=True))
        found = score(levels(majority_of(votes, 6)))
        assert found == pytest.approx([expected[entrant] for entrant in range(6)], abs=1e-8)


class TestStability:
    @pytest.mark.parametrize("seed", range(20))
    def test_whoever_is_outside_the_top_cycle_is_in_no_equilibrium(self, seed):
        generator = np.random.default_rng(seed)
        payoff = np.triu(generator.integers(-1, 2, (7, 7)), 1).astype(float)
        payoff -= payoff.T
        cycle = top_cycle(payoff)
        outside = np.setdiff1d(np.arange(7), cycle)
        assert (payoff[np.ix_(cycle, outside)] > 0).all()
        for size in range(1, len(cycle)):  # and no smaller set is so
            for inner in combinations(range(7), size):
                rest = np.setdiff1d(np.arange(7), inner)
                assert not (payoff[list(inner)][:, rest] > 0).all()
        # Every entrant by itself: how often can an equilibrium play it at most?
        for entrant in range(7):
            most = -linprog(
                -np.eye(7)[entrant], A_ub=payoff, b_ub=np.zeros(7), A_eq=np.ones((1, 7)), b_eq=[1]
            ).fun
            assert essential(payoff)[entrant] == (most > 1e-9)

    def test_says_how_often_other_deals_choose_others(self):
        first, second = TRANSITIVE[::-1, ::-1], TRANSITIVE
        found = choice(first, np.array([first, first, first, second]))
        assert found.share == pytest.approx([1, 0, 0])
        assert found.often == pytest.approx([3 / 4, 0, 1 / 4])
        assert found.same == 3 / 4
        cycle = choice(ROCK_PAPER_SCISSORS, np.array([ROCK_PAPER_SCISSORS, second]))
        assert cycle.often == pytest.approx([1 / 2, 1 / 2, 1])
        assert cycle.same == 1 / 2
