"""Seats as kernels see them: sets of seats as bits, and who sits where at a round table."""

from typing import Any

import numpy as np

from kille_env.core.jit import kernel


@kernel
def bit(seat):
    """The set of one seat."""
    return np.uint32(np.uint32(1) << np.uint32(seat))


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
def relative(seat, viewer, num_players):
    """How far left of the viewer a seat is."""
    distance = seat - viewer
    return distance + num_players if distance < 0 else distance


def seat_or_none(seat: Any) -> int | None:
    """Returns the seat that a table's field names, None where it names nobody (-1)."""
    return int(seat) if seat >= 0 else None
