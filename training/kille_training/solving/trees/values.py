"""Values of strategies and of best responses, and NashConv.

A player's values need one pass over the terminal nodes and one over its information sets. The first
adds up, for each of the player's sequences, the payoffs of the terminal nodes with this last
sequence, weighted by the reach of chance and the others. The second runs backwards: the value of an
information set is the mean of its sequences under the strategy, or their maximum for a best
response, and is added to the sequence that leads to the set. Perfect recall makes this correct: the
choice in one set never changes the relative weights of the nodes of another.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kille_env.core.jit import kernel
from kille_env.errors import PolicyError
from kille_training.solving.trees.sequence_game import (
    SequenceGame,
    reach_of,
    sequence_reach,
    sweep,
    values_of,
)
from kille_training.solving.trees.tree import FlatTree

TOLERANCE = 1e-6
"""Tolerance of the sum of an information set's probabilities: float32 rounding."""


MOST_TURNS = 8
"""Maximum turns per player in `answer_in_turns`: pure equilibria are found in a few."""

NO_GAIN = 1e-13
"""Gains below this are rounding errors."""

MILLION = 10**6
"""Rounded probabilities are whole multiples of one over this."""


@dataclass(frozen=True)
class BestResponse:
    """A best response of one player to the others' strategies.

    Attributes:
        value: Value of the response.
        on_policy: Value of the player's own strategy.
        strategy: [S] float64, the strategy of all players with this player's part replaced by the
            response: 1 for its action in each of its information sets, 0 for the others. Ties go to
            the first action, also in unreachable sets.
    """

    value: float
    on_policy: float
    strategy: np.ndarray


@dataclass(frozen=True)
class NashConv:
    """Distance of a strategy from an equilibrium.

    Attributes:
        improvement: [P] float64, gain of each player's best response to the others.
        values: [P] float64, value of the strategy to each player.
    """

    improvement: np.ndarray
    values: np.ndarray

    @property
    def total(self) -> float:
        """NashConv: the sum over the players, clipped at 0; 0 in an equilibrium."""
        return max(float(self.improvement.sum()), 0.0)

    @property
    def largest(self) -> float:
        """The epsilon of the epsilon-equilibrium."""
        return float(self.improvement.max())


def uniform(tree: SequenceGame) -> np.ndarray:
    """Return the strategy that takes every action of an information set equally often, [S]."""
    sizes = np.diff(tree.first)
    return np.repeat(1.0 / sizes, sizes)


def normalised(tree: SequenceGame, weights: np.ndarray) -> np.ndarray:
    """Normalize weights [S] to a strategy, uniform in sets with zero weights."""
    if not tree.num_infosets:
        return np.zeros(0)
    totals = np.repeat(np.add.reduceat(weights, tree.first[:-1]), np.diff(tree.first))
    return np.where(totals > 0.0, weights / np.where(totals > 0.0, totals, 1.0), uniform(tree))


def greedy(tree: SequenceGame | FlatTree, strategy: np.ndarray) -> np.ndarray:
    """Return the greedy version of a strategy, [S]; ties go to the first action."""
    pure = np.zeros(tree.num_sequences)
    if tree.num_infosets:
        starts, sizes = tree.first[:-1], np.diff(tree.first)
        largest = strategy == np.repeat(np.maximum.reduceat(strategy, starts), sizes)
        steps = np.where(largest, np.arange(len(strategy)), len(strategy))
        pure[np.minimum.reduceat(steps, starts)] = 1.0
    return pure


def in_millionths(tree: SequenceGame | FlatTree, strategy: np.ndarray) -> np.ndarray:
    """Return a strategy as whole millionths, [S] int32, that sum to a million in each set.

    The largest of a set absorbs the rounding error of its sum.
    """
    counts = np.round(strategy * MILLION).astype(np.int64)
    if tree.num_infosets:
        largest = np.flatnonzero(greedy(tree, counts))
        counts[largest] += MILLION - np.add.reduceat(counts, tree.first[:-1])
    return counts.astype(np.int32)


