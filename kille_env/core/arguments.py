"""Checks of what callers pass: one check for each kind of argument.

Kernels do not check their indices, so whatever reaches one comes through here first. Each check
returns its argument in the form that the kernels take, or raises an error that names the argument,
what was expected and what was given. Nothing has changed then.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kille_env.core.spec import GameSpec
from kille_env.errors import CardError, IllegalActionError, RulesError, shortened

MOST = 2**31 - 1
"""Largest number of tables, threads and the like: far beyond what any machine holds."""
WORD = 2**64
"""Seeds and keys are below it."""

Stacked = tuple[np.ndarray, np.ndarray, int]
"""A pack that begins with given cards, the cards given beyond it, and how many were given."""


def is_whole(value: Any) -> bool:
    """Returns whether a value is a whole number of Python or NumPy; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole(name: str, value: Any, least: int, most: int = MOST) -> int:
    """Returns a whole number.

    Raises:
        RulesError: It is none, or too small or too large.
    """
    if not is_whole(value) or not least <= value <= most:
        raise RulesError(
            f"{name} is {shortened(value)}, expected a whole number from {least} to {most}"
        )
    return int(value)


def seed(value: Any) -> int:
    """Returns a seed.

    Raises:
        RulesError: It is no whole number, or does not fit into 64 bits.
    """
    if not is_whole(value) or not 0 <= value < WORD:
        raise RulesError(f"a seed is a whole number from 0 to 2**64 - 1, got {shortened(value)}")
    return int(value)


def seeds(value: Any, num_tables: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the seed of each table and the stream of it that it plays, two of [N].

    One seed is for all tables: table i plays stream i of it. Of [N] seeds each plays stream 0.

    Raises:
        RulesError: A seed is no whole number or does not fit into 64 bits, or there is not one for
            each table.
    """
    given = array(value, None if isinstance(value, np.ndarray) else object)
    if given is not None and given.ndim == 0:
        return np.full(num_tables, seed(value), dtype=np.uint64), np.arange(num_tables)
    return words("seeds", value, num_tables), np.zeros(num_tables, dtype=np.int64)


def words(name: str, value: Any, num_tables: int) -> np.ndarray:
    """Returns a seed or key for each table, uint64 [N].

    Raises:
        RulesError: They are no whole numbers from 0 to 2**64 - 1, or not one for each table.
    """
    given = array(value, None if isinstance(value, np.ndarray) else object)
    if given is not None and given.shape == (num_tables,):
        if given.dtype.kind in "iu" and int(given.min()) >= 0:
            return _plain(given, np.uint64)
        if given.dtype == object and all(is_whole(word) and 0 <= word < WORD for word in given):
            return given.astype(np.uint64)
    raise RulesError(
        f"{name} are whole numbers from 0 to 2**64 - 1, one for each of {num_tables} tables, "
        f"got {shortened(value)}"
    )


def table(value: Any, num_tables: int) -> int:
    """Returns the number of a table.

    Raises:
        RulesError: There is no such table.
    """
    if not is_whole(value) or not 0 <= value < num_tables:
        raise RulesError(f"tables are 0 to {num_tables - 1}, got {shortened(value)}")
    return int(value)


def rows(value: Any, num_tables: int) -> np.ndarray:
    """Returns numbers of tables, [M] int64.

    Raises:
        RulesError: They are no list of whole numbers, or there is no such table.
    """
    given = array(value)
    if given is not None and given.ndim == 1:
        if not given.size:
            return np.zeros(0, dtype=np.int64)
        if given.dtype.kind in "iu" and given.min() >= 0 and given.max() < num_tables:
            return given.astype(np.int64, copy=False)
    raise RulesError(f"tables are 0 to {num_tables - 1}, [M], got {shortened(value)}")


def which(value: Any, num_tables: int) -> np.ndarray:
    """Returns a choice of tables, [N] bool.

    Raises:
        RulesError: It is of another type or length.
    """
    given = array(value)
    if given is None or given.dtype != np.bool_ or given.shape != (num_tables,):
        raise RulesError(f"which is [{num_tables}] bool, got {shortened(value)}")
    return _plain(given, np.bool_)


def seat(value: Any, num_players: int) -> int:
    """Returns a seat.

    Raises:
        RulesError: There is no such seat.
    """
    if not is_whole(value) or not 0 <= value < num_players:
        raise RulesError(f"seats are 0 to {num_players - 1}, got {shortened(value)}")
    return int(value)


def seats(value: Any, num_players: int, num_tables: int, name: str = "seats") -> np.ndarray:
    """Returns a seat for each table, [N] int8, from one for all of them or [N].

    Raises:
        RulesError: There is no such seat, or the seats are of another type or number.
    """
    given = array(value)
    fits = given is not None and given.dtype.kind in "iu" and given.shape in ((), (num_tables,))
    if given is not None and fits and given.min() >= 0 and given.max() < num_players:
        return np.full(num_tables, given, dtype=np.int8)
    raise RulesError(
        f"{name} are 0 to {num_players - 1}, one for all or one for each of {num_tables} tables, "
        f"got {shortened(value)}"
    )


def action(value: Any, spec: GameSpec) -> int:
    """Returns an action that the game has; whether it is legal is another question.

    Raises:
        IllegalActionError: The game has no such action.
    """
    if not is_whole(value) or not 0 <= value < spec.num_actions:
        raise IllegalActionError(
            f"{spec.name} has no action {shortened(value)}; expected 0 to {spec.num_actions - 1}"
        )
    return int(value)


def actions(value: Any, num_tables: int) -> np.ndarray:
    """Returns an action for each table, [N] int64; whether they are legal is another question.

    Raises:
        IllegalActionError: They are no whole numbers, or not one for each table.
    """
    given = array(value)
    if given is None or given.dtype.kind not in "iu" or given.shape != (num_tables,):
        raise IllegalActionError(
            f"actions are whole numbers of shape ({num_tables},), got {shortened(value)}"
        )
    return _plain(given, np.int64)


def decks(value: Any, spec: GameSpec, num_tables: int) -> list[Stacked]:
    """Returns a stacked pack for each table, from one list of card codes or one for each table.

    Raises:
        CardError: It is no list of card codes, a card is unknown or stands there too often, or
            there is not one list for each table.
    """
    listed = _list(value)
    many = listed is not None and len(listed) > 0 and _list(listed[0]) is not None
    lists = [_list(codes) for codes in listed or ()] if many else [listed]
    if many and len(lists) != num_tables:
        raise CardError(f"{len(lists)} decks for {num_tables} tables")
    stacked = []
    for codes in lists:
        if codes is None:
            raise CardError(f"a deck is a list of card codes, got {shortened(value)}")
        stacked.append((*spec.stack(codes), len(codes)))
    return stacked if many else stacked * num_tables


def array(value: Any, dtype: Any = None) -> np.ndarray | None:
    """Returns a value as an array, None if it is none: ragged, masked, on another device."""
    if isinstance(value, np.ma.MaskedArray):
        return None
    try:
        return np.asarray(value, dtype=dtype)
    except (ValueError, TypeError, RuntimeError, OverflowError):
        return None


def _plain(given: np.ndarray, dtype: Any) -> np.ndarray:
    """Returns an array as kernels take it; one that is read-only would be compiled for anew."""
    return given if given.flags.carray and given.dtype == dtype else given.astype(dtype, order="C")


def _list(value: Any) -> Sequence[Any] | None:
    """Returns a value if it is a list of any kind, or None; a text is none."""
    if isinstance(value, np.ndarray) and value.ndim:
        return value.tolist()
    return value if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else None
