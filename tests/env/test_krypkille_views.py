"""What a seat of Krypkille is given to see: every part of it, nothing hidden, and the words."""

import numpy as np
import pytest

import kille_env
from env.krypkille_tables import FOUR, FOUR_DISCARD, KEEP, end, play, six
from env.trick_tables import differ, of, types
from kille_env.games.krypkille import SPEC

TWO = "L1 L5 L9 GO HU | L2 L6 L10 VH KA"


# The parts of the observation


@pytest.mark.parametrize(
    ("phase", "play", "moves"),
    [
        ([1, 0, 0], play, [FOUR]),
        ([0, 1, 0], play, [FOUR, KEEP]),
        ([0, 0, 1], end, ["L1 L2 L3 L4"]),
        ([0, 0, 0], end, ["L1 L2 L3 L4", "0 declare"]),
    ],
)
def test_phase(phase, play, moves):
    table = play(*moves)
    assert table.part("phase", 0) == table.part("phase", 2) == phase
    assert table.information("phase", 3) == phase


def test_hand_shows_own_cards_from_the_lowest_up():
    table = play("L9 BL L9 KI L2 | L1 L6 L10 VH KA", "0 discard, 1 discard")
    expected = [*types("BL"), *types("L2"), *types("L9"), *types("L9"), *types("KI")]
    assert table.part("hand", 0) == expected
    table.act("0 L9")
    left = [*types("BL"), *types("L2"), *types("L9"), *types("KI"), *types()]
    assert table.part("hand", 0) == left


def test_known_are_own_cards_own_discards_and_played_ones():
    table = play(TWO, "0 discard HU GO, 1 discard", "L10 BL")
    assert table.part("known", 0) == types("BL", "L1", "L5", "L9", "L10", "GO", "HU")
    table.act("0 L9")
    assert table.part("known", 0) == types("BL", "L1", "L5", "L9", "L10", "L10", "GO", "HU")
    assert table.part("known", 1) == types("L2", "L6", "L9", "L10", "VH", "KA")


def test_own_discards_that_were_shuffled_in_are_known_no_longer():  # D-R03
    table = six(FOUR_DISCARD)
    assert table.part("known", 0) == types("BL", "L1", "L9", "L4", "L4", "L5", "L6", "SV")
    table.act("4 discard KR L3 GO")
    assert table.part("known", 0) == types("L4", "L4", "L5", "L6", "SV")
    assert table.part("known", 4) == types("KR", "L3", "GO", *table.hand(4).split())


def test_trick():
    assert play(FOUR, "0 discard").part("trick", 2) == [0, 0, 0, 0]
    table = play(FOUR, KEEP)
    assert table.part("trick", 2) == [1, 0, 0, 0]
    assert table.act("0 L1").part("trick", 2) == [0, 1, 0, 0]
    assert end("L1 L2 L3 L4").part("trick", 2) == [0, 0, 0, 1]


def test_lower_and_equal_count_the_unknown_cards_around_the_own_lowest():
    table = play("L3 L5 L9 GO HU | L2 L6 L10 VH KA", "0 discard, 1 discard")
    assert (table.part("lower", 0), table.part("equal", 0)) == ([10], [1])  # BL BP KR L1 L2, L3
    assert (table.part("lower", 1), table.part("equal", 1)) == ([8], [1])
    table.act("0 L9")
    assert (table.part("lower", 0), table.part("equal", 0)) == ([10], [1])
    table.act("1 L2")
    assert table.part("lower", 0) == [12]  # their lowest is lilja 5 now; L2 and L3 lie open


def test_deals_left():
    assert play(max_deals=9).part("deals_left", 1) == [8]
    assert play().part("deals_left", 1) == [15]
    assert play(max_deals=1).part("deals_left", 1) == [0]
    assert play(episode="deal").part("deals_left", 1) == [0]


def test_discards_and_turns():
    table = play(FOUR, "0 discard, 1 discard L2 GO", dealer=3)
    assert table.all_see("exchanged", [1, 3, 0, 0])
    assert table.all_see("to_act", of(2))
    assert table.all_see("dealer", of(3))
    assert table.all_see("in_play", of(0, 1, 2, 3))


def test_who_has_passed():
    assert end("L1 L2 L3 L4", "0 pass, 1 pass").all_see("passed", of(0, 1))


def test_who_is_out():
    table = end("L1 - L3 L4", start={"scores": [0, 70, 0, 0]})
    assert table.all_see("in_play", of(0, 2, 3))
    assert table.all_see("to_limit", [50, 0, 50, 50])
    assert table.all_see("exchanged", [1, 0, 1, 1])


