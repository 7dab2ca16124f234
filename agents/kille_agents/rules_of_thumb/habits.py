"""Habits: the wishes of a policy for each action in a phase of its game.

The policy takes the legal action with the highest wish, the first of equals.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from kille_env.core.jit import bind, in_plain, loop
from kille_env.core.spec import Rules
from kille_env.play.kernels import bound_later

measure = bound_later


@dataclass(frozen=True)
class Seen:
    """Decisions of one phase, as the seats to act see them."""

    observation: np.ndarray  # [n, F] uint8
    parts: Mapping[str, slice]  # places of the parts of an observation
    action: Mapping[str, int]  # numbers of the actions by name
    rules: Rules
    numbers: np.ndarray  # [K] int64, constants of the rule of thumb's kernel

    def __len__(self) -> int:
        return len(self.observation)

    def __getitem__(self, part: str) -> np.ndarray:
        """Return a part of the observations, [n, size]."""
        return self.observation[:, self.parts[part]]

    def wishes(self, **by_action: np.ndarray | float) -> np.ndarray:
        """Return wishes [n, A]: 0 but for the actions that are named."""
        wished = np.zeros((len(self), len(self.action)))
        for name, wish in by_action.items():
            wished[:, self.action[name]] = wish
        return wished

    def wishes_from(self, first: str, worth: np.ndarray) -> np.ndarray:
        """Return wishes [n, A]: `worth` [n, k] for the actions from the first one on, else 0."""
        wished, start = self.wishes(), self.action[first]
        wished[:, start : start + worth.shape[-1]] = worth
        return wished

    def before(self, asked: str) -> np.ndarray:
        """Return the distance to the next seat to the right with a 1 in a part [P], or 0, [n]."""
        # Seats are counted to the left, so the right neighbor stands last.
        others = self[asked][:, :0:-1] != 0
        return np.where(others.any(axis=1), others.argmax(axis=1) + 1, 0)

    def of_seat(self, part: str, steps: np.ndarray) -> np.ndarray:
        """Return the entry of a part [P] of the seat so many steps to the right, [n]."""
        return self[part][np.arange(len(self)), -steps]


Habit = Callable[[Seen], np.ndarray]  # wishes for each action, [n, A], at the decisions of a phase
Condition = Callable[[Seen], Any]  # whether a condition holds, [n] bool


def always(*actions: str) -> Habit:
    """Return the habit of taking the first of these actions that is legal."""
    return partial(_always, {action: float(len(actions) - i) for i, action in enumerate(actions)})


def _always(wanted: dict[str, float], seen: Seen) -> np.ndarray:
    return seen.wishes(**wanted)


def do_if(action: str, condition: Condition) -> Habit:
    """Return the habit of taking an action where a condition holds, and only there."""
    return partial(_do_if, action, condition)


def _do_if(action: str, condition: Condition, seen: Seen) -> np.ndarray:
    return seen.wishes(**{action: np.where(condition(seen), 1.0, -1.0)})


def measured_by(function: Any) -> Callable[[Seen], np.ndarray]:
    """Return a kernel of an observation [F] and `numbers` as a function of `Seen`, [n] float64.

    So habits and reasons measure a hand as the rule of thumb does.
    """
    return partial(_measure, function)


def _measure(function: Any, seen: Seen) -> np.ndarray:
    found = np.empty(len(seen))
    # Fresh arrays, because read-only ones would be compiled for anew.
    _bound(function, in_plain())(
        np.array(seen.observation, order="C"), np.array(seen.numbers), found
    )
    return found


@cache
def _bound(function: Any, plain: bool) -> Any:
    return (bind if plain else loop)(measure_rows, {"measure": function})


def measure_rows(observations, numbers, found):
    """Fill in the measure of each observation."""
    for row in range(found.shape[0]):
        found[row] = measure(observations[row], numbers)
