"""Games in sequence form, for solvers and exact evaluation.

Payoffs depend on a strategy only through the realization weights of each player's last sequence
before each terminal node. So a game consists of its terminal nodes, each with the last sequence of
every player and the number of its payoff, and of its information sets, each with the sequence that
leads there; terminal nodes with equal sequences are merged, with their mean payoff. A sweep over
the terminal nodes gives the value of each sequence of a player, and one pass back over its
information sets a best response.

A player may forget information without consequences, such as the order of drawn and dealt cards:
several sequences lead to such a set, each with a fixed share of the reach of chance and the others.
That is lossless (*well-formed* games: Lanctot et al., "No-regret learning in extensive-form games
with imperfect recall", ICML 2012), and makes games several times smaller.
"""

from hashlib import sha256
from typing import NamedTuple

import numpy as np

from kille_env.core.jit import kernel
from kille_env.errors import KilleError

SUM_TOLERANCE = 1e-9  # tolerance of the sum of an information set's shares


class SequenceGame(NamedTuple):
    """A finite game of P players in sequence form, with K distinct payoffs at T terminal nodes.

    Information sets are in topological order. Sequences are numbered as in `FlatTree`: set i has
    the sequences `first[i]` to `first[i + 1]`. Kernels do not check it; `check` does.

    Attributes:
        num_players: P.
        player: [I] int8, the player that decides in each information set.
        first: [I + 1] int32, the first sequence of each information set; the last entry is S.
        ways: [I + 1] int64, the first entry of each set in `before` and `share`: with perfect
            recall each has one; the last entry is W.
        before: [W] int32, the player's own sequences that lead to each set; -1 for none.
        share: [W] float64, how often chance comes to the set by each of them; a set's sum is 1.
        ends: [T, P + 1] int32, each player's last sequence before each terminal node, -1 for none;
            then the number of the payoff there.
        chance: [T] float64, how often chance leads there if the players do.
        payoff: [K, P] float64, what each player gets.
    """

    num_players: int
    player: np.ndarray
    first: np.ndarray
    ways: np.ndarray
    before: np.ndarray
    share: np.ndarray
    ends: np.ndarray
    chance: np.ndarray
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
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(array.nbytes for array in self[1:])

    def check(self) -> None:
        """Refuse inconsistent arrays."""
        sets, players, ends = self.num_infosets, self.num_players, len(self.chance)
        check_sets(players, self.player, self.first, self.payoff)
        require(self.ways.shape == (sets + 1,), "ways has an entry for each information set")
        require(self.ends.shape == (ends, players + 1), "ends is [T, P + 1]")
        require(self.before.shape == self.share.shape, "share has an entry for each way")
        rising = self.ways[0] == 0 and bool((np.diff(self.ways) > 0).all())
        require(bool(rising) and self.ways[-1] == len(self.before), "each set has its ways")
        fault = _fault(self)
        require(fault != 1, "an information set comes behind all that lead to it")
        require(fault != 2, "the shares of an information set are not negative and sum to 1")
        require(fault != 3, "ends name sequences and payoffs of the game")
        require(fault != 4, "chances are finite and not negative")

    def fingerprint(self) -> str:
        """Return a digest of the game."""
        digest = sha256(str(self.num_players).encode())
        for array in self[1:]:
            digest.update(f"{array.dtype}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def require(holds: bool, rule: str) -> None:
    """Raise unless a rule holds."""
    if not holds:
        raise KilleError(f"the arrays are not a tree: {rule}")


def check_sets(num_players: int, player: np.ndarray, first: np.ndarray, payoff: np.ndarray) -> None:
    """Refuse inconsistent information sets and payoffs."""
    require(num_players >= 1, "num_players is at least 1")
    require(first.shape == (len(player) + 1,), "first has an entry for each set and one more")
    rising = first[0] == 0 and bool((np.diff(first) > 0).all())
    require(bool(rising), "first begins at 0, and each information set has an action")
    inside = (player >= 0) & (player < num_players)
    require(bool(inside.all()), f"players are 0 to {num_players - 1}")
    require(payoff.ndim == 2 and payoff.shape[1] == num_players, "payoff is [K, P]")
    require(bool(np.isfinite(payoff).all()), "payoffs are finite")


@kernel
def _fault(game):
    """Return the number of the first violated rule of a game, 0 for none; see `check`."""
    sequences, payoffs = np.int64(game.first[-1]), np.int64(len(game.payoff))
    for number in range(np.uintp(len(game.player))):
        shares = 0.0
        for way in range(np.uintp(game.ways[number]), np.uintp(game.ways[number + np.uintp(1)])):
            if not -1 <= game.before[way] < game.first[number]:
                return 1
            if not game.share[way] >= 0.0:
                return 2
            shares += game.share[way]
        if not abs(shares - 1.0) <= SUM_TOLERANCE:
            return 2
    players = np.uintp(game.ends.shape[1] - 1)
    for end in range(np.uintp(len(game.chance))):
        for player in range(players):
            if not -1 <= game.ends[end, player] < sequences:
                return 3
        if not 0 <= game.ends[end, players] < payoffs:
            return 3
        if not 0.0 <= game.chance[end] < np.inf:
            return 4
    return 0


def sequence_reach(game: SequenceGame, strategy: np.ndarray) -> np.ndarray:
    """Return the realization weight of each sequence, [S + 1]; entry 0 is the empty one."""
    reach = np.ones(game.num_sequences + 1)
    _spread(game, strategy, reach)
    return reach


def payoffs_of(game: SequenceGame, strategy: np.ndarray) -> np.ndarray:
    """Return the probability of each payoff under a strategy, [K]."""
    likely = np.zeros(len(game.payoff))
    _sum_ends(game, sequence_reach(game, strategy), likely)
    return likely


def values_of(game: SequenceGame, strategy: np.ndarray) -> np.ndarray:
    """Return the value of a strategy to each player, [P]."""
    return payoffs_of(game, strategy) @ game.payoff


def reach_of(game: SequenceGame, strategy: np.ndarray) -> np.ndarray:
    """Return the reach probability of each information set under a strategy, [I]."""
    comes, through = np.zeros(game.num_infosets), np.zeros(game.num_sequences + 1)
    _count(game, sequence_reach(game, strategy), through, comes)
    return comes


@kernel
def reach_before(game, reach, number):
    """Return a player's own reach of a set, given its realization weights."""
    above = 0.0
    for way in range(np.uintp(game.ways[number]), np.uintp(game.ways[number + np.uintp(1)])):
        above += game.share[way] * reach[np.uintp(game.before[way] + 1)]
    return above


@kernel
def _spread(game, strategy, reach):
    """Fill in the realization weights of each player's sequences."""
    for number in range(np.uintp(len(game.player))):
        above = reach_before(game, reach, number)
        for step in range(np.uintp(game.first[number]), np.uintp(game.first[number + np.uintp(1)])):
            reach[step + np.uintp(1)] = above * strategy[step]


@kernel
def _sum_ends(game, reach, likely):
    """Add up the probability of each payoff."""
    players = np.uintp(game.payoff.shape[1])
    for end in range(np.uintp(len(game.chance))):
        share = game.chance[end]
        for player in range(players):
            share *= reach[np.uintp(game.ends[end, player] + 1)]
        likely[np.uintp(game.ends[end, players])] += share


@kernel
def _count(game, reach, through, comes):
    """Fill in the reach probability of each sequence and each information set."""
    players = np.uintp(game.payoff.shape[1])
    for end in range(np.uintp(len(game.chance))):
        share = game.chance[end]
        for player in range(players):
            share *= reach[np.uintp(game.ends[end, player] + 1)]
        for player in range(players):
            through[np.uintp(game.ends[end, player] + 1)] += share
    number = np.uintp(len(game.player))
    while number > 0:
        number -= np.uintp(1)
        whole = 0.0
        for step in range(np.uintp(game.first[number]), np.uintp(game.first[number + np.uintp(1)])):
            whole += through[step + np.uintp(1)]
        comes[number] = whole
        above = reach_before(game, reach, number)
        for way in range(np.uintp(game.ways[number]), np.uintp(game.ways[number + np.uintp(1)])):
            own = game.share[way] * reach[np.uintp(game.before[way] + 1)]
            through[np.uintp(game.before[way] + 1)] += whole * own / above if above > 0.0 else 0.0


@kernel
def sweep(game, me, reach, gain):
    """Add up a player's counterfactual values behind each of its last sequences."""
    players = np.uintp(game.payoff.shape[1])
    for end in range(np.uintp(len(game.chance))):
        worth = game.chance[end] * game.payoff[np.uintp(game.ends[end, players]), me]
        for other in range(np.uintp(1), players):
            player = other - np.uintp(other <= me)  # the others
            worth *= reach[np.uintp(game.ends[end, player] + 1)]
        gain[np.uintp(game.ends[end, me] + 1)] += worth
