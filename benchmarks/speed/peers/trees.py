"""This suite's solvers at OpenSpiel's own Leduc poker."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pyspiel

from kille_training.solving.trees.build import Chance, Decision, Terminal, flatten
from kille_training.solving.trees.cfr import CFR as Solver
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import nash_conv, uniform
from speed.peers.work import CFR, CFR_PLUS, NASH_CONV, Play, Work, clocked

DISTRIBUTION = "kille-env"


def expand(state: Any) -> Terminal | Chance | Decision:
    """Returns who decides at one of OpenSpiel's states, and the states that can follow."""
    if state.is_terminal():
        return Terminal(state.returns())
    if state.is_chance_node():
        actions, chances = zip(*state.chance_outcomes(), strict=True)
        return Chance(chances, [state.child(action) for action in actions])
    actions = tuple(state.legal_actions())
    known = (state.information_state_string(), actions)
    return Decision(state.current_player(), known, [state.child(action) for action in actions])


@cache
def _leduc() -> FlatTree:
    return flatten(pyspiel.load_game("leduc_poker").new_initial_state(), expand, 2).tree


def _repeated(count: int, work: Callable[[], object]) -> Play:
    work()  # compiled before it is timed

    def play() -> int:
        for _ in range(count):
            work()
        return count

    return clocked(play)


def _iterate(method: str) -> Play:
    solver = Solver(_leduc(), method)

    def play() -> int:
        solver.run(1000)
        return 1000

    play()
    return clocked(play)


def _nash_conv() -> Play:
    tree = _leduc()
    return _repeated(20, lambda: nash_conv(tree, uniform(tree)))


SOLVES = "both players' updates; not growing the tree"
WORKS = (
    Work(CFR, "Leduc, CFR", SOLVES, partial(_iterate, "cfr")),
    Work(CFR_PLUS, "Leduc, CFR+", SOLVES, partial(_iterate, "cfr+")),
    Work(NASH_CONV, "Leduc, NashConv", "both best responses; not growing the tree", _nash_conv),
)
