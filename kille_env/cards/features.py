"""Writing numbers and sets as features of a vector, as kernels."""

import numpy as np

from kille_env.cards.seats import has, relative
from kille_env.core.jit import index, kernel


@kernel
def capped(number, size):
    """A number, or the largest that `size` bits hold."""
    return min(int(number), (1 << size) - 1)


@kernel
def binary(number, size, out, at):
    """Writes a number in binary, lowest bit first."""
    for i in range(size):
        out[index(at + i)] = (number >> i) & 1


@kernel
def digits(number, size, out, at):
    """Writes a number in base 256, lowest digit first."""
    for i in range(size):
        out[at + i] = (number >> (8 * i)) & 255


@kernel
def start(part, num_players):
    """Where a part of a layout begins (`kille_env.core.spec.offsets`) at a table of some seats."""
    return part[0] + part[1] * np.int64(num_players)


@kernel
def put(value, out, part, num_players, place):
    """Writes one feature of a part: the one at a place in it."""
    out[index(start(part, num_players) + place)] = value


@kernel
def seat_set(seats, viewer, num_players, out, part):
    """Writes a set of seats as a part with one feature per seat."""
    for seat in range(num_players):
        put(has(seats, seat), out, part, num_players, relative(seat, viewer, num_players))


@kernel
def one_seat(seat, viewer, num_players, out, part):
    """Writes a seat, or none (-1), as a part with one feature per seat."""
    if seat >= 0:
        place = relative(np.int64(seat), viewer, num_players)
        put(1, out, part, num_players, place)
