"""Players made of Python objects: plain functions, torch modules, models of Stable-Baselines3.

Nothing heavy is imported for an object that does not need it.

Players of your own modules are named as "module:object". Naming one imports the module, and
importing runs its code: name only modules that you trust, as with `import module`. Modules are
searched for where Python searches, and then in the working folder.

The object is a player, or a class or function that is called with (num_players, rules), or with
nothing if it has no parameters, and returns one. A player is what `kille_agents.as_policy` takes; a
function whose first parameter is called `observation` (or `obs`) is a policy itself. For example::

    def careful(observation, mask):  # bots.py, named "bots:careful"
        return mask / mask.sum(axis=1, keepdims=True)

    class Cautious:  # cautious.py, named "cautious:Cautious"
        name = "cautious"

        def __init__(self, num_players, rules): ...

        def probabilities(self, observation, mask): ...
"""

import importlib
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from kille_env.core.spec import Rules, width
from kille_env.errors import KilleError, PolicyError, did_you_mean, shortened
from kille_env.play.functions import EXPECTED, FunctionPolicy, are_probabilities
from kille_env.play.policy import (
    Player,
    at_table,
    has_memory,
    plays,
    searches,
)
from kille_env.registry import spec

if TYPE_CHECKING:
    import torch

_A_PLAYER = (
    "expected a player (with a name, and probabilities or decide), a function of (observation, "
    "mask), a torch module, a model of Stable-Baselines3, or what makes one of (num_players, rules)"
)

_WORDS = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")

PolicyFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From observations [N, F] uint8 and masks [N, A] int8 to probabilities [N, A]."""

_OPEN_SPIEL = (
    ("pyspiel", "Policy"),
    ("open_spiel.python.policy", "Policy"),
    ("pyspiel", "Bot"),
)
"""Classes of OpenSpiel that can play, with their modules."""


class Network(FunctionPolicy):
    """A torch module or function as a player, with what it does not say itself: how it is asked.

    Usable wherever a player is. A module is called with observations [N, F], in its own
    floating-point type and on its own device, in evaluation mode and without gradients; one whose
    `forward` has a parameter for the mask gets that too. It may go on learning: every call uses its
    present weights, and its mode is put back. A module sees no mask, so that its probabilities are
    those of all actions: the shares of the legal ones are played, as of its logits.

    Example:
        >>> import kille_env, kille_training, torch
        >>> from kille_agents import Network
        >>> batch = kille_env.make_batch("byteskille", num_players=2)
        >>> layer = torch.nn.Linear(batch.observation.shape[1], batch.mask.shape[1])
        >>> network = Network(layer, observation="float", returns="logits")
        >>> kille_training.nash_conv(network, "byteskille", 2).stakes > 0
        True

    Attributes:
        function: The module or function.
        name: What tables and reports call it.
    """

    def __init__(
        self,
        function: "torch.nn.Module | Callable[..., Any]",
        *,
        observation: str | None = None,
        returns: str | None = None,
        features: Callable[..., Any] | None = None,
        name: str = "",
    ) -> None:
        """Take a module or function; the arguments are those of `FunctionPolicy`.

        Raises:
            PolicyError: It cannot be called, or `observation` or `returns` is not said.
            RulesError: An option that does not exist.
        """
        super().__init__(
            function, observation=observation, returns=returns, features=features, name=name
        )
        self._is_module = is_from("torch.nn", "Module", function)
        self._with_mask = self._is_module and _takes_a_mask(function)

    def at_table(self, game: str, num_players: int) -> Self:
        """Return the policy as it plays at a table; a module is asked once there.

        Raises:
            PolicyError: The module refuses the observations of this table, or returns other than
                [N, A].
        """
        settled = super().at_table(game, num_players)
        if self._is_module:
            table = spec(game)
            observation = np.zeros((2, width(table.observation(num_players))), np.uint8)
            settled.returned(observation, np.ones((2, table.num_actions), np.int8))
        return settled

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return how likely each action is, [N, A] float64; see `FunctionPolicy`.

        Raises:
            PolicyError: Also where a module's probabilities do not sum to 1, or none is legal.
        """
        found = super().probabilities(observation, mask)
        if not self._is_module or self.returns != "probabilities":
            return found
        legal = np.where(mask != 0, found, 0.0)
        total = legal.sum(axis=1, keepdims=True)
        if not are_probabilities(found) or not (total > 0.0).all():
            raise PolicyError(
                f"what the torch module {self.name!r} returns as probabilities does not lie in 0 "
                "to 1 and sum to 1 over all actions, with a share for a legal one; for the scores "
                'before a softmax say returns="logits", for action values returns="values"'
            )
        return legal / total

    def _call(self, shown: np.ndarray, mask: np.ndarray) -> Any:
        if not self._is_module:
            return self.function(shown, mask)
        try:
            return self._forward(shown, mask)
        except (RuntimeError, ValueError, TypeError) as error:
            raise PolicyError(
                f"the torch module {self.name!r} fails for observations "
                f"{list(shown.shape)}: {' '.join(str(error).split())}"
            ) from error

    def _forward(self, shown: np.ndarray, mask: np.ndarray) -> Any:
        import torch

        module = cast("torch.nn.Module", self.function)
        weights = next((one for one in module.parameters() if one.is_floating_point()), None)
        features = torch.from_numpy(shown.astype(np.float32))
        legal = torch.from_numpy(mask != 0)
        if weights is not None:
            features = features.to(device=weights.device, dtype=weights.dtype)
            legal = legal.to(weights.device)
        modes = [(part, part.training) for part in module.modules()]
        module.eval()
        try:
            with torch.no_grad():
                found = module(features, legal) if self._with_mask else module(features)
        finally:
            for part, training in modes:
                part.training = training
        if not isinstance(found, torch.Tensor):
            raise TypeError(f"it returned a {type(found).__name__}, expected a tensor [N, A]")
        return found


