"""The words for people: the right calls, and nothing that a seat may not know."""

import numpy as np
import pytest

import kille_env
from env.tables import play
from kille_env.games.byteskille import SPEC
from kille_env.registry import load_game

GAME = load_game("byteskille")


# The calls


def test_players_go_by_their_names():
    words = play("L2 L3 L4 L5").told("0 swap", names=["Anna", "Bo", "Cia", "Cia"])
    assert words == ["Anna swaps with Bo: a 2 for a 3."]
    text = GAME.describe(play("L2 L3 L4 L5").record, SPEC.resolve(), 2, ["A", "B", "C", "C"])
    assert "C 2  4" in text


# Who is told what


def test_your_own_card_is_called_yours():
    names = ["You", "Bo", "Cia", "Dan"]
    told = play("L2 L3 L4 L5").told("0 swap", 0, names=names)
    assert told == ["You swap with Bo: your 2 for a 3."]
    names = ["Ann", "You", "Cia", "Dan"]
    assert play("L2 L3 L4 L5").told("0 swap", 1, names=names) == [
        "Ann swaps with you: a 2 for your 3."
    ]


@pytest.mark.parametrize("seat", [0, 1, 3])
def test_while_a_gok_holder_is_asked_the_table_looks_to_others_as_it_does_afterwards(seat):
    table = play("L2 L3 GO L5")
    asked = GAME.describe(table.record, table.rules, seat)
    assert "seat 0 (you)" in asked if seat == 0 else "seat 0 is on turn to exchange." in asked
    table.act("2 wait")
    assert GAME.describe(table.record, table.rules, seat) == asked


def test_the_gok_holder_sees_the_question():
    table = play("L2 L3 GO L5")
    for seat, who in ((2, "seat 2 (you)"), (None, "seat 2")):
        text = GAME.describe(table.record, table.rules, seat)
        assert text.splitlines()[-1] == f"{who} may show the cuckoo before seat 0 decides."


@pytest.mark.parametrize(
    ("num_players", "rules"),
    [
        (2, {"preset": "svensk"}),
        (2, {"preset": "wikipedia"}),
        (3, {"preset": "svensk", "episode": "deal"}),
        (4, {"preset": "wikipedia", "gok_call": "any_time", "reentry": "wiki2"}),
    ],
)
def test_words_tell_a_seat_no_more_than_its_information_state(num_players, rules, scale):
    """Between the same two information states of a seat, the words are the same."""
    number, seats = scale(250, least=40), range(num_players)
    batch = kille_env.make_batch(
        "byteskille", number, num_players, rules=rules, seed=3, restart=False
    )
    batch.reset(deal=False, dealer=num_players - 1)
    rng = np.random.default_rng(0)
    moves: dict[tuple[int, bytes, bytes], list[str]] = {}
    repeated = 0
    known = [batch.information_state(np.full(number, seat)) for seat in seats]
    for _ in range(9):
        before, tables_before = known, batch.tables.copy()
        if batch.at_chance.any():
            batch.deal()
        else:
            batch.apply((rng.random(batch.mask.shape) * batch.mask).argmax(axis=1))
        known = [batch.information_state(np.full(number, seat)) for seat in seats]
        for i, seat in np.ndindex(number, num_players):
            move = (seat, before[seat][i].tobytes(), known[seat][i].tobytes())
            step = (tables_before[i], batch.tables[i], batch.rules, None, seat)
            words = [*GAME.narrate(*step), GAME.verdict(*step)]
            repeated += move in moves
            assert moves.setdefault(move, words) == words
    assert repeated > number


# The table


