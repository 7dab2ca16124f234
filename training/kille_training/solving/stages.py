"""Deals as trees with their information sets.

A *stage* is one hand: it ends with the deal, or when choices have the cards dealt again, such as a
granted question in Byteskille. A hand passes on nothing but the number of such events. So the value
of dealing again is the value of the next stage, and a deal is solved stage by stage from the last
one (`DealStages`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kille_env.core import arguments
from kille_env.core.spec import Rules, width
from kille_env.errors import RulesError
from kille_env.registry import load_game
from kille_training.solving.size import own_cards
from kille_training.solving.trees.sequence_game import SequenceGame
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import expected_values

THROWN_IN = 15
"""Redeals for bad cards covered by a tabular policy; more happen once in 10**16 deals."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage:
    """One hand of a single deal as a tree, with its information sets.

    Forehand is seat 0, and the last seat deals. Chances are conditional on no redeal because of the
    cards, which does not count as a hand.
    """

    rules: Rules
    num_players: int
    num_deals: int  # D, the number of distinct ways to deal
    num_nodes: int  # number of visited nodes
    # its players are the seats, except that seats with shared knowledge are one. Dealing
    # again pays only the payments so far (see `worth`)
    tree: SequenceGame
    masks: np.ndarray  # [I, A] int8, 1 for the legal actions of each information set
    positions: np.ndarray  # [I] tables, one position of each information set
    again: np.ndarray  # [K] float64, the probability of dealing again, by the number of the payoff
    # [K, O] float64, the same for each of the game's outcomes of a hand; no columns by default
    outcomes: np.ndarray
    thrown_in: float = 0.0  # probability of a redeal because of the cards
    # whether seats forget the order of dealt and drawn cards, so that only policies of the
    # observation can be measured
    forgets: bool = False
    granted: int = 0  # number of redeals by choice before this hand
    nodes: FlatTree | None = None  # nodes, if requested; each terminal node then has its own payoff

    @property
    def dealt_again(self) -> bool:
        """Whether it is one of several hands of its deal."""
        return bool(self.granted or self.again.any())

    @property
    def seats(self) -> np.ndarray:
        """[I] int64: the deciding seat of each information set."""
        return self.positions["seat"].astype(np.int64)

    @cached_property
    def states(self) -> np.ndarray:
        """[I, F] uint8: the seats' information states; see `known_by`."""
        return known_by(self.positions, self.rules, self.num_players, self.seats)

    @cached_property
    def observations(self) -> np.ndarray:
        """[I, F] uint8: the observations of the deciding seats."""
        return observe(self.positions, self.rules, self.num_players, self.seats)

    def ways_to_see(self) -> Iterator[np.ndarray]:
        """Yield the observations [I, F] after each number of redeals because of the cards."""
        yield self.observations
        if self.thrown_in:
            left = self.rules.number("max_deals") - self.granted
            for thrown_in in range(1, min(THROWN_IN + 1, left)):
                tables = self.positions.copy()
                tables["deals"] += thrown_in
                yield observe(tables, self.rules, self.num_players, self.seats)

    @property
    def information_sets(self) -> tuple[int, ...]:
        """The number of information sets of each seat."""
        return tuple(np.bincount(self.seats, minlength=self.num_players).tolist())

    def worth(self, continuation: np.ndarray) -> SequenceGame:
        """Return the game with the value [P] of the next stage for dealing again."""
        if not self.again.any():
            return self.tree
        payoff = self.tree.payoff + self.again[:, None] * continuation
        return self.tree._replace(payoff=payoff)

    def after(self, granted: int) -> "Stage":
        """Return the stage of a later hand, which differs in counters only."""
        game = load_game(self.rules.game)
        positions = game.dealt_again(self.positions, granted - self.granted)
        return replace(self, granted=granted, positions=positions)

    def by_action(self, strategy: np.ndarray) -> np.ndarray:
        """Return a strategy [S] as probabilities by information set, [I, A]; 0 if illegal."""
        rows = np.zeros(self.masks.shape)
        rows[self.masks != 0] = strategy
        return rows

    def describe(self, information_set: int) -> str:
        """Return an information set as one line of text, from its seat's view."""
        game, position = load_game(self.rules.game), self.positions[information_set]
        text = game.describe(position, self.rules, int(position["seat"]))
        return "; ".join(" ".join(line.split()) for line in text.splitlines())


def known_by(tables: np.ndarray, rules: Rules, num_players: int, seats: np.ndarray) -> np.ndarray:
    """Return information states with a seat's own cards as an unordered set, [N, F] uint8."""
    game, places = load_game(rules.game), own_cards(rules, num_players)
    out = np.zeros((len(tables), width(game.spec.information_state(num_players))), np.uint8)
    game.information_state(tables, rules.record, seats, out)
    out[:, places] = np.sort(out[:, places], axis=1)
    return out


def observe(tables: np.ndarray, rules: Rules, num_players: int, seats: np.ndarray) -> np.ndarray:
    """Return the observation of a seat at each table, [N, F] uint8."""
    game = load_game(rules.game)
    if tables.dtype != game.spec.table or (tables["num_players"] != num_players).any():
        raise RulesError(f"expected tables of {rules.game} with {num_players} seats")
    out = np.zeros((len(tables), width(game.spec.observation(num_players))), np.uint8)
    if len(tables):
        seats = arguments.seats(seats, num_players, len(tables)).astype(np.int64)
        game.observe(tables, rules.record, seats, out)
    return out


@dataclass(frozen=True, eq=False)
class DealStages:
    """A single deal with all its hands, nearly always one."""

    stages: tuple[Stage, ...]  # stages in order; dealing again pays the value of the next one

    @property
    def num_players(self) -> int:
        """P."""
        return self.stages[0].num_players

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self.stages[0].rules

    @property
    def first_stage(self) -> Stage:
        """The first hand."""
        return self.stages[0]

    @property
    def information_sets(self) -> tuple[int, ...]:
        """The number of information sets of each seat, in all hands."""
        return tuple(np.sum([stage.information_sets for stage in self.stages], axis=0).tolist())

    @property
    def num_nodes(self) -> int:
        """The number of nodes of all hands."""
        return sum(stage.num_nodes for stage in self.stages)

    def backwards(
        self, solve: Callable[[Stage, SequenceGame], np.ndarray]
    ) -> tuple[np.ndarray, ...]:
        """Solve the stages, the last one first."""
        value, strategies = np.zeros(self.num_players), []
        for stage in reversed(self.stages):
            tree = stage.worth(value)
            strategies.append(solve(stage, tree))
            value = expected_values(tree, strategies[-1])
        return tuple(reversed(strategies))
