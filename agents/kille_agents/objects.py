"""Players made of Python objects: plain functions, torch modules, models of Stable-Baselines3.

Nothing heavy is imported for an object that does not need it.
"""

import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kille_env.core.spec import Rules, width
from kille_env.errors import KilleError, PolicyError
from kille_env.policy import (
    Player,
    as_numbers,
    at_table,
    has_memory,
    masked_softmax,
    plays,
    searches,
)
from kille_env.registry import spec

if TYPE_CHECKING:
    import torch

PolicyFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From observations [N, F] uint8 and masks [N, A] int8 to probabilities [N, A]."""

_OPEN_SPIEL = (
    ("pyspiel", "Policy"),
    ("open_spiel.python.policy", "Policy"),
    ("pyspiel", "Bot"),
)
"""Classes of OpenSpiel that can play, with their modules."""


class FunctionPolicy:
    """A policy that calls a function.

    Attributes:
        function: What is called.
        name: What tables and reports call it.
    """

    def __init__(self, function: PolicyFunction, name: str) -> None:
        self.function, self.name = function, name

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns what the function returns, [N, A] float64.

        Raises:
            PolicyError: That is no array of numbers.
        """
        return as_numbers(self.name, self.function(observation, mask), "probabilities")


class TorchPolicy:
    """A policy that asks a torch module for logits.

    The module is called with observations [N, F], in its own floating-point type and on its own
    device, in evaluation mode and without gradients. Its logits [N, A] become probabilities by a
    softmax over the legal actions. The module may go on learning: every call uses its present
    weights, and its mode is put back.

    Attributes:
        module: The module.
        name: What tables and reports call it.
    """

    def __init__(self, module: "torch.nn.Module") -> None:
        self.module, self.name = module, _class_of(module)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the softmax over the legal actions, [N, A] float64; see `Policy`.

        Raises:
            PolicyError: The module refuses these observations, or returns other than logits [N, A].
        """
        try:
            logits = self._logits(observation)
        except (RuntimeError, ValueError, TypeError) as error:
            raise PolicyError(
                f"the torch module {self.name!r} fails for observations "
                f"{list(observation.shape)}: {' '.join(str(error).split())}"
            ) from error
        if logits.shape != mask.shape:
            raise PolicyError(
                f"the torch module {self.name!r} returned logits {list(logits.shape)}, "
                f"expected {list(mask.shape)}"
            )
        return masked_softmax(self.name, logits, mask)

    def _logits(self, observation: np.ndarray) -> np.ndarray:
        import torch

        weights = next((one for one in self.module.parameters() if one.is_floating_point()), None)
        features = torch.from_numpy(observation.astype(np.float32))
        if weights is not None:
            features = features.to(device=weights.device, dtype=weights.dtype)
        modes = [(part, part.training) for part in self.module.modules()]
        self.module.eval()
        try:
            with torch.no_grad():
                logits = self.module(features)
        finally:
            for part, training in modes:
                part.training = training
        if not isinstance(logits, torch.Tensor):
            raise TypeError(f"it returned a {type(logits).__name__}, expected a tensor of logits")
        return logits.double().cpu().numpy()


def makes_players(thing: Any) -> bool:
    """Returns whether a thing is to be called with (num_players, rules) to get a player.

    That is a class, or a function whose first parameter is not called `obs` or `observation`.
    """
    if isinstance(thing, type):
        return True
    if not callable(thing) or plays(thing) or is_from("torch.nn", "Module", thing):
        return False
    try:
        first = next(iter(inspect.signature(thing).parameters), "")
    except (TypeError, ValueError):  # of a builtin, say
        return True
    return not first.startswith("obs")


def make_player(name: str, make: Callable[..., Any], num_players: int, rules: Rules) -> Any:
    """Calls a class or function with (num_players, rules), or with nothing if it takes nothing.

    Args:
        name: What errors call it.
        make: What is called.
        num_players: Seats of the table.
        rules: Its rules.

    Returns:
        What it made, which `player_of` takes.

    Raises:
        PolicyError: It raised an error.
    """
    try:
        return make(num_players, rules) if _takes_arguments(make) else make()
    except KilleError:
        raise
    except Exception as error:  # the code of somebody else may raise anything
        raise PolicyError(
            f"{name!r} could not be made for {num_players} seats of {rules.game}: "
            f"{type(error).__name__}: {error}; it is called with (num_players, rules)"
        ) from error


def player_of(thing: Any, game: str, num_players: int) -> Player | None:
    """Returns a player for a table; None if the thing is nothing that can play.

    Args:
        thing: A player, a function, a torch module, a model of Stable-Baselines3, or a policy or
            bot of OpenSpiel.
        game: The game to be played.
        num_players: Seats of the table.

    Raises:
        PolicyError: It was made for another table.
    """
    if isinstance(thing, type):
        return None
    if plays(thing):
        if isinstance(getattr(thing, "name", None), str):
            return at_table(cast(Player, thing), game, num_players)
        nameless = searches(thing) or has_memory(thing)
        return None if nameless else FunctionPolicy(thing.probabilities, _class_of(thing))
    if is_from("stable_baselines3.common.base_class", "BaseAlgorithm", thing):
        from kille_agents.sb3 import sb3_player  # needs torch

        return sb3_player(thing, _class_of(thing)).at_table(game, num_players)
    if is_from("torch.nn", "Module", thing):
        table, policy = spec(game), TorchPolicy(thing)
        observation = np.zeros((2, width(table.observation(num_players))), np.uint8)
        policy.probabilities(observation, np.ones((2, table.num_actions), np.int8))
        return policy
    if any(is_from(*kind, thing) for kind in _OPEN_SPIEL):
        from kille_agents.open_spiel import OpenSpielPlayer  # needs OpenSpiel

        return OpenSpielPlayer(thing)
    if not callable(thing):
        return None
    name = str(getattr(thing, "__name__", _class_of(thing)))
    return FunctionPolicy(cast(PolicyFunction, thing), name.strip("<>"))


def _takes_arguments(make: Callable[..., Any]) -> bool:
    try:
        return len(inspect.signature(make).parameters) > 0
    except (TypeError, ValueError):  # of a builtin, say
        return True


def _class_of(thing: Any) -> str:
    return type(thing).__name__


def is_from(module: str, name: str, thing: Any) -> bool:
    """Returns whether a thing is of a library's class; a library that is not loaded has none."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(thing, kind)
