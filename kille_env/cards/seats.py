"""Seats in kernels: sets of seats as bits, and neighbors at a round table."""

from typing import Any

import numpy as np

from kille_env.core.jit import index, kernel

_FIELDS = np.array(
    [sum(1 << i for i in range(0, 65 - (size or 64), size or 64)) for size in range(65)], np.uint64
)
"""The lowest bit of each whole field of a word, by the size of the fields."""


@kernel
def bit(seat):
    """Return the set of one seat."""
    return np.uint32(np.uint32(1) << np.uint32(seat))


@kernel
def only(seat):
    """Return the set of one seat, or the empty set for -1."""
    return bit(seat) if seat >= 0 else np.uint32(0)


@kernel
def has(seats, seat):
    """Return whether a seat is in a set."""
    return (np.uint32(seats) >> np.uint32(seat)) & np.uint32(1) != 0


@kernel
def everybody(table):
    """Return the set of all seats of the table."""
    return np.uint32((np.uint32(1) << np.uint32(table["num_players"])) - np.uint32(1))


@kernel
def next_seat(table, seat):
    """Return the seat on the left."""
    following = np.int64(seat) + 1
    # A comparison instead of a remainder: the division costs more than the rest of this function.
    return 0 if following == table["num_players"] else following


@kernel
def seat_left_of(table, seat, seats):
    """Return the nearest seat of a set clockwise from `seat`; the set is not empty."""
    following = next_seat(table, seat)
    while not has(seats, following):
        following = next_seat(table, following)
    return following


@kernel
def _once_around(number, num_players):
    """Return a number, with `num_players` added if it is negative."""
    # The sign bit as a mask, not a comparison: in a loop that would become a branch, and which
    # seat is the viewer cannot be predicted.
    return number + (np.int64(num_players) & (number >> 63))


@kernel
def relative(seat, viewer, num_players):
    """Return the distance of a seat to the left of the viewer."""
    return _once_around(np.int64(seat) - np.int64(viewer), num_players)


@kernel
def left_of(viewer, distance, num_players):
    """Return the seat at a distance to the left of the viewer, less than once around."""
    return _once_around(np.int64(viewer) + distance - num_players, num_players)


@kernel
def seen_from(seats, viewer, num_players):
    """Return a set of seats counted from a viewer: bit `i` is the seat `i` to the left of it."""
    word = np.uint64(seats)
    turned = (word >> np.uint64(viewer)) | (word << np.uint64(num_players - viewer))
    return turned & ((np.uint64(1) << np.uint64(num_players)) - np.uint64(1))


@kernel
def all_seen_from(sets, viewer, num_players):
    """Return `seen_from` of the sets that lie side by side in a word, `num_players` bits each."""
    # The bits above the last set have no meaning.
    # `low` masks the bits of each field that stay in it when the word is turned; the others come
    # from the other end of the same field.
    word, back = np.uint64(sets), np.uint64(num_players - viewer)
    low = _FIELDS[index(num_players)] * ((np.uint64(1) << back) - np.uint64(1))
    return ((word >> np.uint64(viewer)) & low) | ((word << back) & ~low)


def seat_or_none(seat: Any) -> int | None:
    """Return the seat that a table's field names, None where it names nobody (-1)."""
    return int(seat) if seat >= 0 else None
