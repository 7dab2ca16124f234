"""A hash table of rows, which finds the number of an information set or of an end again.

It is an array of numbers of rows, -1 where it is free. Its length is a power of two, and larger
than the number of rows.
"""

import numpy as np

from kille_env.core.jit import kernel


@kernel
def _hash(row):
    """FNV-1a over words, folded."""
    value = np.uint64(0xCBF29CE484222325)
    for number in range(row.shape[0]):
        value = (value ^ np.uint64(row[number])) * np.uint64(0x100000001B3)
        value ^= value >> np.uint64(29)
    return value


@kernel
def slot_of(row, slots, rows):
    """Returns the slot of a row's number, or the free slot that it is to take."""
    slot = np.int64(_hash(row) & np.uint64(slots.shape[0] - 1))
    while slots[slot] >= 0:
        other = slots[slot]
        same = True
        for i in range(row.shape[0]):
            same &= rows[other, i] == row[i]
        if same:
            break
        slot = (slot + 1) & (slots.shape[0] - 1)
    return slot


@kernel
def fill_slots(slots, rows, count):
    """Makes a hash table of some rows that are all different; it begins as -1."""
    for number in range(count):
        slots[slot_of(rows[number], slots, rows)] = number
