"""What trick games have in common: seats, dealing, starts, the pot, and what a seat sees of it."""

import numpy as np
import pytest

import kille_env
from env.trick_tables import differ, number, play
from kille_env.errors import RulesError

HANDS = {
    "femkortskille": "L1 L5 L9 | L2 L6 L10 | L3 L7 L11 | L4 L8 L12",
    "kungsholmskille": ("BL L1 L5 L9 KA | BP L2 L6 L10 SV | KR L3 L7 L11 HU | L4 L8 L12 VH GO"),
    "krypkille": "L1 L5 L9 L12 HU | L2 L6 L10 VH GO | L3 L7 L11 KA KI | L4 L8 BL BP SV",
}
POT_GAMES = ("femkortskille", "kungsholmskille")
QUIET_DEALS = {
    "femkortskille": "0 check, 1 check, 2 check, 3 check",
    "kungsholmskille": "0 bud, 1 bud, 2 bud, 3 bud",
    "krypkille": (
        "0 discard, 1 discard L6, 2 discard, 3 discard, 0 HU, 2 KA, 1 L10, 0 L9, "
        "1 pass, 2 pass, 3 pass, 0 pass"
    ),
}
"""Deals in which seat 1 never shows its lilja 6."""


@pytest.mark.parametrize(
    ("game", "most"),
    [("femkortskille", 8), ("kungsholmskille", 6), ("krypkille", 6), ("knack", 11)],
)
def test_how_many_can_play(game, most):  # D-F01 D-K10 D-N11
    for players in (1, most + 1):
        with pytest.raises(RulesError, match=f"2 to {most}"):
            kille_env.make_batch(game, 1, players)


@pytest.mark.parametrize(
    ("game", "start", "message"),
    [
        ("femkortskille", {"pot": 6}, "one beginning"),
        ("kungsholmskille", {"pots": 6}, "no key 'pots'.*'pot'"),
        ("kungsholmskille", {"pot": -1}, "'pot' of the start is -1; expected a whole number"),
        ("kungsholmskille", {"pot": True}, "'pot' of the start is True"),
        ("kungsholmskille", {"pot": 1.5}, "'pot' of the start is 1.5"),
        ("kungsholmskille", {"pot": None}, "'pot' of the start is None"),
        ("kungsholmskille", {"pot": 2 * 10**9}, "is 2000000000; .* from 0 to 1000000000"),
        ("kungsholmskille", {"owed": [1, 1]}, "'owed' of the start is .*; expected 3 whole"),
        ("kungsholmskille", {"owed": [1, 1, -1]}, "3 whole numbers from 0"),
        ("kungsholmskille", {"owed": 2}, "3 whole numbers from 0"),
        ("krypkille", {"points": [1, 2]}, "no key 'points'"),
        ("krypkille", {"scores": [1, 2]}, "3 whole numbers from 0"),
        ("krypkille", {"scores": [1, 2, 3, 4]}, "3 whole numbers from 0"),
        ("krypkille", {"scores": [1, -2, 3]}, "3 whole numbers from 0"),
        ("krypkille", {"scores": [1, 2.0, 3]}, "3 whole numbers from 0"),
        ("krypkille", {"scores": [1, True, 3]}, "3 whole numbers from 0"),
        ("krypkille", {"scores": "123"}, "3 whole numbers from 0"),
        ("krypkille", {"scores": 5}, "3 whole numbers from 0"),
        ("krypkille", {"scores": [50, 51, 3]}, "at least two below the limit of 50"),
        ("knack", {"bets": 3}, "'bets' is 3; expected a list of multiples of 3"),
        ("knack", {"bets": [3, 4]}, "'bets' holds 4; expected a list of multiples of 3"),
        ("knack", {"bets": [0]}, "'bets' holds 0"),
        ("knack", {"bets": [-3]}, "'bets' holds -3"),
        ("knack", {"bets": [True]}, "'bets' holds True"),
        ("knack", {"bets": [3.0]}, r"'bets' holds 3\.0"),
        ("knack", {"bets": [*range(3, 48, 3)]}, "15 different amounts; expected at most 14"),
        ("knack", {"bets": [3 * 10**12]}, "add up to 3000000000000; expected at most 10{12}"),
        ("knack", {"pot": 3}, r"no key 'pot'\. Choose one of: bets, remainder_to"),
        ("knack", {"remainder_to": 3}, "'remainder_to' is 3; expected a seat from 0 to 2"),
        ("knack", {"remainder_to": None}, "'remainder_to' is None; expected a seat"),
        ("knack", {"bets": [6], "remainder_to": True}, "'remainder_to' is True; expected a seat"),
    ],
)
def test_impossible_starts_are_refused_and_change_nothing(game, start, message):
    batch = kille_env.make_batch(game, 1, 3, seed=1)
    batch.reset()
    before = batch.tables.tobytes()
    with pytest.raises(RulesError, match=message):
        batch.reset(start=start)
    assert batch.tables.tobytes() == before


