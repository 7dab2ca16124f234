"""Each game's rule of thumb: it keeps to the rules, has reasons, and beats uniform play."""

from itertools import product
from typing import ClassVar

import numpy as np
import pytest

import kille_env
from env import knack_tables, krypkille_tables, tables
from env.players import does
from env.trick_tables import Table, play
from kille_agents import load_policy
from kille_agents.rules_of_thumb import RULES_OF_THUMB
from kille_agents.rules_of_thumb.byteskille import THRESHOLDS
from kille_agents.rules_of_thumb.habits import always
from kille_agents.rules_of_thumb.kille_hands import ranks
from kille_agents.rules_of_thumb.kungsholmskille import chance_of_higher
from kille_env.cards.pack import TYPES
from kille_env.errors import PolicyError
from kille_env.play.policy import UniformPolicy
from kille_training.evaluation.duplicate import payoff

# Every game's


def test_it_beats_chance_clearly(game):
    spec = kille_env.spec(game)
    rules = spec.resolve(episode="deal")
    for seats in {spec.min_players, spec.default_players, spec.max_players}:
        policy = load_policy("rule_of_thumb", game, seats, rules)
        found = payoff(
            policy, UniformPolicy(), seats, rules, play="greedy", deals=400, seed=1
        ).estimate
        # Half an interval is two standard errors.
        assert found.mean > 2.5 * (found.high - found.low) / 2, (seats, found)


def test_another_game_is_refused(game):
    other = "byteskille" if game != "byteskille" else "knack"
    rules = kille_env.spec(other).resolve()
    with pytest.raises(PolicyError, match=rf"plays {game}, not {other}.*rule_of_thumb"):
        RULES_OF_THUMB[game](3, rules)
    with pytest.raises(PolicyError, match=f"rules are of {other}, the game is {game}"):
        load_policy("rule_of_thumb", game, 3, rules)


def test_another_table_is_refused(game):
    batch = kille_env.make_batch(game, 2, 4, seed=1)
    batch.reset()
    policy = load_policy("rule_of_thumb", game, 3, batch.rules)
    with pytest.raises(PolicyError, match="made for another table"):
        policy.probabilities(batch.observation, batch.mask)


def test_the_kernel_chooses_as_the_habits_do(game, scale):
    """By every preset, with few seats and many, wherever play leads."""
    spec, rng = kille_env.spec(game), np.random.default_rng(1)
    counts = sorted({spec.min_players, 3, spec.default_players, spec.max_players})
    for preset, seats in product(spec.presets, counts):
        rules = spec.resolve(preset)
        if seats > spec.most_players(rules):
            continue
        rule = load_policy("rule_of_thumb", game, seats, rules)
        assert rule.choose is not None
        batch = kille_env.make_batch(game, scale(100, 10), seats, rules=rules, seed=1)
        batch.reset()
        for _ in range(scale(40, 10)):
            wanted = rule.choose_by_habits(batch.observation, batch.mask)
            chosen = rule.probabilities(batch.observation, batch.mask)
            assert np.array_equal(chosen.argmax(axis=1), wanted)
            anything = (batch.mask * (1.0 - rng.random(batch.mask.shape))).argmax(axis=1)
            batch.step(np.where(rng.random(len(wanted)) < 0.5, wanted, anything))


def test_a_rule_with_habits_of_its_own_has_not_the_kernel_of_another():
    usual = RULES_OF_THUMB["byteskille"]

    class Keen(usual):
        habits: ClassVar = usual.habits | {"buyin": always("buy")}

    rules = kille_env.spec("byteskille").resolve(episode="match")  # deals end before anyone buys in
    assert usual(4, rules).choose is not None
    assert Keen(4, rules).choose is None
    batch = kille_env.make_batch("byteskille", 60, 4, rules=rules, seed=1)
    batch.reset()
    bought = 0
    for _ in range(60):
        chosen = Keen(4, rules).probabilities(batch.observation, batch.mask).argmax(axis=1)
        may_buy = batch.mask[:, 8] != 0
        assert (chosen[may_buy] == 8).all()
        bought += int(may_buy.sum())
        batch.step(chosen)
    assert bought > 0


# Reading hands


