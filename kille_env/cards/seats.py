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
    """The set of one seat."""
    return np.uint32(np.uint32(1) << np.uint32(seat))


@kernel
def only(seat):
    """The set of one seat, or of none (-1)."""
    return bit(seat) if seat >= 0 else np.uint32(0)


@kernel
def has(seats, seat):
    """Whether a seat is in a set."""
    return (np.uint32(seats) >> np.uint32(seat)) & np.uint32(1) != 0


@kernel
def everybody(table):
    """The set of all seats of the table."""
    return np.uint32((np.uint32(1) << np.uint32(table["num_players"])) - np.uint32(1))


@kernel
def next_seat(table, seat):
    """The seat on the left; a comparison, for a division costs more than the rest of it."""
    following = np.int64(seat) + 1
    return 0 if following == table["num_players"] else following


@kernel
def seat_left_of(table, seat, seats):
    """The nearest seat of a set clockwise from `seat`; the set is not empty."""
    following = next_seat(table, seat)
    while not has(seats, following):
        following = next_seat(table, following)
    return following


@kernel
def _once_around(number, num_players):
    """A number, with `num_players` added if it is negative.

    By its sign bit, not by a comparison: in a loop that would become a branch, and who looks cannot
    be predicted.
    """
    return number + (np.int64(num_players) & (number >> 63))


@kernel
def relative(seat, viewer, num_players):
    """How far left of the viewer a seat is."""
    return _once_around(np.int64(seat) - np.int64(viewer), num_players)


@kernel
def left_of(viewer, distance, num_players):
    """The seat so many places to the left of the viewer, less than once around the table."""
    return _once_around(np.int64(viewer) + distance - num_players, num_players)


@kernel
def seen_from(seats, viewer, num_players):
    """A set of seats counted from a viewer: bit `i` is the seat `i` to the left of it."""
    word = np.uint64(seats)
    turned = (word >> np.uint64(viewer)) | (word << np.uint64(num_players - viewer))
    return turned & ((np.uint64(1) << np.uint64(num_players)) - np.uint64(1))


@kernel
def all_seen_from(sets, viewer, num_players):
    """Like `seen_from` for as many sets as lie in a word side by side, `num_players` bits each.

    What is above the last of them is of no meaning.
    """
    word, back = np.uint64(sets), np.uint64(num_players - viewer)
    own = _FIELDS[index(num_players)] * ((np.uint64(1) << back) - np.uint64(1))
    return ((word >> np.uint64(viewer)) & own) | ((word << back) & ~own)


def seat_or_none(seat: Any) -> int | None:
    """Return the seat that a table's field names, None where it names nobody (-1)."""
    return int(seat) if seat >= 0 else None
