"""Checks of the state of a match that is under way, for the games' `set_up`."""

from collections.abc import Mapping, Sequence
from typing import Any

from kille_env.errors import RulesError, did_you_mean, shortened

LARGEST = 10**9  # amount at the start: no sum in the match can overflow its field then


def check_keys(start: Mapping[str, Any], known: Sequence[str]) -> None:
    """Checks that a start names only what a game knows.

    Raises:
        RulesError: It names something else.
    """
    for key in start:
        if key not in known:
            raise RulesError(f"start has no key {shortened(key)}. {did_you_mean(key, known)}")


def amount(start: Mapping[str, Any], name: str) -> int | None:
    """Returns an amount that a start names, None if it does not.

    Raises:
        RulesError: It is not a whole number, or too small or too large.
    """
    if name in start and not _is_amount(start[name]):
        raise RulesError(
            f"{name!r} of the start is {shortened(start[name])}; expected a whole number from 0 to "
            f"{LARGEST}"
        )
    return start.get(name)


def amounts(start: Mapping[str, Any], name: str, num_players: int) -> list[int] | None:
    """Returns the amounts that a start names, one per seat; None if it does not.

    Raises:
        RulesError: They are not a list of that many whole numbers, or one is out of range.
    """
    if name not in start:
        return None
    given = start[name]
    listed = isinstance(given, (list, tuple)) and len(given) == num_players
    if not (listed and all(map(_is_amount, given))):
        raise RulesError(
            f"{name!r} of the start is {shortened(given)}; expected {num_players} whole numbers "
            f"from 0 to {LARGEST}, one per seat"
        )
    return list(given)


def _is_amount(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST
