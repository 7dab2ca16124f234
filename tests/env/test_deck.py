"""The Kille pack, and given cards."""

import numpy as np
import pytest

from kille_env.cards.pack import KILLE_CODES, KILLE_PACK, draw, take_pack
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
