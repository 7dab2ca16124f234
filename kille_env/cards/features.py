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
def seat_set(seats, viewer, num_players, out, at):
    """Writes a set of seats as one feature a seat; returns where the next part begins."""
    for seat in range(num_players):
        out[at + relative(seat, viewer, num_players)] = has(seats, seat)
    return at + num_players


@kernel
def one_seat(seat, viewer, num_players, out, at):
    """Writes a seat, or none (-1), as one feature a seat; returns where the next part begins."""
    if seat >= 0:
        out[at + relative(np.int64(seat), viewer, num_players)] = 1
    return at + num_players
