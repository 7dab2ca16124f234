"""Options that several environments take: what is possible, and errors that say so."""

import difflib
from collections.abc import Mapping
from typing import Any

from kille_env.core.spec import GameSpec, Rules
from kille_env.errors import RulesError, did_you_mean

ILLEGAL = ("raise", "lose")
OBSERVATION = ("dict", "box")
RENDER_MODES = ("human", "ansi")


def one_of(name: str, value: Any, known: tuple[str, ...]) -> Any:
    """Returns `value` if it is known.

    Raises:
        RulesError: It is not; the message says what is possible.
    """
    if value not in known:
        raise RulesError(f"{name} is {value!r}. {did_you_mean(value, known)}")
    return value


def reset_options(options: Mapping[str, Any] | None, known: tuple[str, ...]) -> dict[str, Any]:
    """Returns the options of a reset that are ours.

    Others are left to whoever they are for, as PettingZoo and Gymnasium want it, unless they look
    like one of ours misspelt.

    Raises:
        RulesError: A misspelt option.
    """
    found = {}
    for key, value in (options or {}).items():
        if key in known:
            found[key] = value
        elif close := difflib.get_close_matches(str(key), known, n=1, cutoff=0.75):
            raise RulesError(f"there is no reset option {key!r}. Did you mean {close[0]!r}?")
    return found


def rules_of_reset(spec: GameSpec, base: Rules, given: Any) -> Rules:
    """Returns the rules that `reset(options={"rules": ...})` asks for.

    Args:
        spec: The game.
        base: The environment's own rules.
        given: A preset's name; a mapping of switches that differ from `base`, or from the preset
            that it names; or resolved rules. The episode stays as it is unless it is named.
    """
    if isinstance(given, Mapping) and "preset" not in given:
        return spec.resolve(base, **given)
    named = isinstance(given, Rules) or (isinstance(given, Mapping) and "episode" in given)
    return spec.resolve(given, episode=None if named else base["episode"])
