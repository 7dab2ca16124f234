"""Krypkille: a test for each sentence of its rules, and for each default of ours (D-R..).

Seat 0 is forehand, the last seat deals, unless said otherwise. The tests whose numbers come from
the reconstructed table of outcomes name D-R01: when the original turns up, they change and no
others do.
"""

import numpy as np
import pytest

import kille_env
from env.krypkille_tables import FOUR, FOUR_DISCARD, KEEP, SIX, SIX_TALON, end, play, six
from env.trick_tables import Table
from kille_env.errors import RulesError
from kille_env.games.krypkille import SPEC, retired

TWO = "L1 L5 L9 GO HU | L2 L6 L10 VH KA"

# The deal


# Discards


def test_each_player_may_discard_at_most_three_cards():
    table = play(FOUR)
    assert (table.seat, table.phase) == (0, "discard")
    texts = table.legal.split(", ")
    assert len(texts) == 1 + 5 + 10 + 10
    assert texts[0] == "discard"
    assert texts[-1] == "discard L9 L12 HU"


def test_the_blog_has_an_exchange_of_any_number():
    texts = play(FOUR, preset="blog2010").legal.split(", ")
    assert len(texts) == 32
    assert texts[-1] == "discard L1 L5 L9 L12 HU"


@pytest.mark.parametrize(("most", "choices"), [(0, 1), (1, 6), (2, 16), (3, 26), (4, 31), (5, 32)])
def test_how_many_cards_may_go_is_a_switch(most, choices):
    assert len(play(FOUR, max_discards=most).legal.split(", ")) == choices


def test_more_than_a_hand_can_not_go():
    with pytest.raises(RulesError, match="a whole number from 0 to 5"):
        SPEC.resolve(max_discards=6)


def test_equal_cards_are_one_choice():
    table = play("L1 L1 L9 GO HU | L2 L6 L10 VH KA", max_discards=2)
    assert table.legal.split(", ")[:8] == [
        "discard",
        "discard L1",
        "discard L9",
        "discard HU",
        "discard GO",
        "discard L1 L1",
        "discard L1 L9",
        "discard L1 HU",
    ]


def test_the_dealer_gives_new_cards_at_once_so_that_all_have_five_again():  # D-R02
    table = play(FOUR, "0 discard L9 HU", "KR L2 KR")
    assert table.hand(0) == "KR L1 L2 L5 L12"
    assert (table.seat, table.phase) == (1, "discard")
    table.act("1 discard GO")
    assert table.hand(1) == "KR L2 L6 L10 VH"


def test_discards_go_clockwise_from_forehand_each_once():  # D-R02
    table = play(FOUR, dealer=1)
    for seat in (2, 3, 0, 1):
        assert (table.seat, table.phase) == (seat, "discard")
        table.act(f"{seat} discard")
    assert table.phase == "lead"


# The talon


def test_five_players_never_use_up_the_talon():
    hands = " | ".join(SIX.split(" | ")[:5])
    table = play(hands, "0 discard BL L1 L4, 1 discard BL L1 L5, 2 discard BP L2 L6")
    table.act("3 discard BP L2 L7, 4 discard KR L3 L8")
    assert table.record["drawn"] == 40
    assert table.record["shuffled_in"] == 0


def test_with_six_players_the_discards_of_the_others_become_the_new_talon():  # D-R03
    table = six(FOUR_DISCARD)
    assert table.record["drawn"] == 42
    table.act("4 discard KR L3 GO")
    new = table.record["again"][: table.record["again_end"]]
    codes = ["BL", "BL", "BP", "BP", "L1", "L1", "L2", "L2", "L9", "L9", "L10", "L10"]
    assert sorted(map(SPEC.pack.code, new)) == sorted(codes)  # without their own three
    assert set(table.drawn_again) <= set(codes)


def test_what_is_left_of_it_is_there_for_those_after():  # D-R03
    table = six(f"{FOUR_DISCARD}, 4 discard KR L3 GO", "L2 L1 BP BL L10")
    assert table.hand(4) == "BP L1 L2 L8 L11"
    table.act("5 discard L11 GO")
    assert table.hand(5) == "BL KR L3 L8 L10"
    assert table.record["again_end"] == 12


