"""Stable-Baselines3: tables of several kinds side by side; see `kille_env.adapters.sb3`."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from kille_env.adapters.sb3 import SelfPlayVecEnv
from kille_env.adapters.sb3_buffer import SeatStep
from kille_env.adapters.sb3_tables import TableVecEnv
from kille_env.core import arguments
from kille_env.errors import KilleError


class MixedSelfPlayVecEnv(TableVecEnv):
    """Several `SelfPlayVecEnv` as one: tables with different numbers of seats, deals and matches.

    Its rows are theirs, one after the other. What they show must lie in the same space, which
    `observation="seats"` sees to for tables of one game. Every table makes one decision a step, so
    each kind is learned from as often as it has tables. Train with `SeatStreamBuffer`.

    A match moves more units than a deal, and would be all that a value function learns of.
    `spreads` makes the rewards of all kinds alike; what infos say stays in units.

    Attributes:
        parts: The environments.
        spreads: What the rewards of each are divided by.
        num_players: P, the most seats of any table.
        last_step: What the last step brought to whom, with 0 for seats that a table does not have;
            None before it.
    """

    def __init__(
        self, parts: Sequence[SelfPlayVecEnv], spreads: Sequence[float] | None = None
    ) -> None:
        """Takes the environments, which nobody else steps from now on.

        Args:
            parts: The environments.
            spreads: What the rewards of each are divided by, above 0, such as the standard
                deviation of what a seat earns there; None leaves them as they are.

        Raises:
            KilleError: There is none, they have different spaces, or spreads do not fit.
        """
        if not parts:
            raise KilleError("MixedSelfPlayVecEnv is made of at least one SelfPlayVecEnv, got none")
        first = parts[0]
        for part in parts:
            if (part.observation_space, part.action_space) != (
                first.observation_space,
                first.action_space,
            ):
                raise KilleError(
                    f"tables of {first.num_players} and of {part.num_players} seats show different "
                    "observations, or take different actions; make both for one game and with "
                    'observation="seats"'
                )
        self.parts = tuple(parts)
        self.spreads = tuple(spreads or (1.0,) * len(parts))
        if len(self.spreads) != len(parts) or not all(0 < spread < inf for spread in self.spreads):
            raise KilleError(
                f"each of the {len(parts)} environments has a spread above 0, got "
                f"{list(self.spreads)}"
            )
        self.num_players = max(part.num_players for part in parts)
        sizes = [part.num_envs for part in parts]
        super().__init__(sum(sizes), first.observation_space, first.batch.spec.num_actions)
        self.observation = first.observation
        ends = np.cumsum(sizes).tolist()
        self._rows = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        self._number = 0
        self.last_step: SeatStep | None = None

    def action_masks(self) -> np.ndarray:
        """Returns what is legal for the seats to act, [N, A] int8, fresh."""
        return np.concatenate([part.action_masks() for part in self.parts])

    def reset(self) -> np.ndarray:
        """Begins matches at all tables; returns the observations of the seats to act, [N, S]."""
        for part, rows in self._each():
            part._seeds, part._options = self._seeds[rows], self._options[rows]
        self._reset_seeds()
        self._reset_options()
        self._number = 0
        return np.concatenate([part.reset() for part in self.parts])

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays the actions; returns observations, rewards, dones and infos.

        Raises:
            IllegalActionError: An action is not legal; nothing has been played at any table.
            KilleError: An algorithm trains here without `SeatStreamBuffer`.
        """
        self._check_buffer()
        for part, rows in self._each():
            part.batch.check_legal(self._actions[rows])
        found = [part.step(self._actions[rows]) for part, rows in self._each()]
        seen = np.concatenate([np.asarray(part) for part, *_ in found])
        infos = [info for *_, part in found for info in part]
        step = self.last_step = self._joined()
        self._number += 1
        return seen, step.own(), step.dones.copy(), infos

    def _joined(self) -> SeatStep:
        """Returns the last steps of all parts as one, their rewards divided by the spreads."""
        rewards = np.zeros((self.num_envs, self.num_players))
        steps = []
        for (part, rows), spread in zip(self._each(), self.spreads, strict=True):
            step = part.last_step
            assert step is not None
            rewards[rows, : part.num_players] = step.rewards / spread
            steps.append(step)
        seats, dones = (
            np.concatenate([getattr(step, name) for step in steps]) for name in ("seats", "dones")
        )
        return SeatStep(self._number, seats, rewards, dones)

    def state(self) -> dict[str, np.ndarray]:
        """Returns everything that `load_state` needs, as arrays."""
        found = {"number": np.array(self._number)}
        for place, part in enumerate(self.parts):
            found |= {f"{place}/{name}": array for name, array in part.state().items()}
        return found

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on where `state` was taken, exactly.

        Raises:
            KilleError: The state is of other tables.
        """
        number = int(arguments.saved(state, "number", np.int64, ()))
        for place, part in enumerate(self.parts):
            begin = f"{place}/"
            own = {
                name.removeprefix(begin): state[name] for name in state if name.startswith(begin)
            }
            part.load_state(own)
        self._number = number

    def _each(self) -> Iterator[tuple[SelfPlayVecEnv, slice]]:
        """Returns each part with its rows."""
        return zip(self.parts, self._rows, strict=True)