@pytest.mark.parametrize("game", POT_GAMES)
def test_pot_and_deals_left(game):
    table = play(game, HANDS[game])
    assert number(table.part("pot", 1)) == table.pot > 0
    for rules, deals in (
        ({"max_deals": 9}, 8),
        ({"deals": 3}, 2),
        ({"deals": 3, "max_deals": 2}, 1),
        ({"episode": "deal"}, 0),
        ({"max_deals": 999}, 255),
    ):
        assert number(play(game, HANDS[game], **rules).part("deals_left", 1)) == deals


def test_a_large_pot_is_shown_as_the_largest_number():
    table = play("femkortskille", HANDS["femkortskille"], ante=500)
    assert number(table.part("pot", 1)) == 1023


@pytest.mark.parametrize("game", POT_GAMES)
def test_a_pot_won_in_the_last_deal_before_the_cap_is_no_cut(game):
    table = play(game, HANDS[game], "0 knock, 1 fold, 2 fold, 3 fold", max_deals=1)
    assert (table.phase, bool(table.record["truncated"])) == ("over", False)


@pytest.mark.parametrize("game", HANDS)
def test_hidden_cards_of_the_last_deal_are_forgotten(game):
    hands, script = HANDS[game], QUIET_DEALS[game]
    one = play(game, hands, script, "SV")
    other = play(game, hands.replace("L6", "L8"), script.replace("L6", "L8"), "SV")
    assert differ(one, other) == {1}
    assert differ(one.deal(hands), other.deal(hands)) == set()


@pytest.mark.parametrize(
    ("game", "rules", "players"),
    [
        ("femkortskille", {"follow": "any"}, 4),
        ("femkortskille", {"follow": "lowest"}, 4),
        ("kungsholmskille", {"forced_beat": "any"}, 4),
        ("kungsholmskille", {"forced_beat": "lowest"}, 4),
        ("krypkille", {"preset": "blog2010"}, 2),
        ("krypkille", {"preset": "blog2010"}, 6),
    ],
)
def test_what_everybody_can_tell_of_hands_is_true(game, rules, players, scale):
    batch = kille_env.make_batch(game, 64, players, rules=rules, seed=3)
    batch.reset()
    rng, seats = np.random.default_rng(3), 1 << np.arange(batch.spec.max_players)
    for _ in range(scale(200, least=20)):
        tables = batch.tables
        hands = np.where(seats & tables["in_play"][:, None], tables["hand"], 0)
        lower, allowed = (
            (np.uint64(1) << (2 * tables[name]).astype(np.uint64)) - np.uint64(1)
            for name in ("at_least", "below")
        )
        assert not (hands & (lower | ~allowed | tables["excluded"])).any()
        batch.step((rng.random(batch.mask.shape) * batch.mask).argmax(axis=1))
