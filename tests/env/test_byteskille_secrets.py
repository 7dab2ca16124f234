"""What a seat may not know never changes what it sees: observation, information state and mask.

Two tables that differ in hidden cards only must look the same. For random positions the contract
looks (`test_contract`), the twin (`test_twins`) and determinizations, which are such tables.
"""

from typing import Any

import numpy as np
import pytest

import kille_env
from env.tables import Table, play
from env.trick_tables import differ
from kille_env.games.byteskille import SPEC

NO_CALL: dict[str, Any] = {"gok_call": "off"}


# Cards in hands, in the talon, laid aside


def test_cards_of_others_are_hidden():
    assert differ(play("L5 L6 L7 L8"), play("L5 L8 L7 L6")) == {1, 3}


@pytest.mark.parametrize("card", ["BL", "VH", "KA", "SV", "HU", "KI"])
def test_what_kind_of_card_another_holds_is_hidden(card):
    assert differ(play("L5 L6 L7 L8"), play(f"L5 {card} L7 L8")) == {1}


def test_the_talon_is_hidden():
    one, other = play("L5 L6 L7 L8", talon="L9 GO"), play("L5 L6 L7 L8", talon="KI BL")
    assert differ(one, other) == set()


def test_an_exchange_shows_its_cards_to_the_two_only():
    one, other = play("L5 L6 L7 L8", "0 swap"), play("L9 L6 L7 L8", "0 swap")
    assert differ(one, other) == {0, 1}


def test_a_card_that_moves_on_is_known_to_all_who_held_it():
    script = "0 swap, 1 swap, 2 swap"
    one, other = play("L5 L6 L7 L8", script), play("L9 L6 L7 L8", script)
    assert differ(one, other) == {0, 1, 2, 3}
    one, other = play("L5 L6 L7 L8", script), play("L5 L6 L9 L8", script)
    assert differ(one, other) == {1, 2}


def test_a_drawn_card_is_known_to_the_drawer():
    script = "0 stand, 1 stand, 2 swap"
    rules: dict[str, Any] = {"dealer_after_inn": True}
    one = play("L5 L6 L7 VH", script, talon="L9", **rules)
    assert differ(one, play("L5 L6 L7 VH", script, talon="BL", **rules)) == {2}


def test_a_card_laid_aside_is_known_to_those_who_held_it():
    script = "0 stand, 1 swap, 2 swap"
    rules: dict[str, Any] = {"dealer_after_inn": True}
    one = play("L5 L6 L7 VH", script, talon="L9", **rules)
    assert one.laid_aside == ["L6"]
    other = play("L5 L10 L7 VH", script, talon="L9", **rules)
    assert differ(one, other) == {1, 2}


def test_the_cards_of_a_hand_that_was_dealt_again_are_forgotten():
    one = play("L5 L6 L7", "0 ask, 2 defer, 1 yes").deal("L1 L2 L3")
    other = play("L9 GO KI", "1 wait, 0 ask, 2 defer, 1 yes").deal("L1 L2 L3")
    assert differ(one, other) == set()


def test_hidden_cards_of_the_last_hand_are_forgotten_too():
    rules: dict[str, Any] = {"reentry": "none", **NO_CALL}
    script = "0 swap, 1 stand, 2 stand, 3 stand"
    one = Table(4, **rules).deal("L5 L1 L7 L8").act(script).deal("L2 L3 L4")
    other = Table(4, **rules).deal("L9 L1 L10 L8").act(script).deal("L2 L3 L4")
    assert one.out == other.out
    assert differ(one, other) == set()


def test_at_the_showdown_all_cards_in_hands_are_known_to_all():
    script = "0 stand, 1 stand, 2 stand, 3 stand"
    one, other = play("L5 L6 L7 L1", script), play("L5 L6 L8 L1", script)
    assert differ(one, other) == {0, 1, 2, 3}


def test_but_not_those_laid_aside():
    script = "0 stand, 1 stand, 2 stand, 3 swap"
    one = play("L5 L6 L7 L1", script, talon="BL")
    other = play("L5 L6 L7 L2", script, talon="BL")
    assert one.phase == "buyin"
    assert differ(one, other) == {3}


def test_the_rank_of_a_hidden_kille_is_hidden():
    one, other = play("L5 KI L6 L7", dealt_kille="high"), play("L5 L8 L6 L7", dealt_kille="high")
    assert differ(one, other) == {1}


def test_copies_look_alike():
    """Which of two equal cards one holds says nothing about where the other is."""
    one = play("L5 L6 L7 L5", "0 stand")
    other = play("L5 L6 L7 L5", "0 stand")
    for field in ("hand", "dealt"):
        cards = other.record[field]
        cards[0], cards[3] = cards[3], cards[0]
    held = other.record["held"]
    held[0], held[3] = held[3], held[0]
    assert differ(one, other) == set()


# The question whether to call


def test_before_the_question_nobody_else_knows_of_the_gok():
    one, other = play("L5 L6 L7 L8", **NO_CALL), play("L5 GO L7 L8", **NO_CALL)
    assert differ(one, other) == {1}


def test_while_the_holder_is_asked_the_others_see_the_turn_of_the_player_on_turn():
    one, other = play("L5 L6 L7 L8"), play("L5 GO L7 L8")
    assert (other.seat, other.phase) == (1, "gok")
    assert differ(one, other) == {1}


def test_the_player_on_turn_sees_his_coming_choice_and_may_not_know_why_he_waits():
    asked, on_turn = play("L5 GO L7 L8"), play("L5 GO L7 L8", "1 wait")
    assert differ(asked, on_turn) == {1}
    assert asked.batch.legal_actions(0)[0].tolist() == [1, 1] + [0] * 8
    assert asked.batch.legal_actions(1)[0].tolist() == [0, 0, 1, 1] + [0] * 6
    assert not asked.batch.legal_actions(2).any()


def test_after_it_was_answered_nothing_tells_that_it_was():
    one, other = play("L5 L6 L7 L8"), play("L5 GO L7 L8")
    for seat in range(3):
        one.act(f"{seat} stand")
        if other.phase == "gok":
            other.act("1 wait")
        other.act(f"{seat} stand")
        assert differ(one, other) == {1}
    assert (other.seat, other.phase) == (1, "gok")


def test_with_two_goks_the_holders_do_not_know_of_each_other():
    one, two = play("L5 GO L7 L8"), play("L5 GO GO L8")
    assert differ(one, two) == {2}
    two.act("1 wait")
    one.act("1 wait")
    assert differ(one, two) == {2}  # 2 is asked now; 1 sees what it would see without it
    two.act("2 wait")
    assert differ(one, two) == {2}


def test_forehands_question_may_be_asked_whoever_holds_a_gok():
    one, other = play("L5 L6 L7"), play("L5 L6 GO")
    assert differ(one, other) == {2}
    assert other.batch.legal_actions(0)[0].tolist() == [1, 1, 0, 0, 1] + [0] * 5


def test_a_gok_in_the_hand_of_one_who_was_chopped_stays_hidden():
    one, other = play("GO HU L7 L8", "0 swap"), play("L9 HU L7 L8", "0 swap")
    assert one.phase == "gok"
    assert differ(one, other) == {0}


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
    ("hidden", "script"),
    [("L5 GO L7 L8", "wait, stand"), ("L5 GO GO L8", "wait, wait, stand")],
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
