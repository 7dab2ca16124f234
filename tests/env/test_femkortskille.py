"""Femkortskille: a test for each sentence of its rules, and for each default of ours (D-F..).

Seat 0 is forehand, the last seat deals, unless said otherwise.
"""

import pytest

from env.trick_tables import differ, of, types
from env.trick_tables import play as play_game
from kille_env.games.femkortskille import SPEC

FOUR = "L1 L5 L9 | L2 L6 L10 | L3 L7 L11 | L4 L8 L12"
TWO = "L1 L5 L9 | L2 L6 L10"


def play(hands=FOUR, script="", talon="", **more):
    """A table of this game after its first deal's cards and decisions."""
    return play_game("femkortskille", hands, script, talon, **more)


def play_lowest(table):
    """Plays the rest of a deal; everybody plays the lowest card that they may."""
    while table.seat is not None:
        table.act(f"{table.seat} {table.legal.split(', ')[0]}")
    return table


# Seats, antes, cards


def test_eight_knockers_use_forty_cards():
    codes = SPEC.pack.codes * 2
    hands = " | ".join(" ".join(codes[3 * seat : 3 * seat + 3]) for seat in range(8))
    table = play(hands, ", ".join(f"{seat} knock" for seat in range(8)))
    assert table.phase == "play"
    assert table.record["drawn"] == 40


def test_everybody_antes_when_a_deal_is_dealt():  # D-F02
    table = play()
    assert table.pot == 4
    assert table.returns == [-1] * 4


def test_the_ante_is_a_switch_and_is_paid_for_a_single_deal_too():
    table = play(ante=5, episode="deal")
    assert table.pot == 20
    assert table.returns == [-5] * 4


# Knock, fold or check


def test_from_forehand_everybody_knocks_folds_or_checks():
    table = play()
    assert (table.seat, table.phase, table.legal) == (0, "speak", "knock, check, fold")
    table.act("0 check")
    assert (table.seat, table.legal) == (1, "knock, check, fold")


def test_one_may_check_only_while_nobody_has_knocked():
    table = play(FOUR, "0 check, 1 knock")
    assert (table.seat, table.legal) == (2, "knock, fold")


def test_the_last_one_to_wait_is_told_that_the_pot_stays():
    table = play(FOUR, "0 check, 1 check")
    for said in ("Wait", "Wait: nobody knocks, the pot stays"):
        batch = table.batch
        assert batch.game.choice(batch.tables[0], batch.rules, 1, []) == said
        table.act(f"{table.seat} check")
    assert table.result["kind"] == "all_checked"


def test_folding_does_not_stop_others_from_checking():
    assert play(FOUR, "0 fold").legal == "knock, check, fold"


def test_those_who_checked_decide_in_order_after_the_others_once_somebody_has_knocked():  # D-F03
    table = play(FOUR, "0 check, 1 check, 2 knock, 3 fold")
    assert (table.seat, table.phase, table.legal) == (0, "speak", "knock, fold")
    table.act("0 fold")
    assert (table.seat, table.legal) == (1, "knock, fold")
    table.act("1 knock")
    assert (table.seat, table.phase) == (1, "play")


def test_they_decide_from_forehand_whoever_has_knocked():
    table = play(FOUR, "2 check, 3 check, 0 check, 1 knock", dealer=1)
    assert table.seat == 2
    assert table.act("2 knock").seat == 3


def test_who_has_knocked_or_folded_is_not_asked_again():
    table = play(FOUR, "0 check, 1 knock, 2 knock, 3 fold, 0 knock")
    assert table.phase == "play"


def test_everybody_is_asked_also_when_it_can_no_longer_matter():  # D-F04
    table = play(FOUR, "0 fold, 1 fold, 2 fold")
    assert (table.seat, table.legal) == (3, "knock, check, fold")
    table = play(FOUR, "0 check, 1 fold, 2 fold, 3 knock")
    assert (table.seat, table.legal) == (0, "knock, fold")


# Nobody knocks, or one


