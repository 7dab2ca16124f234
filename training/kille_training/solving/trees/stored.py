"""Games with a solution as files of plain arrays, described in docs/truth.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from kille_env.errors import KilleError
from kille_env.files import BROKEN, read_arrays, write_arrays
from kille_training.solving.trees.efg import EfgTree
from kille_training.solving.trees.sequence_game import SequenceGame, payoffs_of, require
from kille_training.solving.trees.tree import Chance, Decision, Terminal, flatten
from kille_training.solving.trees.values import MILLION, NashConv, nash_conv, normalised

TYPES = {
    "player": "|i1", "actions": "<i4", "ways": "<i4", "before": "<i4", "share": "<f8",
    "ends": "<i4", "chance": "<f8", "paid": "<i4", "payoff": "<f8", "solution": "<i4",
}  # fmt: skip
"""Arrays of a file and their types."""

TWO_SIDES = ("ends", "payoff")  # those with two dimensions
CHANCE_TOLERANCE = 1e-6  # tolerance of the sum of the probabilities of all terminal nodes


@dataclass(frozen=True, eq=False)
class StoredTree:
    """A game in sequence form with a solution.

    Attributes:
        tree: The game, see `canonical`.
        millionths: [S] int32, the probability of each action in the solution, in millionths.
        about: Description of the table, as JSON can hold it.
    """

    tree: SequenceGame
    millionths: np.ndarray
    about: Mapping[str, Any]

    @property
    def strategy(self) -> np.ndarray:
        """The solution, [S] float64."""
        return self.millionths / MILLION

    @cached_property
    def nash_conv(self) -> NashConv:
        """Value of each seat and gain of its best response to the solution."""
        return nash_conv(self.tree, self.strategy)

    @cached_property
    def digest(self) -> str:
        """Digest of the game and the solution, independent of the file's compression."""
        return sha256(self.tree.fingerprint().encode() + self.millionths.tobytes()).hexdigest()

    def unrolled(self) -> tuple[EfgTree, np.ndarray]:
        """Return a tree with nodes of the same values and gains, and the solution, for OpenSpiel.

        Chance chooses a terminal node; each player then takes the actions that lead there, or ends
        the game with nothing. So beliefs differ from the game's, and payoffs are larger.
        """
        tree = self.tree
        if len(tree.before) > tree.num_infosets:
            raise KilleError("a player forgets here: several sequences lead to a set; see its .efg")
        first, scale = tree.first.tolist(), tree.chance.sum()
        owner = np.repeat(np.arange(tree.num_infosets), np.diff(tree.first))
        paths = [_path(tree, owner, last) for last in tree.ends[:, :-1].tolist()]

        def expand(state: Any) -> Terminal | Chance | Decision:
            end, depth = state
            if end is None:
                return Terminal([0.0] * tree.num_players)
            if end < 0:
                return Chance(tree.chance / scale, [(number, 0) for number in range(len(paths))])
            if depth == len(paths[end]):
                return Terminal(tree.payoff[tree.ends[end, -1]] * scale)
            number = owner[paths[end][depth]]
            steps = range(first[number], first[number + 1])
            after = [(end if step == paths[end][depth] else None, depth + 1) for step in steps]
            return Decision(int(tree.player[number]), int(number), after)

        found = flatten((-1, 0), expand, tree.num_players)
        order = [step for i in found.information for step in range(first[i], first[i + 1])]
        actions = [str(step - first[owner[step]]) for step in order]
        efg = EfgTree(found.nodes, actions, list(map(str, found.information)), "unrolled")
        return efg, self.strategy[order]

    def write(self, path: Path) -> None:
        """Write the file; equal tables are equal bytes."""
        tree = self.tree
        arrays = {
            "player": tree.player,
            "actions": np.diff(tree.first),
            "ways": np.diff(tree.ways),
            "before": tree.before,
            "share": tree.share,
            "ends": np.diff(tree.ends[:, :-1].T, prepend=0),  # small numbers, for the compression
            "chance": tree.chance,
            "paid": tree.ends[:, -1],
            "payoff": tree.payoff,
            "solution": self.millionths,
        }
        files = {name: arrays[name].astype(TYPES[name], order="C") for name in TYPES}
        write_arrays(path, self.about, files)


