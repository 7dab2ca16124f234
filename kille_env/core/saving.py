"""Tables as bytes: a line of JSON that says what they are, then the records."""

import json
import zlib
from typing import Any

import numpy as np

from kille_env.core.game import Game
from kille_env.core.spec import GameSpec, Rules
from kille_env.core.table import DEAL, OVER
from kille_env.errors import KilleError, shortened

WORDS = ("seed", "match_key", "rng")
"""Fields of random numbers: any word will do."""
MOST = 2**30
"""Most matches and deals of a table, so that counting on cannot overflow."""
AMOUNT = 2.0**53
"""Largest amount of money or points: no sum of a match can overflow."""


def encoded(identity: dict[str, Any], tables: np.ndarray) -> bytes:
    """Returns tables as bytes, with what they are and a checksum."""
    body = tables.tobytes()
    return json.dumps({**identity, "crc32": zlib.crc32(body)}).encode() + b"\n" + body


def decoded(saved: Any, expected: dict[str, Any], dtype: np.dtype) -> np.ndarray:
    """Returns saved tables, [N] of a dtype.

    Args:
        saved: The bytes.
        expected: What they must say of themselves.
        dtype: Record dtype of a table.

    Raises:
        KilleError: They are no saved tables, are damaged, or say something else.
    """
    if not isinstance(saved, bytes):
        raise KilleError(f"saved tables are bytes of Batch.save, got {shortened(saved)}")
    head, _, body = saved.partition(b"\n")
    try:
        identity = dict(json.loads(head))
    except (ValueError, TypeError, RecursionError):
        raise KilleError("these bytes were not written by Batch.save") from None
    for key in expected:
        if identity.get(key) != expected[key]:
            raise KilleError(
                f"the saved tables differ in {key}: {shortened(identity.get(key))}, "
                f"not {expected[key]!r}"
            )
    length = expected["num_tables"] * dtype.itemsize
    if len(body) != length:
        raise KilleError(f"the saved tables are cut off: {len(body)} bytes of {length}")
    if zlib.crc32(body) != identity.get("crc32"):
        raise KilleError("the saved tables are damaged: their checksum is another")
    return np.frombuffer(body, dtype=dtype)


# Whether a table can be


def check_tables(game: Game, rules: Rules, num_players: int, tables: np.ndarray) -> None:
    """Checks tables that somebody else may have written, before a kernel relies on them.

    Every field must lie within its bounds. A hand that is under way is dealt and played again by
    the game's own kernels: so it has come about by the rules, and can go on by them.

    Args:
        game: The game.
        rules: Its rules.
        num_players: P.
        tables: [N] tables.

    Raises:
        KilleError: A table cannot be; the message names it.
    """
    for name, (low, high) in field_bounds(game.spec, num_players).items():
        _refuse(_beyond(tables[name], low, high), tables, f"{name!r} beyond {low} to {high}")
    live = tables["phase"] > OVER
    size = game.spec.pack.size
    packs = np.sort(tables["deck"], axis=1) != np.arange(size, dtype=np.int8)
    _refuse(packs.any(axis=1), tables, "a pack that does not hold every card once")
    outside = game.spec.left_out(rules)
    front = np.sort(tables["deck"][:, : len(outside)], axis=1) != np.array(outside, np.int8)
    _refuse(front.any(axis=1), tables, "other cards in front of the pack than are left out of it")
    _refuse(tables["num_players"] != num_players, tables, "other seats than the batch")
    _refuse((tables["seat"] >= 0) != live, tables, "a seat to act where nobody is, or none")
    _refuse(live & (tables["deals"] < 1), tables, "a hand that was not dealt")
    stuck = [not game.can_go_on(table, rules) for table in tables]
    _refuse(np.array(stuck, dtype=np.bool_), tables, "a match that cannot go on")
    if live.any():
        live[live] = ~_played_again(game, rules, num_players, tables[live])
        _refuse(live, tables, "a hand that cannot have come about by the rules")