def _takes_a_mask(module: Any) -> bool:
    """Return whether a module's `forward` has a second parameter, named after the mask."""
    try:
        names = list(inspect.signature(module.forward).parameters)
    except (TypeError, ValueError):  # compiled, say
        return False
    return len(names) > 1 and "mask" in names[1]


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
        return None if nameless else _on_counts(thing.probabilities, _class_of(thing))
    if is_from("stable_baselines3.common.base_class", "BaseAlgorithm", thing):
        from kille_agents.sb3 import SB3Policy  # needs torch

        return SB3Policy(thing, _class_of(thing)).at_table(game, num_players)
    if is_from("torch.nn", "Module", thing):
        name = _class_of(thing)
        raise PolicyError(
            f"the torch module {name!r} does not say how it is asked; hand it over as "
            f'kille_agents.Network(module, observation="float", returns="logits"), where {EXPECTED}'
        )
    if any(is_from(*kind, thing) for kind in _OPEN_SPIEL):
        from kille_agents.open_spiel import OpenSpielPlayer  # needs OpenSpiel

        return OpenSpielPlayer(thing)
    if not callable(thing):
        return None
    return _on_counts(cast(PolicyFunction, thing))


def _on_counts(function: PolicyFunction, name: str = "") -> FunctionPolicy:
    """Return a function that keeps to the protocol: probabilities on the features themselves."""
    return FunctionPolicy(function, observation="box", returns="probabilities", name=name)


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


# Objects of modules, by name


def is_entry_point(name: str) -> bool:
    """Returns whether a name has the form "module:object"."""
    return _WORDS.fullmatch(name) is not None


def find_object(name: str) -> Any:
    """Imports a module and returns an object of it. This runs the module's code.

    Args:
        name: "module:object"; either may have dots.

    Raises:
        PolicyError: There is no such module or object, or the module cannot be imported.
    """
    match = _WORDS.fullmatch(name)
    if match is None:
        raise PolicyError(
            f"{shortened(name)} names no player of a module; write it as module:object"
        )
    module_name, path = match.groups()
    folder = str(Path.cwd())
    if folder not in sys.path:  # last, so that nothing there hides an installed module
        sys.path.append(folder)
    try:
        thing: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name + ".").startswith(error.name + "."):
            raise PolicyError(
                f"there is no module {error.name!r} for the player {name!r}; install it, put it "
                f"into {folder}, or set PYTHONPATH to its folder"
            ) from None
        raise PolicyError(
            f"the module {module_name!r} of the player {name!r} needs the module {error.name!r}, "
            "which is not installed"
        ) from error
    except (Exception, SystemExit) as error:  # the code of somebody else may raise anything
        raise PolicyError(
            f"the module {module_name!r} of the player {name!r} cannot be imported: "
            f"{type(error).__name__}: {error}"
        ) from error
    for word in path.split("."):
        try:
            thing = getattr(thing, word)
        except Exception:
            public = [other for other in dir(thing) if not other.startswith("_")]
            raise PolicyError(
                f"the module {module_name!r} has no {shortened(path)}. {did_you_mean(word, public)}"
            ) from None
    return thing


def load_entry_point(name: str, game: str, num_players: int, rules: Rules) -> Player:
    """Returns the player of an entry point; this runs its module's code.

    Args:
        name: "module:object".
        game: The game to be played.
        num_players: Seats of the table.
        rules: Its rules.

    Raises:
        PolicyError: There is no such module or object, it is neither a player nor makes one, or it
            refuses this table.
    """
    thing, verb = find_object(name), "is"
    if makes_players(thing):
        thing, verb = make_player(name, thing, num_players, rules), "made something"
    player = player_of(thing, game, num_players)
    if player is None:
        raise PolicyError(f"{name!r} {verb} of type {type(thing).__name__}; {_A_PLAYER}")
    return player
