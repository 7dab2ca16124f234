"""Stable-Baselines3: tables of several kinds side by side; see `kille_env.adapters.sb3`."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from kille_env.adapters.sb3 import EverySeatVecEnv, SelfPlayVecEnv
from kille_env.errors import KilleError


class MixedSelfPlayVecEnv(EverySeatVecEnv):
    """Several `SelfPlayVecEnv` as one: tables with different numbers of seats, deals and matches.

    Its rows are theirs, one after the other. What they show must lie in the same space, which
    `observation="seats"` sees to for tables of one game. Every table makes one decision a step, so
    each kind is learned from as often as it has tables.

    A match moves more units than a deal, and would be all that a value function learns of.
    `spreads` makes the rewards of all kinds alike; what infos say stays in units.

    Example:
        >>> from kille_env.sb3 import MixedSelfPlayVecEnv, SelfPlayVecEnv
        >>> parts = [SelfPlayVecEnv("knack", 8, seats, observation="seats") for seats in (2, 3)]
        >>> MixedSelfPlayVecEnv(parts).num_envs
        16

    Attributes:
        parts: The environments.
        spreads: What the rewards of each are divided by.
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
            if (part.observation, part.features) != (first.observation, first.features):
                raise KilleError(
                    "the environments show different observations or features; give all of them "
                    "the same `observation` and the same function as `features`"
                )
            if (part.observation_space, part.action_space) != (
                first.observation_space,
                first.action_space,
            ):
                raise KilleError(
                    f"{first.table} and {part.table} show different observations, or take "
                    'different actions; make both for one game and with observation="seats"'
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
        super().__init__(sum(sizes), first._observations, first.batch.spec.num_actions)
        ends = np.cumsum(sizes).tolist()
        self._rows = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]

    def action_masks(self) -> np.ndarray:
        """Returns what is legal for the seats to act, [N, A] int8, fresh."""
        return np.concatenate([part.action_masks() for part in self.parts])

    def _begin(self) -> None:
        for part, rows in self._each():
            part._seeds, part._options = self._seeds[rows], self._options[rows]
            part._begin()
        self._reset_seeds()
        self._reset_options()

    def _observe(self) -> np.ndarray:
        return np.concatenate([part._observe() for part in self.parts])

    def _play(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        for part, rows in self._each():
            part.batch.check_legal(actions[rows])
        rewards = np.zeros((self.num_envs, self.num_players))
        seats, ended, infos = [], [], list[dict[str, Any]]()
        for (part, rows), spread in zip(self._each(), self.spreads, strict=True):
            acted, earned, over, told = part._play(actions[rows])
            rewards[rows, : part.num_players] = earned / spread
            seats.append(acted)
            ended.append(over)
            infos += told
        return np.concatenate(seats), rewards, np.concatenate(ended), infos

    def state(self) -> dict[str, np.ndarray]:
        """Returns everything that `load_state` needs, as arrays."""
        return {
            f"{place}/{name}": array
            for place, part in enumerate(self.parts)
            for name, array in part.state().items()
        }

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on where `state` was taken, exactly.

        Raises:
            KilleError: The state is of other tables.
        """
        for place, part in enumerate(self.parts):
            begin = f"{place}/"
            part.load_state({
                name.removeprefix(begin): state[name] for name in state if name.startswith(begin)
            })  # fmt: skip
        if self.buffer is not None:
            self.buffer.forget()

    def _each(self) -> Iterator[tuple[SelfPlayVecEnv, slice]]:
        """Returns each part with its rows."""
        return zip(self.parts, self._rows, strict=True)
