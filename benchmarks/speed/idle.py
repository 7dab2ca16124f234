"""Tables that do nothing, to measure what a learner costs by itself."""

from typing import Any

import numpy as np

from kille_env.adapters.sb3 import SeatVecEnv


class IdleVecEnv(SeatVecEnv):
    """Shows the same decisions at every step, and takes no time for it."""

    def reset(self) -> np.ndarray:
        """Begins matches; returns the observations that are shown from now on, [N, F]."""
        self._seen, self._legal = super().reset(), super().action_masks()
        self._nothing = np.zeros(self.num_envs, dtype=np.float32), np.zeros(self.num_envs, np.bool_)
        self._told: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        return self._seen

    def action_masks(self) -> np.ndarray:
        """Returns what is always legal, [N, A] int8."""
        return self._legal

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Plays nothing."""
        return self._seen, *self._nothing, self._told