def test_the_old_talon_is_used_up_first():  # D-R03
    table = six("0 discard BL L1 L9, 1 discard BL L1 L9, 2 discard BP L2 L10, 3 discard BP")
    table.act("4 discard KR, 5 discard KR")
    assert (table.record["drawn"], table.record["shuffled_in"]) == (42, 0)
    table = six("0 discard BL L1 L9, 1 discard BL L1 L9, 2 discard BP L2 L10, 3 discard BP", "BP")
    table.act("4 discard KR L3 GO")
    assert table.hand(4).split() == ["BP", "L8", "L11", "KI", "KI"]


def test_it_can_be_used_up_too():  # D-R03
    table = Table("krypkille", 6, max_discards=5)
    table.deal(SIX, SIX_TALON, "L1 L4 BL SV L9 SV BL L9 L1 L5 L10 HU BP").act(
        "0 discard BL L1 L4 L9 SV, 1 discard BL L1 L5 L9 SV, 2 discard BP L2 L6 L10 HU"
    )
    assert table.hand(2) == "BL L1 L4 KI KI"  # two of the old talon, three of the new
    table.act("3 discard BP L2 L7 L10 HU")
    assert table.hand(3) == "BL L9 L9 SV SV"
    table.act("4 discard KR L3 L8 L11 GO")
    # Seats 2 and 3 have discarded since then; seat 4's own discards stay where they are.
    assert table.hand(4) == "BP L1 L5 L10 HU"
    assert table.record["again_end"] == 20


def test_or_nobody_may_discard_more_than_the_talon_holds():  # D-R03
    table = six(FOUR_DISCARD, talon_shortage="cap")
    assert table.legal == "discard"
    table.act("4 discard")
    assert (table.seat, table.legal) == (5, "discard")
    table.act("5 discard")
    assert table.phase == "lead"


def test_the_cap_leaves_what_there_is():  # D-R03
    table = six(
        "0 discard BL L1 L4 L9 SV, 1 discard BL L1 L5 L9 SV",
        talon_shortage="cap",
        max_discards=5,
    )
    assert len(table.legal.split(", ")) == 1 + 5 + 10


# The first four rounds


def test_the_player_clockwise_from_the_dealer_leads():
    assert (play(FOUR, KEEP).seat, play(FOUR, KEEP).phase) == (0, "lead")
    assert play(FOUR, "2 discard, 3 discard, 0 discard, 1 discard", dealer=1).seat == 2


def test_the_leader_plays_one_of_his_cards_each_type_once():
    table = play("L1 L1 L9 GO HU | L2 L6 L10 VH KA", "0 discard, 1 discard")
    assert table.legal == "L1, L9, HU, GO"


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


def test_the_kille_is_the_highest_card():
    table = play("L1 L5 L9 L12 KI | L2 L6 L10 VH GO", "0 discard, 1 discard, 0 KI")
    assert table.record["won"][0] == 0


def test_each_card_can_only_be_played_once():
    table = play(FOUR, f"{KEEP}, 0 L1")
    assert table.hands == "L5 L9 L12 HU | L6 L10 VH GO | L7 L11 KA KI | BL BP L8 SV"


# The guessing round


def test_the_player_who_won_round_four_starts_with_declare_or_pass():
    script = "0 discard, 1 discard, 0 L1, 1 L10, 0 HU, 1 L6"
    table = play("L1 L5 L9 L12 HU | L2 L6 L10 VH GO", script)
    assert table.record["won"].tolist() == [1, 0, 1, 0]
    assert (table.seat, table.phase) == (0, "guess")
    assert table.legal == "declare, pass"
    assert table.hands == "L5 | VH"


def test_play_continues_clockwise_until_one_has_declared():
    table = end("L1 L2 L3 L4", "0 pass, 1 pass")
    assert (table.seat, table.phase) == (2, "guess")
    assert table.act("2 declare").result["declarer"] == 2


def test_the_round_is_over_when_the_first_declares():
    assert end("L1 L2 L3 L4", "0 declare").result["declarer"] == 0


def test_or_when_all_have_passed():
    table = end("L1 L2 L3 L4", "0 pass, 1 pass, 2 pass")
    assert table.seat == 3
    assert table.act("3 pass").result["declarer"] is None


