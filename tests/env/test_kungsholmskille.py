"""Kungsholmskille: a test for each sentence of the Swedish rules, and for each decision (D-K..).

The headings are the text's own. Seat 0 is forehand, the last seat deals, unless said otherwise.
"""

import pytest

from env.kungsholmskille_tables import (
    ALL_BUD,
    ALL_STAY,
    FOUR,
    NO_EXCHANGE,
    THREE,
    TO_PLAY,
    before_showing,
    play,
)
from kille_env.games.kungsholmskille import SPEC

# Bordsplacering, insats, giv


def test_before_the_first_deal_everybody_puts_two_into_the_pot():
    table = play()
    assert table.pot == 8
    assert table.returns == [-2] * 4


# Spelarna anger om de vill spela, första gången


def test_forehand_begins_and_the_turn_goes_on_clockwise():
    table = play(dealer=1)
    assert (table.seat, table.phase) == (2, "bud1")
    assert table.act("2 bud, 3 bud, 0 bud").seat == 1


def test_the_player_on_turn_says_bud_or_knocks():
    assert play().legal == "bud, knock"
    assert play(script="0 bud").legal == "bud, knock"


def test_when_all_say_bud_the_deal_is_broken_off():
    table = play(FOUR, ALL_BUD)
    assert table.batch.at_chance[0]
    assert table.result == {
        "kind": "bud_round",
        "shower": None,
        "winner": None,
        "pot": 8,
        "tricks": [],
        "last": [None] * 4,
        "owed": [1] * 4,
        "chips": [-2] * 4,
        "next_dealer": 0,
    }


def test_the_deal_passes_on_clockwise():
    assert play(FOUR, ALL_BUD).deal(FOUR).dealer == 0
    assert play(FOUR, "2 bud, 3 bud, 0 bud, 1 bud", dealer=1).deal(FOUR).dealer == 2


def test_the_stake_of_the_new_deal_is_one_each_and_is_added_to_the_pot():
    table = play(FOUR, ALL_BUD).deal(FOUR)
    assert table.pot == 12
    assert table.returns == [-3] * 4
    assert table.act("1 bud, 2 bud, 3 bud, 0 bud").deal(FOUR).pot == 16


def test_it_is_paid_when_the_next_deal_is_dealt():  # D-K01
    table = play(FOUR, ALL_BUD)
    assert table.pot == 8
    assert table.returns == [-2] * 4


def test_as_soon_as_somebody_knocks_the_deal_goes_on():
    table = play(FOUR, "0 bud, 1 knock")
    assert table.phase == "fold"


# Lägga sig


def test_the_others_may_fold_from_the_left_of_who_knocked_to_his_right():
    table = play(FOUR, "0 bud, 1 bud, 2 knock")
    assert (table.seat, table.legal) == (3, "stay, fold")
    table.act("3 stay")
    assert table.seat == 0  # they have said bud before, and may fold too (D-K09)
    table.act("0 fold")
    assert table.seat == 1
    assert table.act("1 stay").phase == "exchange"


def test_who_has_knocked_can_not_fold():
    assert play(FOUR, ALL_STAY).phase == "exchange"
    assert play(FOUR, "0 bud, 1 knock, 2 stay, 3 stay, 0 stay").seat == 0


def test_forehand_may_fold_against_a_code_of_honour_only():  # D-K02
    table = play(FOUR, "0 bud, 1 knock, 2 stay, 3 stay")
    assert (table.seat, table.legal) == (0, "stay, fold")


def test_or_not_by_a_switch():
    table = play(FOUR, "0 bud, 1 knock, 2 fold, 3 stay", forehand_may_fold=False)
    assert (table.seat, table.legal) == (0, "stay")
    table = play(FOUR, "0 knock", forehand_may_fold=False)
    assert (table.seat, table.legal) == (1, "stay, fold")


def test_the_role_of_forehand_passes_to_the_nearest_player_on_the_left_who_is_in():
    table = play(FOUR, "0 bud, 1 bud, 2 bud, 3 knock, 0 fold, 1 fold, 2 stay")
    assert (table.seat, table.phase) == (2, "exchange")
    table.act("2 discard, 3 discard")
    assert (table.seat, table.phase) == (2, "bud2")
    table.act("2 bud, 3 knock")
    assert (table.seat, table.phase) == (2, "play")


# Byte av korten


def test_the_players_still_in_may_exchange_from_forehand_on_clockwise():
    table = play(FOUR, "0 bud, 1 knock, 2 fold, 3 stay, 0 stay")
    assert (table.seat, table.phase) == (0, "exchange")
    assert table.act("0 discard").seat == 1
    assert table.act("1 discard").seat == 3
    assert table.act("3 discard").phase == "bud2"


