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
from typing import Any

from kille_env.core.spec import Rules
from kille_env.errors import KilleError, PolicyError, did_you_mean, shortened
from kille_env.play.functions import EXPECTED, FunctionPolicy, is_from
from kille_env.play.policy import Policy, answers, as_decider

_A_PLAYER = (
    "expected a player (with a name, and probabilities or decide), a function of (observation, "
    "mask), a torch module, a model of Stable-Baselines3, or what makes one of (num_players, rules)"
)

_WORDS = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")

_OPEN_SPIEL = (
    ("pyspiel", "Policy"),
    ("open_spiel.python.policy", "Policy"),
    ("pyspiel", "Bot"),
)
"""Classes of OpenSpiel that can play, with their modules."""


def makes_players(thing: Any) -> bool:
    """Return whether a thing is to be called with (num_players, rules) to get a player.

    That is a class, or a function whose first parameter is not called `obs` or `observation`.
    """
    if isinstance(thing, type):
        return True
    if not callable(thing) or answers(thing) or is_from("torch.nn", "Module", thing):
        return False
    try:
        first = next(iter(inspect.signature(thing).parameters), "")
    except (TypeError, ValueError):  # of a builtin, say
        return True
    return not first.startswith("obs")


def make_player(name: str, make: Callable[..., Any], num_players: int, rules: Rules) -> Any:
    """Call a class or function with (num_players, rules), or with nothing if it takes nothing."""
    try:
        return make(num_players, rules) if _takes_arguments(make) else make()
    except KilleError:
        raise
    except Exception as error:  # the code of somebody else may raise anything
        raise PolicyError(
            f"{name!r} could not be made for {num_players} seats of {rules.game}: "
            f"{type(error).__name__}: {error}; it is called with (num_players, rules)"
        ) from error


def player_of(thing: Any) -> Policy | None:
    """Return a player, which does not sit at a table yet; None for a thing that cannot play."""
    name = type(thing).__name__
    if isinstance(thing, type):
        return None
    if answers(thing):
        if isinstance(getattr(thing, "name", None), str):
            return as_decider(thing)
        return (
            None
            if callable(getattr(thing, "decide", None))
            else _on_counts(thing.probabilities, name)
        )
    if is_from("stable_baselines3.common.base_class", "BaseAlgorithm", thing):
        from kille_env.adapters.sb3_policy import SB3Policy  # needs torch

        return SB3Policy(thing, name)
    if is_from("torch.nn", "Module", thing):
        raise PolicyError(
            f"the torch module {name!r} does not say how it is asked; hand it over as "
            f'as_policy(module, observation="float", returns="logits"), where {EXPECTED}'
        )
    if any(is_from(*kind, thing) for kind in _OPEN_SPIEL):
        from kille_agents.open_spiel import OpenSpielPlayer  # needs OpenSpiel

        return OpenSpielPlayer(thing)
    return _on_counts(thing) if callable(thing) else None


def _on_counts(function: Callable[..., Any], name: str = "") -> FunctionPolicy:
    """Return a function that keeps to the protocol: probabilities on the features themselves."""
    return FunctionPolicy(function, observation="box", returns="probabilities", name=name)


def _takes_arguments(make: Callable[..., Any]) -> bool:
    try:
        return len(inspect.signature(make).parameters) > 0
    except (TypeError, ValueError):  # of a builtin, say
        return True


# Objects of modules, by name


def is_entry_point(name: str) -> bool:
    """Return whether a name has the form "module:object"."""
    return _WORDS.fullmatch(name) is not None


def find_object(name: str) -> Any:
    """Import a module and return an object of it. This runs the module's code."""
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


def load_entry_point(name: str, num_players: int, rules: Rules) -> Policy:
    """Return the player of an entry point; this runs its module's code."""
    thing, verb = find_object(name), "is"
    if makes_players(thing):
        thing, verb = make_player(name, thing, num_players, rules), "made something"
    player = player_of(thing)
    if player is None:
        raise PolicyError(f"{name!r} {verb} of type {type(thing).__name__}; {_A_PLAYER}")
    return player
