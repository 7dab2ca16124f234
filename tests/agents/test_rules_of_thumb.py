"""Each game's rule of thumb: it keeps to the rules, has reasons, and beats uniform play."""

from functools import partial

import numpy as np
import pytest

import kille_env
from env import knack_tables, krypkille_tables, tables
from env.players import does
from env.trick_tables import play
from kille_agents.catalog import load_policy
from kille_agents.rules_of_thumb import RULES_OF_THUMB, reasons
from kille_agents.rules_of_thumb import kungsholmskille as rule
from kille_agents.rules_of_thumb.byteskille import THRESHOLDS
from kille_agents.rules_of_thumb.habits import always
from kille_agents.rules_of_thumb.kille_hands import ranks
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


def test_a_habit_takes_the_place_of_the_kernel_in_its_phase():
    rules = kille_env.spec("byteskille").resolve(episode="match")  # deals end before anyone buys in
    usual = RULES_OF_THUMB["byteskille"](4, rules)
    keen = RULES_OF_THUMB["byteskille"](4, rules, buyin=always("buy"))
    assert usual.kernel is not None and keen.kernel is None
    batch = kille_env.make_batch("byteskille", 60, 4, rules=rules, seed=1)
    batch.reset()
    bought = 0
    for _ in range(60):
        chosen, other = (
            player.probabilities(batch.observation, batch.mask).argmax(axis=1)
            for player in (keen, usual)
        )
        may_buy = batch.mask[:, 8] != 0
        assert (chosen[may_buy] == 8).all() and (chosen == other)[~may_buy].all()
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
    numbers = np.zeros(8, np.int64)
    places = rule.SEEN, rule.AT_LEAST, rule.BELOW
    numbers[list(places)] = 0, TYPES, TYPES + players
    shown = np.hstack([seen, at_least, below]).astype(np.uint8)
    higher_than = rule._chance_of_higher
    found = [
        [higher_than(shown[r], numbers, p, rank[r]) for p in range(players)] for r in range(rows)
    ]
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
            assert found[row][player] == pytest.approx(expected)


# What each does: a table, which a test lays when it runs, and the action


def laid(make, **usual):
    """What names a table without laying it."""
    return partial(partial, make, **usual)


byteskille, match = laid(tables.play, episode="deal"), laid(tables.play)
FOUR_STAND = "0 stand, 1 stand, 2 stand, 3 stand"
EIGHT_STAND = f"{FOUR_STAND}, 4 stand, 5 stand, 6 stand, 7 stand"

BYTESKILLE = [
    (byteskille("L12 L3 L4 L5"), "stand"),
    (byteskille("BL L3 L4 L5"), "swap"),
    # It was made to take the lilja 2 for its lilja 4, and forehand cannot know better.
    (byteskille("L2 L4 L5 L6", "0 swap"), "swap"),
    # The seat that swapped got its lilja 2, and has had its turn.
    (byteskille("L4 L2 L5 L6", "0 swap"), "stand"),
    (byteskille("KI L5 L6 L7"), "swap"),
    (byteskille("GO L5 L6 L7"), "stand"),
    (byteskille("L5 L6 GO L7"), "wait"),
    (byteskille("BL L5 L6"), "ask"),
    (byteskille("L12 L5 L6"), "stand"),
    (byteskille("BL BL", "0 ask"), "no"),
    (byteskille("BL BL BP", "0 ask"), "no"),
    (byteskille("BL KR BP", "0 ask, 2 defer"), "no"),
    # It keeps a high kille, and the last two keep any.
    (byteskille("KI L5 L6 L7", preset="wikipedia"), "stand"),
    (byteskille("KI L5", fraga="off"), "stand"),
    # It buys where a share is worth the price: a quarter of 12 is under 4; eight paid 2 for 2.
    (match("BL L5 L6 L7", FOUR_STAND), "decline"),
    (match("BL L2 L3 L4 L5 L6 L7 L8", EIGHT_STAND, preset="wikipedia"), "buy"),
]


kungsholmskille = laid(partial(play, "kungsholmskille"))