@pytest.mark.parametrize(
    "script",
    [
        "0 check, 1 check, 2 check, 3 check",
        "0 fold, 1 check, 2 fold, 3 check",
        "0 fold, 1 fold, 2 fold, 3 fold",
    ],
)
def test_nobody_has_knocked_the_pot_stays_and_everybody_antes_again(script):  # D-F05
    table = play(FOUR, script)
    assert table.result["kind"] == "all_checked"
    assert table.result["winner"] is None
    assert table.result["tricks"] == []
    assert table.result["pot"] == 4
    assert table.result["chips"] == [-1] * 4
    assert table.result["next_dealer"] == 0
    table.deal(FOUR)
    assert (table.pot, table.returns) == (8, [-2] * 4)


def test_after_folding_everybody_is_in_again_in_the_next_deal():
    table = play(FOUR, "0 fold, 1 fold, 2 fold, 3 check").deal(FOUR)
    assert table.seat == 1
    assert table.act("1 knock, 2 knock, 3 knock, 0 knock").phase == "play"


@pytest.mark.parametrize(
    ("winner", "script"),
    [
        (0, "0 knock, 1 fold, 2 fold, 3 fold"),
        (1, "0 check, 1 knock, 2 fold, 3 fold, 0 fold"),
        (3, "0 fold, 1 fold, 2 fold, 3 knock"),
    ],
)
def test_one_knocker_alone_takes_the_pot(winner, script):  # D-F06
    table = play(FOUR, script)
    assert table.result["kind"] == "walk_over"
    assert table.result["winner"] == winner
    assert table.result["pot"] == 4
    assert table.result["tricks"] == []
    assert table.returns == [3 if seat == winner else -1 for seat in range(4)]


def test_he_takes_all_of_a_pot_that_was_carried_on():
    table = play(FOUR, "0 check, 1 check, 2 check, 3 check").deal(FOUR)
    table.act("1 knock, 2 fold, 3 fold, 0 fold")
    assert table.result["pot"] == 8
    assert table.result["chips"] == [-1, 7, -1, -1]
    assert table.returns == [-2, 6, -2, -2]


# Two more cards


def test_knockers_get_two_more_cards_each_in_order_from_forehand():
    table = play(FOUR, "0 check, 1 knock, 2 fold, 3 knock, 0 knock", "GO KI HU SV KA VH")
    hands = ["L1 L5 L9 GO KI", "L2 L6 L10 SV HU", "L3 L7 L11", "L4 L8 L12 VH KA"]
    assert table.hands == " | ".join(hands)


def test_one_knocker_gets_none():
    assert play(FOUR, "0 knock, 1 fold, 2 fold, 3 fold").record["drawn"] == 12


# Five tricks


def test_the_eldest_knocker_leads_whoever_knocked_first():
    table = play(FOUR, "0 check, 1 knock, 2 fold, 3 knock, 0 knock")
    assert (table.seat, table.phase) == (0, "play")
    assert play(FOUR, "0 fold, 1 check, 2 fold, 3 knock, 1 knock").seat == 1
    script = "1 check, 2 check, 3 knock, 0 knock, 1 fold, 2 knock"
    assert play(FOUR, script, dealer=0).seat == 2


def test_the_leader_plays_any_card_each_type_once():
    table = play("L1 L1 L9 | L2 L6 L10", "0 knock, 1 knock", "GO L3 L7 L8")
    assert table.legal == "L1, L3, L9, GO"


def test_who_can_must_head_with_any_heading_card():  # D-F07
    table = play("L1 L5 L9 | L2 L6 L10", "0 knock, 1 knock, 0 L5", "GO L3 L7 KI")
    assert table.legal == "L6, L7, L10, KI"


def test_an_equal_card_heads():
    table = play("L1 L5 L9 | L2 L5 L10", "0 knock, 1 knock, 0 L5", "GO L3 L4 BL")
    assert table.legal == "L5, L10"


def test_the_highest_card_of_the_trick_counts_not_the_one_led():
    script = "0 knock, 1 knock, 2 knock, 0 L1, 1 L10"
    table = play("L1 L5 L9 | L2 L6 L10 | L3 L7 L11", script, "BL BP KR L4 L8 VH")
    assert table.legal == "L11, VH"


