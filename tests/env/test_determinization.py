"""Copies of tables, determinizations drawn at them, and what a searcher is given of both."""

from typing import Any

import numpy as np
import pytest

import kille_env
from env import knack_tables
from env.tables import play
from kille_env.core.batch import Batch
from kille_env.errors import KilleError
from kille_env.games.byteskille import SPEC
from kille_env.play.decisions import Decisions, History

ACTIONS = {text: number for number, text in enumerate(SPEC.actions)}
TABLES = 6


def tables_of(game: str, decisions: int = 3, **options: Any) -> Batch:
    """Tables at which some decisions have been made, each the first that is legal."""
    batch = kille_env.make_batch(game, TABLES, seed=3, **options)
    batch.reset()
    for _ in range(decisions):
        batch.step(batch.mask.argmax(axis=1))
    return batch


def keys(number: int, first: int = 0) -> np.ndarray:
    return np.arange(first, first + number, dtype=np.uint64)


# Batch.take


def test_taken_tables_stand_as_they_stood_in_the_order_named(game):
    batch, rows = tables_of(game), [4, 0, 4]
    taken = batch.take(rows)
    for name in ("seat", "observation", "mask", "reward", "terminated", "truncated", "tables"):
        assert np.array_equal(getattr(taken, name), getattr(batch, name)[rows])


def test_taken_tables_play_on_like_the_ones_they_were_taken_from(game):
    batch = tables_of(game)
    taken = batch.take(np.arange(TABLES)[::-1])
    for _ in range(20):
        actions = batch.mask.argmax(axis=1)
        batch.step(actions)
        taken.step(actions[::-1])
        assert np.array_equal(taken.tables, batch.tables[::-1])


def test_what_happens_at_a_taken_table_happens_only_there():
    batch = tables_of("byteskille")
    before = batch.tables.tobytes()
    taken = batch.take([0, 0])
    taken.step(taken.mask.argmax(axis=1))
    assert batch.tables.tobytes() == before
    assert np.array_equal(taken.tables[0], taken.tables[1])


# Batch.resample


def test_other_keys_name_other_determinizations(game):
    batch = tables_of(game).take([0] * 50)
    cards = batch.resample(0, keys(50))
    assert len({row.tobytes() for row in cards}) == 50


def test_arrays_show_the_determinizations():
    batch = play("L5 GO L9").batch
    assert batch.seat[0] == 1
    batch.resample(0, [1])
    assert batch.seat[0] == 0
    assert np.array_equal(batch.observation, batch.observe(0))
    assert np.array_equal(batch.mask, batch.legal_actions(0))


def test_two_tables_with_the_same_key_are_dealt_the_same_next_hand():
    batch = play("L5 L3 L2", reentry="none").batch.take([0, 0, 0])
    batch.resample(0, [7, 7, 8])
    while not batch.at_chance.all():
        batch.apply(batch.mask.argmax(axis=1))
    batch.deal()
    decks = batch.tables["deck"].tolist()
    assert decks[0] == decks[1] != decks[2]


def test_between_hands_no_card_is_hidden():
    batch = kille_env.make_batch("byteskille", 2, 3, seed=0)
    batch.reset(deal=False)
    before = batch.tables["hand"].tolist()
    assert (batch.resample(0, keys(2)) == np.arange(42)).all()
    assert batch.tables["hand"].tolist() == before


# Decisions


def test_determinizations_tell_what_the_seats_to_act_see_and_no_more(game):
    batch = tables_of(game)
    decisions = Decisions(batch, [4, 1], keys(2))
    assert len(decisions) == 2
    assert np.array_equal(decisions.observation, batch.observation[[4, 1]])
    assert np.array_equal(decisions.mask, batch.mask[[4, 1]])
    assert decisions.seats.tolist() == batch.seat[[4, 1]].tolist()
    assert (decisions.game, decisions.num_players) == (game, batch.num_players)
    assert decisions.rules == batch.rules


def test_each_decision_gets_its_determinizations_side_by_side(game):
    batch = tables_of(game)
    rows = [4, 1]
    drawn = Decisions(batch, rows, keys(2)).draw(5)
    assert drawn.num_tables == 10
    assert drawn.seat.tolist() == np.repeat(batch.seat[rows], 5).tolist()
    assert np.array_equal(drawn.observation, np.repeat(batch.observation[rows], 5, axis=0))
    assert np.array_equal(drawn.mask, np.repeat(batch.mask[rows], 5, axis=0))
    assert len({record.tobytes() for record in drawn.tables}) == 10


def test_drawing_changes_no_table(game):
    batch = tables_of(game)
    before = batch.tables.tobytes()
    drawn = Decisions(batch, [0, 1], keys(2)).draw(3)
    drawn.step(drawn.mask.argmax(axis=1))
    assert batch.tables.tobytes() == before


def test_determinizations_depend_on_the_decision_and_its_key_alone():
    batch = tables_of("byteskille")
    whole = Decisions(batch, [0, 3, 5], keys(3, 10)).draw(4).tables
    alone = Decisions(batch, [3], keys(1, 11)).draw(4).tables
    assert np.array_equal(alone, whole[4:8])
    taken = Decisions(batch, [0, 3, 5], keys(3, 10)).select([2, 1])
    assert taken.keys.tolist() == [12, 11]
    assert np.array_equal(taken.draw(4).tables, np.concatenate([whole[8:], whole[4:8]]))


def test_some_of_the_determinizations_can_be_passed_over():
    decisions = Decisions(tables_of("byteskille"), [0, 3], keys(2))
    whole, later = decisions.draw(6).tables, decisions.draw_chosen(np.full((2, 2), [4, 5])).tables
    assert np.array_equal(later, whole[[4, 5, 10, 11]])


