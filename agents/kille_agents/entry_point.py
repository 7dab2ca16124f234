"""Players that somebody else has written, named as "module:object".

Naming one imports the module, and importing runs its code: name only modules that you trust, as
with `python -m module`. Modules are looked for where Python looks, and in the working folder last.

The object is a player, or whatever can be called with the number of seats and the rules and then
gives one, a class for example::

    class Cautious:  # cautious.py, named "cautious:Cautious"
        name = "cautious"

        def __init__(self, num_players, rules): ...

        def probabilities(self, observation, mask): ...
"""

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from kille_env.core.spec import Rules
from kille_env.errors import KilleError, PolicyError, did_you_mean
from kille_env.policy import Policy

EXPECTED = (
    "expected a player (with a name, and probabilities or search), "
    "or what makes one of (num_players, rules)"
)

_WORDS = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")


def is_entry_point(name: str) -> bool:
    """Returns whether a name has the form "module:object"."""
    return _WORDS.fullmatch(name) is not None


def is_player(thing: object) -> bool:
    """Returns whether a thing can play as it is: a class has to be called first."""
    return (
        not isinstance(thing, type)
        and isinstance(getattr(thing, "name", None), str)
        and any(callable(getattr(thing, verb, None)) for verb in ("probabilities", "search"))
    )


def find_object(name: str) -> Any:
    """Imports a module and returns an object of it. This runs the module's code.

    Args:
        name: "module:object"; either may have dots.

    Raises:
        PolicyError: There is no such module or object, or the module can not be imported.
    """
    match = _WORDS.fullmatch(name)
    if match is None:
        raise PolicyError(f"{name!r} names no player of a module; write it as module:object")
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
    except Exception as error:  # the code of somebody else may raise anything
        raise PolicyError(
            f"the module {module_name!r} of the player {name!r} cannot be imported: "
            f"{type(error).__name__}: {error}"
        ) from error
    for word in path.split("."):
        if not hasattr(thing, word):
            public = [other for other in vars(thing) if not other.startswith("_")]
            raise PolicyError(
                f"the module {module_name!r} has no {path!r}. {did_you_mean(word, public)}"
            )
        thing = getattr(thing, word)
    return thing


def load_entry_point(name: str, num_players: int, rules: Rules) -> Policy:
    """Returns the player of an entry point; this runs his module's code.

    Args:
        name: "module:object".
        num_players: Seats of the table.
        rules: Its rules.

    Raises:
        PolicyError: There is no such module or object, it is neither a player nor makes one, or it
            refuses this table.
    """
    thing = find_object(name)
    if is_player(thing):
        return cast(Policy, thing)
    if not callable(thing):
        raise PolicyError(f"{name!r} is of type {type(thing).__name__}; {EXPECTED}")
    make = cast(Callable[[int, Rules], object], thing)
    try:
        made = make(num_players, rules)
    except KilleError:
        raise
    except Exception as error:  # the code of somebody else may raise anything
        raise PolicyError(
            f"{name!r} could not be made for {num_players} seats of {rules.game}: "
            f"{type(error).__name__}: {error}; it is called with (num_players, rules)"
        ) from error
    if not is_player(made):
        raise PolicyError(f"{name!r} made something of type {type(made).__name__}; {EXPECTED}")
    return cast(Policy, made)
