"""Writing numbers and sets as features of a vector, as kernels."""

import numpy as np

from kille_env.cards.pack import TYPES
from kille_env.cards.seats import all_seen_from, relative, seen_from
from kille_env.core.jit import index, kernel
from kille_env.core.machine import store_bits, store_four, store_pairs

_ONE = np.uint64(1)


@kernel
def capped(number, size):
    """Return a number, or the largest that `size` bits hold."""
    return min(int(number), (1 << size) - 1)


@kernel
def write_bits(word, size, out, at):
    """Write the low bits of a word as features, the lowest first."""
    bits = np.uint64(word)
    out[index(at)] = 0  # these two vanish, unless bounds are checked
    out[index(at + size - 1)] = 0
    last = at + size
    # One vector instruction stores 4, 8, 16 or 32 features. Two of them that overlap reach any size
    # in between, as both write the same bits into the overlap.
    if size < 4:
        for i in range(size):
            out[index(at + i)] = (bits >> np.uint64(i)) & _ONE
    elif size < 8:
        store_four(np.uint8(bits), out, index(at))
        store_four(np.uint8(bits >> np.uint64(size - 4)), out, index(last - 4))
    elif size < 16:
        store_bits(np.uint8(bits), out, index(at))
        store_bits(np.uint8(bits >> np.uint64(size - 8)), out, index(last - 8))
    elif size < 32:
        store_bits(np.uint16(bits), out, index(at))
        store_bits(np.uint16(bits >> np.uint64(size - 16)), out, index(last - 16))
    else:
        store_bits(np.uint32(bits), out, index(at))
        store_bits(np.uint32(bits >> np.uint64(size - 32)), out, index(last - 32))


@kernel
def write_sets(sets, viewer, num_players, out, at):
    """Write sets of seats as parts side by side, one feature for each seat of each set."""
    # Turning a word costs the same for one set as for all that it holds, so they share one.
    if len(sets) * num_players > 64:
        for i in range(len(sets)):
            seen = seen_from(sets[i], viewer, num_players)
            write_bits(seen, num_players, out, at + i * num_players)
        return
    word, size = np.uint64(0), len(sets) * num_players
    for i in range(len(sets)):
        word |= np.uint64(sets[i]) << np.uint64(i * num_players)
    write_bits(all_seen_from(word, viewer, num_players), size, out, at)


@kernel
def write_counts(cards, out, at):
    """Write how many cards of each type of the Kille pack are in a set, 21 features."""
    cards, last = np.uint64(cards), at + TYPES
    out[index(at)] = 0  # these two vanish, unless bounds are checked
    out[index(last - 1)] = 0
    # The two copies of a type are neighboring bits, so a count is the sum of a pair. 32 bits are 16
    # types; the second store overlaps the first to reach all 21.
    store_pairs(np.uint32(cards), out, index(at))
    store_pairs(np.uint32(cards >> np.uint64(2 * (TYPES - 16))), out, index(last - 16))


@kernel
def digits(number, size, out, at):
    """Write a number in base 256, lowest digit first."""
    for i in range(size):
        out[at + i] = (number >> (8 * i)) & 255


@kernel
def start(part, num_players):
    """Return the offset of a part of a layout (`kille_env.core.spec.offsets`) at P seats."""
    return part[0] + part[1] * np.int64(num_players)


@kernel
def put(value, out, part, num_players, place):
    """Write one feature of a part: the one at a place in it."""
    out[index(start(part, num_players) + place)] = value


@kernel
def seat_set(seats, viewer, num_players, out, part):
    """Write a set of seats as a part with one feature per seat."""
    turned = seen_from(seats, viewer, num_players)
    write_bits(turned, num_players, out, start(part, num_players))


@kernel
def one_seat(seat, viewer, num_players, out, part):
    """Write a seat, or none (-1), as a part with one feature per seat."""
    if seat >= 0:
        place = relative(np.int64(seat), viewer, num_players)
        put(1, out, part, num_players, place)