# The past of a determinization


def played(table, script: str, number: int = 400):
    """Play on at a table; returns determinizations of the next decision, and their past."""
    history = History(table.batch)
    for line in script.split(", "):
        seat, text = line.split()
        assert table.seat == int(seat)
        history.note(np.array([ACTIONS[text]]))
        table.act(line)
    decisions = Decisions(table.batch, [0], keys(1), history)
    return decisions.draw_with_past(number)


def part(name: str, values: np.ndarray, players: int) -> np.ndarray:
    (found,) = (p for p in SPEC.observation(players) if p.name == name)
    return values[:, found.slice]


def test_the_past_tells_what_others_would_have_seen_and_done():
    drawn, past = played(play("L5 L3 L9"), "0 stand, 1 stand")
    assert past.seat.tolist() == [0] * 400 + [1] * 400
    assert past.determinization.tolist() == [*range(400)] * 2
    assert (past.action == ACTIONS["stand"]).all()
    dealt = drawn.tables["dealt"] >> 1
    for seat in (0, 1):
        mine = past.seat == seat
        saw = part("card", past.observation[mine], 3).argmax(axis=1)
        assert np.array_equal(saw, dealt[past.determinization[mine], seat])
        assert len(set(saw.tolist())) == 21
        holds_gok = saw == SPEC.pack.codes.index("GO")
        assert np.array_equal(past.mask[mine, ACTIONS["call"]], holds_gok)
        assert past.mask[mine, ACTIONS["swap"]].all()


def test_the_past_is_as_it_was_before_later_exchanges():
    """What seat 0 had when it swapped is the card that lies with seat 1 now."""
    drawn, past = played(play("L5 L3 L9"), "0 swap, 1 stand")
    saw = part("card", past.observation[past.seat == 0], 3).argmax(axis=1)
    assert np.array_equal(saw, drawn.tables["hand"][:, 1] >> 1)
    assert SPEC.pack.codes.index("KI") not in saw


def test_own_decisions_are_no_evidence():
    _, past = played(play("L5 VH L3 L9"), "0 stand, 1 stand, 2 stand", 3)
    assert 3 not in past.seat
    table = play("L5 L6 L7", **{"fraga": "forced"})
    _, past = played(table, "0 ask, 2 no", 3)
    assert set(past.seat.tolist()) == {2}


def test_decisions_in_secret_are_no_evidence():
    _, past = played(play("L5 L3 GO"), "2 wait, 0 stand", 3)
    assert past.seat.tolist() == [0, 0, 0]


def test_a_history_forgets_hands_that_are_past():
    table = play("L5 L6 L7", "0 ask")
    history = History(table.batch)
    history.note(np.array([ACTIONS["defer"]]))
    table.act("2 defer")
    history.note(np.array([ACTIONS["yes"]]))
    table.act("1 yes").deal("L1 L2 L3")
    assert len(Decisions(table.batch, [0], keys(1), history).draw_with_past(2)[1].seat) == 0


def test_a_history_goes_back_to_a_mark_and_forgets_chosen_tables():
    batch = kille_env.make_batch("byteskille", 2, 3, seed=0, rules={"gok_call": "off"})
    batch.reset(deck=["L5", "L3", "L9"], dealer=2)
    history = History(batch)

    def stand() -> None:
        history.note(np.zeros(2, dtype=np.int64))
        batch.step(np.zeros(2, dtype=np.int64))

    def decided() -> list[tuple[int, int]]:
        rows, tables, _ = history.decisions(np.arange(2), np.array([2, 2]))
        return sorted(zip(rows.tolist(), tables["seat"].tolist(), strict=True))

    stand()
    stand()
    assert decided() == [(0, 0), (0, 1), (1, 0), (1, 1)]
    history.forget(np.array([True, False]))
    assert decided() == [(1, 0), (1, 1)]


def test_a_history_keeps_the_tables_that_are_stepped():
    batch = kille_env.make_batch("byteskille", 2, 3, seed=0, rules={"gok_call": "off"})
    batch.reset(deck=["L5", "L3", "L9"], dealer=2)
    history, which = History(batch), np.array([False, True])
    history.note(np.zeros(2, dtype=np.int64), which)
    batch.step(np.zeros(2, dtype=np.int64), which)
    rows, _, actions = history.decisions(np.arange(2), np.array([0, 1]))
    assert (rows.tolist(), actions.tolist()) == ([1], [0])


def test_without_a_history_there_is_no_past():
    decisions = Decisions(tables_of("byteskille"), [0], keys(1))
    with pytest.raises(KilleError, match="no history is kept of these tables"):
        decisions.draw_with_past(2)


def test_the_card_that_lies_face_down_is_not_told_by_what_has_been_done():
    """In no determinization does the past name an action that was not possible there."""
    table = knack_tables.Table(3).deal("AC 7C 8C | 6D 7D 8D | 6S 7S 8S")
    history = History(table.batch)
    for text in ("knock", "knock", "knock", "play AC", "play 6D", "play 6S", "play *8C"):
        actions = np.array([table.batch.find_action(text)])
        history.note(actions)
        table.batch.apply(actions)
    past = Decisions(table.batch, [0], [0], history).draw_with_past(50)[1]
    assert past.mask[np.arange(len(past.action)), past.action].all()
    assert len(past.action) == 50 * 4  # of the others: two knocks and two cards, not the last one


def test_a_remainder_that_was_said_beforehand_is_drawn_in_a_determinization():
    table = knack_tables.play("AC 7C 8C | 6D 7D 8D", "0 knock", start={"remainder_to": 1})
    assert table.record["remainder_to"] == 1
    table.batch.resample(0, [0])
    assert table.record["remainder_to"] == -1
