"""Games with their nodes as flat arrays, made by a walk or of a plain Python function."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kille_env.core.jit import kernel
from kille_env.errors import KilleError
from kille_training.solving.trees.sequence_game import SequenceGame

TERMINAL, CHANCE = -1, -2
"""Entries of `FlatTree.infoset` for nodes at which nobody decides."""


class FlatTree(NamedTuple):
    """A finite extensive-form game of P players with perfect recall.

    Nodes are numbered in preorder: the root is node 0, a node's first child follows it directly,
    and all descendants have higher numbers. So reach is computed forwards and values backwards,
    without recursion. A sequence is an information set with one of its actions. Sequences are
    numbered set by set: set i has the sequences `first[i]` to `first[i + 1]`, and a strategy is one
    number for each sequence.

    Kernels take it as it is, and trust it.

    Attributes:
        num_players: P.
        player: [I] int8, the player that decides in each information set.
        first: [I + 1] int32, the first sequence of each information set; the last entry is S, the
            number of sequences.
        infoset: [M] int32, the information set of each node, `TERMINAL` or `CHANCE`.
        parent: [M] int32, the parent of each node; -1 for the root.
        sequence: [M] int32, the sequence that leads from the parent to the node; -1 if the parent
            is a chance node, and for the root.
        probability: [M] float64, the probability of the step from a chance node; 1 elsewhere.
        payoff: [T, P] float64, what each player gets at each terminal node, in the nodes' order.
    """

    num_players: int
    player: np.ndarray
    first: np.ndarray
    infoset: np.ndarray
    parent: np.ndarray
    sequence: np.ndarray
    probability: np.ndarray
    payoff: np.ndarray

    @property
    def num_infosets(self) -> int:
        """I."""
        return len(self.player)

    @property
    def num_sequences(self) -> int:
        """S."""
        return int(self.first[-1])

    @property
    def num_nodes(self) -> int:
        """M."""
        return len(self.infoset)

    def last_sequences(self) -> np.ndarray:
        """Returns each player's last own sequence before each node, [M, P] int32; -1 for none."""
        last = np.full((self.num_nodes, self.num_players), -1, dtype=np.int32)
        _trace(self, last)
        return last

    def without_nodes(self) -> SequenceGame:
        """Returns the game without its nodes, for solvers and for exact evaluation."""
        met, last, ends = self.first_nodes(), self.last_sequences(), self.infoset == TERMINAL
        chance = np.ones(self.num_nodes)
        _multiply(self, chance)
        recall = np.arange(len(met) + 1), last[met, self.player], np.ones(len(met))
        numbered = np.column_stack([last[ends], np.arange(len(self.payoff), dtype=np.int32)])
        return SequenceGame(
            self.num_players, self.player, self.first, *recall, numbered, chance[ends], self.payoff
        )

    def first_nodes(self) -> np.ndarray:
        """Returns the first node of each information set, [I] int64."""
        first = np.empty(self.num_infosets, dtype=np.int64)
        deciding = np.flatnonzero(self.infoset >= 0)[::-1]
        first[self.infoset[deciding]] = deciding  # the last write stays
        return first

    def check_recall(self) -> None:
        """Refuses a game whose players forget what they have done.

        Raises:
            KilleError: At two nodes of an information set the player's last own sequence differs.
        """
        nodes = np.flatnonzero(self.infoset >= 0)
        sets, last = self.infoset[nodes], self.last_sequences()
        expected = last[self.first_nodes(), self.player]
        wrong = last[nodes, self.player[sets]] != expected[sets]
        if wrong.any():
            number = int(sets[np.argmax(wrong)])
            raise KilleError(f"information set {number} forgets what its player has done")


@kernel
def _trace(tree, last):
    """Fills in each player's last own sequence before each node; `last` begins as -1."""
    for node in range(np.uintp(1), np.uintp(len(tree.parent))):
        above = np.uintp(tree.parent[node])
        for player in range(np.uintp(last.shape[1])):
            last[node, player] = last[above, player]
        if tree.sequence[node] >= 0:
            owner = np.uintp(tree.player[np.uintp(tree.infoset[above])])
            last[node, owner] = tree.sequence[node]


