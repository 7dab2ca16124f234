"""Byteskille beside its rows in tests/rules: its words, and what a seat may not know.

Two tables that differ in hidden cards only must look the same. For random positions the contract
looks (`test_contract`), the twin (`test_twins`), determinizations, which are such tables, and for
words `test_view`.
"""

from typing import Any

import numpy as np
import pytest

import kille_env
from env.tables import play
from env.trick_tables import differ, of, relative
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
    turn = "Keep your 2, or swap it with seat 1?" if seat == 0 else "It is seat 0's turn."
    assert asked.splitlines()[-1] == turn
    table.act("2 wait")
    assert GAME.describe(table.record, table.rules, seat) == asked


def test_the_gok_holder_sees_the_question():
    table = play("L2 L3 GO L5")
    for seat, who in ((2, ""), (None, "seat 2: ")):
        text = GAME.describe(table.record, table.rules, seat)
        assert text.splitlines()[-1] == f"{who}Show your cuckoo before seat 0 decides?"


# The table


def test_a_table_in_full():
    table = play("L2 VH KI L5 L6", "0 swap")
    assert GAME.describe(table.record, table.rules, 3).splitlines() == [
        "Byteskille, deal 1, seat 4 deals, pot 10 chips, 37 cards in the stock",
        "  seat 0        harlequin (low), open  swapped",
        "  seat 1        inn, open",
        "  seat 2        ?                      gave",
        "  seat 3 (you)  5",
        "  seat 4        ?",
        "So far:",
        "  seat 0 asks seat 1, who shows the inn: “Värdshus förbi!” (pass the inn)",
        "  seat 0 swaps with seat 2, getting a harlequin. The harlequin counts lowest.",
        "It is seat 2's turn.",
    ]


def test_who_is_asked_to_buy_in_and_for_how_much():
    table = play("L2 L3 L4 L5", "0 stand, 1 stand, 2 stand, 3 stand")
    text = GAME.describe(table.record, table.rules, None)
    assert "seat 0  2, open  kept, out" in text
    assert text.splitlines()[-1] == "seat 0: Buy back in for 4?"


def test_before_the_first_cards_and_at_the_end():
    batch = kille_env.make_batch("byteskille", 1, 2, rules={"episode": "deal"}, restart=False)
    batch.reset(deal=False, dealer=1)
    assert batch.describe().endswith("Cards are to be dealt.")
    batch.deal(["L2", "L3"])
    batch.apply([0])
    batch.apply([0])
    assert batch.describe().endswith("The match is over.")


# Why somebody is out, what is asked and what buttons say


def test_the_question_and_the_buttons():
    table, names = play("L2 L3 L4 L5"), ["You", "Bertil", "Cecilia", "David"]
    question = GAME.view(table.record, table.rules, 0, names).question
    assert question == "Keep your 2, or swap it with Bertil?"
    buttons = [GAME.choice(table.record, table.rules, action, names) for action in range(2)]
    assert buttons == ["Keep my 2", "Swap with Bertil"]


# The question whether to call


def test_the_player_on_turn_sees_his_coming_choice_and_may_not_know_why_he_waits():
    asked, on_turn = play("L5 GO L7 L8"), play("L5 GO L7 L8", "1 wait")
    assert differ(asked, on_turn) == {1}
    assert asked.batch.legal_actions(0)[0].tolist() == [1, 1] + [0] * 8
    assert asked.batch.legal_actions(1)[0].tolist() == [0, 0, 1, 1] + [0] * 6
    assert not asked.batch.legal_actions(2).any()


def test_forehands_question_may_be_asked_whoever_holds_a_gok():
    one, other = play("L5 L6 L7"), play("L5 L6 GO")
    assert differ(one, other) == {2}
    assert other.batch.legal_actions(0)[0].tolist() == [1, 1, 0, 0, 1] + [0] * 5


def test_who_gave_a_gok_away_knows_that_its_new_holder_can_be_asked_but_not_when():
    asked = play("GO L5 L6 L7", "0 swap, 1 stand")
    assert (asked.seat, asked.phase) == (1, "gok")
    before = [asked.views(seat) for seat in range(4)]
    asked.act("1 wait")
    assert [seat for seat in range(4) if asked.views(seat) != before[seat]] == [1]


def test_a_seat_that_neither_acts_nor_is_on_turn_may_do_nothing():
    for table in (play("L5 L6 L7 L8"), play("L5 GO L7 L8"), play("L5 L6 L7", "0 ask")):
        on_turn = int(table.record["order"][table.record["turn"]])
        for seat in set(range(table.players)) - {table.seat, on_turn}:
            assert not table.batch.legal_actions(seat).any()


def test_while_the_dealer_answers_forehand_may_do_nothing():
    table = play("L5 L6 L7", "0 ask")
    assert not table.batch.legal_actions(0).any()
    assert not table.batch.legal_actions(1).any()


def test_the_full_state_shows_all_of_it():
    def shows_difference(one, other):
        return [
            bool((one.batch.full_state(seat) != other.batch.full_state(seat)).any())
            for seat in range(one.players)
        ]

    assert all(shows_difference(play("L5 L6 L7 L8"), play("L5 L8 L7 L6")))
    assert all(shows_difference(play("L5 GO L7 L8"), play("L5 GO L7 L8", "1 wait")))
    script = "0 stand, 1 stand, 2 swap"
    rules: dict[str, Any] = {"dealer_after_inn": True}
    one = play("L5 L6 L7 VH", script, talon="L9", **rules)
    assert all(shows_difference(one, play("L5 L6 L8 VH", script, talon="L9", **rules)))


