"""Krypkille: a test for each sentence of its rules, and for each default of ours (D-R..).

Seat 0 is forehand, the last seat deals, unless said otherwise. The tests whose numbers come from
the reconstructed table of outcomes name D-R01: when the original turns up, they change and no
others do.
"""

import numpy as np
import pytest

import kille_env
from env.krypkille_tables import FOUR, KEEP, end, play
from env.trick_tables import Table
from kille_env.errors import RulesError
from kille_env.games.krypkille import SPEC, retired

# Discards


def test_more_than_a_hand_can_not_go():
    with pytest.raises(RulesError, match="a whole number from 0 to 5"):
        SPEC.resolve(max_discards=6)


# The first four rounds


def played(table, trick=0):
    """The cards of a trick by seat."""
    return [SPEC.pack.code(card) for card in table.record["played"][trick][: table.players]]


def test_with_an_equal_or_higher_card_a_follower_plays_the_lowest_of_them():
    table = play("L1 L5 L9 L12 HU | L2 L6 L10 VH GO", "0 discard, 1 discard, 0 L5")
    assert played(table) == ["L5", "L6"]
    table = play("L1 L5 L9 L12 HU | L2 L5 L6 VH GO", "0 discard, 1 discard, 0 L5")
    assert played(table) == ["L5", "L5"]


def test_without_one_he_plays_the_lowest_card_of_his_hand():
    table = play("L1 L5 L9 L12 KI | L2 L6 L10 VH GO", "0 discard, 1 discard, 0 KI")
    assert played(table) == ["KI", "L2"]


def test_the_highest_card_so_far_counts_not_the_one_led():
    table = play(
        "L1 L5 L9 L12 HU | BL BP KR GO GO | L2 L6 L10 VH SV",
        "0 discard, 1 discard, 2 discard, 0 L5",
    )
    assert played(table) == ["L5", "GO", "L2"]


def test_nobody_decides_but_the_leaders():  # D-R06
    table = play(FOUR, f"{KEEP}, 0 L1")
    assert played(table) == ["L1", "L2", "L3", "L4"]
    assert (table.seat, table.phase) == (3, "lead")


def test_of_two_equal_highest_cards_the_last_played_wins_and_leads():
    table = play("L1 L5 L9 L12 HU | L2 L9 L10 VH GO | L3 BL BP KR KR", "0 discard, 1 discard")
    table.act("2 discard, 0 L9")
    assert played(table) == ["L9", "L9", "BL"]
    assert table.record["won"][0] == 1
    assert table.seat == 1


# The table of outcomes


def points(lasts, script, **rules):
    """What a deal costs that ends with these last cards and these words."""
    return end(lasts, script, **rules).result["points"]


# The score sheet


def test_who_is_out_gets_no_cards_has_no_turn_and_does_not_deal():  # D-R07 D-R01
    table = end("L1 L2 L3 KI", "0 declare")
    assert table.result["next_dealer"] == 0
    table.deal("L1 L5 L9 L12 HU | L2 L6 L10 VH GO | L3 L7 L11 KA KI |")
    for seat in (1, 2, 0):
        assert table.seat == seat
        table.act(f"{seat} discard")
    table.act("1 L2")
    assert played(table)[:3] == ["L5", "L2", "L3"]
    assert table.record["played"][0][3] == -1
    table = end("L1 L2 L3 L4", "0 pass, 1 pass, 2 declare")
    assert table.result["out"] == []
    table = end("KI L2 L3 L4", "0 pass, 1 declare")
    assert table.result["out"] == [0]
    assert table.result["next_dealer"] == 1


def test_a_match_is_cut_off_after_max_deals_and_those_in_share_it():  # D-R01
    table = end("L1 L2 L3 KI", "0 declare", max_deals=2)
    assert table.phase == "deal"
    end("L1 L2 L3 -", "0 pass, 1 pass, 2 pass", table)
    assert (table.phase, bool(table.record["truncated"])) == ("over", True)
    assert table.result["winner"] == []
    assert table.result["next_dealer"] is None
    assert table.result["out"] == [3]
    assert table.returns == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])


# A single deal


@pytest.mark.parametrize("preset", ["reconstructed", "blog2010"])
def test_announced_rewards_are_met_at_their_ends(preset):
    rules = {"preset": preset, "episode": "deal", "wrong_declarer_base": "denomination"}
    table = end("KI L4 GO L1", "0 declare", **rules)
    assert (
        SPEC.reward_range(table.rules, 4)
        == (min(table.returns), 0)
        == (-max(table.result["points"]), 0)
    )
    assert SPEC.reward_range(SPEC.resolve(episode="match"), 4) == (0, 1)


# How a match starts


def test_a_first_dealer_who_is_out_is_skipped():  # D-R07
    start = {"scores": [0, 0, 50, 99]}
    table = Table("krypkille", 4, 2, start).deal("L1 L5 L9 L12 HU | L2 L6 L10 VH GO | |")
    assert (table.dealer, table.seat) == (0, 1)
    assert table.batch.spec.phases[int(table.record["phase"])] == "discard"


def test_the_limit_of_the_rules_decides_who_is_in_at_the_start():
    batch = kille_env.make_batch("krypkille", 1, 3, rules={"limit": 100}, restart=False)
    batch.reset(start={"scores": [99, 50, 100]})
    assert batch.tables["in_play"][0] == 0b011


# Who is done


def test_who_is_out_is_retired_until_the_match_is_over():  # D-R01
    table = end("L1 L2 KI", "2 pass, 0 declare")
    assert retired(table.record, table.rules) == [2]
    end("L1 KI -", "1 pass, 0 pass", table)
    assert retired(table.record, table.rules) == [2]
    table = end("L1 KI", "0 declare")
    assert retired(table.record, table.rules) == []


@pytest.mark.compiled
def test_a_table_that_begins_again_begins_with_nothing():
    batch = kille_env.make_batch("krypkille", 64, 3, episode="match", seed=3)
    batch.reset(start={"scores": [49, 48, 47]})
    chances = np.random.default_rng(0)
    seen = 0
    for _ in range(200):
        batch.step((chances.random(batch.mask.shape) * batch.mask).argmax(axis=1))
        fresh = batch.terminated & (batch.tables["deals"] == 1)
        assert (batch.tables["scores"][fresh] == 0).all()
        assert (batch.reward[batch.terminated].sum(axis=1) == pytest.approx(1)) or not fresh.any()
        seen += int(fresh.sum())
    assert seen > 64