def test_otherwise_any_card():  # D-F08
    table = play(TWO, "0 knock, 1 knock, 0 KI", "GO KI L7 L7")
    assert table.legal == "L2, L6, L7, L10"


def test_or_the_lowest_by_a_switch():
    table = play(TWO, "0 knock, 1 knock, 0 KI", "GO KI L7 L7", follow="lowest")
    assert table.legal == "L2"
    table = play("L1 L5 L9 | L2 L2 L10", "0 knock, 1 knock, 0 KI", "GO KI L7 L7", follow="lowest")
    assert table.legal == "L2"  # two of them are one action
    assert (
        play(TWO, "0 knock, 1 knock, 0 L5", "GO KI L7 L7", follow="lowest").legal == "L6, L7, L10"
    )


def test_the_kille_is_highest():
    table = play("L1 L5 KI | L2 L6 GO", "0 knock, 1 knock, 0 KI, 1 GO")
    assert table.record["won"][0] == 0


def test_the_highest_card_wins_the_trick_and_the_winner_leads():
    table = play(TWO, "0 knock, 1 knock, 0 L5, 1 L10", "L3 L4 L7 L8")
    assert table.record["won"][0] == 1
    assert (table.seat, table.legal) == (1, "L2, L6, L7, L8")


def test_of_two_equal_highest_cards_the_later_wins():
    script = "0 knock, 1 knock, 2 knock, 0 L9, 1 L9, 2 L3"
    table = play("L1 L5 L9 | L2 L6 L9 | L3 L7 L8", script, "BL BP KR L4 L4 BL")
    assert table.record["won"][0] == 1
    assert table.seat == 1


def test_who_has_folded_is_passed_over_in_the_tricks():
    table = play(FOUR, "0 knock, 1 fold, 2 knock, 3 fold, 0 L1")
    assert table.seat == 2


def five_tricks(**more):
    """Three of four knock; seat 2 wins the last trick with the lilja 3 that they lead to it."""
    script = "0 knock, 1 fold, 2 knock, 3 knock"
    table = play(
        "BL L5 L9 | L2 L6 L10 | L3 L7 L11 | BP L8 L12", script, "L1 KR GO KI HU SV", **more
    )
    assert table.hands == "BL KR L1 L5 L9 | L2 L6 L10 | L3 L7 L11 GO KI | BP L8 L12 SV HU"
    table.act("0 L9, 2 L11, 3 L12, 3 HU, 0 L5, 2 GO, 2 KI, 3 SV, 0 L1, 2 L7, 3 L8, 0 KR")
    return table.act("3 BP, 0 BL, 2 L3")


def test_the_winner_of_the_fifth_trick_takes_the_pot_and_as_much_from_every_other_knocker():
    table = five_tricks()
    assert table.result == {
        "kind": "played",
        "winner": 2,
        "tricks": [3, 2, 2, 3, 2],
        "pot": 4,
        "chips": [-5, -1, 11, -5],
        "next_dealer": 0,
    }
    assert table.returns == [-5, -1, 11, -5]


def test_a_bigger_pot_costs_the_losers_more():
    table = play(TWO, "0 check, 1 check").deal("L1 L1 L2 | L7 L8 L9", "L2 L3 L10 L11")
    assert table.seat == 1  # the deal has moved on
    play_lowest(table.act("1 knock, 0 knock"))
    assert table.result["kind"] == "played"
    assert table.result["pot"] == 4
    winner = table.result["winner"]
    assert table.result["chips"] == [7 if seat == winner else -5 for seat in range(2)]


# The match


def test_the_dealer_moves_one_left_each_deal():  # D-F10
    table = play(FOUR, "0 check, 1 check, 2 check, 3 check")
    for dealer in (0, 1, 2, 3, 0):
        table.deal(FOUR)
        assert table.dealer == dealer
        table.act(", ".join(f"{(dealer + step) % 4} check" for step in range(1, 5)))


def test_the_match_ends_when_a_pot_is_won():  # D-F09
    table = play(FOUR, "0 knock, 1 fold, 2 fold, 3 fold")
    assert table.phase == "over"
    assert not table.record["truncated"]
    assert five_tricks().phase == "over"


