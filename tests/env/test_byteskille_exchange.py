"""The exchange: a test for each sentence of the Swedish article's "Byte", and the English ones.

Seat 0 is forehand, the last seat deals; most tables have four or more, so that no question is due.
"""

from typing import Any

import pytest

from env.tables import play

NO_CALL: dict[str, Any] = {"gok_call": "off"}


# "Bordsplacering och giv"


def test_cards_are_dealt_clockwise_one_each_beginning_with_forehand_the_dealer_last():
    table = play("L1 L2 L3 L4", dealer=1)
    assert table.hands == "L3 L4 L1 L2"  # forehand is seat 2
    assert table.seat == 2


def test_players_speak_clockwise_from_forehand():
    table = play("L1 L2 L3 L4", "2 stand, 3 stand, 0 stand", dealer=1)
    assert table.seat == 1
    assert table.act("1 stand").ended


# "Byte"


def test_the_player_on_turn_is_content_or_demands_an_exchange():
    assert play("L1 L2 L3 L4").legal == "stand swap"


@pytest.mark.parametrize("card", ["BL", "BP", "KR", "L1", "L6", "L12", "KI"])
def test_who_holds_a_skitkort_a_lilja_or_a_kille_cannot_refuse(card):
    table = play(f"L7 {card} L3 L4", "0 swap")
    assert table.hands == f"{card} L7 L3 L4"
    assert table.events[-1] == f"exchange 0 1 L7 {card}"


def test_the_turn_passes_to_the_player_who_had_to_give_his_card_away():
    table = play("L1 L2 L3 L4", "0 swap")
    assert (table.seat, table.legal) == (1, "stand swap")


def test_a_card_can_travel_all_the_way_to_the_dealer():
    table = play("L1 L5 L6 L7", "0 swap, 1 swap, 2 swap")
    assert table.hands == "L5 L6 L7 L1"
    assert table.seat == 3


def test_whoever_is_content_passes_the_turn_on():
    table = play("L1 L2 L3 L4", "0 stand, 1 stand")
    assert table.seat == 2
    assert table.hands == "L1 L2 L3 L4"


def test_all_cards_but_killes_are_exchanged_face_down():
    assert play("L1 L2 L3 L4", "0 swap").open_cards == set()


def test_killes_in_an_exchange_lie_face_up_and_stay_so():
    assert play("L1 KI L3 L4", "0 swap").open_cards == {"KI0"}
    assert play("KI L1 L3 L4", "0 swap, 1 swap").open_cards == {"KI0"}
    assert play("KI KI L3 L4", "0 swap").open_cards == {"KI0", "KI1"}
    assert play("KI L1 L3 L4").open_cards == set()


# The gok


def test_a_gok_stops_the_round_and_everybody_lays_his_cards_open():
    table = play("L5 GO L3 L4", "1 wait, 0 swap")
    assert table.ended
    assert table.hands == "L5 GO L3 L4"  # no exchange
    assert table.events[-1] == "gok_stood 0 1 - GO"
    assert table.open_cards == {"L50", "GO0", "L30", "L40"}
    assert table.out == {2}


def test_exchanges_before_the_gok_stand():
    table = play("L5 L2 GO L4", "2 wait, 0 swap, 2 wait, 1 swap")
    assert table.hands == "L2 L5 GO L4"
    assert table.out == {0}


# The husar


def test_whoever_tries_to_exchange_with_a_husar_is_chopped_and_no_exchange_takes_place():
    table = play("L5 HU L3 L4 L6", "0 swap")
    assert table.chopped == {0}
    assert table.hands == "L5 HU L3 L4 L6"
    assert table.open_cards == {"HU0"}


def test_the_turn_passes_to_the_left_of_the_husar_whose_holder_has_no_turn_any_more():
    assert play("L5 HU L3 L4 L6", "0 swap").seat == 2


def test_a_husar_in_the_dealers_hand_ends_the_round():
    table = play("L5 L3 L4 HU", "0 stand, 1 stand, 2 swap")
    assert table.ended
    assert table.out == {2, 1}