@kernel
def _multiply(tree, chance):
    """Fills in how often chance leads to each node; `chance` begins as 1."""
    for node in range(np.uintp(1), np.uintp(len(tree.parent))):
        chance[node] = chance[np.uintp(tree.parent[node])] * tree.probability[node]


@dataclass(frozen=True)
class Terminal:
    """A state at which the game is over.

    Attributes:
        payoff: What each player gets.
    """

    payoff: Sequence[float]


@dataclass(frozen=True)
class Chance:
    """A state at which chance decides.

    Attributes:
        probabilities: Of the states.
        states: The states that can follow.
    """

    probabilities: Sequence[float]
    states: Sequence[Any]


@dataclass(frozen=True)
class Decision:
    """A state at which a player decides.

    Attributes:
        player: The player.
        information: All that the player knows. States with equal information are one information
            set.
        states: The states that its actions lead to, in the same order in all states of an
            information set.
    """

    player: int
    information: Hashable
    states: Sequence[Any]


Expand = Callable[[Any], Terminal | Chance | Decision]
"""Says what a state of a game is."""


@dataclass(frozen=True)
class Flattened:
    """A game and what its information sets stand for.

    Attributes:
        tree: The game, for solvers and exact evaluation.
        nodes: Its nodes.
        information: [I], what the player knows in each information set.
    """

    tree: SequenceGame
    nodes: FlatTree
    information: list[Any]


def flatten(root: Any, expand: Expand, num_players: int) -> Flattened:
    """Returns the tree of a game.

    Args:
        root: The first state of the game: anything that `expand` understands.
        expand: Returns who decides at a state, and the states that can follow.
        num_players: P.

    Raises:
        KilleError: Two nodes of an information set differ in the number of actions, or in what
            their player has done before.
    """
    numbers: dict[tuple[int, Hashable], int] = {}
    sizes: list[int] = []
    first = [0]
    infoset, parent, sequence, probability, payoff = [], [], [], [], []
    waiting: list[tuple[Any, int, int, float]] = [(root, -1, -1, 1.0)]
    while waiting:
        state, above, step, share = waiting.pop()
        node = len(parent)
        parent.append(above)
        sequence.append(step)
        probability.append(share)
        found = expand(state)
        if isinstance(found, Terminal):
            infoset.append(TERMINAL)
            payoff.append(found.payoff)
            continue
        if isinstance(found, Chance):
            infoset.append(CHANCE)
            below = [
                (after, node, -1, float(chance))
                for chance, after in zip(found.probabilities, found.states, strict=True)
            ]
        else:
            key = (found.player, found.information)
            number = numbers.setdefault(key, len(numbers))
            if number == len(sizes):
                sizes.append(len(found.states))
                first.append(first[-1] + len(found.states))
            if sizes[number] != len(found.states):
                raise KilleError(
                    f"player {found.player} has {len(found.states)} actions at one state and "
                    f"{sizes[number]} at another with the same information: {found.information!r}"
                )
            infoset.append(number)
            below = [
                (after, node, first[number] + action, 1.0)
                for action, after in enumerate(found.states)
            ]
        waiting.extend(reversed(below))
    nodes = FlatTree(
        num_players,
        np.array([player for player, _ in numbers], dtype=np.int8),
        np.array(first, dtype=np.int32),
        np.array(infoset, dtype=np.int32),
        np.array(parent, dtype=np.int32),
        np.array(sequence, dtype=np.int32),
        np.array(probability, dtype=np.float64),
        np.array(payoff, dtype=np.float64).reshape(-1, num_players),
    )
    nodes.check_recall()
    known = [information for _, information in numbers]
    return Flattened(nodes.without_nodes(), nodes, known)
