"""Monte Carlo CFR over games that are never written out as a tree."""

import numpy as np
import pytest

from kille_env.errors import KilleError
from kille_training.solving.trees.build import Chance, Decision, Terminal
from kille_training.solving.trees.sampling import SampledCFR
from kille_training.solving.trees.values import expected_values, nash_conv
from reference.small_games import kuhn, kuhn_rules


def on_tree(solver, game):
    """The average as a strategy [S] over the flat tree of the same game."""
    parts = []
    for number, information in enumerate(game.information):
        found = solver.average(int(game.tree.player[number]), information)
        size = int(game.tree.first[number + 1] - game.tree.first[number])
        parts.append(np.full(size, 1 / size) if found is None else found)
    return np.concatenate(parts)


@pytest.mark.parametrize(("num_players", "iterations", "near"), [(2, 4000, 0.05), (3, 3000, 0.15)])
def test_kuhn_poker_comes_near_an_equilibrium(num_players, iterations, near):
    game = kuhn(num_players)
    solver = SampledCFR(*kuhn_rules(num_players), num_players, seed=1)
    before = nash_conv(game.tree, on_tree(solver, game)).total
    solver.run(iterations)
    strategy = on_tree(solver, game)
    assert nash_conv(game.tree, strategy).total < near < before / 4
    assert solver.information_sets == game.tree.num_infosets
    if num_players == 2:
        assert expected_values(game.tree, strategy)[0] == pytest.approx(-1 / 18, abs=0.02)


def test_a_tree_that_nobody_could_write_out():
    """Two to the fortieth deals: a coin each time, and the parity of the heads is to be guessed."""

    def expand(state):
        if isinstance(state, tuple):
            tossed, heads = state
            if tossed < 40:
                return Chance((0.5, 0.5), ((tossed + 1, heads), (tossed + 1, heads + 1)))
            return Decision(0, heads % 2, (f"even {heads}", f"odd {heads}"))
        word, heads = state.split()
        right = (word == "odd") == bool(int(heads) % 2)
        return Terminal((float(right), 0.0))

    solver = SampledCFR((0, 0), expand, 2)
    solver.run(60)
    assert solver.information_sets == 2
    for parity in (0, 1):
        guess = solver.average(0, parity)
        assert guess is not None
        assert guess[parity] > 0.9


def test_the_seed_fixes_everything_and_a_pause_changes_nothing():
    first, same, other = (SampledCFR(*kuhn_rules(), 2, seed=seed) for seed in (3, 3, 4))
    first.run(50)
    same.run(20)
    same.run(30)
    other.run(50)
    game = kuhn()
    assert first.iteration == same.iteration == 50
    assert np.array_equal(on_tree(first, game), on_tree(same, game))
    assert not np.array_equal(on_tree(first, game), on_tree(other, game))


def test_what_is_impossible_never_happens():
    def expand(state):
        if state == "never":
            raise AssertionError("a draw of chance 0")
        return (
            Terminal((1.0,))
            if state == "end"
            else Chance((0.0, 1.0, 0.0), ("never", "end", "never"))
        )

    SampledCFR("begin", expand, 1).run(200)


def test_odd_games_and_seeds_are_refused():
    def expand(state):
        if state == "":
            return Chance((0.5, 0.5), ("two", "three"))
        if state in ("two", "three"):
            return Decision(0, "the same", ("end",) * (2 if state == "two" else 3))
        return Terminal((0.0,))

    with pytest.raises(KilleError, match="with the same information: 'the same'"):
        SampledCFR("", expand, 1).run(50)
    for seed in (-1, 0.5, True):
        with pytest.raises(KilleError, match="whole number from 0"):
            SampledCFR("", expand, 1, seed=seed)  # pyright: ignore[reportArgumentType]
    assert SampledCFR(*kuhn_rules(), 2).average(0, "unheard of") is None
