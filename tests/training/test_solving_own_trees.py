"""Trees of one's own: what no tree can be is refused before a kernel sees it."""

import numpy as np
import pytest

from kille_env.errors import KilleError, RulesError
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.tree import (
    CHANCE,
    TERMINAL,
    Chance,
    Decision,
    FlatTree,
    Terminal,
    flatten,
)
from kille_training.solving.trees.values import best_response, nash_conv, uniform


def pennies(players=(0, 1), heads=2.0):
    """Return matching pennies with the numbers of its players."""

    def expand(state):
        if len(state) == 2:
            won = {"hh": heads, "tt": 1.0}.get(state, -1.0)
            return Terminal((won, -won))
        return Decision(players[len(state)], "nothing", (state + "h", state + "t"))

    return expand


def tossed(*probabilities):
    """Return a coin that is tossed for two players."""

    def expand(state):
        return Terminal((1.0, -1.0)) if state else Chance(probabilities, "ht"[: len(probabilities)])

    return expand


@pytest.mark.parametrize(
    "players",
    [(-1, 0), (-2, -1), (1, 2), (0, 100), (0, 10**9), (0, "1"), (0, 1.0), (0, None), (False, True)],
)
def test_a_player_that_is_none_is_refused(players):
    with pytest.raises(KilleError, match=r"player .* decides at a state; expected 0 to 1"):
        flatten("", pennies(players), 2)


@pytest.mark.parametrize("number", [0, -1, 128, 1.5, None, True])
def test_a_number_of_players_that_no_game_has_is_refused(number):
    with pytest.raises(RulesError, match="num_players is"):
        flatten("", pennies(), number)


@pytest.mark.parametrize(
    "probabilities",
    [(-1.0, 2.0), (0.5, 0.7), (0.5, 0.4), (np.nan, 1.0), (np.inf, 0.0), (0.5, None), ("a", "b")],
)
def test_probabilities_that_are_none_are_refused(probabilities):
    with pytest.raises(KilleError, match=r"chance node are .*; expected 2 numbers from 0"):
        flatten("", tossed(*probabilities), 2)


def test_as_many_probabilities_as_states():
    with pytest.raises(KilleError, match="expected 3 numbers from 0 that sum to 1"):
        flatten("", lambda _: Chance((0.5, 0.5), ("a", "b", "c")), 2)


@pytest.mark.parametrize("payoff", [np.nan, np.inf, -np.inf, None, "much"])
def test_a_payoff_that_is_none_is_refused(payoff):
    with pytest.raises(KilleError, match="expected 2 finite numbers, one per player"):
        flatten("", lambda _: Terminal((payoff, 0.0)), 2)


def test_a_payoff_for_each_player():
    with pytest.raises(KilleError, match="expected 3 finite numbers"):
        flatten("", lambda _: Terminal((1.0, -1.0)), 3)


def test_a_game_without_an_end_is_refused():
    def circle(state):
        return Decision(0, state, (state + 1, state + 2))

    with pytest.raises(KilleError, match="has not ended after 10,000 steps"):
        flatten(0, circle, 2)


@pytest.mark.parametrize("nowhere", [Decision(0, "", ()), Chance((), ())])
def test_a_state_that_leads_nowhere_is_refused(nowhere):
    with pytest.raises(KilleError, match="has no next state; return a Terminal"):
        flatten("", lambda _: nowhere, 2)


def test_a_state_of_no_kind_is_refused():
    with pytest.raises(KilleError, match="`expand` returned None; expected a Terminal"):
        flatten("", lambda _: None, 2)


# Arrays that somebody has made or changed


NODES = {
    "players": ({"player": np.int8([0, 2])}, "players are 0 to 1"),
    "negative_player": ({"player": np.int8([-1, 0])}, "players are 0 to 1"),
    "parent_behind": ({"parent": np.int32([-1, 4, 1, 1, 0, 4, 4])}, "comes behind its parent"),
    "two_roots": ({"parent": np.int32([-1, -1, 1, 1, 0, 4, 4])}, "comes behind its parent"),
    "set": ({"infoset": np.int32([0, 9, -1, -1, 1, -1, -1])}, "infoset is a set"),
    "payoffs": ({"payoff": np.zeros((3, 2))}, "a row for each terminal node"),
    "nan": ({"payoff": np.full((4, 2), np.nan)}, "payoffs are finite"),
    "sequence": ({"sequence": np.int32([-1, 0, 2, 99, 1, 2, 3])}, "an action of the information"),
    "twice": ({"sequence": np.int32([-1, 0, 2, 2, 1, 2, 3])}, "each action leads on once"),
    "probability": ({"probability": np.full(7, 0.5)}, "probability of an action is 1"),
    "short": ({"probability": np.ones(3)}, "probability has an entry for each node"),
    "first": ({"first": np.int32([0, 2, 2])}, "each information set has an action"),
    "inner_end": ({"infoset": np.int32([TERMINAL, 0, -1, -1, 1, -1, -1])}, "terminal node"),
}


@pytest.mark.parametrize("fault", NODES)
def test_nodes_that_are_no_tree_are_refused(fault):
    changed, words = NODES[fault]
    nodes = flatten("", pennies(), 2).nodes
    assert nodes.parent.tolist() == [-1, 0, 1, 1, 0, 4, 4]
    assert nodes.infoset.tolist() == [0, 1, -1, -1, 1, -1, -1]
    for use in (FlatTree.without_nodes, FlatTree.last_sequences, FlatTree.check_recall):
        with pytest.raises(KilleError, match=words):
            use(nodes._replace(**changed))


def test_chances_of_nodes_sum_to_one():
    nodes = flatten("", tossed(0.25, 0.75), 2).nodes
    assert nodes.infoset[0] == CHANCE
    for share in ([1.0, 0.5, 0.75], [1.0, -0.5, 1.5]):
        with pytest.raises(KilleError, match="probabilities"):
            nodes._replace(probability=np.array(share)).without_nodes()


ARRAYS = {
    "players": ({"player": np.int8([0, 100])}, "players are 0 to 1"),
    "ends": ({"ends": np.full((4, 3), 10**6, dtype=np.int32)}, "ends name sequences"),
    "ends_below": ({"ends": np.full((4, 3), -2, dtype=np.int32)}, "ends name sequences"),
    "payoff_number": ({"payoff": np.zeros((1, 2))}, "ends name sequences and payoffs"),
    "nan": ({"payoff": np.full((4, 2), np.nan)}, "payoffs are finite"),
    "chance": ({"chance": np.array([-1.0, 2.0, 0.0, 0.0])}, "chances are finite"),
    "before": ({"before": np.int32([-1, 2])}, "comes behind all that lead to it"),
    "share": ({"share": np.array([1.0, 0.5])}, "sum to 1"),
    "ways": ({"ways": np.array([0, 2, 1])}, "each set has its ways"),
    "short": ({"ends": np.zeros((2, 3), dtype=np.int32)}, r"ends is \[T, P \+ 1\]"),
}


@pytest.mark.parametrize("fault", ARRAYS)
def test_a_game_whose_arrays_are_none_is_refused(fault):
    changed, words = ARRAYS[fault]
    tree = flatten("", pennies(), 2).tree
    strategy, wrong = uniform(tree), tree._replace(**changed)
    for use in (
        CFR,
        lambda game: nash_conv(game, strategy),
        lambda game: best_response(game, strategy, 0),
    ):
        with pytest.raises(KilleError, match=words):
            use(wrong)