@pytest.mark.parametrize("script", ["0 declare", "0 pass, 1 pass, 2 pass, 3 pass"])
def test_at_the_end_all_show_their_remaining_card(script):
    table = end("L1 KI BL GO", script)
    assert table.result["last"] == ["L1", "KI", "BL", "GO"]
    assert all(table.information("open_cards", 0))


# The table of outcomes


def points(lasts, script, **rules):
    """What a deal costs that ends with these last cards and these words."""
    return end(lasts, script, **rules).result["points"]


ALL_PASS = "0 pass, 1 pass, 2 pass, 3 pass"


def test_a_right_declarer_scores_nothing_the_others_their_cards():  # D-R01
    assert points("L1 L4 GO KI", "0 declare") == [0, 4, 17, 50]
    assert points("L4 KI L1 GO", "0 pass, 1 pass, 2 declare") == [4, 50, 0, 17]


def test_a_wrong_declarer_scores_ten_more_than_his_card_and_the_lowest_nothing():  # D-R01
    assert points("L3 L4 GO L1", "0 declare") == [13, 4, 17, 0]


def test_a_wrong_declarer_with_a_kille_scores_sixty():  # D-R01
    assert points("KI L4 GO L1", "0 declare") == [60, 4, 17, 0]


def test_two_equal_lowest_cards_of_others_both_score_nothing():  # D-R01
    assert points("L3 L1 GO L1", "0 declare") == [13, 0, 17, 0]


def test_when_all_pass_the_lowest_card_scores_ten():  # D-R01
    assert points("L3 L4 KI L1", ALL_PASS) == [0, 0, 0, 10]


def test_when_all_pass_each_of_two_equal_lowest_cards_scores_ten():  # D-R01
    assert points("L3 L1 KI L1", ALL_PASS) == [0, 10, 0, 10]


def test_the_blog_s_table():  # D-R01
    blog = {"preset": "blog2010"}
    assert points("L1 L4 GO KI", "0 declare", **blog) == [0, 4, 17, 18]
    assert points("L3 L4 KI L1", "0 declare", **blog) == [10, 4, 18, 0]
    assert points("KI L4 GO L1", "0 declare", **blog) == [10, 4, 17, 0]
    assert points("L3 L1 GO L1", "0 declare", **blog) == [10, 0, 17, 0]
    assert points("L3 L3 GO L4", "0 declare", **blog) == [10, 0, 17, 4]
    assert points("L3 L4 KI L1", ALL_PASS, **blog) == [0, 0, 0, 0]


OWN = {
    "right_declarer": 1,
    "right_others": "zero",
    "wrong_declarer_base": "zero",
    "wrong_declarer_extra": 20,
    "wrong_lowest": 3,
    "wrong_others": "zero",
    "allpass_lowest": 4,
    "allpass_others": 5,
    "kille_denomination": 25,
}


def test_any_other_table_can_be_put_in():
    assert points("L1 L4 GO KI", "0 declare", **OWN) == [1, 0, 0, 0]
    assert points("L3 L4 KI L1", "0 declare", **OWN) == [20, 0, 0, 3]
    assert points("L3 L4 KI L1", ALL_PASS, **OWN) == [5, 5, 5, 4]


@pytest.mark.parametrize(
    ("switch", "value", "lasts", "script", "expected"),
    [
        ("right_declarer", 7, "L1 L4 GO KI", "0 declare", [7, 4, 17, 50]),
        ("right_others", "zero", "L1 L4 GO KI", "0 declare", [0, 0, 0, 0]),
        ("wrong_declarer_base", "zero", "L3 L4 GO L1", "0 declare", [10, 4, 17, 0]),
        ("wrong_declarer_extra", 0, "L3 L4 GO L1", "0 declare", [3, 4, 17, 0]),
        ("wrong_lowest", 6, "L3 L4 GO L1", "0 declare", [13, 4, 17, 6]),
        ("wrong_others", "zero", "L3 L4 GO L1", "0 declare", [13, 0, 0, 0]),
        ("allpass_lowest", 3, "L3 L4 GO L1", ALL_PASS, [0, 0, 0, 3]),
        ("allpass_others", 2, "L3 L4 GO L1", ALL_PASS, [2, 2, 2, 10]),
        ("kille_denomination", 30, "L1 L4 GO KI", "0 declare", [0, 4, 17, 30]),
        ("kille_denomination", 30, "KI L4 GO L1", "0 declare", [40, 4, 17, 0]),
        ("kille_denomination", 0, "L1 L4 GO KI", "0 declare", [0, 4, 17, 0]),
    ],
)
def test_each_number_of_the_table_is_a_switch(switch, value, lasts, script, expected):  # D-R01
    assert points(lasts, script, **{switch: value}) == expected


