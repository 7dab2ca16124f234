"""Knack beside its rows in tests/rules: refusals, what is drawn, starts in mid-party."""

import numpy as np
import pytest

import kille_env
from env.knack_tables import Table, play
from kille_env.errors import CardError, RulesError
from kille_env.games.knack import SPEC

TWO = "7C 8C 9C | 6C TC JC"
FOUR = "7C 8C 9C | 6C TC JC | 6D 7D 8D | 6S 7S 8S"

# Pack, seats, deal


def test_every_card_is_there_once():
    batch = kille_env.make_batch("knack")
    with pytest.raises(CardError, match="one 6C too many: a pack holds every card once"):
        batch.reset(deck=["6C", "6C"])


@pytest.mark.parametrize("players", [1, 12])
def test_two_to_eleven_can_play(players):  # D-N11
    with pytest.raises(RulesError, match="2 to 11"):
        kille_env.make_batch("knack", 1, players)


def test_a_round_of_two_cards_then_a_round_of_one_then_the_turn_up():
    batch = kille_env.make_batch("knack", 1, 3)
    batch.reset(dealer=0, deck=[*SPEC.pack.codes[:10]])
    words = batch.describe(0)
    assert "seat 1  six of clubs, seven of clubs, queen of clubs" in words
    assert "seat 2  eight of clubs, nine of clubs, king of clubs" in words
    assert "seat 0  ten of clubs, jack of clubs, ace of clubs" in words
    assert "the six of diamonds is turned up, diamonds are trumps" in words


# The second lead, three or more


# Payment


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


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"bets": 3}, "'bets' is 3; expected a list of multiples of 3"),
        ({"bets": [3, 4]}, "'bets' holds 4; expected a list of multiples of 3"),
        ({"bets": [0]}, "'bets' holds 0"),
        ({"bets": [-3]}, "'bets' holds -3"),
        ({"bets": [True]}, "'bets' holds True"),
        ({"bets": [3.0]}, r"'bets' holds 3\.0"),
        ({"bets": list(range(3, 48, 3))}, "15 different amounts; expected at most 14"),
        ({"bets": [3 * 10**12]}, "add up to 3000000000000; expected at most 1000000000000"),
        ({"pot": 3}, r"no key 'pot'\. Possible are: bets, remainder_to"),
        ({"remainder_to": 4}, "'remainder_to' is 4; expected a seat from 0 to 3"),
        ({"remainder_to": None}, "'remainder_to' is None; expected a seat"),
        ({"bets": [6], "remainder_to": True}, "'remainder_to' is True; expected a seat"),
    ],
)
def test_a_start_that_can_not_be_is_refused_and_changes_nothing(start, message):
    batch = kille_env.make_batch("knack", 1, 4, seed=0)
    batch.reset()
    before = batch.save()
    with pytest.raises(RulesError, match=message):
        batch.reset(start=start)
    assert batch.save() == before


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
