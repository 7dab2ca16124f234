"""Habits: how much a player wants each action in a phase of its game.

The player takes the legal action that it wants most, the first of equals.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kille_env.core.spec import Rules


@dataclass(frozen=True)
class Seen:
    """Decisions of one phase, as the seats to act see them.

    Attributes:
        observation: [n, F] uint8.
        parts: Where the parts of an observation lie.
        action: Numbers of the actions by name.
        rules: The table's rules.
    """

    observation: np.ndarray
    parts: Mapping[str, slice]
    action: Mapping[str, int]
    rules: Rules

    def __len__(self) -> int:
        """Number of decisions."""
        return len(self.observation)

    def __getitem__(self, part: str) -> np.ndarray:
        """Returns a part of the observations, [n, size]."""
        return self.observation[:, self.parts[part]]

    def wishes(self, **by_action: np.ndarray | float) -> np.ndarray:
        """Returns wishes [n, A]: 0 but for the actions that are named."""
        wished = np.zeros((len(self), len(self.action)))
        for name, wish in by_action.items():
            wished[:, self.action[name]] = wish
        return wished

    def wishes_from(self, first: str, worth: np.ndarray) -> np.ndarray:
        """Returns wishes [n, A]: `worth` [n, k] for the actions from the first one on, else 0."""
        wished, start = self.wishes(), self.action[first]
        wished[:, start : start + worth.shape[-1]] = worth
        return wished

    def before(self, asked: str) -> np.ndarray:
        """Returns how far to the right the nearest seat is that has a 1 in a part [P], [n].

        1 is the right neighbour; 0 if there is no such seat.
        """
        others = self[asked][:, :0:-1] != 0
        return np.where(others.any(axis=1), others.argmax(axis=1) + 1, 0)

    def of_seat(self, part: str, steps: np.ndarray) -> np.ndarray:
        """Returns the entry of a part [P] of the seat so many steps to the right, [n]."""
        return self[part][np.arange(len(self)), -steps]


Habit = Callable[[Seen], np.ndarray]
"""How much a player wants each action: [n, A], for the decisions of a phase."""
Condition = Callable[[Seen], Any]
"""Whether something holds, [n] bool."""


def always(*actions: str) -> Habit:
    """Returns the habit of taking the first of these actions that is legal."""
    return partial(_always, {action: float(len(actions) - i) for i, action in enumerate(actions)})


def _always(wanted: dict[str, float], seen: Seen) -> np.ndarray:
    return seen.wishes(**wanted)


def do_if(action: str, condition: Condition) -> Habit:
    """Returns the habit of taking an action where a condition holds, and only there."""
    return partial(_do_if, action, condition)


def _do_if(action: str, condition: Condition, seen: Seen) -> np.ndarray:
    return seen.wishes(**{action: np.where(condition(seen), 1.0, -1.0)})
