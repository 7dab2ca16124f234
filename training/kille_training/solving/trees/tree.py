"""A game tree as flat arrays: what solvers and exact evaluation read, whatever game it is of."""

from dataclasses import dataclass, fields

import numpy as np

from kille_env.errors import KilleError

TERMINAL, CHANCE = -1, -2
"""What stands in `FlatTree.infoset` for nodes at which nobody decides."""


@dataclass(frozen=True)
class FlatTree:
    """A finite extensive-form game of P players with perfect recall.

    Nodes are numbered in preorder: the root is node 0, a node's first child follows it at once, and
    everything below a node has a higher number. So reach is filled in forwards and values are
    filled in backwards, without recursion. Sequences are pairs of an information set and one of its
    actions, numbered information set by information set: set i has the sequences
    `first[i]` to `first[i + 1]`, and a strategy is one number for each sequence.

    Attributes:
        num_players: P.
        player: [I] int8, who decides in each information set.
        first: [I + 1] int32, where the sequences of each information set begin; the last entry is
            S, the number of sequences.
        infoset: [M] int32, the information set of each node, `TERMINAL` or `CHANCE`.
        parent: [M] int32, the node above; -1 for the root.
        sequence: [M] int32, the sequence that leads from the parent to the node; -1 if the parent
            is a chance node, and for the root.
        probability: [M] float64, chance of the step from a chance node; 1 elsewhere.
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

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        arrays = (getattr(self, field.name) for field in fields(self))
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    def check(self) -> None:
        """Refuses arrays that are no tree of a game with perfect recall.

        Raises:
            KilleError: The message names the first node or information set that is wrong.
        """
        nodes = np.arange(self.num_nodes)
        decides = self.infoset >= 0
        above = self.parent[1:]
        if self.parent[0] != -1 or (above < 0).any() or (above >= nodes[1:]).any():
            raise KilleError("a node of the tree stands before its parent")
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
        """Each player's last own sequence must be the same at all nodes of an information set."""
        own = np.full((self.num_nodes, self.num_players), -1, dtype=np.int64)
        came = np.full(self.num_infosets, -2, dtype=np.int64)
        for node in range(self.num_nodes):
            if node:
                above = self.parent[node]
                own[node] = own[above]
                if self.sequence[node] >= 0:
                    own[node, self.player[self.infoset[above]]] = self.sequence[node]
            number = self.infoset[node]
            if number >= 0:
                last = own[node, self.player[number]]
                if came[number] not in (-2, last):
                    raise KilleError(f"information set {number} forgets what its player has done")
                came[number] = last
