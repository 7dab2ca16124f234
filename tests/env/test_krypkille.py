"""Krypkille beside its rows in tests/rules: who is out, starts, what a seat knows, words."""

import numpy as np
import pytest

import kille_env
from env.krypkille_tables import FOUR, end, play
from kille_env.errors import RulesError
from kille_env.games.krypkille import SPEC
from kille_env.games.krypkille.rules import retired

# Discards


def test_more_than_a_hand_can_not_go():
    with pytest.raises(RulesError, match="a whole number from 0 to 5"):
        SPEC.resolve(max_discards=6)


# The score sheet


def test_who_is_out_gets_no_cards_has_no_turn_and_does_not_deal():  # D-R07 D-R01
    table = end("L1 L2 L3 KI", "0 declare")
    assert table.result["next_dealer"] == 0
    table.deal("L1 L5 L9 L12 HU | L2 L6 L10 VH GO | L3 L7 L11 KA KI |")
    for seat in (1, 2, 0):
        assert table.seat == seat
        table.act(f"{seat} discard")
    table.act("1 L2")
    assert table.played(0)[:3] == ["L5", "L2", "L3"]
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


# The parts of the observation


@pytest.mark.compiled
@pytest.mark.parametrize("num_players", [2, 4, 6])
def test_nobody_has_a_card_that_a_seat_knows_of(num_players):
    batch = kille_env.make_batch("krypkille", 64, num_players, rules="blog2010", seed=3)
    batch.reset()
    rng = np.random.default_rng(3)
    known, hold = (
        next(part.slice for part in SPEC.observation(num_players) if part.name == name)
        for name in ("known", "may_hold")
    )
    for _ in range(200):
        tables = batch.tables
        for seat in range(num_players):
            seen = batch.observe(seat)
            for other in range(1, num_players):
                held = held_types(tables["hand"][:, (seat + other) % num_players])
                assert (seen[:, known] + held <= 2).all()
                assert (seen[:, hold][:, other] >= held.sum(axis=1)).all()
        batch.step((rng.random(batch.mask.shape) * batch.mask).argmax(axis=1))


def held_types(hands):
    """How many cards of each type are in hands, [N, 21]."""
    bits = hands[:, None] >> np.arange(42, dtype=np.uint64) & np.uint64(1)
    return bits.reshape(len(hands), 21, 2).sum(axis=2).astype(np.int64)


# Words


@pytest.mark.parametrize(
    ("lasts", "more", "script", "last"),
    [
        ("L1 KI", {}, "0 declare", "seat 0 wins the match."),
        (
            *("L3 L3", {"start": {"scores": [45, 45]}}, "0 pass, 1 pass"),
            "seat 0 and seat 1 share the match.",
        ),
        (
            *("L1 L2", {"max_deals": 1}, "0 declare"),
            "The match is cut off after 1 deal: the players still in share it.",
        ),
        (
            "L1 L2",
            {"episode": "deal"},
            "0 declare",
            "seat 0 said the 1 was the lowest, and it was.",
        ),
    ],
)
def test_the_end_of_a_match_is_told(lasts, more, script, last):  # D-R01 D-R04
    assert end(lasts, **more).told(script)[-1] == last


def test_describe_names_own_cards_and_what_was_done():
    table = play(FOUR, "0 discard L12, 1 discard", "SV", start={"scores": [12, 1, 0, 30]})
    assert table.batch.describe(0, 0).splitlines() == [
        "Krypkille, deal 1, seat 3 deals, 21 cards in the stock, 1 card laid aside",
        "  seat 0 (you)  L1 L5 L9 SV HU  1 new  12/50",
        "  seat 1        ? ? ? ? ?       0 new  1/50",
        "  seat 2        ? ? ? ? ?              0/50",
        "  seat 3        ? ? ? ? ?              30/50",
        "So far:",
        "  seat 0 (you) changes 1 card: 12 for pig.",
        "  seat 1 keeps all cards.",
        "It is seat 2's turn.",
    ]
    text = end("L1 - L3 L4", "3 pass", start={"scores": [0, 70, 0, 0]}).batch.describe(0, 0)
    assert "  seat 1            out            70/50" in text
    assert "  seat 3        ?   0 new, passed  0/50" in text
    assert "Trick 3: " in text and "In the middle: " in text
    assert text.endswith("Is your 1 the lowest last card?")