DENOMINATIONS = {
    "KR": 0,
    **{f"L{number}": number for number in range(1, 13)},
    "VH": 13,
    "KA": 14,
    "SV": 15,
    "HU": 16,
}


@pytest.mark.parametrize(("code", "worth"), DENOMINATIONS.items())
def test_the_denominations_of_the_cards(code, worth):  # D-R01; GO and KI: in the tests above
    creeps = sorted(["BL", "BP", "BP", "KR", code], key=SPEC.pack.codes.index)
    table = play(f"BL GO GO KI KI | {' '.join(creeps)}", "0 discard, 1 discard")
    table.act("0 KI, 0 KI, 0 GO, 0 GO, 0 declare")
    assert table.result["last"] == ["BL", code]
    assert table.result["points"] == [0, worth]


@pytest.mark.parametrize("lasts", ["BP BL KR L4", "KR BP L1 L4"])
def test_lower_means_rank_not_denomination(lasts):  # D-R01
    worth = [0 if code in ("BL", "BP", "KR") else int(code[1:]) for code in lasts.split()]
    assert points(lasts, "0 declare") == [10, *worth[1:]]
    assert points(lasts, ALL_PASS) == [0, 10, 0, 0]


def test_an_equal_card_elsewhere_makes_the_declarer_wrong():  # D-R05 D-R01
    assert points("L3 L4 GO L3", "0 declare") == [13, 4, 17, 0]


def test_or_he_is_right_and_who_ties_scores_like_the_others():  # D-R05 D-R01
    assert points("L3 L4 GO L3", "0 declare", tie_beats_declarer=False) == [0, 4, 17, 3]
    # A lower card still beats them, and an equal pair under them does.
    assert points("L3 L4 GO L1", "0 declare", tie_beats_declarer=False) == [13, 4, 17, 0]
    assert points("L3 L1 GO L1", "0 declare", tie_beats_declarer=False) == [13, 0, 17, 0]


# The score sheet


def test_the_score_sheet_is_cumulative():  # D-R01
    table = end("L1 L4 GO L2", "0 declare")
    assert table.result["scores"] == [0, 4, 17, 2]
    end("L1 L4 GO L2", "1 pass, 2 pass, 3 pass, 0 pass", table)
    assert table.result["points"] == [10, 0, 0, 0]
    assert table.result["scores"] == [10, 4, 17, 2]
    assert table.record["scores"].tolist() == [10, 4, 17, 2, 0, 0]


def test_a_match_begins_with_nothing():
    assert play(FOUR).record["scores"].tolist() == [0] * 6


def test_the_deal_passes_clockwise_to_the_next_player():
    table = end("L1 L2 L3 L4", "0 declare")
    assert table.result["next_dealer"] == 0
    end("L1 L2 L3 L4", "1 pass, 2 pass, 3 pass, 0 pass", table)
    assert (table.dealer, table.result["next_dealer"]) == (0, 1)


@pytest.mark.parametrize(("score", "out"), [(45, []), (46, [1]), (47, [1])])
def test_a_player_reaching_a_score_of_50_or_over_is_out(score, out):  # D-R01
    table = end("L1 L4 L3 L2", "0 declare", start={"scores": [0, score, 0, 0]})
    assert table.result["scores"][1] == score + 4
    assert table.result["out"] == out


def test_the_limit_is_a_switch():  # D-R01
    assert end("L1 L4 L3 L2", "0 declare", limit=4).result["out"] == [1]


def test_a_charged_kille_puts_its_holder_out_at_once():  # D-R01
    assert end("L1 KI L3 L2", "0 declare").result["out"] == [1]


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


