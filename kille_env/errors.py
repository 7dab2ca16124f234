"""All errors that kille-env raises on purpose, as one tree.

::

    ValueError
    └── KilleError
        ├── UnknownGameError        no such game
        ├── RulesError              a switch, preset, option or argument that is not possible
        │   └── UnknownOptionError  an option that an environment does not have (and a TypeError)
        ├── CardError               a card or deck that is not possible
        ├── IllegalActionError      an action that the rules do not allow
        ├── RecordError             a record that breaks the notation
        ├── PolicyError             a policy that cannot be loaded, or does not fit the table
        ├── ConfigError             a setting that is not possible
        ├── FileError               a path that cannot be written (and an OSError)
        └── MissingLibraryError     a library that is not installed (and a ModuleNotFoundError)
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class KilleError(ValueError):
    """Base of all errors of this suite.

    Example:
        >>> import kille_env
        >>> try:
        ...     kille_env.make("bytskille")
        ... except kille_env.KilleError as error:
        ...     print(error)
        there is no game 'bytskille'. Did you mean 'byteskille'?
    """


class UnknownGameError(KilleError):
    """The game is not registered."""


class RulesError(KilleError):
    """A switch, its value, a preset or a number of seats does not exist."""


class UnknownOptionError(RulesError, TypeError):
    """An environment has no such option.

    It is a `TypeError` as well: libraries that probe an environment for options expect one.
    """


class CardError(KilleError):
    """A card code is unknown, a deck has a card too many, or a deck ends too early."""


class IllegalActionError(KilleError):
    """The rules do not allow the action at this point."""


class PolicyError(KilleError):
    """A policy cannot be loaded, or was made for another game, rule set or table size."""


class RecordError(KilleError):
    """A record breaks the notation."""


class ConfigError(KilleError):
    """A configuration has an unknown key or an impossible value."""


class FileError(KilleError, OSError):
    """A file or folder cannot be written."""


class MissingLibraryError(ModuleNotFoundError, KilleError):
    """An optional library is not installed; the message has the line that installs it."""


def illegal_choice(name: str, action: int, legal: Iterable[int]) -> PolicyError:
    """Return the error for an illegal action that the kernel of a policy has chosen."""
    return PolicyError(
        f"the kernel of policy {name!r} chose the illegal action {action}, "
        f"expected one of {list(legal)}"
    )


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """Return "Did you mean ...?" if a known word is close, and the whole list otherwise."""
    names = sorted(map(str, known))
    if not names:
        return "There is nothing to choose from."
    close = get_close_matches(word[:100], names, n=1) if isinstance(word, str) else []
    return f"Did you mean {close[0]!r}?" if close else f"Choose one of: {', '.join(names)}."


def shortened(value: Any, most: int = 200) -> str:
    """Return the representation of a value on one line of at most `most` characters."""
    try:
        text = " ".join(repr(value).split("\n"))
    except (ValueError, RecursionError):  # a number of 5,000 digits; lists nested a thousand deep
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= most else f"{text[:most]} ..."
