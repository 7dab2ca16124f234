"""Trees of one's own: what no tree can be is refused before a kernel sees it."""

import numpy as np
import pytest

from kille_env.errors import KilleError
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


def circle(state):
    return Decision(0, state, (state + "0", state + "1"))


PLAYERS = [(-1, 0), (-2, -1), (1, 2), (0, 100), (0, 10**9), (0, "1"), (0, 1.0), (0, None)]
CHANCES = [(-1.0, 2.0), (0.5, 0.7), (0.5, 0.4), (np.nan, 1.0), (np.inf, 0.0), (0.5, None)]
GROWN = [
    *(
        (pennies(players), 2, r"player .* decides at a state; expected 0 to 1")
        for players in (*PLAYERS, (False, True))
    ),
    *((pennies(), number, "num_players is") for number in (0, -1, 128, 1.5, None, True)),
    *(
        (tossed(*chances), 2, r"chance node are .*; expected 2 numbers from 0")
        for chances in (*CHANCES, ("a", "b"))
    ),
    (lambda _: Chance((0.5, 0.5), "abc"), 2, "expected 3 numbers from 0 that sum to 1"),
    *(
        (lambda _, pay=pay: Terminal((pay, 0.0)), 2, "expected 2 finite numbers, one per player")
        for pay in (np.nan, np.inf, -np.inf, None, "much")
    ),
    (lambda _: Terminal((1.0, -1.0)), 3, "expected 3 finite numbers"),
    (circle, 2, "has not ended after 10,000 steps"),
    (lambda _: Decision(0, "", ()), 2, "has no next state; return a Terminal"),
    (lambda _: Chance((), ()), 2, "has no next state; return a Terminal"),
    (lambda _: None, 2, "`expand` returned None; expected a Terminal"),
]


@pytest.mark.parametrize(("expand", "players", "words"), GROWN)
def test_what_is_no_tree_is_refused(expand, players, words):
    with pytest.raises(KilleError, match=words):
        flatten("", expand, players)


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