def coarse_gains(tree: SequenceGame, strategies: Iterable[np.ndarray]) -> np.ndarray:
    """Return the gain of each player's best fixed strategy over a history of joint play, [P].

    One of the strategies of all players [S] is drawn for all. Where no gain is positive, the
    history is a coarse correlated equilibrium.
    """
    gains, earned, count = np.zeros((tree.num_players, 2, tree.num_sequences + 1)), 0.0, 0
    for strategy in strategies:
        reach = sequence_reach(tree, strategy)
        for player in range(tree.num_players):
            sweep(tree, player, reach, gains[player, 1])
        earned, count = earned + values_of(tree, strategy), count + 1
    any_strategy = uniform(tree)
    for player in range(tree.num_players):
        own = np.flatnonzero(tree.player == player)
        _choose(tree, own, any_strategy, gains[player], any_strategy.copy())
    return (gains[:, 1, 0] - earned) / count


def check_strategy(tree: SequenceGame, strategy: np.ndarray) -> np.ndarray:
    """Return the strategy as float64, normalized in each information set, or raise."""
    tree.check()
    checked = _numbers(tree, strategy)
    if not tree.num_infosets:
        return checked
    starts, sizes = tree.first[:-1], np.diff(tree.first)
    sums = np.add.reduceat(np.where(checked >= 0.0, checked, np.nan), starts)
    off = ~(np.abs(sums - 1.0) <= TOLERANCE)
    if off.any():
        number = int(np.argmax(off))
        row = ", ".join(f"{share:.6g}" for share in checked[starts[number] :][: sizes[number]])
        raise PolicyError(
            f"information set {number} of player {tree.player[number]} has the probabilities "
            f"[{row}]; expected numbers from 0 that sum to 1"
        )
    return checked / np.repeat(sums, sizes)


def infoset_reach(tree: SequenceGame, strategy: np.ndarray) -> np.ndarray:
    """Return the reach probability of each information set under a strategy [S], [I]."""
    tree.check()
    return reach_of(tree, _numbers(tree, strategy))


def expected_values(tree: SequenceGame, strategy: np.ndarray) -> np.ndarray:
    """Return the value of a strategy (see `check_strategy`) to each player, [P]."""
    return values_of(tree, check_strategy(tree, strategy))


def best_response(tree: SequenceGame, strategy: np.ndarray, player: int) -> BestResponse:
    """Return the best response of one player to the others' strategies.

    Args:
        tree: The game.
        strategy: [S], see `check_strategy`.
        player: The player that responds.
    """
    gain, response = _respond(tree, check_strategy(tree, strategy), player)
    return BestResponse(float(gain[1, 0]), float(gain[0, 0]), response)


def answer_in_turns(
    tree: SequenceGame, strategy: np.ndarray, tolerance: float = 0.0
) -> tuple[np.ndarray, NashConv]:
    """Iterate best responses player by player, until none gains.

    A player changes its choice only for a gain, so unreached parts keep their threats; arbitrary
    changes there would cycle. If equilibria are mixed, the iteration cycles anyway, and the best
    strategy on the way is returned.
    """
    strategy = check_strategy(tree, strategy)
    found, best, sizes = nash_conv(tree, strategy), strategy, np.diff(tree.first)
    for _ in range(MOST_TURNS):
        if found.total <= tolerance:
            break
        for player in range(tree.num_players):
            gain, answer = _respond(tree, strategy, player)
            gains = np.add.reduceat(gain[1, 1:] * (answer - strategy), tree.first[:-1])
            strategy = np.where(np.repeat(gains > NO_GAIN, sizes), answer, strategy)
        measured = nash_conv(tree, strategy)
        if measured.total < found.total:
            found, best = measured, strategy
    return best, found


