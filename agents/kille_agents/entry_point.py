"""Players of your own modules, named as "module:object".

Naming one imports the module, and importing runs its code: name only modules that you trust, as
with `import module`. Modules are searched for where Python searches, and then in the working
folder.

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
import re
import sys
from pathlib import Path
from typing import Any

from kille_agents.objects import make_player, makes_players, player_of
from kille_env.core.spec import Rules
from kille_env.errors import PolicyError, did_you_mean, shortened
from kille_env.policy import Player

EXPECTED = (
    "expected a player (with a name, and probabilities or search), a function of (observation, "
    "mask), a torch module, a model of Stable-Baselines3, or what makes one of (num_players, rules)"
)

_WORDS = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")


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
        raise PolicyError(f"{name!r} {verb} of type {type(thing).__name__}; {EXPECTED}")
    return player
