"""What a seat sees of Kungsholmskille, what it may not know, and the words for it."""

import pytest

from env.kungsholmskille_tables import (
    ALL_BUD,
    ALL_STAY,
    FOUR,
    THREE,
    TO_PLAY,
    before_showing,
    play,
)
from env.trick_tables import differ, of, types
from kille_env.games.kungsholmskille import SPEC

# What a seat sees

PHASES = {"bud1": 0, "fold": 1, "exchange": 2, "bud2": 3, "play": 4, "show": 5}


@pytest.mark.parametrize(
    ("phase", "table"),
    [
        ("bud1", lambda: play(THREE)),
        ("fold", lambda: play(THREE, "0 knock")),
        ("exchange", lambda: play(THREE, "0 knock, 1 stay, 2 stay")),
        ("bud2", lambda: play(THREE, "0 knock, 1 fold, 2 stay, 0 discard, 2 discard")),
        ("play", lambda: play(THREE, "0 knock, 1 fold, 2 stay, 0 discard, 2 discard, 0 knock")),
        ("show", lambda: before_showing("L5 L6 L7")),
    ],
)
def test_phase(phase, table):
    table = table()
    assert table.phase == phase
    for seat in range(3):
        one_hot = [int(number == PHASES[phase]) for number in range(6)]
        assert table.part("phase", seat) == table.information("phase", seat) == one_hot


def test_between_deals_nothing_is_decided():
    table = play(FOUR, ALL_BUD)
    assert table.part("phase", 0) == [0] * 6
    assert table.all_see("to_act", of())


def test_hand_shows_own_cards_from_the_lowest_up():
    table = play(FOUR, f"{ALL_STAY}, 0 discard BL KA", "L5 KI")
    for seat, cards in enumerate(("L1 L5 L5 L9 KI", "BP L2 L6 L10 SV")):
        expected = [feature for card in cards.split() for feature in types(card)]
        assert table.part("hand", seat) == expected


def test_seen_counts_all_cards_held_and_those_played():
    table = play(FOUR, f"{ALL_STAY}, 0 discard BL KA, 1 discard, 2 discard, 3 discard", "L5 KI")
    table.act("0 knock, 0 L5, 1 SV")
    assert table.part("seen", 0) == types("BL", "KA", "L1", "L5", "L5", "L9", "KI", "SV")
    assert table.part("seen", 1) == types("BP", "L2", "L6", "L10", "SV", "L5")


def test_words_of_the_two_rounds():
    table = play(FOUR, "0 bud, 1 knock, 2 fold, 3 stay")
    assert table.all_see("said_bud", of(0))
    assert table.all_see("knocked", of(1))
    assert table.all_see("stayed", of(3))
    assert table.all_see("in_play", of(0, 1, 3))
    assert table.all_see("to_act", of(0))
    assert table.all_see("forehand", of(0))
    assert table.all_see("dealer", of(3))
    table.act("0 fold, 1 discard BP L2, 3 discard")
    assert table.all_see("forehand", of(1))
    assert table.all_see("exchanged", [0, 3, 0, 1])
    assert table.act("1 bud").all_see("said_bud_again", of(1))
    assert table.act("3 knock").all_see("knocked_again", of(3))


def test_tricks():
    table = play(FOUR, TO_PLAY)
    assert table.all_see("leads", of(0))
    assert table.all_see("holds", of())
    assert table.part("trick", 2) == [1, 0, 0, 0]
    table.act("0 L5, 1 L10, 2 L11")
    assert table.part("highest", 3) == types("L11")
    assert table.all_see("holds", of(2))
    assert table.all_see("on_table", [8, 13, 14, 0])
    table.act("3 L12")
    assert table.all_see("leads", of(3))
    assert table.all_see("on_table", [0] * 4)
    assert table.part("highest", 3) == types()
    assert table.part("trick", 2) == [0, 1, 0, 0]
    assert table.part("won", 0)[:4] == of(3)
    assert table.part("won", 3)[:4] == of(0)
    assert table.part("played", 0)[:8] == [8, 13, 14, 15, 0, 0, 0, 0]


def test_who_says_bud_at_the_showing_is_seen():
    assert before_showing("L5 L6 L7").act("0 bud").all_see("said_bud_last", of(0, players=3))


def test_who_creeps_has_no_lower_card_and_none_that_heads():
    hands = "BL L1 L5 L9 KI | BP L2 L6 L10 SV | KR L3 L7 L11 HU"
    script = "0 knock, 1 stay, 2 stay, 0 discard, 1 discard, 2 discard, 0 knock"
    table = play(hands, f"{script}, 0 L9, 1 SV, 2 HU, 2 L11")
    assert table.all_see("below", [21, 21, 21])
    assert table.all_see("at_least", [0, 0, 0])
    table.act("0 KI, 1 BP")
    assert table.all_see("below", [21, SPEC.pack.codes.index("KI"), 21])
    assert table.all_see("at_least", [0, SPEC.pack.codes.index("BP"), 0])


