"""Flat trees of games that are written as a plain Python function."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kille_env.core.arguments import is_whole
from kille_env.errors import KilleError, shortened
from kille_training.solving.trees.tree import CHANCE, MOST_PLAYERS, TERMINAL, FlatTree


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
        KilleError: `expand` returned something else or a player that does not exist, two nodes of
            an information set differ in the number of actions, or the tree is not that of a game
            with perfect recall.
    """
    if not is_whole(num_players) or not 1 <= num_players <= MOST_PLAYERS:
        raise KilleError(f"num_players is {shortened(num_players)}, expected 1 to {MOST_PLAYERS}")
    num_players = int(num_players)
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
        found = _checked(expand(state), num_players)
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
    return Flattened(tree, [information for _, information in numbers])


def _checked(found: Any, num_players: int) -> Terminal | Chance | Decision:
    """Returns what a state is; refuses what no tree can hold."""
    try:
        if isinstance(found, Terminal):
            right = np.array(found.payoff, dtype=np.float64).shape == (num_players,)
        elif isinstance(found, Chance):
            shares = np.array(found.probabilities, dtype=np.float64)
            right = shares.shape == (len(found.states),) and len(shares) > 0
        elif isinstance(found, Decision):
            hash(found.information)
            seated = is_whole(found.player) and 0 <= found.player < num_players
            right = seated and len(found.states) > 0
        else:
            right = False
    except (TypeError, ValueError, OverflowError):
        right = False
    if not right:
        raise KilleError(
            f"a state of the tree is {shortened(found)}; expected a Terminal with {num_players} "
            "payoffs, a Chance with one probability for each state, or a Decision of a player "
            f"from 0 to {num_players - 1} with information that can be hashed"
        )
    return found
