"""Exact values of choices under a policy.

The value of an action is its expected payoff in units, given the information state of the seat, if
all seats continue by a policy; it is computed in the exact tree of a deal. The policy must depend
on the observation alone; the default is `byteskille/solved`, an equilibrium of single deals of
Byteskille with two to four seats under the presets.

There are no values for matches and larger tables, after choices of probability 0 (which say nothing
about the hidden cards), and at decisions with a single legal action.

The first call for a table grows its tree. For Byteskille that takes up to four seconds and, with
four seats, temporarily 0.5 GB; a few megabytes stay in memory.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kille_agents.population.byteskille import solution
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.play.policy import Policy
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import strategy_of
from kille_training.solving.stages import Stage, known_by
from kille_training.solving.trees.sequence_game import SequenceGame
from kille_training.solving.trees.values import (
    choice_values,
    expected_values,
    uniform,
)

UNREACHED = 1e-6
"""Minimum probability of the others' choices relative to uniform play; rarer ones are numerical
residue of the solver."""


def is_solved(num_players: int, rules: Rules) -> bool:
    """Return whether the suite contains a solution of the deals at a table."""
    return _policy(num_players, rules) is not None


def worth(batch: Batch, table: int = 0, policy: Policy | None = None) -> np.ndarray | None:
    """Return the mean earnings of each legal action of the seat to act, [L] float64."""
    row, seat = batch.tables[table], int(batch.seat[table])
    players, rules = batch.num_players, batch.rules
    policy = policy or _policy(players, rules)
    if seat < 0 or policy is None:
        return None
    hands = _hands(players, rules, policy)
    hand = hands[int(row["redeals"]) if len(hands) > 1 else 0]
    at = hand.sets.find(row, seat)
    if at is None or hand.likely[at] <= UNREACHED:
        return None
    return hand.worth[hand.first[at] : hand.first[at + 1]].copy()


class _Sets:
    """Find the information set of a table in a tree, for any dealer and hand."""

    def __init__(self, stage: Stage) -> None:
        names = {"redeals", "deals"} & set(stage.positions.dtype.names or ())
        self._counters = {name: stage.positions[0][name] for name in names}
        self._rules = stage.rules
        keys = zip(stage.tree.player.tolist(), stage.states, strict=True)
        self._numbers = {(seat, state.tobytes()): at for at, (seat, state) in enumerate(keys)}

    def find(self, row: np.record, seat: int) -> int | None:
        """Return the information set of a seat; None if the tree has no such set."""
        tables, seats = np.array([row]), int(row["num_players"])
        for name, count in self._counters.items():
            tables[name] = count
        state = known_by(tables, self._rules, seats, np.array([seat]))
        # In a single deal everybody is dealt in; forehand is the tree's seat 0.
        position = (seat - int(row["dealer"]) - 1) % seats
        return self._numbers.get((position, state.tobytes()))


@dataclass(frozen=True, eq=False)
class _Choices:
    """Values of the choices in one hand of a deal."""

    sets: _Sets
    first: np.ndarray  # [I + 1] the first sequence of each information set
    worth: np.ndarray  # [S] units, NaN where the others never come
    likely: np.ndarray  # [I] how likely the others play to it, next to when all play evenly


@lru_cache(maxsize=8)
def _policy(num_players: int, rules: Rules) -> Policy | None:
    return solution(num_players, rules)


@lru_cache(maxsize=8)
def _hands(num_players: int, rules: Rules, policy: Policy) -> tuple[_Choices, ...]:
    """Return the values of choices in all hands of a deal, by the number of granted questions."""
    deal = build_deal(num_players, rules)
    sets = {id(stage.tree): _Sets(stage) for stage in {deal.first_stage, deal.stages[-1]}}
    hands, later = list[_Choices](), np.zeros(num_players)
    for stage in reversed(deal.stages):
        strategy, tree = strategy_of(policy, stage), stage.worth(later)
        later = expected_values(tree, strategy)
        hands.append(_measure(sets[id(stage.tree)], tree, strategy))
    return tuple(reversed(hands))


def _measure(sets: _Sets, tree: SequenceGame, strategy: np.ndarray) -> _Choices:
    worth, reach = np.full(tree.num_sequences, np.nan), np.zeros(tree.num_infosets)
    for seat in range(tree.num_players):
        mine, others = choice_values(tree, strategy, seat)
        worth = np.where(np.isnan(mine), worth, mine)
        reach += others
    evenly = sum(choice_values(tree, uniform(tree), seat)[1] for seat in range(tree.num_players))
    return _Choices(sets, tree.first, worth, reach / evenly)
