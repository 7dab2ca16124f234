"""A game tree as flat arrays: the input of solvers and of exact evaluation, for any game."""

import hashlib
from typing import NamedTuple

import numpy as np

from kille_env.core.jit import kernel
from kille_env.errors import KilleError

TERMINAL, CHANCE = -1, -2
"""Entries of `FlatTree.infoset` for nodes at which nobody decides."""


class FlatTree(NamedTuple):
    """A finite extensive-form game of P players with perfect recall.

    Nodes are numbered in preorder: the root is node 0, a node's first child follows it directly,
    and all descendants have higher numbers. So reach is computed forwards and values backwards,
    without recursion. A sequence is an information set with one of its actions. Sequences are
    numbered set by set: set i has the sequences `first[i]` to `first[i + 1]`, and a strategy is one
    number for each sequence.

    It is a named tuple, so that kernels take it as it is.

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

    def fingerprint(self) -> str:
        """Returns a digest of the whole tree."""
        digest = hashlib.sha256(str(self.num_players).encode())
        for name, array in zip(self._fields[1:], self[1:], strict=True):
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def last_sequences(self) -> np.ndarray:
        """Returns each player's last own sequence before each node, [M, P] int32; -1 for none."""
        last = np.full((self.num_nodes, self.num_players), -1, dtype=np.int32)
        _trace(self, last)
        return last

    def first_nodes(self) -> np.ndarray:
        """Returns the first node of each information set, [I] int64; -1 for a set without nodes."""
        first = np.full(self.num_infosets, -1, dtype=np.int64)
        deciding = np.flatnonzero(self.infoset >= 0)[::-1]
        first[self.infoset[deciding]] = deciding  # the last write stays
        return first

    def check(self) -> None:
        """Refuses arrays that are not the tree of a game with perfect recall.

        Raises:
            KilleError: The message names the first node or information set that is wrong.
        """
        nodes = np.arange(self.num_nodes)
        decides = self.infoset >= 0
        above = self.parent[1:]
        if self.parent[0] != -1 or (above < 0).any() or (above >= nodes[1:]).any():
            raise KilleError("a node of the tree comes before its parent")
        if (self.infoset == TERMINAL).sum() != len(self.payoff):
            raise KilleError(
                f"{(self.infoset == TERMINAL).sum()} terminal nodes have {len(self.payoff)} payoffs"
            )
        led = self.sequence[1:] >= 0
        if (led != decides[above]).any():
            raise KilleError("a sequence leads from a node at which nobody decides")
        sets = self.infoset[above][led]
        steps = self.sequence[1:][led]
        if ((steps < self.first[sets]) | (steps >= self.first[sets + 1])).any():
            raise KilleError("a sequence leads from a node of another information set")
        chance = np.bincount(above[~led], self.probability[1:][~led], self.num_nodes)
        if not np.allclose(chance[self.infoset == CHANCE], 1.0):
            raise KilleError("the probabilities of a chance node do not sum to 1")
        self._check_recall()

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
