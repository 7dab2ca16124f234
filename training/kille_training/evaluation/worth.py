"""What choices are worth, and what seats can expect, where the tree of a deal is known.

A tree says exactly, in units and without sampling, what each choice earns on average, given what
the seat knows, if everybody plays on by a policy. What the seat does not know weighs as the cards
and the others' choices so far make it likely. Any policy will do that can be asked by what it sees,
at any table whose deals have a tree that fits into memory: a solution of `kille_training.solve`,
say. Where none is given it is `byteskille/solved`, an equilibrium of single deals of Byteskille
with two to four seats under the presets.

Nothing is known of matches and larger tables, nothing after choices that the policy never makes,
because it does not say what a seat would hold that makes them, and nothing where a tree has no
decision because only one action is legal. What seats can expect with all hands known, only
Byteskille's trees say.

The first call for a table grows its tree: of Byteskille's that takes up to four seconds and, with
four seats, 0.5 GB for the time; what is kept is a few megabytes.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np

from kille_agents.population.byteskille import solution
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.core.table import DEAL, OVER
from kille_env.play.policy import Policy
from kille_training.solving.build import build_deal, grow_stage
from kille_training.solving.policies import strategy_of
from kille_training.solving.size import OWN
from kille_training.solving.stages import Stage, known_by
from kille_training.solving.trees.tree import TERMINAL, FlatTree
from kille_training.solving.trees.values import (
    Tree,
    best_response,
    choice_values,
    expected_values,
    uniform,
)

UNREACHED = 1e-6
"""How likely the others' choices must be, next to when all play evenly, for the solution to say
what they mean; what is rarer is what its computation has left over."""


def is_solved(num_players: int, rules: Rules) -> bool:
    """Returns whether the suite brings a solution of the deals at a table."""
    return _policy(num_players, rules) is not None


def worth(
    batch: Batch, table: int = 0, policy: Policy | None = None, *, best: bool = False
) -> np.ndarray | None:
    """Returns what each legal action of the seat to act earns it on average.

    Args:
        batch: The tables.
        table: One of them.
        policy: By which everybody plays on; None is the solution that the suite brings.
        best: Whether the seat itself plays on by its best response to the policy instead.

    Returns:
        [L] float64 units for the whole deal (of Krypkille points beyond the table's mean), in the
        order of the legal actions; given what the seat knows, no more. None where there is no
        policy, nobody is to act, a tree has no decision, or somebody else has made a choice that
        the policy never makes.

    Raises:
        KilleError: The deal has no tree that fits into memory, or the policy cannot be asked.
    """
    row, seat = batch.tables[table], int(batch.seat[table])
    players, rules = batch.num_players, batch.rules
    policy = policy or _policy(players, rules)
    if seat < 0 or policy is None:
        return None
    return _whole(players, rules, policy, best).choices(row, seat)


def expected(batch: Batch, table: int = 0, policy: Policy | None = None) -> np.ndarray | None:
    """Returns what each seat can expect as the cards lie, all hands known, [P] float64 units.

    The talon is not known: a card that is drawn is any of those left. Before the cards are dealt
    it is what the seats can expect of a deal, after the showdown what they have earned.

    Args:
        batch: The tables.
        table: One of them.
        policy: See `worth`.

    Returns:
        Units for the whole deal, if everybody plays on by the policy; they sum to zero. None where
        there is no policy, and in games other than Byteskille.
    """
    row, players, rules = batch.tables[table], batch.num_players, batch.rules
    if rules.game != OWN or (policy := policy or _policy(players, rules)) is None:
        return None
    if row["phase"] == OVER:
        return row["reward"][:players].copy()
    granted, at_chance = int(row["redeals"]), row["phase"] == DEAL
    if at_chance:
        values = _whole(players, rules, policy).values[granted if row["redeal"] else 0]
    else:
        cards = row["dealt"][row["order"][:players]]
        values = _hand(players, rules, policy, granted, tuple(cards.tolist())).expect(row)
    dealer = int(row["next_dealer"] if at_chance else row["dealer"])
    return np.roll(values, dealer + 1)  # the tree counts from forehand


class _Sets:
    """Finds the information set of a table in a tree, whoever deals and at whichever hand."""

    def __init__(self, stage: Stage) -> None:
        names = {"redeals", "deals"} & set(stage.positions.dtype.names or ())
        self._counters = {name: stage.positions[0][name] for name in names}
        self._rules = stage.rules
        keys = zip(stage.tree.player.tolist(), stage.states, strict=True)
        self._numbers = {(seat, state.tobytes()): at for at, (seat, state) in enumerate(keys)}

    def find(self, row: np.record, seat: int) -> int | None:
        """Returns the information set of a seat; None where it is none of the tree's."""
        tables, seats = np.array([row]), int(row["num_players"])
        for name, count in self._counters.items():
            tables[name] = count
        state = known_by(tables, self._rules, seats, np.array([seat]))
        # In a single deal everybody is dealt in; forehand is the tree's seat 0.
        position = (seat - int(row["dealer"]) - 1) % seats
        return self._numbers.get((position, state.tobytes()))


@dataclass(frozen=True, eq=False)
class _Choices:
    """What the choices in one hand of a deal are worth."""

    sets: _Sets
    first: np.ndarray  # [I + 1] the first sequence of each information set
    worth: np.ndarray  # [S] units, NaN where the others never come
    likely: np.ndarray  # [I] how likely the others play to it, next to when all play evenly


@dataclass(frozen=True, eq=False)
class _Whole:
    """A deal with all its hands, by the questions granted before them."""

    hands: tuple[_Choices, ...]
    values: np.ndarray  # [G, P] what the seats can expect of each, forehand first

    def choices(self, row: np.record, seat: int) -> np.ndarray | None:
        hand = self.hands[int(row["redeals"]) if len(self.hands) > 1 else 0]
        at = hand.sets.find(row, seat)
        if at is None:
            return None
        worth = hand.worth[hand.first[at] : hand.first[at + 1]]
        return worth.copy() if hand.likely[at] > UNREACHED else None


@dataclass(frozen=True, eq=False)
class _Hand:
    """A hand whose cards are known."""

    sets: _Sets
    nodes: np.ndarray  # [I] the node of each information set: all that was dealt is known
    values: np.ndarray  # [M, P] what the seats can expect at each node, forehand first

    def expect(self, row: np.record) -> np.ndarray:
        at = self.sets.find(row, int(row["seat"]))
        assert at is not None
        return self.values[self.nodes[at]]


@lru_cache(maxsize=8)
def _policy(num_players: int, rules: Rules) -> Policy | None:
    return solution(num_players, rules)


@lru_cache(maxsize=8)
def _whole(num_players: int, rules: Rules, policy: Policy, best: bool = False) -> _Whole:
    """Measures a policy of a deal; the trees are forgotten."""
    deal = build_deal(num_players, rules)
    sets = {id(stage.tree): _Sets(stage) for stage in {deal.first_stage, deal.stages[-1]}}
    hands, values = list[_Choices](), [np.zeros(num_players)]
    for stage in reversed(deal.stages):
        strategy, tree = strategy_of(policy, stage), stage.worth(values[-1])
        if best:
            seats = range(num_players)
            values.append(np.array([best_response(tree, strategy, seat).value for seat in seats]))
        else:
            values.append(expected_values(tree, strategy))
        hands.append(_measure(sets[id(stage.tree)], tree, strategy, best))
    return _Whole(tuple(reversed(hands)), np.array(values[:0:-1]))


def _measure(sets: _Sets, tree: Tree, strategy: np.ndarray, best: bool) -> _Choices:
    worth, reach = np.full(tree.num_sequences, np.nan), np.zeros(tree.num_infosets)
    for seat in range(tree.num_players):
        mine, others = choice_values(tree, strategy, seat, best)
        worth = np.where(np.isnan(mine), worth, mine)
        reach += others
    evenly = sum(choice_values(tree, uniform(tree), seat)[1] for seat in range(tree.num_players))
    return _Choices(sets, tree.first, worth, reach / evenly)


@lru_cache(maxsize=256)
def _hand(
    num_players: int, rules: Rules, policy: Policy, granted: int, cards: tuple[int, ...]
) -> _Hand:
    """Measures a hand whose cards are known, forehand's first."""
    stage = grow_stage(num_players, rules, dealt=cards, granted=granted, nodes=True)
    tree, strategy = cast(FlatTree, stage.tree), strategy_of(policy, stage)
    if stage.again.any():
        later = stage.worth(_whole(num_players, rules, policy).values[granted + 1])
        tree = cast(FlatTree, later)
    values = np.zeros((tree.num_nodes, num_players))
    values[tree.infoset == TERMINAL] = tree.payoff
    step = np.where(tree.sequence >= 0, strategy[tree.sequence], tree.probability)
    for node in range(tree.num_nodes - 1, 0, -1):
        values[tree.parent[node]] += step[node] * values[node]
    return _Hand(_Sets(stage), tree.first_nodes(), values)