def test_ranks_of_a_hand():
    table = play("krypkille", "L9 BL L9 KI L2 | L1 L6 L10 VH KA")
    rule, seen = RULES_OF_THUMB["krypkille"](2, table.rules), table.batch.observe(0)
    assert ranks(rule.see(seen)).tolist() == [[0, 4, 11, 11, 20]]
    assert ranks(rule.see(np.zeros_like(seen))).tolist() == [[-1] * 5]


def test_the_chance_of_a_higher_card_is_the_share_of_the_cards_that_can_be():
    rng = np.random.default_rng(1)
    rows, players = 60, 3
    rank = rng.integers(TYPES, size=rows)
    seen = rng.integers(3, size=(rows, TYPES))
    seen[0] = 2  # every card has been seen
    at_least = rng.integers(TYPES, size=(rows, players))
    below = np.minimum(at_least + rng.integers(TYPES, size=(rows, players)), TYPES)
    found = chance_of_higher(rank, seen, at_least, below)
    for row in range(rows):
        for player in range(players):
            cards = [
                kind
                for kind in range(TYPES)
                for copy in range(2)
                if copy >= seen[row, kind] and at_least[row, player] <= kind < below[row, player]
            ]
            higher = [kind for kind in cards if kind > rank[row]]
            expected = len(higher) / len(cards) if cards else 1.0
            assert found[row, player] == pytest.approx(expected)


# Byteskille


@pytest.mark.parametrize(
    ("cards", "script", "action"),
    [
        ("L12 L3 L4 L5", "", "stand"),
        ("BL L3 L4 L5", "", "swap"),
        # It was made to take the lilja 2 for its lilja 4, and forehand cannot know better.
        ("L2 L4 L5 L6", "0 swap", "swap"),
        # The seat that swapped got its lilja 2, and has had its turn.
        ("L4 L2 L5 L6", "0 swap", "stand"),
        ("KI L5 L6 L7", "", "swap"),
        ("GO L5 L6 L7", "", "stand"),
        ("L5 L6 GO L7", "", "wait"),
        ("BL L5 L6", "", "ask"),
        ("L12 L5 L6", "", "stand"),
        ("BL BL", "0 ask", "no"),
        ("BL BL BP", "0 ask", "no"),
        ("BL KR BP", "0 ask, 2 defer", "no"),
    ],
)
def test_byteskille_is_played_by_thresholds_and_what_is_known(cards, script, action):
    assert does(tables.play(cards, script, episode="deal")) == action


def test_byteskille_keeps_a_high_kille_and_the_last_two_keep_any():
    assert does(tables.play("KI L5 L6 L7", episode="deal", preset="wikipedia")) == "stand"
    assert does(tables.play("KI L5", episode="deal", fraga="off")) == "stand"


def test_byteskille_needs_less_at_a_larger_table_and_most_as_the_dealer():
    assert THRESHOLDS[0, 20, 5] < THRESHOLDS[0, 4, 2]
    assert len(set(THRESHOLDS[0, 3, :3])) > 1


def test_byteskille_buys_where_a_share_is_worth_the_price():
    # Four at the table, forehand out with the blaren: three are left, the first occasion.
    stands = "0 stand, 1 stand, 2 stand, 3 stand"
    table = tables.play("BL L5 L6 L7", stands)
    assert (table.legal, does(table)) == ("buy decline", "decline")  # a quarter of 12 is under 4
    stands += ", 4 stand, 5 stand, 6 stand, 7 stand"
    rich = tables.play("BL L2 L3 L4 L5 L6 L7 L8", stands, preset="wikipedia")
    assert (rich.legal, does(rich)) == ("buy decline", "buy")  # eight paid 2, re-entry costs 2


# Kungsholmskille

BUD_THEN_KNOCK = "0 bud, 1 bud, 2 knock"


