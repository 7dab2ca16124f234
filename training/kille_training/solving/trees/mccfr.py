"""Monte Carlo CFR with external sampling, for trees whose iterations would take too long.

Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo sampling for regret minimization in extensive
games", NIPS 2009. An iteration visits the tree once for each player: all of his actions, and one
action, drawn from chance or from the strategy, wherever somebody else decides.
"""

from typing import Any, Self

import numpy as np

from kille_env.core.jit import kernel, settings
from kille_env.core.rng import GOLDEN, derive, mix
from kille_env.errors import KilleError
from kille_training.solving.trees.solver import Solver, normalised
from kille_training.solving.trees.tree import CHANCE, TERMINAL, FlatTree

_S11 = np.uint64(11)
_STEP = 2.0**-53


class MCCFR(Solver):
    """Regret minimisation with external sampling.

    The draws of an iteration depend on the seed, on its number and on the player, and on nothing
    that was drawn before.
    """

    def __init__(self, tree: FlatTree, seed: int = 0) -> None:
        """Prepares the tree.

        Args:
            tree: The game.
            seed: Of the draws, at least 0.
        """
        if not 0 <= seed < 2**64:
            raise KilleError(f"a seed is a whole number from 0 to 2**64 - 1, and not {seed}")
        self.tree = tree
        self.seed = seed
        self._count = np.zeros(1, dtype=np.int64)
        self._regret = np.zeros(tree.num_sequences)
        self._average = np.zeros(tree.num_sequences)
        self._kids = np.argsort(tree.parent[1:], kind="stable").astype(np.uint32) + np.uint32(1)
        numbers = np.bincount(tree.parent[1:], minlength=tree.num_nodes)
        self._first = np.concatenate([[0], np.cumsum(numbers)]).astype(np.uint32)
        self._end = (np.cumsum(tree.infoset == TERMINAL) - 1).astype(np.int32)
        room = np.zeros((tree.num_players, tree.num_nodes), dtype=np.int64)
        _measure(tree.player, tree.infoset, tree.parent, room)
        size = int(room[:, 0].max())
        self._visited = np.empty(size, dtype=np.uint32)
        self._above = np.empty(size, dtype=np.uint32)
        self._share = np.empty(size)
        self._value = np.empty(size)

    @property
    def iteration(self) -> int:
        """Iterations so far."""
        return int(self._count[0])

    @property
    def average(self) -> np.ndarray:
        """The average strategy, [S]; uniform where no sample has come yet."""
        return normalised(self.tree, self._average)

    @property
    def current(self) -> np.ndarray:
        """The strategy of the next iteration, [S]."""
        return normalised(self.tree, np.maximum(self._regret, 0.0))

    def settings(self) -> dict[str, Any]:
        """The seed."""
        return {"seed": self.seed}

    @classmethod
    def made_with(cls, tree: FlatTree, settings: dict[str, Any]) -> Self:
        """Makes a solver with the settings that another one had."""
        return cls(tree, **settings)

    def _iterate(self, count: int) -> None:
        tree = self.tree
        _sample(
            count,
            np.uint64(self.seed),
            tree.num_players,
            tree.player,
            tree.first,
            tree.infoset,
            tree.sequence,
            tree.probability,
            tree.payoff,
            self._first,
            self._kids,
            self._end,
            self._count,
            self._regret,
            self._average,
            self._visited,
            self._above,
            self._share,
            self._value,
        )

    def _state(self) -> dict[str, np.ndarray]:
        return {"regret": self._regret, "average": self._average}

    def _restore(self, iteration: int, state: dict[str, np.ndarray]) -> None:
        if (state["average"] < 0.0).any():
            raise KilleError("its average has negative weights")
        self._count[0] = iteration
        self._regret[:] = state["regret"]
        self._average[:] = state["average"]


@kernel
def _measure(owner, infoset, parent, room):
    """Fills in how many nodes below each node one sample of each player visits at most."""
    for back in range(np.uintp(len(infoset))):
        node = np.uintp(len(infoset)) - np.uintp(1) - back
        for player in range(np.uintp(len(room))):
            room[player, node] += 1
            if node > np.uintp(0):
                above = np.uintp(parent[node])
                over = infoset[above]
                if over >= 0 and owner[np.uintp(over)] == player:
                    room[player, above] += room[player, node]
                else:
                    room[player, above] = max(room[player, above], room[player, node])


@kernel
def _uniform(key):
    """Returns the number from 0 to 1 that belongs to a 64-bit key."""
    return np.float64(mix(key) >> _S11) * _STEP


@kernel
def _matched(first, number, sequence, regret):
    """Returns the probability of a sequence under regret matching."""
    start, stop = np.uintp(first[number]), np.uintp(first[number + np.uintp(1)])
    total = 0.0
    for step in range(start, stop):
        total += max(regret[step], 0.0)
    if total > 0.0:
        return max(regret[sequence], 0.0) / total
    return 1.0 / (stop - start)


