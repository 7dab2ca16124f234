"""Flat trees of games that are written as a plain Python function."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kille_env.errors import KilleError
from kille_training.solving.trees.tree import CHANCE, TERMINAL, FlatTree


@dataclass(frozen=True)
class Over:
    """The game has ended.

    Attributes:
        payoff: What each player gets.
    """

    payoff: Sequence[float]


@dataclass(frozen=True)
class Draw:
    """Chance decides.

    Attributes:
        probabilities: Of the states.
        states: What may come.
    """

    probabilities: Sequence[float]
    states: Sequence[Any]


@dataclass(frozen=True)
class Choice:
    """A player decides.

    Attributes:
        player: Who.
        knows: All that he knows. States that are equal in it are one information set.
        states: Where his actions lead; in the same order in all states of an information set.
    """

    player: int
    knows: Hashable
    states: Sequence[Any]


@dataclass(frozen=True)
class Flattened:
    """A tree and what its information sets stand for.

    Attributes:
        tree: The tree.
        known: [I], what the player knows in each information set.
    """

    tree: FlatTree
    known: list[Any]


def flatten(
    root: Any, expand: Callable[[Any], Over | Draw | Choice], num_players: int
) -> Flattened:
    """Returns the flat tree of a game.

    Args:
        root: The state in which the game begins: anything that `expand` understands.
        expand: Says of a state who decides and what may come.
        num_players: P.

    Raises:
        KilleError: Two nodes of an information set differ in the number of actions, or the tree is
            not one of a game with perfect recall.
    """
    numbers: dict[tuple[int, Hashable], int] = {}
    sizes: list[int] = []
    first = [0]
    infoset, parent, sequence, probability, payoff = [], [], [], [], []
    waiting: list[tuple[Any, int, int, float]] = [(root, -1, -1, 1.0)]
    while waiting:
        state, above, step, share = waiting.pop()
        node = len(parent)
        parent.append(above)
        sequence.append(step)
        probability.append(share)
        found = expand(state)
        if isinstance(found, Over):
            infoset.append(TERMINAL)
            payoff.append(found.payoff)
            continue
        if isinstance(found, Draw):
            infoset.append(CHANCE)
            below = [
                (after, node, -1, float(chance))
                for chance, after in zip(found.probabilities, found.states, strict=True)
            ]
        else:
            key = (found.player, found.knows)
            number = numbers.setdefault(key, len(numbers))
            if number == len(sizes):
                sizes.append(len(found.states))
                first.append(first[-1] + len(found.states))
            if sizes[number] != len(found.states):
                raise KilleError(
                    f"player {found.player} has {len(found.states)} actions at one node and "
                    f"{sizes[number]} at another where he knows the same: {found.knows!r}"
                )
            infoset.append(number)
            below = [
                (after, node, first[number] + action, 1.0)
                for action, after in enumerate(found.states)
            ]
        waiting.extend(reversed(below))
    tree = FlatTree(
        num_players,
        np.array([player for player, _ in numbers], dtype=np.int8),
        np.array(first, dtype=np.int32),
        np.array(infoset, dtype=np.int32),
        np.array(parent, dtype=np.int32),
        np.array(sequence, dtype=np.int32),
        np.array(probability, dtype=np.float64),
        np.array(payoff, dtype=np.float64).reshape(-1, num_players),
    )
    tree.check()
    return Flattened(tree, [known for _, known in numbers])