def test_a_table_in_full():
    table = play("L2 VH KI L5 L6", "0 swap")
    assert GAME.describe(table.record, table.rules, 3).splitlines() == [
        "Byteskille, deal 1, dealer seat 4, pot 10 chips, 37 cards in the stock",
        "  seat 0        harlequin (low), open  swapped",
        "  seat 1        inn, open",
        "  seat 2        ?                      gave, is on turn",
        "  seat 3 (you)  5",
        "  seat 4        ?",
        "The deal so far:",
        "  seat 0 asks seat 1, who shows the inn: “Värdshus förbi!” (pass the inn)",
        "  seat 0 swaps with seat 2, getting a harlequin. The harlequin counts lowest.",
        "seat 2 is on turn to exchange.",
    ]


def test_who_is_asked_to_buy_in_and_for_how_much():
    table = play("L2 L3 L4 L5", "0 stand, 1 stand, 2 stand, 3 stand")
    text = GAME.describe(table.record, table.rules, None, history=False)
    assert "seat 0  2  kept, out" in text
    assert text.splitlines()[-1] == "seat 0 may buy in for 4 chips."


def test_before_the_first_cards_and_at_the_end():
    batch = kille_env.make_batch("byteskille", 1, 2, rules={"episode": "deal"}, restart=False)
    batch.reset(deal=False, dealer=1)
    assert batch.describe().endswith("Cards are to be dealt.")
    batch.deal(["L2", "L3"])
    batch.apply([0])
    batch.apply([0])
    assert batch.describe().endswith("The match is over.")


# Why somebody is out, what is asked and what buttons say


@pytest.mark.parametrize(
    ("hands", "actions", "talon", "seat", "verdict"),
    [
        ("L2 L6 L9 L5", "0 stand, 1 stand, 2 stand, 3 stand", "", 0,
         "Your 2 was the lowest; swapping with seat 1 would have brought a 6."),
        ("L8 L7 L9 L5", "0 stand, 1 stand, 2 stand, 3 swap", "L2", 3,
         "You drew a 2 for your 5; it was the lowest."),
        ("L9 L7 L9 L8", "0 stand, 1 stand, 2 stand, 3 swap", "L6", 3,
         "You drew a 6 for your 8; with the 8 seat 1's 7 was out."),
        ("L9 L7 L9 L8", "0 stand, 1 stand, 2 stand, 3 swap", "L6", 1,
         "seat 3's 6 was the lowest, drawn from the stock."),
        ("L8 L7 L2 HU", "0 stand, 1 stand, 2 swap", "", 2,
         "seat 3's hussar struck you. seat 1 is out too."),
        ("L8 L7 L2 SV", "0 stand, 1 stand, 2 swap", "", 2,
         "seat 3's pig undid the swaps and struck you. seat 1 is out too."),
        ("KI L7 L2 L9", "0 stand, 1 stand, 2 stand, 3 stand", "", 0,
         "A dealt harlequin counts lowest: you are out. seat 2 is out too."),
        ("L8 L7 L9 L5", "0 stand, 1 stand, 2 stand, 3 stand", "", 0, "seat 3's 5 was the lowest."),
        ("L1 HU L4 L9", "0 swap, 2 stand, 3 stand", "", 3,
         "seat 1's hussar struck seat 0. seat 2's 4 was the lowest of those still in; "
         "swapping with you would have brought a 9."),
    ],
)  # fmt: skip
def test_a_verdict_says_why(hands, actions, talon, seat, verdict):
    table = play(hands, talon=talon)
    *first, last = actions.split(", ")
    table.act(", ".join(first))
    before = table.record.copy()
    table.act(last)
    names = ["You" if other == seat else f"seat {other}" for other in range(4)]
    assert GAME.verdict(before, table.record, table.rules, names, seat) == verdict


def test_the_question_and_the_buttons():
    table, names = play("L2 L3 L4 L5"), ["You", "Bertil", "Cecilia", "David"]
    assert GAME.question(table.record, table.rules, names) == (
        "Keep your 2, or swap it with Bertil?"
    )
    buttons = [GAME.choice(table.record, table.rules, action, names) for action in range(2)]
    assert buttons == ["Keep my 2", "Swap with Bertil"]