def test_who_is_out_has_no_part_in_a_deal_s_result():  # D-R07 D-R01
    table = end("L1 - L3 L4", "3 pass, 0 declare", start={"scores": [0, 70, 0, 0]})
    assert table.result["last"] == ["L1", None, "L3", "L4"]
    assert table.result["points"] == [0, None, 3, 4]  # D-R01
    assert [trick[1] for trick in table.result["played"]] == [None] * 4
    assert table.result["scores"] == [0, 70, 3, 4]
    assert table.result["out"] == [1]


def test_the_last_remaining_is_the_winner():  # D-R01
    table = end("L1 L4 GO", "2 pass, 0 declare", start={"scores": [40, 46, 33]})
    assert table.phase == "over"
    assert table.result["winner"] == [0]
    assert table.result["next_dealer"] is None
    assert table.returns == [1, 0, 0]
    assert not table.record["truncated"]


def test_a_wrong_declaration_can_make_another_win():  # D-R01
    table = end("L3 L1 -", "1 pass, 0 declare", start={"scores": [39, 49, 50]})
    assert table.result["scores"] == [52, 49, 50]
    assert table.result["winner"] == [1]
    assert table.returns == [0, 1, 0]


def test_if_all_reach_the_limit_together_the_lowest_total_wins():  # D-R04 D-R01
    table = end(
        "L3 L3 GO", "2 pass, 0 pass, 1 pass", start={"scores": [45, 44, 46]}, allpass_others=5
    )
    assert table.result["scores"] == [55, 54, 51]
    assert table.result["winner"] == [2]
    assert table.returns == [0, 0, 1]


def test_equal_lowest_totals_share():  # D-R04 D-R01
    start = {"scores": [45, 45, 49]}
    table = end("L3 L3 GO", "2 pass, 0 pass, 1 pass", start=start, allpass_others=20)
    assert table.result["scores"] == [55, 55, 69]
    assert table.result["winner"] == [0, 1]
    assert table.returns == [0.5, 0.5, 0]


def test_who_was_out_before_can_not_win_with_a_lower_total():  # D-R04 D-R01
    start = {"scores": [45, 45, 50]}
    table = end("L3 L4 -", "1 pass, 0 pass", start=start, allpass_others=20)
    assert table.result["scores"] == [55, 65, 50]
    assert table.result["winner"] == [0]


def test_a_match_is_cut_off_after_max_deals_and_those_in_share_it():  # D-R01
    table = end("L1 L2 L3 KI", "0 declare", max_deals=2)
    assert table.phase == "deal"
    end("L1 L2 L3 -", "0 pass, 1 pass, 2 pass", table)
    assert (table.phase, bool(table.record["truncated"])) == ("over", True)
    assert table.result["winner"] == []
    assert table.result["next_dealer"] is None
    assert table.result["out"] == [3]
    assert table.returns == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])


def test_a_match_won_in_the_last_deal_is_no_cut():  # D-R01
    table = end("L1 KI", "0 declare", max_deals=1)
    assert (table.phase, bool(table.record["truncated"])) == ("over", False)
    assert table.result["winner"] == [0]


# A single deal


def test_a_single_deal_returns_minus_the_points():  # D-R01
    table = end("L3 L4 GO L1", "0 declare", episode="deal")
    assert table.phase == "over"
    assert not table.record["truncated"]
    assert table.returns == [-13, -4, -17, 0]
    assert table.result["scores"] == [13, 4, 17, 0]
    assert (table.result["winner"], table.result["next_dealer"]) == ([], None)


def test_whoever_is_out_then_has_only_his_points():  # D-R01
    table = end("L1 KI GO L2", "0 declare", episode="deal")
    assert table.result["out"] == [1]
    assert table.returns == [0, -50, -17, -2]


def test_a_single_deal_may_begin_with_scores():  # D-R01
    start = {"scores": [49, 0, 60, 0]}
    table = end("L1 L4 - L2", "0 declare", episode="deal", start=start, dealer=0)
    assert table.result["scores"] == [49, 4, 60, 2]
    assert table.returns == [0, -4, 0, -2]


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


def test_a_match_can_start_with_scores():
    table = play(FOUR, start={"scores": [12, 49, 0, 30]})
    assert table.record["scores"].tolist() == [12, 49, 0, 30, 0, 0]


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