def test_or_after_a_number_of_deals():
    table = play(FOUR, "0 knock, 1 fold, 2 fold, 3 fold", deals=2)
    assert table.batch.at_chance[0]
    table.deal(FOUR).act("1 fold, 2 knock, 3 fold, 0 fold")
    assert table.phase == "over"
    assert not table.record["truncated"]
    assert table.returns == [2, -2, 2, -2]


def test_then_what_is_left_in_the_pot_is_shared_equally():
    table = play(FOUR, "0 check, 1 check, 2 check, 3 check", deals=1)
    assert table.phase == "over"
    assert table.returns == [0] * 4
    assert (table.pot, table.record["left_on_table"]) == (0, 0)
    assert table.result["chips"] == [-1] * 4  # without the sharing


def test_a_single_deal_is_a_match_of_one_deal():
    table = play(FOUR, "0 fold, 1 fold, 2 check, 3 check", episode="deal")
    assert table.phase == "over"
    assert not table.record["truncated"]
    assert table.returns == [0] * 4


def test_at_the_cap_the_match_is_cut_off_and_the_pot_shared():
    everybody = "0 check, 1 check, 2 check, 3 check"
    table = play(FOUR, everybody, max_deals=2).deal(FOUR)
    table.act("1 check, 2 check, 3 check, 0 check")
    assert (table.phase, bool(table.record["truncated"])) == ("over", True)
    assert table.returns == [0] * 4


def test_announced_rewards_are_met_at_their_ends():
    table = play(TWO, "0 knock, 1 knock", "L3 L4 L11 L12", episode="deal", ante=3)
    play_lowest(table)
    low, high = SPEC.reward_range(table.rules, 2)
    assert sorted(table.result["chips"]) == [-9, 9]
    assert (low, high) == (-9, 12)  # an earlier step may have paid the winner's ante


# What a seat sees


def test_phase():
    assert play().part("phase", 2) == play().information("phase", 1) == [1, 0]
    table = play(FOUR, "0 knock, 1 knock, 2 fold, 3 fold")
    assert table.part("phase", 2) == table.information("phase", 1) == [0, 1]
    table = play(FOUR, "0 check, 1 check, 2 check, 3 check")
    assert table.part("phase", 2) == [0, 0]


def test_hand_shows_own_cards_from_the_lowest_up():
    table = play("L9 BL L9 | L2 L6 L10", "0 knock", "KI L3 L4 L5")
    empty = types()
    expected = [*types("BL"), *types("L9"), *types("L9"), *empty, *empty]
    assert table.part("hand", 0) == expected
    table.act("1 knock")
    nine = types("L9")
    assert table.part("hand", 0) == [*types("BL"), *types("L3"), *nine, *nine, *types("KI")]


def test_seen_counts_own_cards_played_ones_and_open_ones():
    table = play(TWO, "0 knock, 1 knock, 0 L9, 1 L10", "GO KI L9 L7")
    assert table.part("seen", 0) == types("L1", "L5", "L9", "GO", "KI", "L10")
    assert table.part("seen", 1) == types("L2", "L6", "L9", "L9", "L7", "L10")


def test_highest_trick_leader_and_holder():
    table = play(FOUR, "0 knock, 1 fold, 2 knock, 3 knock", "BL BL BP BP KR KR")
    assert table.part("highest", 1) == types()
    assert table.part("trick", 1) == [1, 0, 0, 0, 0]
    assert table.all_see("leads", of(0))
    assert table.all_see("holds", of())
    table.act("0 L5, 2 L7")
    assert table.part("highest", 3) == types("L7")
    assert table.all_see("holds", of(2))
    assert table.all_see("on_table", [8, 0, 10, 0])
    table.act("3 L8")
    assert table.part("trick", 1) == [0, 1, 0, 0, 0]
    assert table.all_see("leads", of(3))
    assert table.all_see("on_table", [0] * 4)
    assert table.part("won", 0)[:4] == of(3)
    assert table.part("won", 3)[:4] == of(0)
    assert table.part("played", 0)[:8] == [8, 0, 10, 11, 0, 0, 0, 0]


