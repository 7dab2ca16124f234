"""Knack beside its rows in tests/rules: draws, starts, who knows what, words."""

import numpy as np
import pytest

import kille_env
from env.knack_tables import Table, play
from kille_env.errors import CardError, RulesError
from kille_env.games.knack import SPEC
from kille_env.records import Recorder, read_records, replay, write_records

TWO = "7C 8C 9C | 6C TC JC"
FOUR = "7C 8C 9C | 6C TC JC | 6D 7D 8D | 6S 7S 8S"

# Pack, seats, deal


def test_every_card_is_there_once():
    batch = kille_env.make_batch("knack")
    with pytest.raises(CardError, match="one 6C too many: a pack holds every card once"):
        batch.reset(deck=["6C", "6C"])


# The end of a party


def test_every_seat_can_draw_the_remainder():
    batch = kille_env.make_batch("knack", 400, 4, rules={"deals": 1}, seed=0, restart=False)
    batch.reset(start={"bets": [3, 9]}, dealer=3)
    for action in ("knock", "fold", "fold", "fold"):
        batch.step(np.full(400, SPEC.actions.index(action)))
    assert batch.over.all()
    assert np.bincount(batch.tables["remainder_to"], minlength=4).min() > 60
    drawn = [batch.game.chance(batch.tables[table], batch.rules) for table in range(400)]
    assert drawn == [{"remainder_to": seat} for seat in batch.tables["remainder_to"].tolist()]
    assert (batch.reward.sum(axis=1) == 12).all()


@pytest.mark.parametrize(
    "rules", [{"remainder": "left", "deals": 1}, {"deals": 1, "bets": [3, 12]}, {}]
)
def test_nobody_draws_before_the_end_or_where_nothing_is_left(rules):
    bets = rules.pop("bets", [3, 9])
    table = play(FOUR, start={"bets": bets}, **rules).knock(0)
    assert table.batch.game.chance(table.record, table.rules) == {}


def test_the_next_party_begins_without_bets():
    table = play(TWO, start={"bets": [3, 6, 6], "remainder_to": 1}, deals=1).knock(0)
    table.batch.reset(dealer=0, deal=False)
    assert "No bets on the table." in table.batch.describe(0)
    assert table.record["remainder_to"] == -1


# Starts in mid-party


def test_a_bet_at_the_start_is_a_multiple_of_three_units():
    with pytest.raises(RulesError, match="'bets' holds 9; expected a list of multiples of 6"):
        play(TWO, start={"bets": [6, 9]}, unit=2)


def test_nobody_can_draw_where_the_remainder_stays():
    with pytest.raises(RulesError, match="nobody draws with remainder='left'"):
        Table(4, start={"remainder_to": 1}, remainder="left")


def test_what_a_start_does_not_name_stays():
    table = Table(4, start={"bets": [3, 9], "remainder_to": 2})
    table.batch.game.set_up(table.record, table.rules, {"remainder_to": 1})
    assert "Bets on the table: 3, 9" in table.batch.describe(0)
    table.batch.game.set_up(table.record, table.rules, {"bets": [6]})
    assert table.record["remainder_to"] == 1
    assert "Bets on the table: 6;" in table.batch.describe(0)
    table.batch.game.set_up(table.record, table.rules, {"bets": []})
    assert "No bets on the table." in table.batch.describe(0)


def test_bets_of_many_sizes_keep_their_order():
    """A new bet is one stake larger than the running one, so at most two new sizes live at once."""
    bets = [3 * size for size in range(10, 52, 3)]
    table = Table(3, start={"bets": bets, "remainder_to": 0}, deals=40)
    most = 0
    while not table.batch.over[0]:
        table.deal("AC KC QC | AD KD QD | AS KS QS").knock(0, 1, 2)  # forehand takes all tricks
        while table.phase == "play":
            table.act(f"{table.seat} {table.legal.split(', ')[0]}")
        most = max(most, int(table.record["num_sizes"]))
    assert most == 15
    assert len(table.bets) == 14 + 40
    assert sum(table.returns) == sum(bets)


CODES = SPEC.pack.codes
THREE = "7C 8C 9C | AC 7D JS | KC KD QS"
DOWN = "0 7C, 1 AC, 2 KC, 1 *7D"


def cards(*codes):
    """A part with an entry for each card."""
    return [int(code in codes) for code in CODES]


def played(code):
    """The number of a card in a list of played cards."""
    return CODES.index(code) + 1


def face_down():
    """Seat 1 has led the seven of diamonds face down, seat 2 is to play."""
    return play(THREE).knock(0, 1, 2).act(DOWN)


# Who knows what