@kernel
def _draw(key, by_strategy, first, infoset, sequence, probability, regret, kids_first, kids, node):
    """Draws a node's child: from chance, from the strategy, or all equally likely.

    Args:
        key: The number that decides.
        by_strategy: Whether the players' strategies count, or all their actions are equally likely.
        first: Where the information sets' sequences begin.
        infoset: The nodes' information sets.
        sequence: The sequences that lead to the nodes.
        probability: The probabilities that lead to the nodes.
        regret: [S].
        kids_first: Where each node's children begin.
        kids: The children.
        node: Whose child is drawn.
    """
    start, stop = np.uintp(kids_first[node]), np.uintp(kids_first[node + np.uintp(1)])
    left = _uniform(key)
    for place in range(start, stop):
        kid = np.uintp(kids[place])
        if infoset[node] == CHANCE:
            left -= probability[kid]
        elif by_strategy:
            left -= _matched(first, np.uintp(infoset[node]), np.uintp(sequence[kid]), regret)
        else:
            left -= 1.0 / (stop - start)
        if left < 0.0:
            return kid
    return np.uintp(kids[stop - np.uintp(1)])  # rounding has left something over


@kernel
def _sample(
    turns,
    seed,
    players,
    owner,
    first,
    infoset,
    sequence,
    probability,
    payoff,
    kids_first,
    kids,
    end,
    count,
    regret,
    average,
    visited,
    above,
    share,
    value,
):
    """Iterates.

    The nodes of a sample stand in a list, each behind the one that leads to it: it grows while it
    is read forwards, and the values come back while it is read backwards. An information set of the
    player occurs at most once in it, because two nodes of one sample that are not above each other
    part at one of his own choices; so regrets may change on the way back.

    With two players the other's strategy is added up where he is visited: that happens in
    proportion to how often he plays his way there. With more, the third player's choices would
    weigh in, so each player's average gets a walk of its own on which everybody else plays at
    random.

    Args:
        turns: How many iterations.
        seed: Of the draws.
        players: P.
        owner: See `FlatTree.player`; the next five are of `FlatTree` too.
        first: Where the information sets' sequences begin.
        infoset: The nodes' information sets.
        sequence: The sequences that lead to the nodes.
        probability: The probabilities that lead to the nodes.
        payoff: [T, P].
        kids_first: [M + 1], where each node's children begin.
        kids: The children.
        end: [M], the number of each terminal node.
        count: [1], iterations so far.
        regret: [S].
        average: [S].
        visited: Room for the list: nodes.
        above: The place in the list of the node above.
        share: The probability of the player's action that leads to the node.
        value: What the player gets there.
    """
    one = np.uintp(1)
    for _ in range(turns):
        for player in range(players):
            key = derive(derive(seed, count[0]), player)
            length = one
            visited[0] = np.uint32(0)
            place = np.uintp(0)
            while place < length:
                node = np.uintp(visited[place])
                number = infoset[node]
                value[place] = 0.0
                if number == TERMINAL:
                    value[place] = payoff[np.uintp(end[node]), player]
                elif number >= 0 and owner[np.uintp(number)] == player:
                    for child in range(
                        np.uintp(kids_first[node]), np.uintp(kids_first[node + one])
                    ):
                        kid = np.uintp(kids[child])
                        visited[length] = np.uint32(kid)
                        above[length] = np.uint32(place)
                        share[length] = _matched(
                            first, np.uintp(number), np.uintp(sequence[kid]), regret
                        )
                        length += one
                else:
                    if number >= 0 and players == 2:
                        _add(np.uintp(number), first, regret, average)
                    key = key + GOLDEN
                    kid = _draw(
                        key,
                        True,
                        first,
                        infoset,
                        sequence,
                        probability,
                        regret,
                        kids_first,
                        kids,
                        node,
                    )
                    visited[length] = np.uint32(kid)
                    above[length] = np.uint32(place)
                    share[length] = 1.0
                    length += one
                place += one
            while place > one:
                place -= one
                node = np.uintp(visited[place])
                number = infoset[node]
                if number >= 0 and owner[np.uintp(number)] == player:
                    for step in range(
                        np.uintp(first[np.uintp(number)]), np.uintp(first[np.uintp(number) + one])
                    ):
                        regret[step] -= value[place]
                over = np.uintp(above[place])
                value[over] += share[place] * value[place]
                number = infoset[np.uintp(visited[over])]
                if number >= 0 and owner[np.uintp(number)] == player:
                    regret[np.uintp(sequence[node])] += value[place]
            number = infoset[0]
            if number >= 0 and owner[np.uintp(number)] == player:
                for step in range(
                    np.uintp(first[np.uintp(number)]), np.uintp(first[np.uintp(number) + one])
                ):
                    regret[step] -= value[0]
            if players != 2:
                node = np.uintp(0)
                while infoset[node] != TERMINAL:
                    number = infoset[node]
                    mine = number >= 0 and owner[np.uintp(number)] == player
                    if mine:
                        _add(np.uintp(number), first, regret, average)
                    key = key + GOLDEN
                    node = _draw(
                        key,
                        mine,
                        first,
                        infoset,
                        sequence,
                        probability,
                        regret,
                        kids_first,
                        kids,
                        node,
                    )
        count[0] += 1


@kernel
def _add(number, first, regret, average):
    """Adds an information set's strategy to the average."""
    start, stop = np.uintp(first[number]), np.uintp(first[number + np.uintp(1)])
    total = 0.0
    for step in range(start, stop):
        total += max(regret[step], 0.0)
    for step in range(start, stop):
        if total > 0.0:
            average[step] += max(regret[step], 0.0) / total
        else:
            average[step] += 1.0 / (stop - start)


if settings.DISABLE_JIT:  # the keys wrap around, of which NumPy's scalars warn
    _sample = np.errstate(over="ignore")(_sample)