def test_one_exchanges_up_to_two_cards():
    table = play(f"L1 L2 L3 L4 L5 | {FOUR.split(' | ')[3]}", "0 knock, 1 stay")
    assert table.legal == ", ".join(
        ["discard", *(f"discard L{i}" for i in range(1, 6))]
        + [f"discard L{i} L{j}" for i in range(1, 6) for j in range(i + 1, 6)]
    )


def test_equal_cards_make_one_action():
    table = play(f"L1 L1 L3 L3 L5 | {FOUR.split(' | ')[3]}", "0 knock, 1 stay")
    assert table.legal == (
        "discard, discard L1, discard L3, discard L5, discard L1 L1, discard L1 L3, "
        "discard L1 L5, discard L3 L3, discard L3 L5"
    )


def test_who_discards_gets_as_many_new_cards_from_the_talon_at_once():
    table = play(FOUR, f"{ALL_STAY}, 0 discard L5 KA", "L12 KI HU")
    assert table.hand(0) == "BL L1 L9 L12 KI"
    table.act("1 discard, 2 discard KR")
    assert table.hands == "BL L1 L9 L12 KI | BP L2 L6 L10 SV | L3 L7 L11 HU HU | L4 L8 L12 VH GO"


def test_one_may_be_content():
    table = play(FOUR, f"{ALL_STAY}, 0 discard", "L12 KI")
    assert table.hand(0) == "BL L1 L5 L9 KA"


def test_the_talon_is_enough_for_six():
    codes = SPEC.pack.codes * 2
    hands = " | ".join(" ".join(codes[5 * seat : 5 * seat + 5]) for seat in range(6))
    table = play(hands, "0 knock, 1 stay, 2 stay, 3 stay, 4 stay, 5 stay")
    while table.phase == "exchange":
        table.act(f"{table.seat} {table.legal.split(', ')[-1]}")
    assert table.record["drawn"] == 42


# Spelarna anger om de vill spela, andra gången


def test_forehand_speaks_first_again():
    table = play(FOUR, f"0 bud, 1 knock, 2 stay, 3 stay, 0 stay, {NO_EXCHANGE}")
    assert (table.seat, table.phase, table.legal) == (0, "bud2", "bud, knock")
    assert table.act("0 bud").seat == 1


def test_as_soon_as_somebody_knocks_the_rest_need_not_say_anything():
    table = play(FOUR, f"{ALL_STAY}, {NO_EXCHANGE}, 0 bud, 1 knock")
    assert table.phase == "play"


def test_when_all_say_bud_again_and_all_are_in_everybody_pays_one():
    table = play(FOUR, f"{ALL_STAY}, {NO_EXCHANGE}, {ALL_BUD}")
    assert (table.result["kind"], table.result["pot"]) == ("bud_round", 8)
    assert table.result["owed"] == [1] * 4
    assert table.deal(FOUR).pot == 12


def test_when_somebody_has_folded_those_who_folded_pay_one_and_the_others_play_for_free():
    script = "0 knock, 1 fold, 2 stay, 3 fold, 0 discard, 2 discard, 0 bud, 2 bud"
    table = play(FOUR, script)
    assert table.result["owed"] == [0, 1, 0, 1]
    table.deal(FOUR)
    assert table.pot == 10
    assert table.returns == [-2, -3, -2, -3]


# Spelet av korten


def test_forehand_leads_any_card_whoever_has_knocked():
    table = play(FOUR, f"0 bud, 1 knock, 2 stay, 3 stay, 0 stay, {NO_EXCHANGE}, 0 bud, 1 knock")
    assert (table.seat, table.phase, table.legal) == (0, "play", "BL, L1, L5, L9, KA")


def test_everybody_still_in_plays_a_card_clockwise():
    table = play(FOUR, "0 knock, 1 stay, 2 fold, 3 stay, 0 discard, 1 discard, 3 discard, 0 knock")
    assert table.act("0 BL").seat == 1
    assert table.act("1 BP").seat == 3


def test_who_can_must_head_with_any_of_his_cards_that_are_as_high_or_higher():  # D-K03
    assert play(FOUR, f"{TO_PLAY}, 0 L5").legal == "L6, L10, SV"
    assert play(FOUR, f"{TO_PLAY}, 0 L5, 1 SV").legal == "HU"


def test_an_equal_card_heads():
    hands = "BL L1 L5 L9 KA | BP L2 L5 L10 SV"
    table = play(hands, "0 knock, 1 stay, 0 discard, 1 discard, 0 knock, 0 L5")
    assert table.legal == "L5, L10, SV"


def test_or_with_the_lowest_of_them_by_a_switch():
    assert play(FOUR, f"{TO_PLAY}, 0 L5", forced_beat="lowest").legal == "L6"
    assert play(FOUR, TO_PLAY, forced_beat="lowest").legal == "BL, L1, L5, L9, KA"  # the leader