def test_a_chopped_player_keeps_his_card_and_shows_it_at_the_end():
    table = play("L5 HU L3 L4 L6", "0 swap, 2 stand, 3 stand, 4 stand")
    assert "L50" in table.open_cards
    assert table.out == {0, 2}


# The svin


def test_a_svin_chops_the_card_that_was_to_be_exchanged():
    table = play("L5 SV L3 L4 L6", "0 swap")
    assert table.chopped == {0}
    assert table.hands == "L5 SV L3 L4 L6"
    assert table.events[-1] == "svin 0 1 L5 SV"
    assert table.open_cards == {"SV0"}


def test_the_turn_passes_to_the_left_of_the_svin():
    assert play("L5 SV L3 L4 L6", "0 swap").seat == 2
    assert play("L5 L4 L3 SV", "0 stand, 1 stand, 2 swap").ended


def test_it_is_the_player_who_was_dealt_the_chopped_card_who_is_chopped():
    table = play("L2 L5 SV L4 L6", "0 swap, 1 swap")
    assert table.chopped == {0}


def test_the_exchanges_of_the_chopped_card_are_annulled_in_reverse_order():
    table = play("L2 L5 L8 SV L9", "0 swap, 1 swap")
    assert table.hands == "L5 L8 L2 SV L9"
    table.act("2 swap")
    assert table.hands == "L2 L5 L8 SV L9"
    assert (table.chopped, table.seat) == ({0}, 4)
    assert table.act("4 stand").out == {0, 1}  # chopped; L5 is the lowest of the others


def test_exchanges_of_other_cards_stand():
    table = play("L5 L2 L8 L9 SV L1", "0 swap, 1 stand, 2 swap, 3 swap")
    assert table.hands == "L2 L5 L8 L9 SV L1"
    assert table.chopped == {2}


def test_an_earlier_exchange_with_another_card_of_the_same_player_stands():
    # seat 1 takes L5 by force of seat 0 and stands; the chopped L8 was dealt to seat 2
    table = play("L5 L2 L8 SV L1", "0 swap, 1 stand, 2 swap")
    assert table.hands == "L2 L5 L8 SV L1"
    assert table.chopped == {2}


def test_players_who_get_their_card_back_do_not_act_again():
    table = play("L2 L5 L8 SV L9", "0 swap, 1 swap, 2 swap, 4 stand")
    assert table.ended


def test_a_svin_does_not_turn_an_open_kille_face_down_again():
    table = play("L5 KI SV L4 L6", "0 swap, 1 swap")
    assert table.hands == "L5 KI SV L4 L6"
    assert table.open_cards == {"KI0", "SV0"}


def test_pig_scope_all_annuls_every_exchange_of_the_deal():  # D-E06
    script = "0 swap, 1 stand, 2 swap, 3 swap"
    table = play("L5 L2 L8 L9 SV L1", script, pig_scope="all")
    assert table.hands == "L5 L2 L8 L9 SV L1"
    assert table.chopped == {2}
    assert play("L5 L2 L8 L9 SV L1", script, pig_scope="card").hands == "L2 L5 L8 L9 SV L1"


def test_pig_scope_all_annuls_an_exchange_with_the_talon_too():  # D-E06, D-E04
    table = play(
        "L5 L6 L2 VH",
        "0 stand, 1 stand, 2 swap, 3 swap",
        talon="L9 SV",
        pig_scope="all",
        dealer_after_inn=True,
    )
    assert table.hands == "L5 L6 L2 VH"
    assert table.chopped == {3}
    assert sorted(table.laid_aside) == ["L9", "SV"]


def test_pig_scope_card_lets_an_exchange_with_the_talon_stand():
    table = play(
        "L5 L6 L2 VH",
        "0 stand, 1 stand, 2 swap, 3 swap",
        talon="L9 SV",
        dealer_after_inn=True,
    )
    assert table.hands == "L5 L6 L9 VH"
    assert table.chopped == {3}


# Kavall and vardshus


