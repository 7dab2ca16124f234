"""Game trees as flat arrays, from a walk or from a plain Python function."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kille_env.core import arguments
from kille_env.core.jit import kernel
from kille_env.errors import KilleError, shortened
from kille_training.solving.trees.sequence_game import SequenceGame, check_sets, require

TERMINAL, CHANCE = -1, -2
"""Entries of `FlatTree.infoset` for nodes without a decision."""

MOST_PLAYERS = 127
"""Maximum number of players, as their numbers are int8."""

DEEPEST = 10_000
"""Maximum depth of a state; a deeper game is most likely infinite."""

SUM_TOLERANCE = 1e-9
"""Tolerance of the sum of the probabilities of a chance node."""


class FlatTree(NamedTuple):
    """A finite extensive-form game of P players with perfect recall.

    Nodes are numbered in preorder: the root is node 0, a node's first child follows it directly,
    and all descendants have higher numbers. So reach is computed forwards and values backwards,
    without recursion. A sequence is an information set with one of its actions. Sequences are
    numbered set by set: set i has the sequences `first[i]` to `first[i + 1]`, and a strategy is one
    number for each sequence. Kernels do not check it; `check` does.

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

    def check(self) -> None:
        """Refuse arrays that are not a tree."""
        nodes, sets, ends = self.num_nodes, self.infoset, self.infoset == TERMINAL
        check_sets(self.num_players, self.player, self.first, self.payoff)
        for name in ("parent", "sequence", "probability"):
            require(len(getattr(self, name)) == nodes, f"{name} has an entry for each node")
        require(nodes > 0, "there is a root")
        low, high = int(sets.min()), int(sets.max())
        require(low >= CHANCE and high < self.num_infosets, "infoset is a set, TERMINAL or CHANCE")
        above, numbers = self.parent, np.arange(nodes)
        earlier = (above[1:] >= 0) & (above[1:] < numbers[1:])
        require(above[0] == -1 and bool(earlier.all()), "each node comes behind its parent")
        require(int(ends.sum()) == len(self.payoff), "payoff has a row for each terminal node")
        children = np.bincount(above[1:], minlength=nodes)
        require(bool(((children == 0) == ends).all()), "terminal nodes alone have no children")
        self._check_steps(children)

    def _check_steps(self, children: np.ndarray) -> None:
        """Refuse steps that do not match an action or chance outcome of the parent."""
        above = self.parent[1:]
        deciding = self.infoset[above] >= 0
        own = self.infoset[above[deciding]]
        step = self.sequence[1:][deciding]
        inside = (step >= self.first[own]) & (step < self.first[own + 1])
        require(bool(inside.all()), "sequence is an action of the information set above")
        require(bool((self.sequence[1:][~deciding] == -1).all()), "no sequence leads out of chance")
        pairs = above[deciding].astype(np.int64) * self.num_sequences + step
        sizes = np.diff(self.first)[self.infoset[self.infoset >= 0]]
        whole = bool((children[self.infoset >= 0] == sizes).all())
        require(whole and len(np.unique(pairs)) == len(pairs), "each action leads on once")
        share = self.probability[1:]
        require(bool((share[deciding] == 1.0).all()), "the probability of an action is 1")
        require(bool((share[~deciding] >= 0.0).all()), "probabilities are not negative")
        sums = np.bincount(above, weights=share, minlength=self.num_nodes)
        off = np.abs(sums[self.infoset == CHANCE] - 1.0)
        require(bool((off <= SUM_TOLERANCE).all()), "the probabilities of a chance node sum to 1")

    def last_sequences(self) -> np.ndarray:
        """Return each player's last own sequence before each node, [M, P] int32; -1 for none."""
        self.check()
        return self._last_sequences()

    def _last_sequences(self) -> np.ndarray:
        last = np.full((self.num_nodes, self.num_players), -1, dtype=np.int32)
        _trace(self, last)
        return last

    def without_nodes(self) -> SequenceGame:
        """Return the sequence form, for solvers and exact evaluation."""
        self.check()
        met, last, ends = self.first_nodes(), self._last_sequences(), self.infoset == TERMINAL
        chance = np.ones(self.num_nodes)
        _multiply(self, chance)
        recall = np.arange(len(met) + 1), last[met, self.player], np.ones(len(met))
        numbered = np.column_stack([last[ends], np.arange(len(self.payoff), dtype=np.int32)])
        return SequenceGame(
            self.num_players, self.player, self.first, *recall, numbered, chance[ends], self.payoff
        )

    def first_nodes(self) -> np.ndarray:
        """Return the first node of each information set, [I] int64."""
        first = np.empty(self.num_infosets, dtype=np.int64)
        deciding = np.flatnonzero(self.infoset >= 0)[::-1]
        first[self.infoset[deciding]] = deciding  # the last write stays
        return first

    def check_recall(self) -> None:
        """Refuse a game with imperfect recall."""
        nodes = np.flatnonzero(self.infoset >= 0)
        sets, last = self.infoset[nodes], self.last_sequences()
        expected = last[self.first_nodes(), self.player]
        wrong = last[nodes, self.player[sets]] != expected[sets]
        if wrong.any():
            number = int(sets[np.argmax(wrong)])
            raise KilleError(f"information set {number} forgets an earlier action of its player")


