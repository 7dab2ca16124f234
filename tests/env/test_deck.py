"""The Kille pack, and given cards."""

import numpy as np
import pytest

from kille_env.cards.features import write_bits, write_counts, write_sets
from kille_env.cards.pack import KILLE_CODES, KILLE_PACK, TYPES, draw, take_pack
from kille_env.cards.seats import left_of, relative, seen_from
from kille_env.cards.sets import highest_card, how_many, lowest_card, members
from kille_env.core.machine import bits_set, zeros_above, zeros_below
from kille_env.errors import CardError
from kille_env.games.byteskille import SPEC


def test_the_pack_has_42_cards_21_types_twice():
    assert KILLE_PACK.size == 42
    assert len(KILLE_PACK.codes) == len(KILLE_PACK.names) == 21
    assert [KILLE_PACK.code(card) for card in range(42)] == [c for c in KILLE_CODES for _ in "12"]


def test_the_types_are_in_the_order_of_their_rank():
    liljor = tuple(f"L{number}" for number in range(1, 13))
    assert ("BL", "BP", "KR", *liljor, "VH", "KA", "SV", "HU", "GO", "KI") == KILLE_CODES


def test_cards_have_names_for_people():
    assert KILLE_PACK.name(0) == "blaren"
    assert KILLE_PACK.name(41) == "kille"
    assert KILLE_PACK.name(39) == "gök"
    assert KILLE_PACK.name(15) == "lilja 5"


def test_the_first_of_two_equal_codes_is_copy_0():
    assert KILLE_PACK.stack(["KI", "L5", "KI"])[:3].tolist() == [40, 14, 41]


def drawn(stacked, word=1):
    """All 42 cards drawn from a pack that begins with some codes."""
    table = np.zeros(1, dtype=SPEC.table)
    table["deck"][0], table["stacked"][0] = KILLE_PACK.stack(stacked), len(stacked)
    table["rng"][0] = word
    take_pack(table[0])
    return [int(draw(table[0])) for _ in range(42)]


def test_given_cards_come_first_in_order_and_the_rest_at_random():
    one, other = drawn(["L5", "KI"], 1), drawn(["L5", "KI"], 2)
    assert one[:2] == other[:2] == [14, 40]
    assert one != other
    assert sorted(one) == sorted(other) == list(range(42))


def test_a_whole_given_pack_leaves_nothing_to_chance():
    codes = [*reversed(KILLE_CODES)] * 2
    assert [KILLE_PACK.code(card) for card in drawn(codes)] == codes


def test_more_cards_than_a_pack_are_refused():
    with pytest.raises(CardError, match=r"has 43 cards; expected at most 42 of the pack$"):
        SPEC.stack([*KILLE_CODES * 2, "L3"])


# Bits


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