def losses(tree: SequenceGame, strategy: np.ndarray, player: int) -> np.ndarray:
    """Return a player's losses by information set, [I]; they sum to its best response's gain.

    The loss of an information set is its reach times the regret of the choice there, if the player
    responds best from there on.
    """
    strategy = check_strategy(tree, strategy)
    gain, _ = _respond(tree, strategy, player)
    own = np.ones(tree.num_sequences + 1)  # the player's own reach
    lost = np.zeros(tree.num_infosets)
    for number in np.flatnonzero(tree.player == player):
        behind = slice(tree.first[number] + 1, tree.first[number + 1] + 1)
        chances, worth = strategy[tree.first[number] : tree.first[number + 1]], gain[1, behind]
        ways = slice(tree.ways[number], tree.ways[number + 1])
        reach = tree.share[ways] @ own[tree.before[ways] + 1]
        own[behind] = reach * chances
        lost[number] = reach * (worth.max() - chances @ worth)
    return lost


def choice_values(
    tree: SequenceGame, strategy: np.ndarray, player: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a player's choices if all players continue by the strategy.

    They are undefined in information sets that chance and the others never reach.
    """
    strategy = check_strategy(tree, strategy)
    gain, _ = _respond(tree, strategy, player)
    reach = _others_reach(tree, strategy, player)
    given = np.repeat(np.where(reach > 0.0, reach, np.nan), np.diff(tree.first))
    return gain[0, 1:] / given, reach


def _others_reach(game: SequenceGame, strategy: np.ndarray, player: int) -> np.ndarray:
    """Return the counterfactual reach of a player's information sets, [I]."""
    sets, reach = game.player == player, np.zeros(game.num_infosets)
    mine = np.repeat(sets, np.diff(game.first))
    mixed = np.where(mine, uniform(game), strategy)  # plays to all of its sets
    roads = game.share * sequence_reach(game, mixed)[game.before + 1]
    own = np.add.reduceat(roads, game.ways[:-1])
    reach[sets] = reach_of(game, mixed)[sets] / own[sets]
    return reach


def nash_conv(tree: SequenceGame, strategy: np.ndarray) -> NashConv:
    """Return each player's possible gain under a strategy (see `check_strategy`)."""
    strategy = check_strategy(tree, strategy)
    gains = (_respond(tree, strategy, player)[0] for player in range(tree.num_players))
    values, best = np.array([gain[:, 0] for gain in gains]).T
    return NashConv(best - values, values)


def _numbers(tree: SequenceGame, strategy: np.ndarray) -> np.ndarray:
    """Return a copy of a strategy as float64, or raise for a wrong shape."""
    checked = np.array(strategy, dtype=np.float64)
    if checked.shape != (tree.num_sequences,):
        raise PolicyError(
            f"the strategy has shape {checked.shape}, expected ({tree.num_sequences},): one "
            "probability per sequence"
        )
    return checked


def _respond(
    tree: SequenceGame, strategy: np.ndarray, player: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values behind a player's sequences, and the strategy with its best response."""
    gain, response = np.zeros((2, tree.num_sequences + 1)), strategy.copy()
    sweep(tree, player, sequence_reach(tree, strategy), gain[0])
    gain[1] = gain[0]
    _choose(tree, np.flatnonzero(tree.player == player), strategy, gain, response)
    return gain, response


@kernel
def _choose(tree, sets, strategy, gain, response):
    """Carry the values of a player's information sets up to the root, the deepest sets first."""
    place = np.uintp(len(sets))
    while place > 0:
        place -= np.uintp(1)
        number = np.uintp(sets[place])
        start, stop = np.uintp(tree.first[number]), np.uintp(tree.first[number + np.uintp(1)])
        best = start
        mean = 0.0
        for step in range(start, stop):
            mean += strategy[step] * gain[0, step + np.uintp(1)]
            if gain[1, step + np.uintp(1)] > gain[1, best + np.uintp(1)]:
                best = step
            response[step] = 0.0
        response[best] = 1.0
        for way in range(np.uintp(tree.ways[number]), np.uintp(tree.ways[number + np.uintp(1)])):
            above = np.uintp(tree.before[way] + 1)
            gain[0, above] += tree.share[way] * mean
            gain[1, above] += tree.share[way] * gain[1, best + np.uintp(1)]
