"""What a strategy earns in a flat tree, what the best response to it earns, and NashConv.

A player's values need one pass over the nodes and one over his information sets. The first runs
forwards and adds, for each of his sequences, what he gets in the terminal nodes that have it as his
last one, weighted with how often chance and the others lead there. The second runs backwards: the
value of an information set is the mean of its sequences under the strategy, or the largest of them
for the best response, and it counts for the sequence that leads to the set. Perfect recall is what
makes that right: all nodes of a set have the same sequence before them, so the choice in one set
never changes how much the nodes of another weigh against each other.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kille_env.core.jit import kernel
from kille_env.errors import PolicyError
from kille_training.solving.trees.tree import TERMINAL, FlatTree

Describe = Callable[[int], str]
"""Says in words which information set a number stands for."""

TOLERANCE = 1e-6
"""How far from 1 the probabilities of an information set may sum up: what float32 leaves."""


@dataclass(frozen=True)
class BestResponse:
    """The best that one player can do against the others' strategies.

    Attributes:
        value: What it earns.
        on_policy: What the player earns with his own strategy.
        strategy: [S] float64, the strategy of all players with this player's part replaced by the
            response: 1 for what he does in each of his information sets. Of equally good actions it
            is the first, also where the others never let him come.
    """

    value: float
    on_policy: float
    strategy: np.ndarray


@dataclass(frozen=True)
class NashConv:
    """How far a strategy is from an equilibrium.

    Attributes:
        improvement: [P] float64, what each player would gain by the best response to the others.
        values: [P] float64, what each player earns when all keep to the strategy.
    """

    improvement: np.ndarray
    values: np.ndarray

    @property
    def total(self) -> float:
        """NashConv: the sum over the players; 0 in an equilibrium."""
        return float(self.improvement.sum())

    @property
    def largest(self) -> float:
        """The epsilon of the epsilon-equilibrium."""
        return float(self.improvement.max())


def uniform(tree: FlatTree) -> np.ndarray:
    """Returns the strategy that takes every action of an information set equally often, [S]."""
    sizes = np.diff(tree.first)
    return np.repeat(1.0 / sizes, sizes)


def check_strategy(
    tree: FlatTree, strategy: np.ndarray, describe: Describe | None = None
) -> np.ndarray:
    """Returns the strategy as float64, each information set's probabilities divided by their sum.

    Args:
        tree: The game.
        strategy: [S], the probability of every sequence's action in its information set.
        describe: Says which information set a number stands for; without it, its number is named.

    Raises:
        PolicyError: The shape is wrong, a probability is negative, infinite or not a number, or
            those of an information set do not sum to 1. The message names the first set.
    """
    checked = np.array(strategy, dtype=np.float64)
    if checked.shape != (tree.num_sequences,):
        raise PolicyError(
            f"a strategy for this tree has the shape ({tree.num_sequences},), one probability for "
            f"each sequence, and not {checked.shape}"
        )
    starts = tree.first[:-1]
    if not len(starts):
        return checked
    for wrong, what in (
        (~np.isfinite(checked), "has a probability that is no finite number"),
        (checked < 0.0, "has a negative probability"),
    ):
        if wrong.any():
            number = int(np.searchsorted(tree.first, np.argmax(wrong), side="right")) - 1
            raise PolicyError(_complaint(tree, checked, number, what, describe))
    sums = np.add.reduceat(checked, starts)
    off = np.abs(sums - 1.0) > TOLERANCE
    if off.any():
        number = int(np.argmax(off))
        what = f"has probabilities that sum to {sums[number]:.6g} and not to 1"
        raise PolicyError(_complaint(tree, checked, number, what, describe))
    return checked / np.repeat(sums, np.diff(tree.first))


def expected_values(
    tree: FlatTree, strategy: np.ndarray, describe: Describe | None = None
) -> np.ndarray:
    """Returns what each player earns when all play the strategy, [P].

    Args:
        tree: The game.
        strategy: [S], see `check_strategy`.
        describe: See `check_strategy`.
    """
    strategy = check_strategy(tree, strategy, describe)
    values = np.zeros(tree.num_players)
    _expect(
        tree.infoset,
        tree.parent,
        tree.sequence,
        tree.probability,
        tree.payoff,
        strategy,
        np.empty(tree.num_nodes),
        values,
    )
    return values


def best_response(
    tree: FlatTree, strategy: np.ndarray, player: int, describe: Describe | None = None
) -> BestResponse:
    """Returns the best response of one player to what the others do under the strategy.

    Args:
        tree: The game.
        strategy: [S], see `check_strategy`.
        player: Who responds.
        describe: See `check_strategy`.
    """
    if not 0 <= player < tree.num_players:
        raise PolicyError(
            f"player {player} does not play; the players are 0 to {tree.num_players - 1}"
        )
    strategy = check_strategy(tree, strategy, describe)
    return _Responder(tree).respond(strategy, player)


def nash_conv(tree: FlatTree, strategy: np.ndarray, describe: Describe | None = None) -> NashConv:
    """Returns what each player could still gain, and what he earns.

    Args:
        tree: The game.
        strategy: [S], see `check_strategy`.
        describe: See `check_strategy`.
    """
    strategy = check_strategy(tree, strategy, describe)
    responder = _Responder(tree)
    answers = [responder.respond(strategy, player) for player in range(tree.num_players)]
    values = np.array([answer.on_policy for answer in answers])
    return NashConv(np.array([answer.value for answer in answers]) - values, values)


def _complaint(
    tree: FlatTree, strategy: np.ndarray, number: int, what: str, describe: Describe | None
) -> str:
    """Names an information set and shows its probabilities."""
    name = f" ({describe(number)})" if describe else ""
    row = strategy[tree.first[number] : tree.first[number + 1]]
    return (
        f"information set {number}{name} of player {tree.player[number]} {what}: "
        f"[{', '.join(f'{share:.6g}' for share in row)}]"
    )


class _Responder:
    """The room that best responses over one tree need, kept from one player to the next."""

    def __init__(self, tree: FlatTree) -> None:
        self.tree = tree
        self.weight = np.empty(tree.num_nodes)
        self.last = np.empty(tree.num_nodes, dtype=np.int32)
        self.gain = np.empty((2, tree.num_sequences + 1))
        self.before = np.empty(tree.num_infosets, dtype=np.int32)
        self.met = np.empty(tree.num_infosets, dtype=np.int32)

    def respond(self, strategy: np.ndarray, player: int) -> BestResponse:
        tree = self.tree
        count = _weigh(
            player,
            tree.player,
            tree.infoset,
            tree.parent,
            tree.sequence,
            tree.probability,
            tree.payoff,
            strategy,
            self.weight,
            self.last,
            self.gain[0],
            self.before,
            self.met,
        )
        response = strategy.copy()
        self.gain[1] = self.gain[0]
        _choose(tree.first, self.before, self.met[:count], strategy, self.gain, response)
        return BestResponse(float(self.gain[1, 0]), float(self.gain[0, 0]), response)


@kernel
def _expect(infoset, parent, sequence, probability, payoff, strategy, reach, values):
    """Adds up the payoffs, weighted with how often play ends there."""
    terminal = np.uintp(0)
    for node in range(np.uintp(len(infoset))):
        if node == np.uintp(0):
            weight = 1.0
        elif sequence[node] >= 0:
            weight = reach[np.uintp(parent[node])] * strategy[np.uintp(sequence[node])]
        else:
            weight = reach[np.uintp(parent[node])] * probability[node]
        reach[node] = weight
        if infoset[node] == TERMINAL:
            for player in range(len(values)):
                values[player] += weight * payoff[terminal, player]
            terminal += np.uintp(1)


@kernel
def _weigh(
    me,
    owner,
    infoset,
    parent,
    sequence,
    probability,
    payoff,
    strategy,
    weight,
    last,
    gain,
    before,
    met,
):
    """Adds up what a player gets behind each of his sequences, and finds his information sets.

    Sequence s is number s + 1 in `gain` and `before`; 0 is the empty sequence, before he has acted.

    Args:
        me: The player.
        owner: [I], whose each information set is.
        infoset: The nodes' information sets.
        parent: The nodes' parents.
        sequence: The sequences that lead to the nodes.
        probability: The probabilities that lead to the nodes.
        payoff: [T, P].
        strategy: [S].
        weight: [M], filled: how often chance and the others lead to each node.
        last: [M], filled: the player's last sequence before each node.
        gain: [S + 1], filled: his payoffs, weighted, by last sequence.
        before: [I], filled for his information sets: the sequence that leads there.
        met: [I], filled: his information sets, none before one that leads to it.

    Returns:
        How many information sets the player has.
    """
    gain[:] = 0.0
    before[:] = -1
    count = np.uintp(0)
    terminal = np.uintp(0)
    for node in range(np.uintp(len(infoset))):
        share, mine = 1.0, np.int32(0)
        if node > np.uintp(0):
            above = np.uintp(parent[node])
            share, mine = weight[above], last[above]
            if sequence[node] < 0:
                share *= probability[node]
            elif owner[np.uintp(infoset[above])] == me:
                mine = np.int32(sequence[node] + 1)
            else:
                share *= strategy[np.uintp(sequence[node])]
        weight[node] = share
        last[node] = mine
        number = infoset[node]
        if number == TERMINAL:
            gain[np.uintp(mine)] += share * payoff[terminal, me]
            terminal += np.uintp(1)
        elif number >= 0 and owner[np.uintp(number)] == me and before[np.uintp(number)] < 0:
            before[np.uintp(number)] = mine
            met[count] = number
            count += np.uintp(1)
    return count


@kernel
def _choose(first, before, met, strategy, gain, response):
    """Takes the values of a player's information sets up to the root, the deepest sets first.

    Args:
        first: [I + 1], where each set's sequences begin.
        before: [I], the sequence that leads to each set.
        met: The player's sets, none before one that leads to it.
        strategy: [S].
        gain: [2, S + 1], what is got behind each sequence: with the strategy, with the response.
        response: [S], the player's part is overwritten.
    """
    for back in range(np.uintp(len(met))):
        number = np.uintp(met[np.uintp(len(met)) - np.uintp(1) - back])
        start, stop = np.uintp(first[number]), np.uintp(first[number + np.uintp(1)])
        best = start
        mean = 0.0
        for step in range(start, stop):
            mean += strategy[step] * gain[0, step + np.uintp(1)]
            if gain[1, step + np.uintp(1)] > gain[1, best + np.uintp(1)]:
                best = step
            response[step] = 0.0
        response[best] = 1.0
        gain[0, np.uintp(before[number])] += mean
        gain[1, np.uintp(before[number])] += gain[1, best + np.uintp(1)]