def test_who_can_not_must_play_his_lowest_card():
    hands = "BL L1 L5 L9 KI | BP L2 L6 L10 SV"
    table = play(hands, "0 knock, 1 stay, 0 discard, 1 discard, 0 knock, 0 KI")
    assert table.legal == "BP"


def test_the_highest_card_wins_the_trick_and_the_winner_leads():
    table = play(FOUR, f"{TO_PLAY}, 0 BL, 1 SV, 2 HU, 3 GO")
    assert table.record["won"][0] == 3
    assert (table.seat, table.legal) == (3, "L4, L8, L12, VH")


def test_of_two_equal_highest_cards_the_later_wins():
    hands = "BL L1 L5 L9 KA | BP L2 L6 L10 SV | KR L3 L5 L10 L11"
    script = "0 knock, 1 stay, 2 stay, 0 discard, 1 discard, 2 discard, 0 knock"
    table = play(hands, f"{script}, 0 L9, 1 L10, 2 L10")
    assert table.record["won"][0] == 2


def test_after_four_tricks_everybody_has_one_card_left():
    table = before_showing("L9 L5 L7")
    assert table.hands == "L9 | L5 | L7"
    assert table.record["won"].tolist() == [0, 0, 0, 0]


# Spelarna anger om de vill visa


def test_the_winner_of_the_fourth_trick_may_show_first_then_clockwise():
    table = before_showing("L9 L5 L7", leader=1)
    assert (table.seat, table.legal) == (1, "bud, show")
    assert table.act("1 bud").seat == 2
    assert table.act("2 bud").seat == 0


def test_when_all_say_bud_nobody_shows_and_everybody_still_in_pays_one():
    table = before_showing("L9 L5 L7").act("0 bud, 1 bud, 2 bud")
    assert table.result["kind"] == "bud_round"
    assert table.result["tricks"] == [0, 0, 0, 0]
    assert (table.result["pot"], table.result["owed"]) == (6, [1, 1, 1])
    assert table.result["last"] == [None, None, None]  # they stay hidden (D-K12)


def test_or_those_who_folded_pay_if_there_are_any():
    table = before_showing("L9 L5 L7", 1).act("0 bud, 2 bud")
    assert table.result["owed"] == [0, 1, 0]


def test_as_soon_as_one_shows_the_others_turn_their_cards_up_too():
    table = before_showing("L9 L5 L7 L8", 3).act("0 bud, 1 show")
    assert table.result["kind"] == "showing"
    assert table.result["last"] == ["L9", "L5", "L7", None]
    assert table.result["shower"] == 1


def test_who_shows_and_has_the_lowest_card_wins_the_pot():
    table = before_showing("L9 L5 L7").act("0 bud, 1 show")
    assert (table.result["winner"], table.result["pot"]) == (1, 6)
    assert table.result["chips"] == [-2, 4, -2]
    assert table.returns == [-2, 4, -2]


def test_if_somebody_has_a_lower_card_he_wins_and_the_shower_pays_him_as_much_as_the_pot():
    table = before_showing("L9 L5 L7").act("0 bud, 1 bud, 2 show")
    assert (table.result["shower"], table.result["winner"]) == (2, 1)
    assert table.result["chips"] == [-2, 10, -8]


def test_an_equal_card_beats_the_shower():
    table = before_showing("L9 L5 L5").act("0 bud, 1 show")
    assert table.result["winner"] == 2
    assert table.result["chips"] == [-2, -8, 10]


def test_a_lower_card_beats_an_equal_one():  # D-K06
    table = before_showing("L9 L9 L5").act("0 show")
    assert table.result["winner"] == 2
    assert table.result["chips"] == [-8, -2, 10]


@pytest.mark.parametrize(
    ("leader", "last", "shower", "winner"),
    [
        (0, "L9 L5 L5", 0, 2),
        (0, "L5 L9 L5", 1, 2),
        (1, "L5 L9 L5", 1, 0),
        (1, "L5 L5 L9", 2, 0),
        (2, "L5 L5 L9", 2, 1),
        (2, "L9 L5 L5", 0, 1),
    ],
)
def test_of_two_others_with_the_lowest_card_the_one_who_sits_last_wins(
    leader, last, shower, winner
):  # D-K05: counted clockwise from the winner of the fourth trick
    table = before_showing(last, leader=leader)
    while table.seat != shower:
        table.act(f"{table.seat} bud")
    assert table.act(f"{shower} show").result["winner"] == winner


def test_after_a_showing_the_pot_is_empty():
    table = before_showing("L9 L5 L7", deals=2).act("0 bud, 1 show")
    assert table.pot == 0


# Det fortsatta spelet


