"""The money: antes, buying in by three schemes, the pot, the end of a match ("Satsningen")."""

import pytest

from env.tables import Table, play, seats

# "Satsningen"


def test_everybody_stakes_the_agreed_sum_before_the_first_deal():
    table = Table(4, stake=6).deal("L1 L2 L3 L4")
    assert table.pot == 24
    assert table.returns == [-6] * 4


def test_the_stake_is_two_units_unless_agreed_otherwise():  # D-E19
    assert Table(4).deal("L1 L2 L3 L4").pot == 8


def test_it_is_paid_once_for_the_pot():  # D-E01
    table = Table(5).all_stand("L1 L2 L3 L4 L5").deal("L2 L3 L4 L5")
    assert table.pot == 10


def test_in_the_english_article_it_is_paid_before_each_deal_by_those_who_are_in():  # D-E01
    for rules in ({"ante": "deal"}, {"preset": "wikipedia"}):
        table = Table(5, None, reentry="none", **rules).all_stand("L1 L2 L3 L4 L5")
        table.deal("L2 L3 L4 L5")
        assert table.pot == 18
        assert table.returns == [-2, -4, -4, -4, -4]


def test_when_one_player_is_left_he_has_won_the_whole_pot():
    table = Table(4, gok_call="off").all_stand("L1 L1 KI GO")
    assert table.phase == "over"
    assert table.returns == [-2, -2, -2, 6]
    assert (table.pot, table.record["winner"]) == (0, 3)
    assert not table.record["truncated"]


# Buying in, `svensk` (D-E22)


def three_left(**rules):
    """Four players of whom seat 3, the dealer, is out."""
    return Table(4, **rules).all_stand("L5 L6 L7 L2")


def test_the_first_time_opens_when_the_number_of_players_sinks_to_three():
    table = three_left()
    assert (table.seat, table.phase, table.legal) == (3, "buyin", "buy decline")


def test_or_when_it_sinks_to_two():
    table = Table(4).all_stand("L5 L2 L7 L2")
    assert (table.seat, table.phase) == (1, "buyin")


def test_with_four_left_nobody_buys_in():
    assert Table(5).all_stand("L1 L2 L3 L4 L5").batch.at_chance[0]


def test_a_pot_that_starts_with_three_opens_it_at_two():  # D-E25
    table = Table(3).all_stand("L5 L2 L7")
    assert (table.seat, table.phase) == (1, "buyin")


def test_nobody_out_opens_nothing():
    table = Table(3).all_stand("KI L5 L5")
    assert table.out == set()
    assert table.batch.at_chance[0]
    assert Table(2).all_stand("L5 L5").batch.at_chance[0]


def test_the_first_price_is_double_the_stake():
    table = three_left(stake=6).act("3 buy")
    assert table.returns == [-6, -6, -6, -18]
    assert table.pot == 36


def test_who_buys_is_active_from_the_next_deal():
    table = three_left().act("3 buy")
    assert table.in_pot == {0, 1, 2, 3}
    assert table.deal("L1 L2 L3 L4").hands == "L4 L1 L2 L3"


def test_everybody_who_is_out_may_buy_also_those_of_earlier_deals():
    table = Table(5).all_stand("L1 L2 L3 L4 L5").all_stand("1:L9 2:L2 3:L4 4:L5")
    assert table.in_pot == {1, 3, 4}
    table.act("2 buy, 0 buy")
    assert table.in_pot == {0, 1, 2, 3, 4}


def test_they_decide_clockwise_from_the_left_of_the_dealer_of_the_deal():  # D-E20
    table = Table(5, dealer=1).all_stand("L5 L2 L2 L6 L7")  # seats 2 3 4 0 1: 3 and 4 are out
    assert table.seat == 3
    table.act("3 decline")
    assert table.seat == 4
    table = Table(5, dealer=3).all_stand("L5 L2 L6 L2 L7")  # seats 4 0 1 2 3: 0 and 2 are out
    table.act("0 buy, 2 buy")
    table = Table(5, dealer=0).all_stand("L2 L6 L7 L8 L2")  # seats 1 2 3 4 0: 1 and the dealer
    table.act("1 buy, 0 buy")


def test_who_declines_stays_out():
    table = three_left().act("3 decline")
    assert table.in_pot == {0, 1, 2}
    assert table.pot == 8
    assert table.deal("L1 L2 L3").hands == "L3 L1 L2 -"


