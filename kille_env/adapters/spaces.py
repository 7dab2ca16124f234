"""Observations of a game and their spaces."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from kille_env.core.floats import OBSERVATION, reading_of
from kille_env.core.spec import GameSpec, Part
from kille_env.play.options import one_of
from kille_env.play.user_functions import Features


def feature_space(parts: tuple[Part, ...]) -> spaces.Box:
    """Return the box of a layout, uint8 [F]; every part has its own upper bound."""
    high = np.concatenate([np.full(part.size, part.high, dtype=np.uint8) for part in parts])
    return spaces.Box(low=np.zeros_like(high), high=high, dtype=np.uint8)


class Observations:
    """Form of the observations: the option `observation`.

    "box" is the features as they are, uint8 [F]; "float" scales each by its upper bound, float32
    [F] in 0 to 1; "seats" is float32 [S] in 0 to 1, of one size at tables of every size (see
    `kille_env.core.floats`); "dict" is `{"observation": uint8 [F], "action_mask": int8 [A]}`. Own
    features, float32, replace the observation.
    """

    def __init__(
        self,
        kind: str,
        spec: GameSpec,
        num_players: int,
        offered: tuple[str, ...] = OBSERVATION,
        features: Any = None,
        observe_rules: bool = False,
    ) -> None:
        """Check the option and the features, and derive the space of an observation."""
        self.kind = one_of("observation", kind, offered)
        self.observe_rules = observe_rules
        self._read = reading_of(kind, spec, num_players, observe_rules)
        box = feature_space(spec.layout("observation", observe_rules)(num_players))
        if self._read is not None:
            box = spaces.Box(0.0, 1.0, (self._read.size,), np.float32)
        self.features = Features.of(features)
        if self.features is not None:
            seen = np.zeros((1, *box.shape), box.dtype)
            # The size of own features is known only from a call.
            found = self.features(seen, np.ones((1, spec.num_actions), np.int8))
            box = spaces.Box(-np.inf, np.inf, found.shape[1:], np.float32)
        self._with_mask = kind == "dict"
        mask = spaces.Box(0, 1, (spec.num_actions,), np.int8)
        self.space: spaces.Space[Any] = (
            spaces.Dict({"observation": box, "action_mask": mask}) if self._with_mask else box
        )

    def read(self, seen: np.ndarray) -> np.ndarray:
        """Return uint8 features [..., F] in the chosen form, before own features."""
        return seen if self._read is None else self._read(seen)

    def show(self, seen: np.ndarray, mask: Callable[[], np.ndarray]) -> Any:
        """Return observations of uint8 features [..., F]; `mask` is called if they need it."""
        features = self.read(seen)
        if self.features is not None:
            rows, masks = features.reshape(-1, features.shape[-1]), mask()
            found = self.features(rows, masks.reshape(len(rows), -1))
            features = found.reshape(*features.shape[:-1], *found.shape[1:])
        return {"observation": features, "action_mask": mask()} if self._with_mask else features
