"""The base of the rules of thumb: a kernel that chooses, and habits in its place.

A rule of thumb plays sensibly without calculating; each file gives the reasons.
It is the mark that a trained policy has to beat. It is a kernel, so that loops can play its seats
by themselves. A player with habits of its own in some phases of the game, as the bots of the
population have, does what the kernel chooses in all others.
"""

from typing import Any, ClassVar

import numpy as np

from kille_agents.rules_of_thumb.habits import Habit, Seen
from kille_env.core.spec import Rules, width
from kille_env.errors import PolicyError
from kille_env.play.kernels import PolicyKernel, choices
from kille_env.play.policy import ObservationPolicy, check_shapes, derived_from_kernel
from kille_env.registry import Table, spec


class RuleOfThumb(ObservationPolicy):
    """A policy that plays the choices of its game's kernel, but for habits of its own."""

    name = "rule_of_thumb"
    game = ""
    what = ""  # its way of playing, in a sentence
    chooses: ClassVar[Any] = None  # the kernel, see `kille_env.play.kernels.PolicyKernel`
    reads: ClassVar[tuple[str, ...]] = ()  # parts of the observation that `numbers` begins with

    def __init__(self, num_players: int, rules: Rules, **instead: Habit) -> None:
        """Locate the parts of the observation; `instead` are habits by phase."""
        if type(self).chooses is None:
            raise PolicyError(f"{type(self).__name__} has no kernel, which chooses its actions")
        if rules.game != self.game:
            raise PolicyError(
                f"this rule of thumb plays {self.game}, not {rules.game}; "
                'as_policy("rule_of_thumb", game, ...) finds each game\'s own'
            )
        game = spec(self.game)
        self.num_players, self.rules = game.check_players(num_players), rules
        self.tables = (Table.of(self.game, self.num_players, rules),)
        self._action = {text: number for number, text in enumerate(game.actions)}
        layout = game.observation(self.num_players)
        self._width = width(layout)
        self._parts = {part.name: part.slice for part in layout}
        phases = range(self._width)[self._parts["phase"]]
        columns = dict(zip(game.phases[-len(phases) :], phases, strict=True))
        self._instead = [(columns[phase], habit) for phase, habit in instead.items()]
        places = [self._parts[part].start for part in self.reads]
        numbers = np.array([self.num_players, *places, *self.settings()], dtype=np.int64)
        self._kernel = PolicyKernel(type(self).chooses, numbers, deterministic=True)

    @property
    def numbers(self) -> np.ndarray:
        """Constants of the kernel, [K] int64: P, the places of `reads`, and `settings`."""
        return self._kernel.numbers

    def settings(self) -> list[int]:
        """Return the settings and rules that the kernel reads."""
        return []

    @property
    def kernel(self) -> PolicyKernel | None:  # type: ignore[override]
        """The kernel; None with habits of its own, and for a subclass without one."""
        return None if self._instead or "chooses" not in vars(type(self)) else self._kernel

    def __getstate__(self) -> dict[str, Any]:  # a kernel belongs to its module, and has no pickle
        return {**vars(self), "_kernel": self.numbers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._kernel = PolicyKernel(
            type(self).chooses, np.array(state["_kernel"]), deterministic=True
        )

    def see(self, observation: np.ndarray) -> Seen:
        """Return observations [n, F] as habits read them."""
        return Seen(observation, self._parts, self._action, self.rules, self.numbers)

    @derived_from_kernel
    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return 1 for the chosen action and 0 for all others, [N, A]."""
        check_shapes(self.name, observation, mask, self._width, len(self._action))
        chosen = choices(self.name, type(self).chooses, self.numbers, observation, mask)
        for column, habit in self._instead:
            rows = np.flatnonzero(observation[:, column])
            if len(rows):
                wishes = habit(self.see(observation[rows]))
                chosen[rows] = np.where(mask[rows] != 0, wishes, -np.inf).argmax(axis=1)
        return np.eye(mask.shape[1])[chosen]
