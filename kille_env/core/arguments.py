"""Checks of arguments: one check for each kind.

Kernels do not check their indices, so every argument of one comes through here first. Each check
returns its argument in the form that the kernels take, or raises an error that names the argument,
the expected and the given value; nothing has changed then. The error is a `CardError` for
decks, an `IllegalActionError` for actions and a `RulesError` for everything else.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kille_env.core.spec import GameSpec, Rules, RuleSets, RulesLike, is_whole
from kille_env.errors import (
    CardError,
    IllegalActionError,
    RulesError,
    UnknownOptionError,
    did_you_mean,
    shortened,
)

MOST = 2**31 - 1
"""Largest number of tables and the like: far beyond the memory of any machine."""
WORD = 2**64
"""Seeds and keys are below it."""
LARGEST = 10**9
"""Largest amount at the start of a match: no sum in it can overflow its field then."""

Stacked = tuple[np.ndarray, int]
"""A pack with given cards in front, those given beyond it, and up to where they are given."""


def whole(name: str, value: Any, least: int, most: int = MOST) -> int:
    """Return a whole number from `least` to `most`."""
    if not is_whole(value) or not least <= value <= most:
        raise RulesError(
            f"{name} is {shortened(value)}, expected a whole number from {least} to {most}"
        )
    return int(value)


def flag(name: str, value: Any) -> bool:
    """Return True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise RulesError(f"{name} is {shortened(value)}, expected True or False")
    return bool(value)


def seed(value: Any) -> int:
    """Return a seed, of 64 bits."""
    if not is_whole(value) or not 0 <= value < WORD:
        raise RulesError(f"a seed is a whole number from 0 to 2**64 - 1, got {shortened(value)}")
    return int(value)