def test_points_until_the_limit():
    start = {"scores": [0, 12, 49, 30]}
    assert play(FOUR, start=start).all_see("to_limit", [50, 38, 1, 20])
    assert play(FOUR, start=start, limit=80).all_see("to_limit", [63, 63, 31, 50])
    assert play(FOUR, start=start, episode="deal").all_see("to_limit", [0, 0, 0, 0])


def test_tricks():
    table = play(FOUR, f"{KEEP}, 0 L1")
    assert table.part("played", 0)[:8] == [4, 5, 6, 7, 0, 0, 0, 0]
    assert table.part("played", 3)[:4] == [7, 4, 5, 6]
    assert table.part("won", 0)[:8] == [*of(3), 0, 0, 0, 0]
    assert table.part("won", 3)[:8] == [*of(0), 0, 0, 0, 0]


def test_who_creeps_has_no_lower_card_and_none_that_heads():
    table = play("L1 L5 L9 GO HU | L2 L6 L10 VH KA", "0 discard, 1 discard, 0 HU")
    assert table.all_see("at_least", [0, SPEC.pack.codes.index("L2")])
    assert table.all_see("below", [21, SPEC.pack.codes.index("HU")])
    # The viewer knows six cards; of the others seven are lower than lilja 2, and four head.
    assert table.part("may_hold", 0) == [0, 42 - 6 - 7 - 4]


def test_who_heads_has_no_card_between():
    table = play("L1 L5 L9 GO HU | L2 L10 L10 VH KA", "0 discard, 1 discard, 0 L5")
    assert table.all_see("at_least", [0, 0])
    assert table.all_see("below", [21, 21])
    # The viewer knows six cards, and of lilja 5 to 9 there are eight that they do not know.
    assert table.part("may_hold", 0) == [0, 42 - 6 - 8]
    assert table.part("may_be_lower", 0) == [0, 6]  # BL, BP, KR twice; their lowest is lilja 1
    assert table.part("may_hold", 1) == [0, 42 - 6]


def test_before_the_tricks_everybody_may_hold_any_unknown_card():
    table = play(FOUR)
    assert table.part("may_hold", 0) == [0, 37, 37, 37]
    assert table.part("may_be_lower", 0) == [0, 6, 6, 6]  # their lowest is lilja 1


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


# What a seat may not know


def test_the_cards_of_others_and_the_talon_are_hidden():
    one = play(FOUR, talon="SV HU")
    other = play(FOUR.replace("GO", "KI", 1), talon="SV L12")
    assert differ(one, other) == {1}


def test_the_number_of_discards_is_seen_by_all_but_not_the_cards():
    one = play(FOUR, "0 discard L9", "SV VH")
    assert differ(one, play(FOUR, "0 discard L12", "SV VH")) == {0}
    assert differ(one, play(FOUR, "0 discard L9", "VH SV")) == {0}
    assert differ(one, play(FOUR, "0 discard L9 L12", "SV VH")) == {0, 1, 2, 3}


def test_what_comes_of_a_reshuffled_talon_is_seen_by_who_draws_it():  # D-R03
    one = six(f"{FOUR_DISCARD}, 4 discard KR L3 GO", "L2 L1 BP")
    other = six(f"{FOUR_DISCARD}, 4 discard KR L3 GO", "L2 L1 L10")
    assert differ(one, other) == {4}


def test_who_passes_does_not_show_his_card():
    script = "0 pass, 1 pass"
    assert differ(end("L1 L2 L3 L4", script), end("L2 L1 L3 L4", script)) == {0, 1}


def test_last_cards_are_seen_by_all_in_the_end():
    one, other = end("L1 L2 L3 L4", "0 declare"), end("L1 L2 L3 KI", "0 declare")
    assert differ(one, other) == {0, 1, 2, 3}


def test_scores_are_known_for_good():  # D-R01
    table = end("L1 KI L3 L4", "0 declare", limit=100_000, kille_denomination=70_000)
    table = end("L1 L2 L3 L4", "", table)
    assert table.information("scores", 1)[:4] == [112, 17, 1, 0]
    assert table.information("scores", 0)[4:8] == [112, 17, 1, 0]


# Words


def test_the_words_of_a_deal():
    table = play(FOUR, talon="SV VH KI")
    assert table.told("0 discard L9 L12", seat=1) == ["seat 0 changes 2 cards."]
    assert table.told("1 discard L2", seat=1) == [
        "seat 1 changes 1 card: 2 for harlequin.",
    ]
    assert table.told("2 discard, 3 discard", seat=1) == ["seat 3 keeps all cards."]
    assert table.told("0 L5") == ["Trick 1: seat 0 5, seat 1 6, seat 2 7, seat 3 8; seat 3 wins."]