def test_words_and_who_may_still_speak():
    table = play(FOUR, "0 check, 1 knock, 2 fold")
    assert [table.part("knockers", seat) for seat in range(4)] == [[1]] * 4
    assert table.all_see("checked", of(0))
    assert table.all_see("knocked", of(1))
    assert table.all_see("in_play", of(0, 1, 3))
    assert table.all_see("to_speak", of(0, 3))
    assert table.all_see("to_act", of(3))
    assert table.all_see("dealer", of(3))
    table.act("3 knock, 0 knock")
    assert [table.part("knockers", seat) for seat in range(4)] == [[3]] * 4
    assert table.all_see("checked", of(0))
    assert table.all_see("knocked", of(0, 1, 3))
    assert table.all_see("to_speak", of())


def test_who_does_not_head_has_only_lower_cards():
    table = play(TWO, "0 knock, 1 knock, 0 KI, 1 L6", "GO KI L7 L7")
    assert table.all_see("below", [21, 20])
    assert table.all_see("at_least", [0, 0])  # any card: it need not be their lowest
    assert table.act("0 L9, 1 L10").all_see("below", [21, 20])
    table = play(TWO, "0 knock, 1 knock, 0 KI, 1 L2", "GO KI L7 L7", follow="lowest")
    assert table.all_see("below", [21, 20])
    assert table.all_see("at_least", [0, SPEC.pack.codes.index("L2")])


# What a seat may not know


def test_the_cards_of_others_and_the_talon_are_hidden():
    one = play(FOUR, talon="GO KI")
    assert differ(one, play("L1 L5 L9 | L2 L6 KI | L3 L7 L11 | L4 L8 L12", talon="GO L10")) == {1}


def test_the_two_cards_are_seen_by_who_gets_them_only():
    script = "0 knock, 1 knock, 2 fold, 3 fold"
    assert differ(play(FOUR, script, "GO KI HU SV"), play(FOUR, script, "GO HU KI SV")) == {0, 1}
    assert differ(play(FOUR, script, "GO KI HU SV"), play(FOUR, script, "GO KI HU VH")) == {1}


def test_what_was_folded_is_never_shown():  # D-F11
    script = "0 knock, 1 knock, 2 fold, 3 fold, 0 L1, 1 L2, 1 L6, 0 L9"
    other = FOUR.replace("L11", "KI")
    assert differ(play(FOUR, script, "GO KI HU SV"), play(other, script, "GO KI HU SV")) == {2}


def test_a_played_card_is_seen_by_all():
    one, other = (
        play("L1 L5 L9 | L2 L6 L10 | L3 L7 L11", f"0 knock, 1 knock, 2 fold, 0 {card}")
        for card in ("L1", "L5")
    )
    assert differ(one, other) == {0, 1, 2}


# Words


def test_the_words_of_a_deal():
    table = play(FOUR, "0 check, 1 knock")
    assert table.told("2 fold") == ["seat 2 folds."]
    assert table.told("3 fold, 0 knock", seat=2) == [
        "seat 0 knocks.",
        "seat 0 and seat 1 draw two cards each.",
    ]
    assert table.told("0 L1", seat=2) == ["seat 0 leads the 1."]


def test_the_two_cards_are_told_to_who_gets_them():
    table = play(FOUR, "0 check, 1 knock, 2 fold, 3 fold", talon="GO KI HU SV")
    assert table.told("0 knock", seat=1)[-1] == "seat 1 gets pig, hussar."


def test_describe_names_own_cards_and_what_was_said():
    text = play(FOUR, "0 check, 1 knock", ante=2).batch.describe(0, 1)
    assert text.splitlines() == [
        "Femkortskille, deal 1, dealer seat 3, pot 8 chips",
        "  seat 0        ? ? ?      waits",
        "  seat 1 (you)  L2 L6 L10  knocks",
        "  seat 2        ? ? ?",
        "  seat 3        ? ? ?",
        "seat 2 knocks or folds.",
    ]