def test_if_the_number_jumps_past_three_and_two_there_is_no_buying_in():
    table = Table(4, gok_call="off").all_stand("L1 L1 KI GO")
    assert table.phase == "over"
    # "till exempel för att tre spelare slås ut i en givning som startar med fyra"
    table = play("L5 HU L2 L2", "0 swap, 2 stand, 3 stand")
    assert (table.out, table.phase) == ({0, 2, 3}, "over")


def test_the_first_occasion_comes_once():
    table = three_left().act("3 buy")
    table.all_stand("0:L5 1:L2 2:L3 3:L4")
    assert table.out == {1}
    assert table.batch.at_chance[0]


def two_left_again(**rules):
    """Seat 3 bought at the first occasion; then 3 and 0 go out together."""
    table = three_left(**rules).act("3 buy")
    return table.all_stand("0:L2 1:L7 2:L8 3:L2")


def test_the_second_occasion_comes_when_two_are_left_again():
    table = two_left_again()
    assert table.in_pot == {1, 2}
    assert (table.seat, table.phase) == (3, "buyin")  # clockwise from dealer 0's left


def test_its_price_is_half_the_pot():
    table = two_left_again()
    assert table.pot == 12
    table.act("3 buy")
    assert table.pot == 18
    assert table.returns[3] == -2 - 4 - 6


def test_half_the_pot_is_taken_when_the_occasion_opens_so_that_all_pay_the_same():
    table = two_left_again().act("3 buy, 0 buy")
    assert table.pot == 24
    assert table.returns == [-2 - 6, -2, -2, -2 - 4 - 6]


def test_it_comes_also_when_the_number_sinks_from_three_to_two():
    table = three_left().act("3 buy")
    table.all_stand("0:L5 1:L2 2:L3 3:L4")  # three left
    table.all_stand("0:L7 2:L3 3:L6")
    assert table.in_pot == {0, 3}
    assert (table.seat, table.phase) == (1, "buyin")


def test_who_went_out_for_the_first_time_later_may_buy_at_the_second():  # D-E13
    assert seats(two_left_again().record["to_buy"]) == {0, 3}


def test_or_only_those_who_bought_at_the_first():  # D-E13
    table = two_left_again(second_includes_new=False)
    assert seats(table.record["to_buy"]) == {3}
    table.act("3 decline")
    assert table.batch.at_chance[0]


def test_who_declined_at_the_first_occasion_has_no_right_at_the_second():
    table = Table(5).all_stand("L5 L6 L7 L2 L2").act("3 buy, 4 decline")
    table.all_stand("0:L8 1:L2 2:L2 3:L7")
    assert table.in_pot == {0, 3}
    assert seats(table.record["to_buy"]) == {1, 2}


def test_if_nobody_buys_at_the_first_there_is_no_second():
    table = three_left().act("3 decline")
    table.all_stand("0:L7 1:L2 2:L5")
    assert table.in_pot == {0, 2}
    assert table.batch.at_chance[0]


def test_there_is_no_third_occasion():
    table = two_left_again().act("3 buy, 0 decline")
    table.all_stand("1:L7 2:L2 3:L5")
    assert table.in_pot == {1, 3}
    assert table.batch.at_chance[0]


def test_a_jump_past_two_ends_the_pot_before_the_second():
    table = three_left().act("3 buy")
    table.deal("L2 HU L5 L5").act("1 swap, 3 stand, 0 stand")
    assert table.out == {0, 1, 3}
    assert table.phase == "over"
    assert table.returns == [-2, -2, -2 + 12, -6]


# The next dealer (D-E14)


def test_the_next_dealer_is_found_after_the_buying_in():
    table = Table(4, dealer=3).all_stand("L2 L5 L6 L7").act("0 buy")
    assert table.next_dealer == 0


def test_or_before_it():
    table = Table(4, dealer=3, next_dealer="before").all_stand("L2 L5 L6 L7").act("0 buy")
    assert table.next_dealer == 1
    assert table.deal("L5 L6 L7 L8").record["dealer"] == 1


# A new pot


def test_after_a_pot_is_won_everybody_is_in_again_and_stakes_anew():
    table = Table(3, pots=2, dealer=1, gok_call="off").all_stand("L1 L1 GO")
    assert table.returns == [-2, 4, -2]
    table.deal("L5 L6 L7")
    assert table.pot == 6
    assert table.returns == [-4, 2, -4]
    assert table.in_pot == {0, 1, 2}