def after_the_exchange(hands, tricks=""):
    """A table of two where forehand has knocked both times."""
    before = "0 knock, 1 stay, 0 discard, 1 discard, 0 knock"
    return kungsholmskille(hands, f"{before}, {tricks}")


BUD_THEN_KNOCK, STAYED = "0 bud, 1 bud, 2 knock", "0 knock, 1 stay"
TWO, OTHER = "L1 L2 L3 L4 L6 | BP KR VH SV KA", "L1 L2 L4 L5 L6"
TOLD = "0 KI, 1 L10, 0 GO, 1 L11, 0 HU, 1 L12, 0 KA, 1 VH"
HEADING = "0 L1, 1 L2, 1 L3, 0 L4, 0 L5, 1 L6, 1 L7, 0 L8"

KUNGSHOLMSKILLE = [
    # One low card and high ones beside it; nothing low, nothing high.
    (kungsholmskille(f"BL KA HU GO KI | {TWO}", ""), "knock"),
    (kungsholmskille(f"BL KA HU GO KI | {TWO}", BUD_THEN_KNOCK), "stay"),
    (kungsholmskille(f"L5 L8 L9 L10 L10 | {TWO}", ""), "bud"),
    (kungsholmskille(f"L5 L8 L9 L10 L10 | {TWO}", BUD_THEN_KNOCK), "stay"),
    (kungsholmskille(f"L7 L8 L9 L10 L11 | {TWO}", BUD_THEN_KNOCK), "fold"),
    # It keeps the lowest and the highest, and discards two at most.
    (kungsholmskille(f"BL L3 L9 GO KI | {OTHER}", STAYED), "discard L3 L9"),
    (kungsholmskille(f"BL L3 L9 VH KI | {OTHER}", STAYED), "discard L3 L9"),
    (kungsholmskille(f"BL BL L3 HU KI | {OTHER}", STAYED), "discard L3"),
    (kungsholmskille(f"BL KA HU GO KI | {OTHER}", STAYED), "discard"),
    # It leads high and heads low.
    (after_the_exchange("L9 KA HU GO KI | L10 L11 L12 VH VH"), "KI"),
    (after_the_exchange("L9 L5 L6 L7 L8 | L4 L10 L11 VH HU", "0 L9"), "L10"),
    # It shows when the tricks have told enough: a seat that gave up its lowest has none lower;
    # one that could always head has told nothing.
    (after_the_exchange("L9 KA HU GO KI | L10 L11 L12 VH VH", TOLD), "show"),
    (after_the_exchange("L9 L1 L4 L5 L8 | L2 L3 L6 L7 HU", HEADING), "bud"),
    (after_the_exchange("BL L1 L4 L5 L8 | L2 L3 L6 L7 HU", HEADING), "show"),
]

krypkille, ends = laid(krypkille_tables.play), laid(krypkille_tables.end)
FREE = {"preset": "blog2010", "tie_beats_declarer": False}
FOUR_TRICKS = "0 discard, 1 discard, 0 KI, 0 HU, 0 SV, 0 KA"

KRYPKILLE = [
    # It keeps one low card and the highest, and discards three at most.
    (krypkille("BL L5 L9 GO KI | L6 L7 L8 L10 L11"), "discard L5 L9"),
    (krypkille("L1 L2 L3 L4 HU | L6 L7 L8 L10 L11"), "discard L2 L3 L4"),
    (krypkille("BL L5 L9 L12 KA | L6 L7 L8 L10 L11"), "discard L5 L9 L12"),
    (krypkille("L2 L2 L3 HU KI | L6 L7 L8 L10 L11"), "discard L3"),
    (krypkille("BL HU GO GO KI | L6 L7 L8 L10 L11"), "discard"),
    (krypkille("BL L5 L9 L12 KI | L6 L7 L8 L10 L11", "0 discard, 1 discard"), "KI"),
    # It declares what is most likely the lowest; where silence costs nothing, what is nearly sure.
    (ends("BL L2 L3 L4"), "declare"),
    (ends("L4 L2 L3 BL"), "pass"),
    (ends("KI L2 L3 BL"), "pass"),
    (ends("BL L2 L3 L4", preset="blog2010"), "pass"),
    (ends("BL L2 L3 L4", **FREE), "declare"),  # an equal card does not beat it
    # The other blaren lies open.
    (krypkille("BL HU SV KA KI | BL L1 L2 L3 L4", FOUR_TRICKS, preset="blog2010"), "declare"),
]