@pytest.mark.parametrize("card", ["VH", "KA"])
def test_past_a_kavall_or_vardshus_he_exchanges_with_the_next_player(card):
    table = play(f"L2 {card} L5 L6", "0 swap")
    assert table.hands == f"L5 {card} L2 L6"
    assert table.open_cards == {f"{card}0"}
    assert table.events == [f"passed 0 1 - {card}", "exchange 0 2 L2 L5"]


def test_the_turn_passes_to_the_one_who_gave_and_not_to_the_one_who_was_passed():  # D-E05
    assert play("L2 VH L5 L6", "0 swap").seat == 2


def test_several_in_a_row_are_all_passed():
    table = play("L2 VH KA VH L5 KA", "0 swap")
    assert table.hands == "L5 VH KA VH L2 KA"
    assert table.seat == 4


def test_past_them_a_husar_chops_and_the_turn_goes_one_further():
    table = play("L2 VH HU L5 L6", "0 swap")
    assert (table.chopped, table.seat) == ({0}, 3)


def test_past_them_a_svin_chops_and_the_turn_goes_one_further():
    table = play("L2 L3 KA SV L5 L6", "0 swap, 1 swap")
    assert (table.chopped, table.seat) == ({0}, 4)
    assert table.hands == "L2 L3 KA SV L5 L6"


def test_past_them_a_gok_stops_the_round():
    table = play("L2 VH GO L5", "0 swap", **NO_CALL)
    assert table.ended
    assert table.hands == "L2 VH GO L5"


@pytest.mark.parametrize("preset", ["svensk", "wikipedia"])
def test_a_passed_player_has_lost_his_turn_in_both_presets(preset):  # D-E05
    table = play("L2 VH L5 L6", "0 swap, 2 stand, 3 stand", preset=preset)
    assert table.ended


# "går i lek"


@pytest.mark.parametrize("card", ["BL", "L8", "KI"])
def test_the_dealer_exchanges_with_the_top_of_the_talon(card):
    table = play("L5 L6 L7 L2", "0 stand, 1 stand, 2 stand, 3 swap", talon=card)
    assert table.hands == f"L5 L6 L7 {card}"
    assert table.ended
    assert table.laid_aside == ["L2"]


def test_the_dealer_may_stand():
    table = play("L5 L6 L7 L2", "0 stand, 1 stand, 2 stand, 3 stand")
    assert table.ended
    assert table.out == {3}


def dealer_draws(talon, hands="L5 L6 L7 L2", **rules):
    return play(hands, "0 stand, 1 stand, 2 stand, 3 swap", talon=talon, **rules)


def test_a_gok_from_the_talon_stops_the_exchange():
    table = dealer_draws("GO L9")
    assert table.hands == "L5 L6 L7 L2"
    assert table.events[-1] == "talon_gok 3 -1 - GO"
    assert table.laid_aside == ["GO"]
    assert table.out == {3}


def test_a_husar_from_the_talon_chops():
    table = dealer_draws("HU L9", "L5 L6 L2 L7")
    assert table.hands == "L5 L6 L2 L7"
    assert table.chopped == {3}
    assert table.out == {2, 3}


def test_a_svin_from_the_talon_chops_the_dealers_own_card():
    table = dealer_draws("SV L9", "L5 L6 L2 L7")
    assert table.chopped == {3}
    assert table.laid_aside == ["SV"]


def test_a_svin_from_the_talon_annuls_the_exchanges_of_the_card():
    table = play("L1 L5 L6 L7", "0 swap, 1 swap, 2 swap, 3 swap", talon="SV")
    assert table.hands == "L1 L5 L6 L7"
    assert table.chopped == {0}
    assert table.events[-1] == "talon_svin 3 -1 L1 SV"


@pytest.mark.parametrize("card", ["VH", "KA"])
def test_past_a_kavall_or_vardshus_from_the_talon_the_next_card_is_drawn(card):  # D-E12
    table = dealer_draws(f"{card} L9")
    assert table.hands == "L5 L6 L7 L9"
    assert table.laid_aside == [card, "L2"]
    assert f"{card}0" in table.open_cards


def test_four_can_be_passed_in_the_talon():
    table = dealer_draws("VH KA VH KA SV")
    assert table.laid_aside == ["VH", "KA", "VH", "KA", "SV"]
    assert table.chopped == {3}