def test_the_deal_passes_to_the_seat_after_the_last_dealer():
    table = Table(3, pots=2, dealer=1, gok_call="off").all_stand("L1 L1 GO")
    assert table.next_dealer == 2
    assert table.deal("L5 L6 L7").record["dealer"] == 2


def test_a_new_pot_has_its_own_occasions_and_counts():
    table = Table(4, pots=2, gok_call="off").all_stand("L5 L6 L7 L2").act("3 decline")
    table.all_stand("0:L1 1:L1 2:GO")
    assert table.record["pots_won"] == 1
    table.all_stand("0:L2 1:L5 2:L6 3:L7")
    assert (table.seat, table.phase) == (0, "buyin")
    assert seats(table.record["declined"]) == set()


def test_a_match_is_as_many_pots_as_agreed_one_by_default():  # D-E26
    assert Table(2).all_stand("L1 L2").phase == "over"
    table = Table(2, pots=3).all_stand("L1 L2").all_stand("L1 L2")
    assert table.phase == "deal"
    assert table.all_stand("L1 L2").phase == "over"


# The cap (D-E26)


def test_at_max_deals_the_match_is_cut_off_and_the_pot_split():
    table = Table(4, max_deals=1, reentry="none").all_stand("L1 L2 L3 L4")
    assert table.phase == "over"
    assert table.record["truncated"]
    assert table.returns == [-2, 0, 0, 0]
    assert table.record["left_on_table"] == 2


def test_a_pot_won_in_the_last_hand_is_no_cut():
    table = Table(2, max_deals=1).all_stand("L1 L2")
    assert not table.record["truncated"]


def test_a_match_with_pots_to_come_is_cut_off_between_them():
    table = Table(2, max_deals=1, pots=2).all_stand("L1 L2")
    assert (table.phase, bool(table.record["truncated"])) == ("over", True)
    assert table.returns == [-2, 2]


def test_the_cap_is_looked_at_after_the_buying_in():
    table = three_left(max_deals=1)
    assert table.phase == "buyin"
    table.act("3 buy")
    assert table.returns == [1, 1, 1, -3]  # 12 shared by four


def test_hands_that_are_dealt_again_count_for_the_cap():
    table = play("L5 L6", "0 ask, 1 yes", max_deals=2).deal("L5 L6").act("0 ask, 1 yes")
    assert (table.phase, table.returns) == ("over", [0, 0])
    table = Table(2, two_player="wiki", max_deals=1).deal("KI L5")
    assert table.phase == "over"


def test_two_hundred_hands_by_default():
    assert Table(2).rules["max_deals"] == 200


# Re-entry by the English article: wiki3 (D-E16)


def wiki3(players=5, **rules):
    return Table(players, **{"reentry": "wiki3", "fraga": "off", **rules})


def test_who_is_knocked_out_may_re_enter_right_after_it_for_the_stake():
    table = wiki3(stake=4).all_stand("L1 L2 L3 L4 L5")
    assert (table.seat, table.phase) == (0, "buyin")
    assert table.act("0 buy").returns[0] == -8


def test_only_in_the_deal_after_the_one_in_which_he_was_knocked_out():
    table = wiki3().all_stand("L1 L2 L3 L4 L5").act("0 decline").all_stand("1:L2 2:L3 3:L4 4:L5")
    assert seats(table.record["to_buy"]) == {1}


def test_the_second_time_costs_half_the_pot_and_the_third_the_whole():
    table = wiki3(2, reentry_one_left=True).all_stand("L1 L2").act("0 buy")
    assert table.pot == 6
    table.all_stand("0:L1 1:L2").act("0 buy")
    assert table.pot == 6 + 3
    table.all_stand("0:L1 1:L2").act("0 buy")
    assert table.pot == 18
    assert table.returns == [-2 - 2 - 3 - 9, -2]


def test_half_an_odd_pot_is_rounded_up():  # D-E19
    table = wiki3(3, stake=2).all_stand("0:L1 1:L2 2:L3").act("0 buy")
    table.all_stand("0:L1 1:L2 2:L3").act("0 buy")  # half of 8
    table.all_stand("0:L2 1:L1 2:L3").act("1 buy")  # the stake
    table.all_stand("0:L2 1:L1 2:L3").act("1 buy")  # half of 14
    table.all_stand("0:L2 1:L3 2:L1").act("2 buy")  # the stake
    assert table.pot == 6 + 2 + 4 + 2 + 7 + 2
    assert table.all_stand("0:L2 1:L3 2:L1").act("2 buy").pot == 23 + 12