def test_a_reshuffle_is_told():  # D-R03
    table = six(FOUR_DISCARD)
    told = "the stock runs out, and the others' discards are shuffled for a new one"
    assert table.told("4 discard KR", seat=0) == [f"seat 4 changes 1 card; {told}."]
    assert table.told("5 discard KR", seat=0) == ["seat 5 changes 1 card."]


def test_the_end_of_a_deal_is_told():  # D-R01
    assert end("L3 L2 KI GO").told("0 pass", seat=1) == ["seat 0 says nothing."]
    table = end("L3 L2 KI GO", "0 pass", start={"scores": [12, 49, 0, 30]})
    assert table.told("1 declare", seat=3) == [
        "seat 1 says the 2 is the lowest.",
        "The last cards are shown.",
        "  seat 0  3          3 points   15 in all",
        "  seat 1  2          0 points   49 in all",
        "  seat 2  harlequin  50 points  50 in all",
        "  seat 3  cuckoo     17 points  47 in all",
        "seat 2 is out.",
    ]


@pytest.mark.parametrize(
    ("table", "script", "last"),
    [
        (end("L1 KI"), "0 declare", "seat 0 wins the match."),
        (
            end("L3 L3", start={"scores": [45, 45]}),
            "0 pass, 1 pass",
            "seat 0 and seat 1 share the match.",
        ),
        (
            end("L1 L2", max_deals=1),
            "0 declare",
            "The match is cut off after 1 deal: those who are in share it.",
        ),
        (end("L1 L2", episode="deal"), "0 declare", "  seat 1  2  2 points  2 in all"),
    ],
)
def test_the_end_of_a_match_is_told(table, script, last):  # D-R01 D-R04
    assert table.told(script)[-1] == last


@pytest.mark.parametrize(
    ("lasts", "script", "seat", "verdict"),
    [
        ("GO L2 L4 L1", "0 declare", 0,
         "You said your cuckoo was the lowest; seat 3's 1 was lower: 17 + 10 points."),
        ("GO L2 L1 L1", "0 declare", 3,
         "seat 0 said the cuckoo was the lowest; seat 2's and your 1 were lower. "
         "You get 0 points."),
        ("GO L2 L4 L1", "0 declare", 2,
         "seat 0 said the cuckoo was the lowest; seat 3's 1 was lower. "
         "You get 4 points for your 4."),
        ("L2 L2 L4 GO", "0 declare", 0,
         "You said your 2 was the lowest; seat 1's 2 was equal: 2 + 10 points."),
        ("L1 L2 KI GO", "0 declare", 0, "You said your 1 was the lowest, and it was: 0 points."),
        ("L1 L2 KI GO", "0 declare", 2,
         "seat 0 said the 1 was the lowest, and it was. You get 50 points for your harlequin."),
        ("L1 L2 KI GO", "0 pass, 1 pass, 2 pass, 3 pass", 0,
         "Nobody spoke; your 1 was the lowest: 10 points."),
        ("L1 L2 KI GO", "0 pass, 1 pass, 2 pass, 3 pass", None,
         "Nobody spoke; seat 0's 1 was the lowest."),
    ],
)  # fmt: skip
def test_a_verdict_splits_what_it_costs(lasts, script, seat, verdict):  # D-R01 D-R05
    assert end(lasts).verdict(script, seat) == verdict


def test_describe_names_own_cards_and_what_was_done():
    table = play(FOUR, "0 discard L12, 1 discard", "SV", start={"scores": [12, 1, 0, 30]})
    assert table.batch.describe(0, 0).splitlines() == [
        "Krypkille, deal 1, dealer seat 3",
        "  seat 0 (you)  12 points  L1 L5 L9 SV HU (discarded L12, got SV)  1 new",
        "  seat 1        1 point    ? ? ? ? ?                               0 new",
        "  seat 2        0 points   ? ? ? ? ?",
        "  seat 3        30 points  ? ? ? ? ?",
        "seat 2 may discard up to 3 cards.",
    ]
    # A person has been told of their discards when they made them.
    short = table.batch.game.describe(table.record, table.rules, 0, history=False)
    assert "  seat 0 (you)  12 points  L1 L5 L9 SV HU  1 new" in short.splitlines()
    text = end("L1 - L3 L4", "3 pass", start={"scores": [0, 70, 0, 0]}).batch.describe(0, 0)
    assert "  seat 1        70 points      out" in text
    assert "  seat 3        0 points   ?   0 new, passed" in text
    assert "Trick 4: " in text
    assert text.endswith("seat 0 (you) declares or passes.")
