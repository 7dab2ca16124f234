"""Words of bits: how kernels write them as features, and what they ask of the processor."""

import numpy as np
import pytest

from kille_env.cards.features import write_bits, write_counts, write_sets
from kille_env.cards.pack import TYPES
from kille_env.cards.seats import left_of, relative, seen_from
from kille_env.cards.sets import highest_card, how_many, lowest_card, members
from kille_env.core.machine import bits_set, zeros_above, zeros_below

WORDS = [int(word) for word in np.random.default_rng(5).integers(1, 2**63, 12)]


def written(width: int, write, *arguments) -> list[int]:
    """Return what a kernel writes at offset 3 of an array; everything around must stay."""
    out = np.full(width + 6, 9, dtype=np.uint8)
    write(*arguments, out, 3)
    assert set(out[:3]) == set(out[width + 3 :]) == {9}
    return out[3 : width + 3].tolist()


@pytest.mark.parametrize("size", [*range(1, 34), 43, 63, 64])
def test_bits_are_written_from_the_lowest_and_nothing_beside_them(size):
    for word in WORDS:
        expected = [word >> bit & 1 for bit in range(size)]
        assert written(size, write_bits, np.uint64(word), size) == expected


@pytest.mark.parametrize("seats", [2, 3, 5, 6, 8, 13, 20])
def test_sets_of_seats_are_counted_from_the_viewer(seats):
    everybody = (1 << seats) - 1
    sets = tuple(np.uint64(word & everybody) for word in WORDS[:5])
    for viewer in range(seats):
        expected = [
            int(chosen) >> (viewer + at) % seats & 1 for chosen in sets for at in range(seats)
        ]
        assert written(5 * seats, write_sets, sets, viewer, seats) == expected
        word = sum(bit << at for at, bit in enumerate(expected[:seats]))
        assert seen_from(sets[0], viewer, seats) == word


@pytest.mark.parametrize("seats", [2, 3, 13])
def test_left_of_and_relative_go_around_the_table(seats):
    for viewer in range(seats):
        for distance in range(seats):
            seat = (viewer + distance) % seats
            assert left_of(viewer, distance, seats) == seat
            assert relative(seat, viewer, seats) == distance


def test_cards_are_counted_by_type():
    for word in WORDS:
        cards = word & ((1 << 2 * TYPES) - 1)
        expected = [(cards >> 2 * kind & 3).bit_count() for kind in range(TYPES)]
        assert written(TYPES, write_counts, np.uint64(cards)) == expected


@pytest.mark.parametrize("word", [1, 2, 1 << 63, *WORDS])
def test_kernels_count_and_find_bits_as_plain_python_does(word):
    bits = members(word)
    assert bits_set(word) == how_many(np.uint64(word)) == len(bits)
    assert zeros_below(word) == lowest_card(np.uint64(word)) == bits[0]
    assert 63 - zeros_above(word) == highest_card(np.uint64(word)) == bits[-1]


def test_no_bit_is_no_error():
    assert (bits_set(0), zeros_below(0), zeros_above(0)) == (0, 64, 64)
    assert how_many(np.uint64(0)) == 0