def test_only_three_times():
    table = wiki3(3)
    for _ in range(3):
        table.all_stand("0:L1 1:L2 2:L3").act("0 buy")
    table.all_stand("0:L1 1:L2 2:L3")
    assert table.out == {0}
    assert table.batch.at_chance[0]


def test_the_price_is_that_of_the_pot_when_the_occasion_opens():
    table = wiki3(4).all_stand("L1 L1 L3 L4").act("0 buy, 1 buy")
    table.all_stand("0:L1 1:L1 2:L3 3:L4")
    assert table.pot == 12
    assert table.act("1 buy, 0 buy").pot == 24


def test_with_one_player_left_the_pot_is_won_without_re_entry():
    assert wiki3(2).all_stand("L1 L2").phase == "over"


def test_or_he_can_be_challenged():
    table = wiki3(2, reentry_one_left=True).all_stand("L1 L2")
    assert (table.seat, table.phase) == (0, "buyin")
    assert table.act("0 decline").returns == [-2, 2]
    table = wiki3(2, reentry_one_left=True).all_stand("L1 L2").act("0 buy")
    assert (table.phase, table.in_pot) == ("deal", {0, 1})


def test_the_next_ante_comes_on_top_of_the_price():
    table = wiki3(4, ante="deal").all_stand("L1 L2 L3 L4").act("0 buy").deal("L1 L2 L3 L4")
    assert table.returns == [-6, -4, -4, -4]


def test_or_the_price_includes_it():
    rules = {"ante": "deal", "reentry_plus_ante": False}
    table = wiki3(4, **rules).all_stand("L1 L2 L3 L4").act("0 buy").deal("L1 L2 L3 L4")
    assert table.returns == [-4, -4, -4, -4]
    table.act("1 stand, 2 stand, 3 stand, 0 stand, 1 decline").deal("0:L1 2:L2 3:L3")
    assert table.returns == [-6, -4, -6, -6]  # for that one ante only


def test_for_every_kind_of_re_entry():
    table = three_left(ante="deal", reentry_plus_ante=False).act("3 buy").deal("L5 L6 L7 L8")
    assert table.returns == [-4, -4, -4, -6]


def test_it_makes_no_difference_where_the_ante_is_paid_once():
    table = three_left(ante="pot", reentry_plus_ante=False).act("3 buy").deal("L5 L6 L7 L8")
    assert table.returns == [-2, -2, -2, -6]


def test_the_wikipedia_preset_re_enters_by_wiki3():
    table = Table(5, preset="wikipedia").all_stand("L1 L2 L3 L4 L5")
    assert (table.seat, table.phase) == (0, "buyin")


# The variant: wiki2 (D-E16, D-E22)


def test_wiki2_opens_first_at_exactly_three_for_all_who_are_out_for_a_double_stake():
    table = Table(5, reentry="wiki2").all_stand("L1 L2 L3 L4 L5")
    assert table.batch.at_chance[0]
    table.all_stand("1:L2 2:L3 3:L4 4:L5")
    assert seats(table.record["to_buy"]) == {0, 1}
    assert table.act("0 buy, 1 buy").returns == [-6, -6, -2, -2, -2]


def test_wiki2_opens_nothing_when_there_is_no_such_deal():
    table = Table(4, reentry="wiki2").all_stand("L1 L1 L3 L4")
    assert table.in_pot == {2, 3}
    assert table.batch.at_chance[0]
    assert Table(3, reentry="wiki2").all_stand("L1 L2 L3").batch.at_chance[0]


@pytest.mark.parametrize(("half", "price"), [("half", 6), ("full", 12)])
def test_wiki2_opens_second_at_exactly_two_for_those_who_used_the_first(half, price):
    table = two_left_again(reentry="wiki2", wiki2_second=half)
    assert seats(table.record["to_buy"]) == {3}
    assert table.act("3 buy").returns == [-2, -2, -2, -2 - 4 - price]


def test_wiki2_opens_each_once():
    table = two_left_again(reentry="wiki2").act("3 buy")
    table.all_stand("1:L7 2:L2 3:L5")
    assert table.in_pot == {1, 3}
    assert table.batch.at_chance[0]


def test_none_lets_nobody_in_again():
    table = three_left(reentry="none")
    assert table.batch.at_chance[0]
    assert Table(3, reentry="none").all_stand("L5 L2 L7").batch.at_chance[0]