def test_the_words_name_it_to_its_leader_alone():
    table = face_down()
    assert "In the middle: seat 1 (you) 7D" in table.batch.describe(0, 1)
    assert "In the middle: seat 1 a card face down" in table.batch.describe(0, 0)
    assert "7D" not in table.batch.describe(0, 0)


# The information state and the full state


def test_full_state_shows_what_is_hidden():
    table = face_down()
    full = table.batch.full_state(2)[0]
    parts = {part.name: full[part.slice].tolist() for part in SPEC.full_state(3)}
    assert parts["hands"] == cards("KD", "QS") + cards("8C", "9C") + cards("JS")
    assert parts["down_card"] == cards("7D")
    assert parts["to_act"] == [1, 0, 0]


# Words


def test_a_table_in_words():
    table = play(THREE, start={"bets": [3, 6]}).knock(0, 1, 2).act(f"{DOWN}, 2 KD")
    assert table.batch.describe(0, 0).splitlines() == [
        "Knack, deal 1 of 3, trumps ♥, seat 2 deals, pot 9 chips, 26 cards in the stock, "
        "1 card turned up (6H)",
        "  seat 0 (you)  8C 9C  knocks",
        "  seat 1        ?      knocks, 1 trick",
        "  seat 2        ?      knocks",
        "So far:",
        "  Bets on the table: 3, 6; the running bet is 3.",
        "  The first trick: seat 0 (you) the seven of clubs, seat 1 the ace of clubs, "
        "seat 2 the king of clubs; seat 1 takes it.",
        "In the middle: seat 1 a card face down (best), seat 2 KD",
        "Play a card: follow hearts if you can.",
    ]


def test_a_table_in_words_before_and_after():
    table = Table(2, start={"remainder_to": 0}, deals=1)
    assert table.batch.describe(0, 0).splitlines() == [
        "Knack, deal 0 of 1, seat 1 deals, 36 cards in the stock",
        "  seat 0 (you)",
        "  seat 1",
        "So far:",
        "  No bets on the table.",
        "Cards are to be dealt.",
    ]
    table.deal("AC AD AS | 6C 6D 6S")
    assert table.batch.describe(0).splitlines()[-1] == (
        "seat 0: Knock to play for tricks, or fold? Hearts are trumps."
    )
    table.act("0 knock, 1 knock, 0 AC, 1 6C, 0 AD, 1 6D, 0 AS, 1 6S")
    words = table.batch.describe(0).splitlines()
    assert "  The bets of 3 chips have been shared." in words
    assert words[-1] == "The match is over."


def test_the_verdict_accounts_for_all_that_the_dealer_pays_and_is_shared():
    table = play("AC AD AS | 6C 6D 6S", deals=1, remainder="left")
    script = "0 knock, 1 knock, 0 AC, 1 6C, 0 AD, 1 6D, 0 AS, 1 6S"
    assert table.verdict(script, 1) == (
        "You knocked and took no trick: that costs 3 chips. As dealer you pay 3 chips. "
        "The bets are shared: 1 chip for you."
    )
    assert table.batch.tables[0]["reward"][1] == -3 - 3 + 1


def test_buttons_name_what_a_trick_pays_and_what_the_dealer_pays():
    table = play(THREE, start={"bets": [3, 6]})
    batch = table.batch

    def buttons():
        return [batch.game.choice(batch.tables[0], batch.rules, action, []) for action in (0, 1)]

    assert buttons() == ["Knock: +2 per trick, -6 if none", "Fold"]
    table.act("0 knock, 1 knock")
    assert buttons() == [
        "Knock: +2 per trick, -6 if none; you also pay 3 as dealer",
        "Fold: you pay 3 as dealer",
    ]


# Records


def test_who_draws_is_written_and_replayed(tmp_path):
    batch = kille_env.make_batch("knack", 1, 2, rules={"deals": 1}, restart=False)
    recorder = Recorder(batch)
    recorder.reset(
        deck=["AC", "AD", "6C", "6D", "AS", "6S", "6H"],
        dealer=1,
        start={"bets": [6], "remainder_to": 1},
    )
    plays = [f"play {code}" for code in ("AC", "6C", "AD", "6D", "AS", "6S")]
    for text in ("knock", "knock", *plays):
        recorder.step([SPEC.actions.index(text)])
    record = recorder.record()
    assert record["start"] == {"bets": [6]}
    assert record["remainder_to"] == 1
    assert record["returns"] == [3 + 6 + 4, -3 - 9 + 4 + 1]
    write_records([record], tmp_path / "one.jsonl")
    (read,) = read_records(tmp_path / "one.jsonl")
    assert replay(read).differences == []
    read["remainder_to"] = 0
    assert [difference.key for difference in replay(read).differences] == ["returns"]
