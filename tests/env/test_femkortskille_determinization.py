"""Determinizer of Femkortskille: what a seat cannot rule out, no more, and all of it equally often.

All determinizations are enumerated with the slow twin: the hidden cards are dealt in every way, the
same decisions are played, and what the seat would then know is compared. Two cards of a type are
two cards, so one with two different types in a place counts for more than one with a pair.
"""

import importlib
from collections import Counter
from functools import cache
from itertools import combinations
from math import comb
from typing import Any

import numba
import numpy as np
import pytest
from scipy.stats import chisquare

import kille_env
from env.arrangements import BY_CHANCE, check_full_table
from env.trick_tables import Table, play
from kille_env.cards.sets import members

CODE = kille_env.spec("femkortskille").pack.code
MATCH = importlib.import_module("reference.femkortskille").Match
SLOW = bool(numba.config.DISABLE_JIT)
GAME = "femkortskille"

Cards = tuple[int, ...]


# Every determinization, by the twin


def replay(table: Table, dealt: dict[int, list[str]], drawn: dict[int, list[str]]) -> Any:
    """Returns the twin after the same decisions with other cards; None if it is another game."""
    order = [(table.first_dealer + 1 + step) % table.players for step in range(table.players)]
    deck = [card for row in zip(*(dealt[seat] for seat in order), strict=True) for card in row]
    deck += [card for seat in order for card in drawn[seat]]
    rest = table.spec.pack.codes_without(table.spec.left_out(table.rules))
    for card in deck:
        rest.remove(card)
    match = MATCH(table.players, table.rules.as_dict(), table.first_dealer, lambda: [*deck, *rest])
    try:
        for text in table.actions:
            match.play(text)
    except ValueError:
        return None
    return match


def codes(cards: Any) -> list[str]:
    """The codes of cards, from the lowest up."""
    return [CODE(card) for card in sorted(cards)]


def possible(table: Table, seat: int) -> set[tuple[int, int]]:
    """All that the other of two seats can have, by trying all: cards in hand, cards dealt.

    Both are sets of cards. Cards that were played lie where they were played.
    """
    record, other = table.record, 1 - seat
    true, own = table._twin().view(seat), {}
    for name in ("dealt", "drawn_cards"):
        own[name] = members(record[name][seat])
    opened = [card for card in record["played"][:, other].tolist() if card >= 0]
    number = len(members(record["dealt"][other])), len(members(record["drawn_cards"][other]))
    unseen = set(range(42)) - {*own["dealt"], *own["drawn_cards"], *members(record["face_up"])}

    @cache
    def agrees(dealt: tuple[str, ...], drawn: tuple[str, ...]) -> bool:
        match = replay(
            table,
            {seat: codes(own["dealt"]), other: [*dealt]},
            {seat: codes(own["drawn_cards"]), other: [*drawn]},
        )
        return match is not None and match.view(seat) == true

    found = set()
    for hand in combinations(sorted(unseen), sum(number) - len(opened)):
        for dealt in combinations([*opened, *hand], number[0]):
            drawn = {*opened, *hand} - {*dealt}
            if agrees(tuple(codes(dealt)), tuple(codes(drawn))):
                found.add((sum(1 << card for card in hand), sum(1 << card for card in dealt)))
    return found


def check_uniform(table: Table, seat: int, number: int) -> None:
    """Checks that so many determinizations can be, and that all of them are drawn equally often."""
    expected = sorted(possible(table, seat))
    assert len(expected) == number
    batch = table.batch.take(np.zeros(200 if SLOW else 10 * number, dtype=np.int64))
    batch.resample(seat, np.arange(batch.num_tables))
    drawn = [batch.tables[name][:, 1 - seat].tolist() for name in ("hand", "dealt")]
    counts = Counter(zip(*drawn, strict=True))
    assert set(counts) <= set(expected)
    if not SLOW:
        assert chisquare([counts[one] for one in expected]).pvalue > BY_CHANCE


# What a seat can tell


def test_words_tell_nothing():
    table = play(GAME, "L1 L5 L9 | L2 L6 KI", "0 check, 1 knock")
    check_uniform(table, 0, number=comb(42 - 3, 3))


