"""A game without its nodes: what solvers and exact evaluation need of a tree, and nothing else.

What a player earns depends on a strategy only through how often each player alone would play up to
its last own sequence before each terminal node. So a game is kept as its terminal nodes, each with
the last sequence of every player, and as its information sets, each with the sequence that leads
there; terminal nodes with equal sequences are one. A sweep over the terminal nodes gives what each
sequence of a player is worth, and one pass back over its information sets a best response.
"""

import hashlib
from typing import Any, NamedTuple, Self

import numpy as np

from kille_env.core.jit import kernel


def digest_of(game: Any) -> str:
    """Returns a digest of a named tuple of a number of players and arrays."""
    digest = hashlib.sha256(str(game.num_players).encode())
    for name, array in zip(game._fields[1:], game[1:], strict=True):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


class SequenceGame(NamedTuple):
    """A finite game of P players with perfect recall, in sequence form.

    An information set comes behind all that lead to it. Sequences are numbered as in `FlatTree`:
    set i has the sequences `first[i]` to `first[i + 1]`. Kernels take it as it is, and trust it.

    Attributes:
        num_players: P.
        player: [I] int8, the player that decides in each information set.
        first: [I + 1] int32, the first sequence of each information set; the last entry is S.
        before: [I] int32, the player's own sequence that leads to each set; -1 for none.
        last: [T, P] int32, each player's last sequence before each terminal node; -1 for none.
        chance: [T] float64, how often chance leads there if the players do.
        pay: [T, P] float64, what each player gets there, times `chance`.
    """

    num_players: int
    player: np.ndarray
    first: np.ndarray
    before: np.ndarray
    last: np.ndarray
    chance: np.ndarray
    pay: np.ndarray

    @property
    def num_infosets(self) -> int:
        """I."""
        return len(self.player)

    @property
    def num_sequences(self) -> int:
        """S."""
        return int(self.first[-1])

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(array.nbytes for array in self[1:])

    def changed(self, **fields: np.ndarray) -> Self:
        """Returns the game with other fields."""
        return self._replace(**fields)

    def gaining(self, more: np.ndarray) -> Self:
        """Returns the game that pays so much more at its ends, times their chance, [T, P]."""
        return self._replace(pay=self.pay + more)

    def fingerprint(self) -> str:
        """Returns a digest of the whole game."""
        return digest_of(self)


def sequence_reach(game: SequenceGame, strategy: np.ndarray) -> np.ndarray:
    """Returns how often a sequence's player alone would play it, [S + 1]; entry 0 is for none."""
    reach = np.ones(game.num_sequences + 1)
    _spread(game, strategy, reach)
    return reach


def values_of(game: SequenceGame, strategy: np.ndarray) -> np.ndarray:
    """Returns what each player earns when all play a strategy, [P]."""
    values = np.zeros(game.num_players)
    _sum_pay(game, sequence_reach(game, strategy), values)
    return values


def reach_of(game: SequenceGame, strategy: np.ndarray) -> np.ndarray:
    """Returns how likely play by a strategy is to come to each information set, [I]."""
    comes, through = np.zeros(game.num_infosets), np.zeros(game.num_sequences + 1)
    _count(game, sequence_reach(game, strategy), through, comes)
    return comes


@kernel
def _spread(game, strategy, reach):
    """Fills in each player's own reach of its sequences."""
    for number in range(np.uintp(len(game.before))):
        above = reach[np.uintp(game.before[number] + 1)]
        for step in range(np.uintp(game.first[number]), np.uintp(game.first[number + np.uintp(1)])):
            reach[step + np.uintp(1)] = above * strategy[step]


@kernel
def _sum_pay(game, reach, values):
    """Adds up the payoffs, weighted with how often play ends there."""
    for end in range(np.uintp(len(game.chance))):
        share = 1.0
        for player in range(np.uintp(game.last.shape[1])):
            share *= reach[np.uintp(game.last[end, player] + 1)]
        for player in range(np.uintp(game.last.shape[1])):
            values[player] += share * game.pay[end, player]


@kernel
def _count(game, reach, through, comes):
    """Fills in how often play comes through each sequence, and to each information set."""
    for end in range(np.uintp(len(game.chance))):
        share = game.chance[end]
        for player in range(np.uintp(game.last.shape[1])):
            share *= reach[np.uintp(game.last[end, player] + 1)]
        for player in range(np.uintp(game.last.shape[1])):
            through[np.uintp(game.last[end, player] + 1)] += share
    number = np.uintp(len(game.before))
    while number > 0:
        number -= np.uintp(1)
        whole = 0.0
        for step in range(np.uintp(game.first[number]), np.uintp(game.first[number + np.uintp(1)])):
            whole += through[step + np.uintp(1)]
        comes[number] = whole
        through[np.uintp(game.before[number] + 1)] += whole


@kernel
def sweep(game, me, reach, gain):
    """Adds up what a player gets behind each of its last sequences if the others play on.

    Args:
        game: The game.
        me: The player.
        reach: [S + 1], see `sequence_reach`.
        gain: [S + 1], what is added to; entry 0 is for no sequence.
    """
    for end in range(np.uintp(len(game.chance))):
        worth = game.pay[end, me]
        for player in range(np.uintp(game.last.shape[1])):
            if player != me:
                worth *= reach[np.uintp(game.last[end, player] + 1)]
        gain[np.uintp(game.last[end, me] + 1)] += worth