knack = laid(knack_tables.play)
BOTH, THREE = "0 knock, 1 knock", "0 knock, 1 knock, 2 knock"
TWO_MORE = "6S 7S 8S | 9C TC JC"

KNACK = [
    # It joins with about a trick: the highest trump is one; others may have no spade and no trump.
    (knack("AH 7C 8D | 6D 7D 9D"), "knock"),
    (knack(f"AH 7C 8D | 6D 7D 9D | {TWO_MORE}"), "knock"),
    (knack("QS 7C 8D | 6D 7D 9D"), "knock"),
    (knack(f"QS 7C 8D | 6D 7D 9D | {TWO_MORE}"), "fold"),
    (knack("7C 8D TS | 6D 7D 9D"), "fold"),
    (knack("9C TC JC | 6D 7D 9D | QH 7C 8D | 6S 7S 8S", "0 fold, 1 fold"), "knock"),
    (knack("9C TC JC | 6D 7D 9D | QH 7C 8D | 6S 7S 8S", BOTH), "fold"),
    # It leads trumps and the highest first, and its worst card face down.
    (knack("8H KH AC | 6D 7D 9D", BOTH), "KH"),
    (knack("8C KD JS | 6D 7D 9D", BOTH), "KD"),
    (knack("AH 7C KD | 7H 8D 9D | 6S 7S 8S", f"{THREE}, 0 AH, 1 7H, 2 6S"), "*7C"),
    # It takes with the lowest as the last and with the highest before; else from the bottom.
    (knack("8H 7C KD | 9H KH 9D | 6S 7S 8S", f"{THREE}, 0 8H"), "KH"),
    (knack("8H 7C KD | 9H KH 9D", f"{BOTH}, 0 8H"), "9H"),
    (knack("AC 7C KD | JD 8D 7H", f"{BOTH}, 0 KD"), "8D"),
]


def femkortskille(hand, script):
    return partial(play, "femkortskille", f"L1 L2 L3 | {hand} | BL BP KR", script)


def fifth_trick(hands, script=""):
    return partial(play, "femkortskille", hands, f"0 knock, 1 knock, {script}", "L3 L9 L8 L10")


FEMKORTSKILLE = [
    (femkortskille("KI L2 L3", "0 check"), "knock"),
    (femkortskille("KI L2 L3", "0 knock"), "knock"),
    (femkortskille("KA L10 L5", "0 check"), "knock"),
    (femkortskille("KA L10 L5", "0 knock"), "fold"),  # the seat that knocked has a high card, too
    (femkortskille("KA L8 L5", "0 check"), "check"),
    (femkortskille("L12 L11 L10", "0 check"), "check"),  # three fair cards win no fifth trick
    # It keeps its high cards for the fifth trick: the lowest that heads, or from the bottom.
    (fifth_trick("L5 HU GO | L4 SV KI"), "L3"),
    (fifth_trick("L5 HU GO | L4 SV KI", "0 L9"), "L10"),
    (fifth_trick("L5 HU KI | L4 SV GO", "0 KI"), "L4"),
]


@pytest.mark.parametrize(
    ("table", "action"), [*BYTESKILLE, *KUNGSHOLMSKILLE, *KRYPKILLE, *KNACK, *FEMKORTSKILLE]
)
def test_a_rule_of_thumb_does_what_a_sensible_person_does(table, action):
    assert does(table()) == action


def test_byteskille_needs_less_at_a_larger_table_and_most_as_the_dealer():
    assert THRESHOLDS[0, 20, 5] < THRESHOLDS[0, 4, 2]
    assert len(set(THRESHOLDS[0, 3, :3])) > 1


def test_a_chance_that_reads_as_zero_is_said_in_words() -> None:
    assert reasons._is_lowest(0.004, 0.5, "claim it") == "almost certainly someone is lower."
    assert reasons._is_lowest(0.3, 0.5, "claim it").startswith("about 30% that nobody is lower")