def test_losers_in_a_showing_pay_two_and_the_winner_and_folders_nothing():
    table = before_showing("L9 L5 L7 L8", 3, deals=2).act("0 bud, 1 show")
    assert table.result["owed"] == [2, 0, 2, 0]
    assert table.deal(FOUR).pot == 4
    assert table.dealer == 0


def test_the_shower_who_has_lost_pays_two_as_well():  # D-K08
    table = before_showing("L9 L5 L7", deals=2).act("0 show")
    assert table.result["winner"] == 1
    assert table.result["owed"] == [2, 0, 2]


def test_with_two_in_the_showing_the_loser_pays_three_and_everybody_else_one():
    table = before_showing("L9 L5 L7 L8", 1, 3, deals=2).act("0 bud, 2 show")
    assert table.result["winner"] == 2
    assert table.result["owed"] == [3, 1, 1, 1]
    table = before_showing("L9 L5 L7 L8", 1, 3, deals=2).act("0 show")
    assert table.result["owed"] == [3, 1, 1, 1]


def test_also_when_only_two_are_seated():  # D-K07
    table = before_showing("L9 L5", deals=2).act("0 bud, 1 show")
    assert table.result["owed"] == [3, 1]


def test_the_imagined_bud_round_does_not_move_the_deal():
    table = before_showing("L9 L5 L7 L8", 1, 3, deals=2).act("0 show")
    assert table.result["next_dealer"] == 0
    assert table.deal(FOUR).dealer == 0


def test_when_all_but_one_have_folded_he_takes_the_pot_without_play():
    table = play(FOUR, "0 bud, 1 knock, 2 fold, 3 fold, 0 fold", deals=2)
    assert table.result == {
        "kind": "walk_over",
        "shower": None,
        "winner": 1,
        "pot": 8,
        "tricks": [],
        "last": [None] * 4,
        "owed": [1] * 4,  # the winner too
        "chips": [-2, 6, -2, -2],
        "next_dealer": 0,
    }
    assert table.deal(FOUR).pot == 4


def test_a_pot_that_was_carried_on_is_his_too():  # D-K11
    table = play(FOUR, ALL_BUD).deal(FOUR).act("1 knock, 2 fold, 3 fold, 0 fold")
    assert table.result["pot"] == 12
    assert table.returns == [-3, 9, -3, -3]


# The match


def test_the_match_ends_when_a_pot_is_won():  # D-K04
    for table in (
        play(FOUR, "0 knock, 1 fold, 2 fold, 3 fold"),
        before_showing("L9 L5 L7").act("0 show"),
    ):
        assert (table.phase, table.pot) == ("over", 0)
        assert not table.record["truncated"]


def test_what_is_owed_then_lapses_though_the_result_tells_it():  # D-K01
    table = play(FOUR, "0 knock, 1 fold, 2 fold, 3 fold")
    assert table.result["owed"] == [1] * 4
    assert table.returns == [6, -2, -2, -2]


def test_or_after_a_number_of_deals_and_what_is_left_in_the_pot_is_shared():
    table = play(FOUR, "0 knock, 1 fold, 2 fold, 3 fold", deals=2)
    assert table.batch.at_chance[0]
    table.deal(FOUR).act("1 bud, 2 bud, 3 bud, 0 bud")
    assert (table.phase, bool(table.record["truncated"])) == ("over", False)
    assert table.returns == [6, -2, -2, -2]  # each got their last krona back
    assert table.result["chips"] == [-1] * 4  # without the sharing


def test_a_single_deal_is_a_match_of_one_deal():
    table = play(FOUR, ALL_BUD, episode="deal")
    assert (table.phase, bool(table.record["truncated"])) == ("over", False)
    assert table.returns == [0] * 4


def test_at_the_cap_the_match_is_cut_off_and_the_pot_is_shared_in_whole_units():
    table = play(FOUR, ALL_BUD, max_deals=2).deal(FOUR)
    table.act("1 knock, 2 fold, 3 stay, 0 stay, 1 discard, 3 discard, 0 discard")
    table.act("1 bud, 3 bud, 0 bud")
    assert (table.phase, bool(table.record["truncated"])) == ("over", True)
    assert table.returns == [0] * 4
    table = play(THREE, "0 bud, 1 bud, 2 bud", max_deals=1, start={"pot": 7, "owed": [0, 0, 1]})
    assert table.returns == [2, 2, 1]
    assert (table.pot, table.record["left_on_table"]) == (0, 2)


# A match that is under way


def test_a_match_can_start_with_a_pot_and_with_debts():
    table = play(THREE, start={"pot": 6, "owed": [3, 1, 0]})
    assert table.pot == 10
    assert table.returns == [-3, -1, 0]


def test_or_with_one_of_the_two():
    assert play(THREE, start={"pot": 6}).pot == 12
    assert play(THREE, start={"owed": [0, 0, 5]}).pot == 5
