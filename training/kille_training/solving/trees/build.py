"""Flat trees of games that are written as a plain Python function."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kille_env.errors import KilleError
from kille_training.solving.trees.tree import CHANCE, TERMINAL, FlatTree


@dataclass(frozen=True)
class Terminal:
    """A state at which the game is over.

    Attributes:
        payoff: What each player gets.
    """

    payoff: Sequence[float]


@dataclass(frozen=True)
class Chance:
    """A state at which chance decides.

    Attributes:
        probabilities: Of the states.
        states: The states that can follow.
    """

    probabilities: Sequence[float]
    states: Sequence[Any]


@dataclass(frozen=True)
class Decision:
    """A state at which a player decides.

    Attributes:
        player: The player.
        information: All that the player knows. States with equal information are one information
            set.
        states: The states that its actions lead to, in the same order in all states of an
            information set.
    """

    player: int
    information: Hashable
    states: Sequence[Any]


Expand = Callable[[Any], Terminal | Chance | Decision]
"""Says what a state of a game is."""


@dataclass(frozen=True)
class Flattened:
    """A tree and what its information sets stand for.

    Attributes:
        tree: The tree.
        information: [I], what the player knows in each information set.
    """

    tree: FlatTree
    information: list[Any]


def flatten(root: Any, expand: Expand, num_players: int) -> Flattened:
    """Returns the flat tree of a game.

    Args:
        root: The first state of the game: anything that `expand` understands.
        expand: Returns who decides at a state, and the states that can follow.
        num_players: P.

    Raises:
        KilleError: Two nodes of an information set differ in the number of actions, or in what
            their player has done before.
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
        if isinstance(found, Terminal):
            infoset.append(TERMINAL)
            payoff.append(found.payoff)
            continue
        if isinstance(found, Chance):
            infoset.append(CHANCE)
            below = [
                (after, node, -1, float(chance))
                for chance, after in zip(found.probabilities, found.states, strict=True)
            ]
        else:
            key = (found.player, found.information)
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
    tree.check_recall()
    return Flattened(tree, [information for _, information in numbers])