# What a seat may not know


def test_the_cards_of_others_and_the_talon_are_hidden():
    one, other = play(talon="KI HU"), play(FOUR.replace("L10", "KI"), talon="L10 HU")
    assert differ(one, other) == {1}


def test_the_number_exchanged_is_seen_by_all_but_not_the_cards():
    script = f"{ALL_STAY}, 0 discard"
    assert differ(play(FOUR, f"{script} L1"), play(FOUR, f"{script} L5")) == {0}
    assert differ(play(FOUR, f"{script} L1", "KI"), play(FOUR, f"{script} L1", "HU")) == {0}
    assert differ(play(FOUR, f"{script} L1"), play(FOUR, f"{script} L1 L5")) == {0, 1, 2, 3}


def test_what_was_folded_is_never_shown():
    script = "0 bud, 1 show"
    one = before_showing("L9 L5 L7 L8", 3).act(script)
    assert differ(one, before_showing("L9 L5 L7 L10", 3).act(script)) == {3}


def test_last_cards_stay_hidden_in_a_bud_round():  # D-K12
    script = "0 bud, 1 bud, 2 bud"
    one, other = before_showing("L9 L5 L7").act(script), before_showing("L9 L5 L8").act(script)
    assert differ(one, other) == {2}


def test_last_cards_are_seen_by_all_at_a_showing():
    script = "0 bud, 1 show"
    one = before_showing("L9 L5 L7 L8", 3).act(script)
    other = before_showing("L9 L5 L6 L8", 3).act(script)
    assert differ(one, other) == {0, 1, 2, 3}


# Words


def test_the_words_of_a_deal():
    table = play(FOUR)
    assert table.told("0 bud") == ["seat 0: “Bud!”"]
    assert table.told("1 knock") == ["seat 1 knocks."]
    assert table.told("2 fold") == ["seat 2 folds."]
    assert table.told("3 stay, 0 stay, 0 discard") == ["seat 0 keeps all cards."]


def test_an_exchange_is_told_to_who_made_it():
    table = play(FOUR, ALL_STAY, "KI HU")
    assert table.told("0 discard BL L1", seat=1) == ["seat 0 changes 2 cards."]
    table = play(FOUR, ALL_STAY, "KI HU")
    told = table.told("0 discard BL L1", seat=0)
    assert told == ["seat 0 changes 2 cards: mask, 1 for hussar, harlequin."]


def test_a_showing_is_told():
    assert before_showing("L9 L5 L7", deals=2).told("0 bud, 1 bud, 2 show") == [
        "seat 2 shows the last card.",
        "The last cards are turned up.",
        "  seat 0  9",
        "  seat 1  5",
        "  seat 2  7",
        "seat 1 wins the pot of 6 chips; seat 2 pays as much again.",
        "seat 0 pays 2 chips and seat 2 pays 2 chips next deal.",
    ]


@pytest.mark.parametrize(
    ("last", "script", "verdict"),
    [
        ("L9 L5 L7", "0 bud, 1 bud, 2 show",
         "seat 2 showed the 7; seat 1's 5 was lower: "
         "seat 1 wins the pot of 6, seat 2 pays as much."),
        ("L5 L5 L7", "0 show",
         "You showed the 5; seat 1's 5 was equal: seat 1 wins the pot of 6, you pay as much."),
        ("L5 L6 L7", "0 show", "Your 5 was the lowest: you win the pot of 6."),
        ("L5 L6 L7", "0 bud, 1 bud, 2 bud", "All passed: the pot of 6 chips stays."),
    ],
)  # fmt: skip
def test_a_verdict_says_whose_card_was_lower(last, script, verdict):
    assert before_showing(last).verdict(script, 0) == verdict


def test_describe_names_own_cards_and_what_was_said():
    table = play(THREE, "0 bud, 1 knock, 2 stay, 0 stay, 0 discard BL", "L12")
    assert table.batch.describe(0, 0).splitlines() == [
        "Kungsholmskille, deal 1, dealer seat 2, pot 6 chips",
        "  seat 0 (you)  L1 L5 L9 L12 KA (discarded BL, got L12)  passed, stays, 1 new",
        "  seat 1        ? ? ? ? ?                                knocks",
        "  seat 2        ? ? ? ? ?                                stays",
        "seat 1 may exchange up to 2 cards.",
    ]
    # A person has been told of their discards when they made them.
    short = table.batch.game.describe(table.record, table.rules, 0, history=False)
    assert "  seat 0 (you)  L1 L5 L9 L12 KA  passed, stays, 1 new" in short.splitlines()
