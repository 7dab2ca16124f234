"""NashConv of Byteskille deals is OpenSpiel's, on the game that we export to it."""

from collections import defaultdict

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability

from kille_training.solving.byteskille.deals import Stage, build_stage
from kille_training.solving.trees.build import CHANCE, TERMINAL
from kille_training.solving.trees.values import best_response
from training.test_solving_deals import SMALL, a_strategy

pytestmark = pytest.mark.compiled

FEW = ["BL", "L4", "SV", "VH", "GO", "KI", "KI"]


def efg(stage: Stage) -> str:
    """Returns a stage in Gambit's format, with 17 digits of everything."""
    tree = stage.tree
    children = defaultdict(list)
    for node in range(1, tree.num_nodes):
        children[int(tree.parent[node])].append(node)
    leaf = np.cumsum(tree.infoset == TERMINAL) - 1
    own = np.zeros(tree.num_infosets, dtype=np.int64)  # numbered by player, from 1
    for seat in range(tree.num_players):
        sets = tree.player == seat
        own[sets] = np.arange(1, sets.sum() + 1)
    names = " ".join(f'"{seat}"' for seat in range(tree.num_players))
    lines = [f'EFG 2 R "stage" {{ {names} }}']
    for node in range(tree.num_nodes):  # preorder, as the format wants it
        number = int(tree.infoset[node])
        if number == TERMINAL:
            paid = " ".join(f"{x:.17g}" for x in tree.payoff[leaf[node]])
            lines.append(f't "" {leaf[node] + 1} "" {{ {paid} }}')
        elif number == CHANCE:
            odds = " ".join(f'"{k}" {tree.probability[k]:.17g}' for k in children[node])
            lines.append(f'c "" {node + 1} "" {{ {odds} }} 0')
        else:
            actions = " ".join(f'"{tree.sequence[k]}"' for k in children[node])
            player = tree.player[number] + 1
            lines.append(f'p "" {player} {own[number]} "{number}" {{ {actions} }} 0')
    return "\n".join(lines) + "\n"


class Exported:
    """A stage as OpenSpiel plays it."""

    def __init__(self, stage: Stage) -> None:
        self.game = pyspiel.load_efg_game(efg(stage))
        self.actions: dict[str, dict[int, int]] = {}  # by information set: action, our sequence
        waiting = [self.game.new_initial_state()]
        while waiting:
            state = waiting.pop()
            if state.is_terminal():
                continue
            if not state.is_chance_node():
                self.actions[state.information_state_string()] = {
                    action: int(state.action_to_string(action)) for action in state.legal_actions()
                }
            waiting += [state.child(action) for action in state.legal_actions()]
        assert len(self.actions) == stage.tree.num_infosets

    def policy(self, strategy: np.ndarray):
        return pyspiel.TabularPolicy(
            {
                name: [(action, strategy[sequence]) for action, sequence in named.items()]
                for name, named in self.actions.items()
            }
        )


def improvements(stage: Stage, strategy: np.ndarray) -> list[float]:
    """What each seat gains by its best response."""
    responses = [best_response(stage.tree, strategy, seat) for seat in range(stage.num_players)]
    return [response.value - response.on_policy for response in responses]


@pytest.mark.parametrize(
    ("seats", "rules", "cards"),
    [(2, "svensk", None), (2, "wikipedia", None), (3, "svensk", FEW), (3, "wikipedia", SMALL)],
)
def test_nash_conv_of_random_strategies_is_openspiels(seats: int, rules: str, cards) -> None:
    stage = build_stage(seats, rules, cards=cards)
    exported = Exported(stage)
    for seed in range(20):
        strategy = a_strategy(stage, seed)
        theirs = pyspiel.nash_conv(exported.game, exported.policy(strategy), False)
        assert sum(improvements(stage, strategy)) == pytest.approx(theirs, abs=1e-9)


def test_what_each_seat_gains_is_openspiels() -> None:
    stage = build_stage(3, cards=FEW)
    exported, strategy = Exported(stage), a_strategy(stage, 1)
    theirs = exploitability.nash_conv(
        exported.game, exported.policy(strategy), return_only_nash_conv=False
    )
    gains = improvements(stage, strategy)
    np.testing.assert_allclose(gains, theirs.player_improvements, atol=1e-9)
