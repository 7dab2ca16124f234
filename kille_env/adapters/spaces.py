"""Observation and action spaces of a game."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from kille_env.core.spec import GameSpec, Part


def feature_space(parts: tuple[Part, ...]) -> spaces.Box:
    """Returns the box of a layout, uint8 [F]; every part has its own upper bound."""
    high = np.concatenate([np.full(part.size, part.high, dtype=np.uint8) for part in parts])
    return spaces.Box(low=np.zeros_like(high), high=high, dtype=np.uint8)


def observation_space(spec: GameSpec, num_players: int, kind: str) -> spaces.Dict | spaces.Box:
    """Returns the space of what a seat sees.

    Args:
        spec: The game.
        num_players: P.
        kind: "dict" for `{"observation": [F] uint8, "action_mask": [A] int8}`, "box" for the
            observation alone.
    """
    box = feature_space(spec.observation(num_players))
    if kind == "box":
        return box
    mask = spaces.Box(0, 1, (spec.num_actions,), np.int8)
    return spaces.Dict({"observation": box, "action_mask": mask})


class LegalDiscrete(spaces.Discrete):
    """`Discrete` whose `sample()` without a mask draws among the actions that are legal now.

    So a loop that samples from the action space plays by the rules, as most checkers and first
    scripts do. In everything else it is `Discrete`, and its copies and pickles are plain ones.
    """

    def __init__(self, n: int, legal: Callable[[], np.ndarray | None]) -> None:
        """Takes the number of actions, and what returns the mask now, [n] int8, or None."""
        super().__init__(n)
        self._legal = legal

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Returns an action; see `gymnasium.spaces.Discrete.sample`."""
        if mask is None and probability is None:
            mask = self._legal()
        return super().sample(mask, probability)

    def __reduce__(self) -> tuple[Any, ...]:
        return spaces.Discrete, (int(self.n),)


class LegalMultiDiscrete(spaces.MultiDiscrete):
    """The same for many tables: `sample()` without a mask draws a legal action for each."""

    def __init__(self, nvec: np.ndarray, legal: Callable[[], np.ndarray]) -> None:
        """Takes the number of actions of each table [N], and what returns the masks [N, A]."""
        super().__init__(nvec)
        self._legal = legal

    def sample(self, mask: Any = None, probability: Any = None) -> np.ndarray:
        """Returns actions [N]; see `gymnasium.spaces.MultiDiscrete.sample`."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        legal = self._legal()
        return (legal * (1.0 - self.np_random.random(legal.shape))).argmax(axis=1)

    def __reduce__(self) -> tuple[Any, ...]:
        return spaces.MultiDiscrete, (self.nvec.copy(),)