def field_bounds(spec: GameSpec, num_players: int) -> dict[str, tuple[float, float]]:
    """Returns the least and largest value of every field of a table.

    Raises:
        KilleError: The spec does not say; see `GameSpec.bounds`.
    """
    known = {
        **spec.bounds(num_players),
        "matches": (0, MOST),
        "deals": (0, MOST),
        "phase": (0, len(spec.phases) - 1),
        "seat": (-1, num_players - 1),
        "num_players": (0, spec.max_players),
        "dealer": (0, num_players - 1),
        "truncated": (0, 1),
        "deck": (0, spec.pack.size - 1),
    }
    redrawn = spec.table["again"].shape[0] if "again" in (spec.table.names or ()) else 0
    known["drawn"] = known["stacked"] = (0, spec.pack.size + redrawn)
    if redrawn:
        known |= {"again": (-1, spec.pack.size - 1), "again_end": (0, redrawn)}
    by_type = {
        "u4": (0, 2**num_players - 1),
        "u8": (0, 2**spec.pack.size - 1),
        "i8": (-AMOUNT, AMOUNT),
        "f8": (-AMOUNT, AMOUNT),
    }
    bounds: dict[str, tuple[float, float]] = {}
    for name in set(spec.table.names or ()) - set(WORDS):
        bound = known.get(name, by_type.get(spec.table[name].base.str[1:]))
        if bound is None:
            raise KilleError(
                f"{spec.name} says no bounds of {name!r}, a field of its tables, so saved tables "
                "cannot be checked; name them in GameSpec.bounds"
            )
        bounds[name] = bound
    return bounds


def _beyond(values: np.ndarray, low: float, high: float) -> np.ndarray[Any, Any]:
    """[N] bool: whether a value of a table is out of bounds, or no number."""
    within = np.asarray((values >= low) & (values <= high))
    return np.logical_not(within.reshape(len(values), -1).all(axis=1))


def _refuse(wrong: np.ndarray, tables: np.ndarray, what: str) -> None:
    if wrong.any():
        table = int(wrong.argmax())
        raise KilleError(f"the saved tables cannot be used: table {table} has {what}")


def _played_again(game: Game, rules: Rules, num_players: int, saved: np.ndarray) -> np.ndarray:
    """[N] bool: hands under way that are reached again from their packs, amounts apart."""
    tables = saved.copy()
    for table in tables:
        game.undeal(table)
    tables["phase"], tables["seat"] = DEAL, -1
    tables["deals"] -= 1
    again = tables["again_end"] if "again_end" in (tables.dtype.names or ()) else 0
    tables["stacked"] = tables["deck"].shape[1] + again
    record, everyone = np.array(rules.record), np.ones(len(tables), dtype=np.bool_)
    game.deal(tables, record, everyone, True)
    masks = np.zeros((len(tables), game.spec.num_actions), dtype=np.int8)
    for _ in range(game.spec.max_decisions(rules, num_players) + 1):
        reached = _same(tables, saved)
        going_on = ~reached & (tables["phase"] > OVER)
        if not going_on.any():
            return reached
        game.mask(tables, record, np.maximum(tables["seat"], 0), masks)
        actions = np.full(len(tables), -1, dtype=np.int64)
        for row in np.flatnonzero(going_on):
            actions[row] = game.action_before(tables[row], saved[row])
        legal = (actions >= 0) & (actions < masks.shape[1])
        legal &= masks[np.arange(len(tables)), np.where(legal, actions, 0)] != 0
        if not (going_on & legal).any():
            return reached
        game.apply(tables, record, actions, going_on & legal)
    return _same(tables, saved)


def _same(tables: np.ndarray, others: np.ndarray) -> np.ndarray:
    """[N] bool: whether tables are the same but for amounts and random numbers."""
    same = np.ones(len(tables), dtype=np.bool_)
    for name in set(tables.dtype.names or ()) - {*WORDS, "stacked"}:
        if tables.dtype[name].base.str[1:] not in ("i8", "f8"):
            equal = tables[name] == others[name]
            same &= equal.reshape(len(tables), -1).all(axis=1)
    return same
