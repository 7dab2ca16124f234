"""Own rewards and own features: functions of the user that environments and policies call."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from kille_env.errors import PolicyError, RulesError, shortened
from kille_env.play.policy import as_numbers

Function = Callable[..., Any]


class Features:
    """Features of the user, read by a network instead of the observation.

    A function makes them of observations [N, F] and masks [N, A] int8: [N, ...], an array or a
    tensor, each row from its own row alone.
    """

    def __init__(self, function: Function) -> None:
        """Take a function."""
        if not callable(function):
            raise RulesError(
                f"features is {shortened(function)}, expected a function of observations [N, F] "
                "and masks [N, A] that returns features [N, K]"
            )
        self.function = function
        self.name = str(getattr(function, "__name__", type(function).__name__))
        try:
            signature(function).bind(None, None)
        except TypeError as error:
            raise RulesError(
                f"features {self.name!r} cannot be called with observations and masks ({error}); "
                "expected a function (observation, mask)"
            ) from None
        except ValueError:  # some built-in functions have no signature
            pass

    @classmethod
    def of(cls, given: Any) -> "Features | None":
        """Return the option `features` as `Features`, or None."""
        return given if given is None or isinstance(given, Features) else cls(given)

    def __call__(self, seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return features of observations [N, F] and masks [N, A]: float32 [N, ...], fresh."""
        # Copies: a function of the user may write into its arguments.
        returned = self.function(seen.copy(), mask.copy())
        try:
            features = as_numbers(self.name, returned, "features").astype(np.float32)
        except PolicyError as error:
            raise RulesError(f"features: {error}") from None
        wrong = "" if np.isfinite(features).all() else "a number that is not finite"
        if features.ndim < 2 or len(features) != len(seen):
            wrong = f"the shape {features.shape}"
        if wrong:
            raise RulesError(
                f"features {self.name!r} returned {wrong} for {len(seen)} observations; expected "
                f"finite numbers [{len(seen)}, K]"
            )
        return features

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Features) and other.function == self.function

    def __hash__(self) -> int:
        return hash(self.function)

    @property
    def place(self) -> str:
        """The module and name under which another process finds the function, "module:name"."""
        module = str(getattr(self.function, "__module__", ""))
        name = str(getattr(self.function, "__qualname__", ""))
        if module in ("", "__main__") or "<" in name or not name:
            raise PolicyError(
                f"features {self.name!r} are code of this program, which no file keeps: define the "
                "function in a module of its own, at the top, and import it from there"
            )
        return f"{module}:{name}"


def check_reward_function(given: Any) -> Function | None:
    """Return the option `reward`."""
    if given is not None and not callable(given):
        raise RulesError(
            f"reward is {shortened(given)}, expected a function of the units that every seat has "
            "earned in finished episodes, [N, P], that returns rewards [N, P]"
        )
    return given


def paid(reward: Function, units: np.ndarray) -> np.ndarray:
    """Return the rewards of finished episodes by a function of the user, float64 [N, P]."""
    try:
        rewards = as_numbers("reward", reward(units.copy()), "rewards")
    except PolicyError as error:
        raise RulesError(str(error)) from None
    if rewards.shape != units.shape or not np.isfinite(rewards).all():
        got = "a number that is not finite" if rewards.shape == units.shape else f"{rewards.shape}"
        raise RulesError(
            f"reward returned {got} for the units of {len(units)} episodes; expected finite "
            f"numbers {units.shape}"
        )
    return rewards