@kernel
def _trace(tree, last):
    """Fill in each player's last own sequence before each node; `last` begins as -1."""
    for node in range(np.uintp(1), np.uintp(len(tree.parent))):
        above = np.uintp(tree.parent[node])
        for player in range(np.uintp(last.shape[1])):
            last[node, player] = last[above, player]
        if tree.sequence[node] >= 0:
            owner = np.uintp(tree.player[np.uintp(tree.infoset[above])])
            last[node, owner] = tree.sequence[node]


@kernel
def _multiply(tree, chance):
    """Fill in the reach of each node by chance alone; `chance` begins as 1."""
    for node in range(np.uintp(1), np.uintp(len(tree.parent))):
        chance[node] = chance[np.uintp(tree.parent[node])] * tree.probability[node]


@dataclass(frozen=True)
class Terminal:
    """A terminal state.

    Attributes:
        payoff: The payoff of each player.
    """

    payoff: Sequence[float]


@dataclass(frozen=True)
class Chance:
    """A chance state.

    Attributes:
        probabilities: Probabilities of the states.
        states: The possible next states.
    """

    probabilities: Sequence[float]
    states: Sequence[Any]


@dataclass(frozen=True)
class Decision:
    """A state with a decision of a player.

    Attributes:
        player: The player, from 0.
        information: The player's information; equal values are one information set.
        states: The next state of each action, in the same order in all states of an information
            set.
    """

    player: int
    information: Hashable
    states: Sequence[Any]


Expand = Callable[[Any], Terminal | Chance | Decision]
"""Function that maps a state to its kind."""


@dataclass(frozen=True)
class Flattened:
    """A game with the information of its information sets.

    Attributes:
        tree: The sequence form, for solvers and exact evaluation.
        nodes: The tree with nodes.
        information: [I], the information of the player in each information set.
    """

    tree: SequenceGame
    nodes: FlatTree
    information: list[Any]


def flatten(root: Any, expand: Expand, num_players: int) -> Flattened:
    """Return the tree of a game."""
    num_players = arguments.whole("num_players", num_players, 1, MOST_PLAYERS)
    numbers: dict[tuple[int, Hashable], int] = {}
    sizes: list[int] = []
    first = [0]
    infoset, parent, sequence, probability, payoff = [], [], [], [], []
    waiting: list[tuple[Any, int, int, float, int]] = [(root, -1, -1, 1.0, 0)]
    while waiting:
        state, above, step, share, depth = waiting.pop()
        node = len(parent)
        parent.append(above)
        sequence.append(step)
        probability.append(share)
        found = expand(state)
        _check_state(found, num_players, depth)
        if isinstance(found, Terminal):
            infoset.append(TERMINAL)
            payoff.append(found.payoff)
            continue
        depth += 1
        if isinstance(found, Chance):
            infoset.append(CHANCE)
            below = [
                (after, node, -1, float(chance), depth)
                for chance, after in zip(found.probabilities, found.states, strict=True)
            ]
        else:
            key = (int(found.player), found.information)
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
                (after, node, first[number] + action, 1.0, depth)
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


def _check_state(found: Any, num_players: int, depth: int) -> None:
    """Refuse an invalid state."""
    if depth > DEEPEST:
        raise KilleError(
            f"the game has not ended after {DEEPEST:,} steps; `expand` must come to a Terminal on "
            "every path"
        )
    if isinstance(found, Terminal):
        worth = arguments.array(found.payoff, np.float64)
        if worth is None or worth.shape != (num_players,) or not np.isfinite(worth).all():
            raise KilleError(
                f"a terminal state pays {shortened(found.payoff)}; expected {num_players} finite "
                "numbers, one per player"
            )
        return
    if not isinstance(found, (Chance, Decision)):
        raise KilleError(
            f"`expand` returned {shortened(found)}; expected a Terminal, a Chance or a Decision"
        )
    if not len(found.states):
        raise KilleError(f"{shortened(found)} has no next state; return a Terminal at the end")
    if isinstance(found, Chance):
        shares = arguments.array(found.probabilities, np.float64)
        if (
            shares is None
            or shares.shape != (len(found.states),)
            or not (shares >= 0.0).all()
            or not abs(shares.sum() - 1.0) <= SUM_TOLERANCE
        ):
            raise KilleError(
                f"the probabilities of a chance node are {shortened(found.probabilities)}; "
                f"expected {len(found.states)} numbers from 0 that sum to 1, one per state"
            )
    elif not arguments.is_whole(found.player) or not 0 <= found.player < num_players:
        raise KilleError(
            f"player {shortened(found.player)} decides at a state; expected 0 to {num_players - 1}"
        )