def seeds(value: Any, num_tables: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the seed of each table and the stream of it that it plays, two of [N].

    One seed is for all tables: table i plays stream i of it. Of [N] seeds each plays stream 0.
    """
    given = _words(value)
    if given is not None and given.ndim == 0:
        return np.full(num_tables, seed(value), dtype=np.uint64), np.arange(num_tables)
    return words("seeds", value, num_tables), np.zeros(num_tables, dtype=np.int64)


def words(name: str, value: Any, number: int, each: str = "tables") -> np.ndarray:
    """Return a seed or key of 64 bits for each table or other item, uint64 [N]."""
    given = _words(value)
    if given is not None and given.shape == (number,):
        if not number:
            return np.zeros(0, dtype=np.uint64)
        if given.dtype.kind in "iu" and int(given.min()) >= 0:
            return _taken(given, np.uint64)
        if given.dtype == object and all(is_whole(word) and 0 <= word < WORD for word in given):
            return given.astype(np.uint64)
    raise RulesError(
        f"{name} are whole numbers from 0 to 2**64 - 1, one for each of {number} {each}, "
        f"got {shortened(value)}"
    )


def table(value: Any, num_tables: int) -> int:
    """Return the number of a table."""
    return _one_of("tables", value, num_tables)


def seat(value: Any, num_players: int) -> int:
    """Return a seat."""
    return _one_of("seats", value, num_players)


def rows(value: Any, num_tables: int) -> np.ndarray:
    """Return numbers of tables, [M] int64."""
    given = array(value)
    if given is not None and given.ndim == 1:
        if not given.size:
            return np.zeros(0, dtype=np.int64)
        if given.dtype.kind in "iu" and given.min() >= 0 and given.max() < num_tables:
            return _taken(given, np.int64)
    raise RulesError(f"tables are 0 to {num_tables - 1}, [M], got {shortened(value)}")


def which(value: Any, num_tables: int) -> np.ndarray:
    """Return a choice of tables, [N] bool."""
    given = array(value)
    if given is None or given.dtype != np.bool_ or given.shape != (num_tables,):
        raise RulesError(f"which is [{num_tables}] bool, got {shortened(value)}")
    return _taken(given, np.bool_)


def seats(value: Any, num_players: int, num_tables: int, name: str = "seats") -> np.ndarray:
    """Return a seat for each table, [N] int8, from one for all of them or [N]."""
    given = array(value)
    fits = given is not None and given.dtype.kind in "iu" and given.shape in ((), (num_tables,))
    if given is not None and fits and given.min() >= 0 and given.max() < num_players:
        return np.full(num_tables, given, dtype=np.int8)
    raise RulesError(
        f"{name} are 0 to {num_players - 1}, one for all or one for each of {num_tables} tables, "
        f"got {shortened(value)}"
    )


def seating(value: Any, shape: tuple[int, int], num_policies: int) -> np.ndarray:
    """Return the number of the policy in each seat, int64 [N, P], -1 for none; [P] is for all."""
    given = array(value)
    shapes = ((), shape[1:], shape)
    fits = given is not None and given.dtype.kind in "iu" and given.shape in shapes
    if given is not None and fits and given.min() >= -1 and given.max() < num_policies:
        return np.full(shape, given, dtype=np.int64)
    raise RulesError(
        f"seating is {list(shape)} or {list(shape[1:])} whole numbers from -1 to "
        f"{num_policies - 1}, one number per policy, got {shortened(value)}"
    )


def option_names(taker: str, given: Iterable[str], known: Iterable[str], spec: GameSpec) -> None:
    """Check that `taker`, a class or function for a game, knows the given options."""
    switches = [switch.name for switch in spec.switches]
    for name in given:
        if name in known:
            continue
        if name in switches:
            raise UnknownOptionError(
                f"{name!r} is a switch of {spec.name}: rules={{{name!r}: ...}}"
            )
        # Python's own words, which libraries look for
        raise UnknownOptionError(
            f"{taker}() got an unexpected keyword argument {name!r}. {did_you_mean(name, known)}"
        )


def action(value: Any, spec: GameSpec) -> int:
    """Return the number of an action of the game, legal or not."""
    if not is_whole(value) or not 0 <= value < spec.num_actions:
        raise IllegalActionError(
            f"{spec.name} has no action {shortened(value)}; expected 0 to {spec.num_actions - 1}"
        )
    return int(value)


def one_action(value: Any) -> int:
    """Return the action of a single table, legal or not; see `actions`."""
    if type(value) is int and 0 <= value <= MOST:  # as in nearly every step
        return value
    if is_whole(value) and -WORD <= 2 * int(value) < WORD:
        return int(value)
    given = None if is_whole(value) else _actions(value)
    if given is None or given.size != 1:
        raise IllegalActionError(
            "an action is one whole number (an int, or an integer array or tensor with one "
            f"element), got {shortened(value)}"
        )
    return int(given.astype(np.int64).item())


def actions(value: Any, num_tables: int) -> np.ndarray:
    """Return an action for each table, [N] int64, legal or not.

    They may come as a list, as an array of any integer type or as a tensor, [N] or [N, 1].
    """
    given = _actions(value)
    shapes = ((num_tables,), (num_tables, 1), () if num_tables == 1 else (num_tables,))
    if given is None or given.shape not in shapes:
        raise IllegalActionError(
            f"actions are whole numbers of shape ({num_tables},), got {shortened(value)}"
        )
    return _taken(given.reshape(num_tables), np.int64)


def _actions(value: Any) -> np.ndarray | None:
    """Return whole numbers as an array of any shape; None for flags and everything else."""
    given = array(value)
    if given is None and hasattr(value, "cpu"):  # a tensor on a GPU
        given = array(value.cpu())
    if given is None or given.dtype.kind not in "iu" or _has_flag(value):
        return None
    # As int64 such a number would turn negative.
    return None if given.dtype == np.uint64 and (given >> np.uint64(63)).any() else given


def _has_flag(value: Any) -> bool:
    """Return whether a list holds True or False, which NumPy would take for 1 or 0."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_flag, value))
    return isinstance(value, bool) or "bool" in str(getattr(value, "dtype", ""))


def rules(value: RulesLike, spec: GameSpec, num_tables: int) -> Rules:
    """Return the rules of N tables, `RuleSets` where they do not share one rule set."""
    found = spec.resolve(value)
    if not isinstance(found, RuleSets):
        return found
    if found.index is not None and len(found.index) != num_tables:
        raise RulesError(
            f"rules has {len(found.index)} rule sets for {num_tables} tables, expected one for each"
        )
    return found.sets[0] if len(found.sets) == 1 else found


def decks(value: Any, spec: GameSpec, rules: Sequence[Rules]) -> list[Stacked] | None:
    """Return a stacked pack for each table, from one list of card codes or one for each table.

    `rules` [N] are those of each table.
    """
    if value is None:
        return None
    num_tables = len(rules)
    listed = _list(value)
    many = bool(listed) and _list(listed[0]) is not None
    lists = [_list(codes) for codes in listed or ()] if many else [listed]
    if many and len(lists) != num_tables:
        raise CardError(f"{len(lists)} decks for {num_tables} tables")
    packs: dict[tuple[int, Rules], Stacked] = {}  # of each list, by the rules that it is for
    numbers = range(num_tables) if many else [0] * num_tables
    for number, own in zip(numbers, rules, strict=True):
        codes = lists[number]
        if codes is None:
            raise CardError(f"a deck is a list of card codes, got {shortened(value)}")
        if (number, own) not in packs:
            outside = len(spec.left_out(own))
            packs[number, own] = spec.stack(codes, own), outside + len(codes)
    return [packs[pair] for pair in zip(numbers, rules, strict=True)]


def array(value: Any, dtype: Any = None) -> np.ndarray | None:
    """Return a value as an array, None if it is none: ragged, masked, on another device."""
    # `asarray` would drop the mask and use what lies below it.
    if isinstance(value, np.ma.MaskedArray):
        return None
    try:
        return np.asarray(value, dtype=dtype)
    except (ValueError, TypeError, RuntimeError, OverflowError):
        return None


def numbers(name: str, value: Any, dtype: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Return numbers as an array of a shape, None for any size; no number is cut to fit `dtype`."""
    given = array(value)
    if (
        given is not None
        and given.ndim == len(shape)
        and all(size in (None, real) for size, real in zip(shape, given.shape, strict=True))
        and np.can_cast(given.dtype, dtype)
    ):
        return _taken(given, dtype)
    sizes = ", ".join("any" if size is None else str(size) for size in shape)
    raise RulesError(f"{name} is {np.dtype(dtype)} [{sizes}], got {_described(given, value)}")


def _described(given: np.ndarray | None, value: Any) -> str:
    return shortened(value) if given is None else f"{given.dtype} {list(given.shape)}"


def _words(value: Any) -> np.ndarray | None:
    """Return a value as an array in which whole numbers keep their size."""
    # As objects: NumPy makes floats of some lists of large whole numbers.
    return array(value, None if isinstance(value, np.ndarray) else object)


def _one_of(name: str, value: Any, number: int) -> int:
    if not is_whole(value) or not 0 <= value < number:
        raise RulesError(f"{name} are 0 to {number - 1}, got {shortened(value)}")
    return int(value)


def _taken(given: np.ndarray, dtype: Any) -> np.ndarray:
    """Return a copy of an array as kernels take it."""
    # A kernel checks an array and then indexes with it, so nobody else may write to it in between.
    return given.astype(dtype, order="C")


def _list(value: Any) -> Sequence[Any] | None:
    """Return a value if it is a list of any kind, or None; a text is none."""
    if isinstance(value, np.ndarray) and value.ndim:
        return value.tolist()
    return value if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else None


def one_of(name: str, value: Any, known: tuple[str, ...]) -> Any:
    """Return `value` if it is known."""
    if not isinstance(value, str) or value not in known:
        raise RulesError(f"{name} is {shortened(value)}. {did_you_mean(shortened(value), known)}")
    return value


# What a match starts with, for the games' `set_up`


def check_keys(start: Mapping[str, Any], known: Sequence[str]) -> None:
    """Check that a start has no unknown keys."""
    for key in start:
        if key not in known:
            raise RulesError(f"start has no key {shortened(key)}. {did_you_mean(key, known)}")


def amount(start: Mapping[str, Any], name: str) -> int | None:
    """Return an amount that a start names, None if it does not."""
    if name in start and not _is_amount(start[name]):
        raise RulesError(
            f"{name!r} of the start is {shortened(start[name])}; expected a whole number from 0 to "
            f"{LARGEST}"
        )
    return start.get(name)


def amounts(start: Mapping[str, Any], name: str, num_players: int) -> list[int] | None:
    """Return the amounts that a start names, one per seat; None if it does not."""
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
