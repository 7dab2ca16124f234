"""The Kille pack, and given cards."""

import numpy as np
import pytest

from kille_env.cards.pack import (
    KILLE_CODES,
    KILLE_PACK,
    draw,
    draw_again,
    reshuffle,
    take_pack,
    talon_left,
)
from kille_env.core.pack import Pack
from kille_env.errors import CardError
from kille_env.games.byteskille import SPEC
from kille_env.games.krypkille import SPEC as KRYPKILLE


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


def test_codes_are_parsed_back():
    assert [KILLE_PACK.parse(code) for code in KILLE_CODES] == list(range(21))


@pytest.mark.parametrize("code", ["", "l5", "L0", "L13", "XX", "kille", 5, None])
def test_other_codes_are_refused(code):
    with pytest.raises(CardError, match="is not a card"):
        KILLE_PACK.parse(code)


def test_the_first_of_two_equal_codes_is_copy_0():
    assert KILLE_PACK.stack(["KI", "L5", "KI"])[0][:3].tolist() == [40, 14, 41]


def test_a_stacked_pack_is_a_whole_pack():
    pack, _ = KILLE_PACK.stack(["GO", "BL", "GO"])
    assert sorted(pack.tolist()) == list(range(42))
    assert KILLE_PACK.stack([])[0].tolist() == list(range(42))


def test_a_third_card_of_a_type_is_refused_by_its_position():
    with pytest.raises(CardError, match=r"card 3 of the deck is one KI too many.* 2 times"):
        KILLE_PACK.stack(["KI", "L5", "KI", "KI"])
    with pytest.raises(CardError, match="holds every card once"):
        Pack(("A", "B"), 1, ("a", "b")).stack(["A", "A"])


def drawn(stacked, word=1):
    """All 42 cards drawn from a pack that begins with some codes."""
    table = np.zeros(1, dtype=SPEC.table)
    table["deck"][0], table["stacked"][0] = KILLE_PACK.stack(stacked)[0], len(stacked)
    table["rng"][0] = word
    take_pack(table[0])
    return [int(draw(table[0])) for _ in range(42)]


def test_given_cards_come_first_in_order_and_the_rest_at_random():
    one, other = drawn(["L5", "KI"], 1), drawn(["L5", "KI"], 2)
    assert one[:2] == other[:2] == [14, 40]
    assert one != other
    assert sorted(one) == sorted(other) == list(range(42))


def test_no_card_is_drawn_twice():
    for stacked in ([], list(KILLE_CODES), list(KILLE_CODES) * 2):
        assert sorted(drawn(stacked)) == list(range(42))


def test_a_whole_given_pack_leaves_nothing_to_chance():
    codes = [*reversed(KILLE_CODES)] * 2
    assert [KILLE_PACK.code(card) for card in drawn(codes)] == codes


# Talons that are shuffled again


def used_up(given=(), word=1):
    """A table whose pack has been drawn, each card once, with cards given beyond it."""
    codes = [*KILLE_CODES * 2, *given]
    table = np.zeros(1, dtype=KRYPKILLE.table)
    table["deck"][0], table["again"][0] = KRYPKILLE.stack(codes)
    table["stacked"][0], table["rng"][0] = len(codes), word
    take_pack(table[0])
    assert talon_left(table[0]) == KILLE_PACK.size
    assert sorted(int(draw_again(table[0])) for _ in range(42)) == list(range(42))
    return table[0]


def cards(*codes):
    """A set of cards: the first copy of a code, and the second if it stands there twice."""
    return np.uint64(sum(1 << card for card in KILLE_PACK.stack(codes)[0][: len(codes)].tolist()))


def drawn_again(table):
    """Codes of all the cards that are left."""
    return [KILLE_PACK.code(draw_again(table)) for _ in range(talon_left(table))]


@pytest.mark.parametrize(
    ("given", "talons"),
    [
        ("", [("L3 GO GO KI", "")]),
        ("", [("L3 GO", ""), ("L3 HU SV", "")]),
        ("KI L3", [("L3 GO HU SV KI", "KI L3")]),
        ("GO L3 SV L3", [("L3 GO", "GO L3"), ("HU L3 SV", "SV L3")]),
        ("GO L9 L3", [("L3 GO HU", "GO")]),  # from a card on that is not there all is random
        ("GO GO L3", [("L3 GO HU", "GO")]),
    ],
)
def test_a_reshuffled_talon_gives_its_cards_once_the_given_ones_first(given, talons):
    orders, order, first = set(), list[str](), ""
    drawn = 42 + sum(len(cards.split()) for cards, _ in talons)
    for word in range(20):
        table = used_up(given.split(), word)
        assert talon_left(table) == 0
        for shuffled, first in talons:
            reshuffle(table, cards(*shuffled.split()))
            assert talon_left(table) == len(shuffled.split())
            order = drawn_again(table)
            assert order[: len(first.split())] == first.split()
            assert sorted(order) == sorted(shuffled.split())
        orders.add(tuple(order))
        assert table["drawn"] == drawn
    free = len(order) - len(first.split())
    assert (len(orders) > 1) == (free > 1)


def test_the_copy_that_is_there_is_given_for_a_code():
    second = np.uint64(cards("KI", "KI") ^ cards("KI"))
    table = used_up(["KI"])
    reshuffle(table, second | cards("L3"))
    assert draw_again(table) == 41
    table = used_up(["KI", "L3", "KI"])
    reshuffle(table, cards("KI", "KI", "L3"))
    assert [draw_again(table) for _ in range(3)] == [40, 10, 41]


def test_too_many_cards_beyond_the_pack_are_refused():
    codes = [*KILLE_CODES * 2, *["L3"] * 30]
    assert KRYPKILLE.stack(codes)[1].tolist() == [10] * 30
    with pytest.raises(CardError, match="at most 42 of the pack and 30 after reshuffles"):
        KRYPKILLE.stack([*codes, "L3"])
    with pytest.raises(CardError, match=r"at most 42 of the pack$"):
        SPEC.stack(codes)