def _path(tree: SequenceGame, owner: np.ndarray, last: list[int]) -> list[int]:
    """Return the sequences of all players on the way to a terminal node."""
    path = []
    for step in last:
        own = []
        while step >= 0:
            own.append(step)
            step = int(tree.before[owner[step]])
        path += reversed(own)
    return path


def canonical(tree: SequenceGame) -> SequenceGame:
    """Return a game with sorted terminal nodes and payoffs, and equal ones merged."""
    payoff, number = np.unique(tree.payoff, axis=0, return_inverse=True)
    ends = np.column_stack([tree.ends[:, :-1], number.ravel()[tree.ends[:, -1]]])
    order = np.lexsort(ends.T[::-1])
    ends = ends[order].astype(np.int32)
    new = np.flatnonzero(np.append(True, np.diff(ends, axis=0).any(axis=1)))
    chance = np.add.reduceat(tree.chance[order], new)
    return tree._replace(ends=ends[new], chance=chance, payoff=payoff)


def read_tree(path: str | Path) -> StoredTree:
    """Read a game and its solution."""
    try:
        about, arrays = read_arrays(Path(path))
        for name, dtype in TYPES.items():
            array, sides = arrays[name], 1 + (name in TWO_SIDES)
            if array.dtype != dtype or array.ndim != sides:
                raise KilleError(f"{name} is {array.dtype} {array.shape}, expected {dtype}")
        found = StoredTree(_game(arrays), arrays["solution"], about)
        _check(found)
    except (*BROKEN, KilleError) as error:
        raise KilleError(f"{path} is not a table of the truth set: {error}") from None
    return found


def _game(arrays: Mapping[str, np.ndarray]) -> SequenceGame:
    """Return the game of a file's arrays."""
    actions, ways, paid = arrays["actions"], arrays["ways"], arrays["paid"]
    require(bool((actions > 0).all() and (ways > 0).all()), "each set has actions and ways")
    last = np.cumsum(arrays["ends"], axis=1, dtype=np.int64)
    require(last.shape[1] == len(paid), "paid has an entry for each terminal node")
    sequences = int(actions.sum())
    require(sequences < 2**31, "there are fewer than 2**31 sequences")
    inside = bool(((last >= -1) & (last < sequences)).all())
    require(inside, "ends name sequences of the game")
    return SequenceGame(
        num_players=len(last),
        player=arrays["player"],
        first=np.append(0, np.cumsum(actions)).astype(np.int32),
        ways=np.append(0, np.cumsum(ways, dtype=np.int64)),
        before=arrays["before"],
        share=arrays["share"],
        ends=np.column_stack([*last, paid]).astype(np.int32),
        chance=arrays["chance"],
        payoff=arrays["payoff"],
    )


def _check(found: StoredTree) -> None:
    """Refuse a file that holds no game, or no solution of it."""
    tree, row = found.tree, found.millionths
    tree.check()
    owner = np.append(np.repeat(tree.player, np.diff(tree.first)), -1)  # of the empty sequence
    own = np.repeat(tree.player, np.diff(tree.ways))
    follows = (owner[tree.before] == own) | (tree.before < 0)
    require(bool(follows.all()), "a set follows a sequence of its own player")
    last = tree.ends[:, :-1]
    behind = (owner[last] == np.arange(tree.num_players)) | (last < 0)
    require(bool(behind.all()), "ends name sequences of each player")
    weights = np.random.default_rng(0).random(tree.num_sequences)
    likely = payoffs_of(tree, normalised(tree, weights)).sum()
    fits = abs(likely - 1.0) <= CHANCE_TOLERANCE
    require(bool(fits), "the chances of all ends sum to 1 under any strategy")
    require(row.shape == (tree.num_sequences,), "the solution has a number for each sequence")
    sums = np.add.reduceat(row.astype(np.int64), tree.first[:-1])
    whole = bool((row >= 0).all() and (sums == MILLION).all())
    require(whole, "the solution's probabilities are not negative and sum to 1")