@pytest.mark.parametrize(
    ("hand", "alone", "knocked"),
    [
        ("BL KA HU GO KI", "knock", "stay"),  # one low card, and high ones beside it
        ("L5 L8 L9 L10 L10", "bud", "stay"),  # better new cards, but there is a pot to be won
        ("L7 L8 L9 L10 L11", "bud", "fold"),  # nothing is low, nothing is high
    ],
)
def test_kungsholmskille_is_played_with_one_low_card_and_high_ones(hand, alone, knocked):
    hands = f"{hand} | L1 L2 L3 L4 L6 | BP KR VH SV KA"
    assert does(play("kungsholmskille", hands)) == alone
    assert does(play("kungsholmskille", hands, BUD_THEN_KNOCK)) == knocked


@pytest.mark.parametrize(
    ("hand", "discarded"),
    [
        ("BL L3 L9 GO KI", "discard L3 L9"),
        ("BL L3 L9 VH KI", "discard L3 L9"),  # two at most: the lowest of what is neither
        ("BL BL L3 HU KI", "discard L3"),  # one to give up, and no seat has an equal one
        ("BL KA HU GO KI", "discard"),
    ],
)
def test_kungsholmskille_keeps_the_lowest_and_the_highest(hand, discarded):
    assert does(play("kungsholmskille", f"{hand} | L1 L2 L4 L5 L6", "0 knock, 1 stay")) == discarded


def kungsholmskille(hands: str, tricks: str = "") -> Table:
    """A table of two after the exchange, where forehand has knocked both times."""
    before = "0 knock, 1 stay, 0 discard, 1 discard, 0 knock"
    return play("kungsholmskille", hands, f"{before}, {tricks}")


def test_kungsholmskille_leads_high_and_heads_low():
    table = kungsholmskille("L9 KA HU GO KI | L10 L11 L12 VH VH")
    assert does(table) == "KI"
    assert does(kungsholmskille("L9 L5 L6 L7 L8 | L4 L10 L11 VH HU", "0 L9")) == "L10"


def test_kungsholmskille_shows_when_the_tricks_have_told_enough():
    # A seat that had to give up its lowest card has none lower: seat 1's is a lilja 12 at least.
    told = kungsholmskille(
        "L9 KA HU GO KI | L10 L11 L12 VH VH", "0 KI, 1 L10, 0 GO, 1 L11, 0 HU, 1 L12, 0 KA, 1 VH"
    )
    assert (told.hand(0), does(told)) == ("L9", "show")
    # Whoever could always head has told nothing, and a lilja 9 is in the middle.
    heading = "0 L1, 1 L2, 1 L3, 0 L4, 0 L5, 1 L6, 1 L7, 0 L8"
    silent = kungsholmskille("L9 L1 L4 L5 L8 | L2 L3 L6 L7 HU", heading)
    assert (silent.hand(0), does(silent)) == ("L9", "bud")
    lowest = kungsholmskille("BL L1 L4 L5 L8 | L2 L3 L6 L7 HU", heading)
    assert does(lowest) == "show"


# Krypkille


@pytest.mark.parametrize(
    ("hand", "discarded"),
    [
        ("BL L5 L9 GO KI", "discard L5 L9"),
        ("L1 L2 L3 L4 HU", "discard L2 L3 L4"),
        ("BL L5 L9 L12 KA", "discard L5 L9 L12"),  # three at most
        ("L2 L2 L3 HU KI", "discard L3"),  # one to give up, and no seat has an equal one
        ("BL HU GO GO KI", "discard"),
    ],
)
def test_krypkille_keeps_one_low_card_and_the_highest(hand, discarded):
    assert does(krypkille_tables.play(f"{hand} | L6 L7 L8 L10 L11")) == discarded


def test_krypkille_leads_the_highest_card():
    hands = "BL L5 L9 L12 KI | L6 L7 L8 L10 L11"
    assert does(krypkille_tables.play(hands, "0 discard, 1 discard")) == "KI"


def test_krypkille_declares_what_is_most_likely_the_lowest():
    assert does(krypkille_tables.end("BL L2 L3 L4")) == "declare"
    assert does(krypkille_tables.end("L4 L2 L3 BL")) == "pass"
    assert does(krypkille_tables.end("KI L2 L3 BL")) == "pass"


