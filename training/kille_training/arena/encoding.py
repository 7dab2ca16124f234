"""How draws, sets of entrants and arrays are written into a store."""

import json
import zlib

import numpy as np

from kille_env.files import parse_json
from kille_training.arena.draws import Draw

Sets = tuple[tuple[int, ...], ...]
"""Sets of entrants, by number."""


def draw_text(draw: Draw) -> str:
    """Returns a draw as JSON; equal draws have equal texts."""
    orders = None if draw.orders is None else draw.orders.tolist()
    return json.dumps([draw.groups, draw.rows.tolist(), draw.often.tolist(), orders, draw.first])


def draw_of(text: str) -> Draw:
    """Returns what `draw_text` wrote."""
    groups, rows, often, orders, first = parse_json(text)
    return Draw(
        _checked(groups),
        np.array(rows, dtype=np.int64),
        np.array(often, dtype=np.float64),
        None if orders is None else np.array(orders, dtype=np.int64),
        first,
    )


def numbers_of(text: str) -> tuple[int, ...]:
    """Returns numbers of entrants that were written as JSON."""
    (numbers,) = _checked([parse_json(text)])
    return numbers


def sets_of(text: str) -> Sets:
    """Returns sets of entrants that were written as JSON."""
    return _checked(parse_json(text))


def pack(array: np.ndarray, kind: str) -> bytes:
    """Returns the numbers of an array as bytes, compressed."""
    return zlib.compress(np.ascontiguousarray(array, dtype=kind).tobytes())


def unpack(packed: bytes, kind: str) -> np.ndarray:
    """Returns the numbers that `pack` wrote, in one dimension."""
    return np.frombuffer(zlib.decompress(packed), dtype=kind)


def _checked(sets: list[list[int]]) -> Sets:
    if not all(type(number) is int for each in sets for number in each):
        raise TypeError(f"sets of entrants {sets}")
    return tuple(tuple(each) for each in sets)