def test_by_the_english_article_an_inn_or_cavalier_from_the_stock_is_not_exchanged():  # D-E12
    for card in ("VH", "KA"):
        table = dealer_draws(f"{card} L9", stock_redraw=False)
        assert table.hands == "L5 L6 L7 L2"
        assert table.laid_aside == [card]
        assert table.ended
    assert dealer_draws("VH L9", preset="wikipedia").hands == "L5 L6 L7 L2"
    assert dealer_draws("VH L9", preset="svensk").hands == "L5 L6 L7 L9"


@pytest.mark.parametrize("inn", ["VH", "KA"])
def test_whom_the_dealers_kavall_or_vardshus_stops_must_go_to_the_talon(inn):
    table = play(f"L5 L6 L2 {inn}", "0 stand, 1 stand, 2 swap", talon="L9")
    assert table.hands == f"L5 L6 L9 {inn}"
    assert table.laid_aside == ["L2"]


def test_also_when_everybody_up_to_the_dealer_shows_one():
    table = play("L2 VH KA VH", "0 swap", talon="KA L9")
    assert table.hands == "L9 VH KA VH"
    assert table.laid_aside == ["KA", "L2"]
    assert table.ended


@pytest.mark.parametrize(
    ("talon", "chopped", "hands"),
    [
        ("GO", set(), "L5 L6 L2 VH"),
        ("HU", {2}, "L5 L6 L2 VH"),
        ("SV", {2}, "L5 L6 L2 VH"),
        ("KA L8", set(), "L5 L6 L8 VH"),
        ("KI", set(), "L5 L6 KI VH"),
    ],
)
def test_it_happens_in_just_the_same_way_as_for_the_dealer(talon, chopped, hands):
    table = play("L5 L6 L2 VH", "0 stand, 1 stand, 2 swap", talon=talon)
    assert table.chopped == chopped
    assert table.hands == hands
    assert table.ended


def test_the_dealer_whose_inn_was_passed_has_no_turn():  # D-E04
    assert play("L5 L6 L2 VH", "0 stand, 1 stand, 2 swap", talon="L9").ended


@pytest.mark.parametrize("drawn", ["L9", "HU", "SV", "KI"])
def test_with_dealer_after_inn_he_still_has_it(drawn):  # D-E04
    table = play(
        "L5 L6 L2 VH", "0 stand, 1 stand, 2 swap", talon=f"{drawn} L8", dealer_after_inn=True
    )
    assert (table.seat, table.legal) == (3, "stand swap")
    table.act("3 swap")
    assert table.ended
    assert table.hands.endswith("L8")


def test_with_dealer_after_inn_a_failed_draw_still_leaves_him_his_turn():  # D-E04, D-E12
    table = play(
        "L5 L6 L2 VH",
        "0 stand, 1 stand, 2 swap",
        talon="KA",
        dealer_after_inn=True,
        stock_redraw=False,
    )
    assert table.seat == 3


def test_with_dealer_after_inn_a_gok_from_the_talon_ends_the_round():  # D-E04
    table = play("L5 L6 L2 VH", "0 stand, 1 stand, 2 swap", talon="GO", dealer_after_inn=True)
    assert table.ended


def test_a_drawn_card_is_taken_face_down_and_the_old_one_laid_aside_face_down():  # D-E17
    table = play("L5 L6 L2 VH", "0 stand, 1 stand, 2 swap", talon="L9", dealer_after_inn=True)
    assert table.open_cards == {"VH0"}


def test_a_kille_is_drawn_and_laid_aside_face_up():
    table = play("L5 L6 KI VH", "0 stand, 1 stand, 2 swap", talon="KI", dealer_after_inn=True)
    assert table.open_cards == {"KI0", "KI1", "VH0"}
    assert table.laid_aside == ["KI"]


# The kille's rank


def test_a_dealt_kille_is_low_and_in_the_english_article_high():  # D-E02
    assert not play("KI L5 L6 L7").has_high(0)
    assert play("KI L5 L6 L7", dealt_kille="high").has_high(0)
    assert play("KI L5 L6 L7", preset="wikipedia").has_high(0)