def test_krypkille_declares_only_what_is_nearly_sure_where_silence_costs_nothing():
    assert does(krypkille_tables.end("BL L2 L3 L4", preset="blog2010")) == "pass"
    seen = "BL HU SV KA KI | BL L1 L2 L3 L4"
    table = krypkille_tables.play(
        seen, "0 discard, 1 discard, 0 KI, 0 HU, 0 SV, 0 KA", preset="blog2010"
    )
    assert (table.hand(0), does(table)) == ("BL", "declare")  # the other blaren lies open


def test_krypkille_does_not_fear_an_equal_card_where_it_does_not_beat_him():
    free = {"preset": "blog2010", "tie_beats_declarer": False}
    assert does(krypkille_tables.end("BL L2 L3 L4", **free)) == "declare"


# Knack


@pytest.mark.parametrize(
    ("hand", "of_two", "of_four"),
    [
        ("AH 7C 8D", "knock", "knock"),  # the highest trump is a trick
        ("QS 7C 8D", "knock", "fold"),  # one opponent may have no spade and no trump
        ("7C 8D TS", "fold", "fold"),
    ],
)
def test_knack_is_joined_with_about_a_trick(hand, of_two, of_four):
    assert does(knack_tables.play(f"{hand} | 6D 7D 9D")) == of_two
    assert does(knack_tables.play(f"{hand} | 6D 7D 9D | 6S 7S 8S | 9C TC JC")) == of_four


def test_knack_needs_more_when_others_have_joined():
    hands = "9C TC JC | 6D 7D 9D | QH 7C 8D | 6S 7S 8S"
    assert does(knack_tables.play(hands, "0 fold, 1 fold")) == "knock"
    assert does(knack_tables.play(hands, "0 knock, 1 knock")) == "fold"


def test_knack_leads_trumps_and_the_highest_first():
    both = "0 knock, 1 knock"
    assert does(knack_tables.play("8H KH AC | 6D 7D 9D", both)) == "KH"
    assert does(knack_tables.play("8C KD JS | 6D 7D 9D", both)) == "KD"


def test_knack_leads_its_worst_card_face_down():
    hands = "AH 7C KD | 7H 8D 9D | 6S 7S 8S"
    table = knack_tables.play(hands, "0 knock, 1 knock, 2 knock, 0 AH, 1 7H, 2 6S")
    assert does(table) == "*7C"


def test_knack_takes_with_the_lowest_when_it_is_the_last_and_with_the_highest_before():
    three = "0 knock, 1 knock, 2 knock, 0 8H"
    hands = "8H 7C KD | 9H KH 9D | 6S 7S 8S"
    assert does(knack_tables.play(hands, three)) == "KH"
    assert does(knack_tables.play("8H 7C KD | 9H KH 9D", "0 knock, 1 knock, 0 8H")) == "9H"
    # What cannot take goes from the bottom.
    assert does(knack_tables.play("AC 7C KD | JD 8D 7H", "0 knock, 1 knock, 0 KD")) == "8D"


# Femkortskille

OTHERS = "L1 L2 L3 | L4 L6 L7 | BL BP KR"


@pytest.mark.parametrize(
    ("hand", "first", "after_one"),
    [
        ("KI L2 L3", "knock", "knock"),
        ("KA L10 L5", "knock", "fold"),  # the seat that has knocked has a high card too
        ("KA L8 L5", "check", "fold"),
        ("L12 L11 L10", "check", "fold"),  # three fair cards win no fifth trick
    ],
)
def test_femkortskille_is_knocked_with_a_high_card(hand, first, after_one):
    hands = f"L1 L2 L3 | {hand} | BL BP KR"
    assert does(play("femkortskille", hands, "0 check")) == first
    assert does(play("femkortskille", hands, "0 knock")) == after_one


def test_femkortskille_keeps_its_high_cards_for_the_fifth_trick():
    hands, both, talon = "L5 HU GO | L4 SV KI", "0 knock, 1 knock", "L3 L9 L8 L10"
    table = play("femkortskille", hands, both, talon)
    assert (table.hand(0), does(table)) == ("L3 L5 L9 HU GO", "L3")
    assert does(table.act("0 L9")) == "L10"  # the lowest that heads
    # What cannot head goes from the bottom.
    assert does(play("femkortskille", "L5 HU KI | L4 SV GO", f"{both}, 0 KI", talon)) == "L4"
