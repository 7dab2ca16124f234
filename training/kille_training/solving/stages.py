"""Deals as trees with their information sets, whatever grew them.

A *stage* is one hand: it ends when the deal does, or where a game has the cards dealt again. Only
in Byteskille a deal can have several.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from kille_env.core import arguments
from kille_env.core.spec import Rules, width
from kille_env.errors import RulesError
from kille_env.registry import load_game
from kille_training.solving.trees.values import Tree, expected_values


@dataclass(frozen=True, eq=False, kw_only=True)
class Stage:
    """One hand of a single deal as a tree, with its information sets.

    Forehand is seat 0, and the last seat deals.

    Attributes:
        rules: The rules.
        num_players: P.
        num_deals: D, the number of different ways to deal.
        num_nodes: The number of nodes.
        tree: The tree.
        masks: [I, A] int8, 1 for the legal actions of each information set.
        positions: [I] tables, one position of each information set.
        granted: Questions granted before this hand.
    """

    rules: Rules
    num_players: int
    num_deals: int
    num_nodes: int
    tree: Tree
    masks: np.ndarray
    positions: np.ndarray
    granted: int = 0

    @property
    def dealt_again(self) -> bool:
        """Whether it is one of several hands of its deal."""
        return False

    @cached_property
    def states(self) -> np.ndarray:
        """[I, F] uint8: the information states."""
        game = load_game(self.rules.game)
        wide = width(game.spec.information_state(self.num_players))
        out = np.zeros((self.tree.num_infosets, wide), np.uint8)
        game.information_state(self.positions, self.rules.record, self.tree.player, out)
        return out

    @cached_property
    def observations(self) -> np.ndarray:
        """[I, F] uint8: the observations of the seats that decide."""
        return observe(self.positions, self.rules, self.num_players, self.tree.player)

    def ways_to_see(self) -> Iterator[np.ndarray]:
        """Yields the observations [I, F], once for each way in which the same hand can be seen."""
        yield self.observations

    @property
    def information_sets(self) -> tuple[int, ...]:
        """The number of information sets of each seat."""
        return tuple(np.bincount(self.tree.player, minlength=self.num_players).tolist())

    def worth(self, continuation: np.ndarray) -> Tree:
        """Returns the tree in which dealing again pays the value [P] of the next hand's stage."""
        return self.tree

    def by_action(self, strategy: np.ndarray) -> np.ndarray:
        """Returns a strategy [S] with a row for each information set, [I, A]; 0 where illegal."""
        rows = np.zeros(self.masks.shape)
        rows[self.masks != 0] = strategy
        return rows

    def describe(self, information_set: int) -> str:
        """Returns a text for an information set, as its seat sees it, on one line."""
        game = load_game(self.rules.game)
        seat = int(self.tree.player[information_set])
        text = game.describe(self.positions[information_set], self.rules, seat)
        return "; ".join(" ".join(line.split()) for line in text.splitlines())


def observe(tables: np.ndarray, rules: Rules, num_players: int, seats: np.ndarray) -> np.ndarray:
    """Returns what a seat at each table observes, [N, F] uint8."""
    game = load_game(rules.game)
    if tables.dtype != game.spec.table or (tables["num_players"] != num_players).any():
        raise RulesError(f"tables of {rules.game} with {num_players} seats are expected")
    out = np.zeros((len(tables), width(game.spec.observation(num_players))), np.uint8)
    if len(tables):
        seats = arguments.seats(seats, num_players, len(tables)).astype(np.int64)
        game.observe(tables, rules.record, seats, out)
    return out


AnyStage = TypeVar("AnyStage", bound=Stage, covariant=True)


@dataclass(frozen=True, eq=False)
class DealStages(Generic[AnyStage]):
    """A single deal with all its hands, nearly always one.

    Attributes:
        stages: In the order in which they are dealt; each pays at its leaves what the next is
            worth.
    """

    stages: tuple[AnyStage, ...]

    @property
    def num_players(self) -> int:
        """P."""
        return self.stages[0].num_players

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self.stages[0].rules

    @property
    def first_stage(self) -> AnyStage:
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

    def backwards(self, solve: Callable[[AnyStage, Tree], np.ndarray]) -> tuple[np.ndarray, ...]:
        """Solves the stages, the last one first.

        Args:
            solve: Returns a strategy [S] for a stage, given the tree in which dealing again pays
                the value of the next stage.

        Returns:
            The strategies, in the order of the stages.
        """
        value, strategies = np.zeros(self.num_players), []
        for stage in reversed(self.stages):
            tree = stage.worth(value)
            strategies.append(solve(stage, tree))
            value = expected_values(tree, strategies[-1])
        return tuple(reversed(strategies))
