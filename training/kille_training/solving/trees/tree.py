"""A game tree as flat arrays: the input of solvers and of exact evaluation, for any game."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np

from kille_env.core.jit import kernel
from kille_env.errors import KilleError, shortened
from kille_training.solving.trees.sequence_game import SequenceGame, digest_of

TERMINAL, CHANCE = -1, -2
"""Entries of `FlatTree.infoset` for nodes at which nobody decides."""


class _Fields(NamedTuple):
    num_players: int
    player: np.ndarray
    first: np.ndarray
    infoset: np.ndarray
    parent: np.ndarray
    sequence: np.ndarray
    probability: np.ndarray
    payoff: np.ndarray


_TYPES = {
    "player": np.int8,
    "first": np.int32,
    "infoset": np.int32,
    "parent": np.int32,
    "sequence": np.int32,
    "probability": np.float64,
    "payoff": np.float64,
}
MOST_PLAYERS = 127
"""Players of a tree, at most: their numbers are int8."""


class FlatTree(_Fields):
    """A finite extensive-form game of P players with perfect recall.

    Nodes are numbered in preorder: the root is node 0, a node's first child follows it directly,
    and all descendants have higher numbers. So reach is computed forwards and values backwards,
    without recursion. A sequence is an information set with one of its actions. Sequences are
    numbered set by set: set i has the sequences `first[i]` to `first[i + 1]`, and a strategy is one
    number for each sequence.

    It is a named tuple, so that kernels take it as it is. They trust it: whatever it is made from
    is checked when it is made.

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

    __slots__ = ()

    def __new__(cls, *fields: Any, **named: Any) -> Self:
        """Makes a tree.

        Raises:
            KilleError: The arrays are not those of a tree; see `check`.
        """
        tree = cls.unchecked(*_Fields(*fields, **named))
        tree.check()
        return tree

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]  # for _replace
        return cls(*iterable)

    @classmethod
    def unchecked(cls, *fields: Any) -> Self:
        """Returns a tree of fields that their maker vouches for."""
        return tuple.__new__(cls, fields)

    def changed(self, **fields: Any) -> Self:
        """Returns the tree with other fields, computed from its own and so not checked again."""
        return self.unchecked(*(self._asdict() | fields).values())

    def gaining(self, more: np.ndarray) -> Self:
        """Returns the tree that pays so much more at its terminal nodes, [T, P]."""
        return self.changed(payoff=self.payoff + more)

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

    def fingerprint(self) -> str:
        """Returns a digest of the whole tree."""
        return digest_of(self)

    def last_sequences(self) -> np.ndarray:
        """Returns each player's last own sequence before each node, [M, P] int32; -1 for none."""
        last = np.full((self.num_nodes, self.num_players), -1, dtype=np.int32)
        _trace(self, last)
        return last

    def without_nodes(self) -> SequenceGame:
        """Returns the game without its nodes, for solvers and for exact evaluation.

        Raises:
            KilleError: An information set has no node.
        """
        met, last, ends = self.first_nodes(), self.last_sequences(), self.infoset == TERMINAL
        if (met < 0).any():
            raise KilleError(f"information set {int(np.argmin(met))} has no node in the tree")
        chance = np.ones(self.num_nodes)
        _multiply(self, chance)
        chance, before = chance[ends], last[met, self.player]
        pay = chance[:, None] * self.payoff
        return SequenceGame(
            self.num_players, self.player, self.first, before, last[ends], chance, pay
        )

    def first_nodes(self) -> np.ndarray:
        """Returns the first node of each information set, [I] int64; -1 for a set without nodes."""
        first = np.full(self.num_infosets, -1, dtype=np.int64)
        deciding = np.flatnonzero(self.infoset >= 0)[::-1]
        first[self.infoset[deciding]] = deciding  # the last write stays
        return first

    def check(self) -> None:
        """Refuses arrays that are not the tree of a game with perfect recall.

        Raises:
            KilleError: The message names the array, or the first node or information set, that is
                wrong.
        """
        self._check_shapes()
        self._check_ranges()
        decides = self.infoset >= 0
        above, led = self.parent[1:], self.sequence[1:] >= 0
        children = np.bincount(above, minlength=self.num_nodes)
        if (children[self.infoset == TERMINAL] > 0).any():
            raise KilleError("a terminal node of the tree has children")
        if (children[self.infoset == CHANCE] == 0).any():
            raise KilleError("a chance node of the tree has no children")
        if (led != decides[above]).any():
            raise KilleError("a sequence leads from a node at which nobody decides")
        sets, steps = self.infoset[above][led], self.sequence[1:][led]
        if ((steps < self.first[sets]) | (steps >= self.first[sets + 1])).any():
            raise KilleError("a sequence leads from a node of another information set")
        choices = above[led].astype(np.int64) * self.num_sequences + steps
        few = children[decides] != np.diff(self.first)[self.infoset[decides]]
        if few.any() or len(np.unique(choices)) < len(choices):
            raise KilleError("a node does not have one child for each action of its set")
        chance = np.bincount(above[~led], self.probability[1:][~led], self.num_nodes)
        if not np.allclose(chance[self.infoset == CHANCE], 1.0):
            raise KilleError("the probabilities of a chance node do not sum to 1")
        met = self.first_nodes()
        if (np.diff(met[met >= 0]) < 0).any():
            raise KilleError("information sets are not numbered in the order of their first nodes")
        self._check_recall()

    def _check_shapes(self) -> None:
        """Refuses what are no arrays of one tree; kernels trust their shapes and types."""
        players = self.num_players
        if type(players) is not int or not 1 <= players <= MOST_PLAYERS:
            raise KilleError(
                f"num_players of a tree is {shortened(players)}, expected 1 to {MOST_PLAYERS}"
            )
        for name, kind in _TYPES.items():
            array, dimensions = getattr(self, name), 2 if name == "payoff" else 1
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != dimensions:
                raise KilleError(
                    f"{name} of a tree is {shortened(array)}, expected an array of "
                    f"{np.dtype(kind)} with {dimensions} dimension{'s' * (dimensions - 1)}"
                )
        terminal = int((self.infoset == TERMINAL).sum())
        expected = {
            "first": (len(self.player) + 1,),
            "infoset": (max(len(self.parent), 1),),
            "parent": (max(len(self.parent), 1),),
            "sequence": (len(self.parent),),
            "probability": (len(self.parent),),
            "payoff": (terminal, players),
        }
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise KilleError(
                    f"{name} of a tree of {len(self.parent)} nodes, {len(self.player)} information "
                    f"sets, {players} players and {terminal} terminal nodes has the shape "
                    f"{getattr(self, name).shape}, expected {shape}"
                )

    def _check_ranges(self) -> None:
        """Refuses numbers that lead out of the arrays."""
        nodes = np.arange(self.num_nodes)
        if self.first[0] != 0 or (np.diff(self.first) < 1).any():
            raise KilleError("first of a tree begins with 0 and grows: every set has an action")
        for name, low, high in (
            ("player", 0, self.num_players),
            ("infoset", CHANCE, self.num_infosets),
            ("sequence", -1, self.num_sequences),
        ):
            wrong = (getattr(self, name) < low) | (getattr(self, name) >= high)
            if wrong.any():
                place = int(np.argmax(wrong))
                raise KilleError(
                    f"{name} of a tree is {getattr(self, name)[place]} at {place}, expected "
                    f"{low} to {high - 1}"
                )
        above = self.parent[1:]
        if self.parent[0] != -1 or (above < 0).any() or (above >= nodes[1:]).any():
            raise KilleError("a node of the tree comes before its parent")
        if self.sequence[0] != -1:
            raise KilleError("a sequence leads to the root of the tree")
        if not np.isfinite(self.payoff).all():
            raise KilleError("a payoff of the tree is not a finite number")
        if not np.isfinite(self.probability).all() or (self.probability < 0.0).any():
            raise KilleError("a probability of the tree is negative or not a finite number")

    def _check_recall(self) -> None:
        """A player's last own sequence must be the same at all nodes of an information set."""
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