def test_a_kille_got_for_another_card_is_low():
    assert not play("L5 KI L6 L7", "0 swap", dealt_kille="high").has_high(0)
    assert not play("KI L5 L6 L7", "0 swap", dealt_kille="high").has_high(1)


def test_a_kille_drawn_from_the_talon_is_high():
    assert dealer_draws("KI").has_high(3)
    assert dealer_draws("KI", preset="wikipedia").has_high(3)
    assert play("L5 L6 L2 VH", "0 stand, 1 stand, 2 swap", talon="KI").has_high(2)


def test_also_when_it_is_drawn_for_a_kille():
    assert dealer_draws("KI", "L5 L6 L7 KI").has_high(3)


def test_killes_that_are_exchanged_for_each_other_are_both_high():
    table = play("KI KI L6 L7", "0 swap")
    assert table.has_high(0)
    assert table.has_high(1)


def test_with_meeting_low_both_are_low():  # D-E02
    table = play("KI KI L6 L7", "0 swap", meeting="low", dealt_kille="high")
    assert not table.has_high(0)
    assert not table.has_high(1)
    assert not play("KI KI L6 L7", "0 swap", preset="wikipedia").has_high(0)


def test_a_met_kille_that_is_exchanged_on_is_low_and_the_other_stays_high():  # footnote
    table = play("KI KI L6 L7", "0 swap, 1 swap")
    assert table.hands == "KI L6 KI L7"
    assert table.has_high(0)
    assert not table.has_high(2)


def test_a_svin_gives_a_kille_its_old_rank_back():  # D-E07
    script = "0 swap, 1 swap, 3 stand"
    table = play("KI KI SV L5", script)
    assert table.hands == "KI KI SV L5"
    assert table.out == {0, 1, 3}  # chopped, a low kille, the lowest
    assert play("KI KI SV L5", script, undo_restores=False).out == {0, 3}


def test_a_kille_that_comes_back_is_high_again_where_it_was_dealt_high():  # D-E07
    script = "0 swap, 1 swap"
    table = play("L5 KI SV L6", script, dealt_kille="high")
    assert table.hands == "L5 KI SV L6"
    assert table.has_high(1)
    assert not play("L5 KI SV L6", script, dealt_kille="high", undo_restores=False).has_high(1)
    table = play("KI L5 SV L6", script, dealt_kille="high")
    assert table.has_high(0)
    assert not play("KI L5 SV L6", script, dealt_kille="high", undo_restores=False).has_high(0)


# Consequences


@pytest.mark.parametrize("card", ["VH", "KA", "SV", "HU", "GO"])
def test_a_matador_that_nobody_challenged_may_be_exchanged_away_face_down(card):  # D-E21
    table = play(f"{card} L5 L6 L7", "0 swap", **NO_CALL)
    assert table.hands == f"L5 {card} L6 L7"
    assert table.open_cards == set()
    assert table.seat == 1


def test_such_a_matador_answers_the_next_challenge_only_if_its_holder_is_to_the_left():
    table = play("HU L5 L6 L7", "0 swap, 1 stand, 2 stand, 3 stand")
    assert table.chopped == set()


def test_a_player_who_was_pushed_an_open_kille_may_stand_or_pass_it_on():
    table = play("KI L5 L6 L7", "0 swap")
    assert (table.seat, table.legal) == (1, "stand swap")
    assert table.act("1 swap").hands == "L5 L6 KI L7"


def test_the_round_never_passes_the_dealer():
    table = play("L1 L2 L3 L4", "0 stand, 1 stand, 2 swap")
    assert table.hands == "L1 L2 L4 L3"
    assert table.seat == 3
    assert table.act("3 stand").ended


@pytest.mark.parametrize("players", [2, 3, 13, 20])
def test_from_two_to_twenty_play(players):  # D-E18
    hands = " ".join(["L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "L10"] * 2).split()
    table = play(" ".join(hands[:players]), fraga="off")
    for seat in range(players):
        table.act(f"{seat} stand")
    assert table.out == ({0, 10} if players > 10 else {0})