SPLITS = comb(5, 3)  # which three of their five cards a player was dealt


def test_who_does_not_head_a_trick_could_not():
    hands, talon = "KI HU L9 | L2 L4 L5", "L6 L3 L7 L8"
    table = play(GAME, hands, "0 knock, 1 knock, 0 L9, 1 L2, 0 HU, 1 L5, 0 KI, 1 L4", talon)
    # Below lilja 9 there are 22 cards; seat 0 has held two and seen three of them.
    check_uniform(table, 0, number=comb(22 - 5, 2) * SPLITS)


def test_who_heads_a_trick_may_do_it_with_any_card():
    hands, talon = "KI L2 L9 | L3 GO L5", "L6 L4 L7 KI"
    table = play(GAME, hands, "0 knock, 1 knock, 0 L2, 1 KI, 1 L3, 0 L9, 0 KI, 1 GO", talon)
    # Nothing is barred: any of the 42 cards but five own and three open ones.
    check_uniform(table, 0, number=comb(42 - 8, 2) * SPLITS)


def test_under_follow_lowest_who_can_not_head_has_nothing_lower():
    hands, talon = "KI HU L9 | L2 L4 L5", "L6 L3 L7 L8"
    script = "0 knock, 1 knock, 0 L9, 1 L2, 0 HU, 1 L4, 0 KI, 1 L5"
    table = play(GAME, hands, script, talon, follow="lowest")
    # From lilja 5 to 8: of eight cards one is open, and seat 0 has held one.
    check_uniform(table, 0, number=comb(8 - 2, 2) * SPLITS)


def test_under_follow_lowest_who_heads_may_still_have_anything():
    hands, talon = "L1 HU L9 | L2 L4 KI", "L6 L3 L7 L8"
    script = "0 knock, 1 knock, 0 L9, 1 KI, 1 L8, 0 HU, 0 L3, 1 L7"
    table = play(GAME, hands, script, talon, follow="lowest")
    check_uniform(table, 0, number=comb(42 - 8, 2) * SPLITS)


def test_no_card_that_is_left_out_is_dealt():
    hands, script = "KI L8 | L2 BL", "0 knock, 1 knock, 0 L8, 1 L2"
    table = play(GAME, hands, "0 knock", preset="tiny")
    check_uniform(table, 1, number=comb(12 - 2, 2))
    table = play(GAME, hands, script, "L11 L5", preset="tiny")
    # Below lilja 8 there are 6 cards, one of them open. Two of three cards were dealt.
    check_uniform(table, 0, number=comb(6 - 1, 2) * comb(3, 2))


# A full table


def full_table() -> Table:
    """Eight players in the fourth trick, forty cards dealt; seat 1 has not seen fifteen cards."""
    hands = (
        "L5 L6 SV | BL GO GO | L4 L7 L9 | BL L2 L6 | BP L7 HU | L11 VH KA | L3 L5 HU | L4 L10 L11"
    )
    script = (
        "5 knock, 6 knock, 7 knock, 0 knock, 1 knock, 2 knock, 3 knock, 4 knock, "
        "5 L9, 6 HU, 7 L1, 0 L5, 1 GO, 2 L4, 3 BL, 4 KI, 4 HU, 5 L10, 6 BP, 7 L1, 0 L6, 1 GO, "
        "2 L7, 3 KR, 1 BL, 2 L12, 3 L2, 4 BP, 5 KA, 6 KR, 7 L4, 0 SV, 0 L12"
    )
    talon = "L9 L10 BP KR L1 L1 L12 KA L3 L8 L12 SV KR L8 L2 KI"
    return play(GAME, hands, script, talon, dealer=4, follow="lowest")


PAIRS = tuple((place, (3 * place + 1) % 15) for place in range(15) if place != 7)


@pytest.mark.compiled
def test_hands_of_a_full_table_are_drawn_as_often_as_there_are_ways_to_deal_the_others():
    table = full_table()
    hands, deck = table.record["hand"], table.record["deck"].tolist()
    places = [(seat, card) for seat in range(8) if seat != 1 for card in members(hands[seat])]
    places += [(-1, card) for card in deck[table.record["drawn"] :]]
    assert len(places) == 15
    check_full_table(table, 1, places, PAIRS)