# Rewards, which everybody can see


def paid_in_batch(hands: str, script: str, **rules: Any) -> list[list[float]]:
    """What the seats are paid by each step of a match that begins with these cards."""
    rules = {"episode": "match", **rules}
    batch = kille_env.make_batch("byteskille", 1, len(hands.split()), rules=rules, restart=False)
    batch.reset(deck=hands.split(), dealer=batch.num_players - 1)
    paid = []
    for text in script.split(", "):
        batch.step([batch.find_action(text)])
        paid.append(batch.reward[0].tolist())
    return paid


def paid_in_aec(hands: str, script: str, **rules: Any) -> list[list[float]]:
    """The same from PettingZoo, with what has added up for who has not acted yet."""
    rules = {"episode": "match", **rules}
    env = kille_env.make("byteskille", len(hands.split()), rules=rules)
    env.reset(options={"deck": hands.split(), "dealer": len(hands.split()) - 1})
    paid = []
    for text in script.split(", "):
        env.step(SPEC.actions.index(text))
        paid.append([*env.rewards.values()])
        waiting = [seat for seat in range(2, len(env.agents)) if text != "call"]
        added = [sum(step[seat] for step in paid) for seat in waiting]
        assert [env._cumulative_rewards[env.agents[seat]] for seat in waiting] == added
    return paid


@pytest.mark.parametrize("ante", ["pot", "deal"])
@pytest.mark.parametrize(
    ("hidden", "script"), [("L5 GO L7 L8", "wait, stand"), ("L5 GO GO L8", "wait, wait, stand")]
)
def test_rewards_do_not_tell_that_a_gok_holder_was_asked(ante, hidden, script):
    *secret, public = paid_in_batch(hidden, script, ante=ante)
    assert secret == [[0.0] * 4] * len(secret)
    assert [public] == paid_in_batch("L5 L6 L7 L8", "stand", ante=ante) == [[-2.0] * 4]


@pytest.mark.parametrize("ante", ["pot", "deal"])
@pytest.mark.parametrize(
    ("hidden", "script"),
    [
        ("L5 GO L7 L8", "wait, stand"),
        ("L5 GO GO L8", "wait, wait, stand, wait"),
        ("L5 L6 L7 GO", "wait, stand, wait"),
        ("L5 L6 GO GO", "wait, wait, stand, wait, wait"),
    ],
)
def test_who_is_on_turn_finds_the_same_rewards_whoever_was_asked_in_secret(ante, hidden, script):
    *before, public = paid_in_aec(hidden, script, ante=ante)
    assert before == [[0.0] * 4] * len(before)
    assert [public] == paid_in_aec("L5 L6 L7 L8", "stand", ante=ante) == [[-2.0] * 4]


@pytest.mark.parametrize("paid", [paid_in_batch, paid_in_aec])
def test_a_gok_that_is_called_is_public_and_so_is_what_it_pays(paid):
    assert paid("L5 GO L7 L8", "call", episode="deal") == [[-2.0, 2 / 3, 2 / 3, 2 / 3]]
    assert paid("L5 GO L7 L8", "call, decline") == [[-2.0] * 4, [0.0] * 4]


@pytest.mark.parametrize("preset", ["svensk", "wikipedia"])
def test_secret_steps_pay_nothing_and_nothing_is_lost(preset, scale):
    rng = np.random.default_rng(5)
    rules = SPEC.resolve(preset, gok_call="any_time", pots=2, episode="match")
    batch = kille_env.make_batch("byteskille", 16, 4, rules=rules, seed=5, restart=False)
    batch.reset()
    earned, secret = np.zeros((16, 4)), 0
    for _ in range(scale(2000, 200)):
        done = batch.over
        assert np.array_equal(earned[done].sum(axis=1), -batch.tables["left_on_table"][done])
        assert not batch.tables["reward"][done].any()
        earned[done] = 0.0
        batch.reset(which=done)
        actions = (batch.mask * (1.0 - rng.random(batch.mask.shape))).argmax(axis=1)
        waits = actions == SPEC.actions.index("wait")
        batch.step(actions)
        assert not batch.reward[waits].any()
        earned += batch.reward
        secret += waits.sum()
    assert secret > 50


# The full state


def full(table, seat):
    """The full state of a seat as a mapping of its parts."""
    row = table.batch.full_state(seat)[0]
    return {part.name: row[part.slice].tolist() for part in SPEC.full_state(table.players)}


def test_the_full_state_begins_with_the_observation():
    table = play("L5 GO KI L7", "1 wait, 0 swap")
    for seat in range(4):
        observed = table.batch.observe(seat)[0]
        assert table.batch.full_state(seat)[0][: len(observed)].tolist() == observed.tolist()


def test_the_full_state_shows_who_is_asked_to_call():
    table = play("L5 L6 GO L7")
    for seat in range(4):
        assert full(table, seat)["gok_asked"] == [1]
        assert full(table, seat)["to_act"] == relative(of(2), seat)
