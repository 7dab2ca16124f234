"""Who is out: the Swedish article's "Upp till bevis", the English rules for two, single deals."""

from itertools import pairwise

import pytest

from env.tables import Table, play
from kille_env.games.byteskille import SPEC


def stand(hands, **rules):
    return Table(len(hands.split()), **rules).all_stand(hands)


# "Upp till bevis"


def test_when_all_exchanges_are_over_all_cards_are_turned_up():
    assert stand("L5 L6 L7 L8").open_cards == {"L50", "L60", "L70", "L80"}


def test_the_player_with_the_lowest_card_is_out():
    table = stand("L5 L3 L7 L8")
    assert table.out == {1}
    assert table.in_pot == {0, 2, 3}


def test_two_equal_lowest_cards_are_both_out():
    assert stand("L5 L3 L7 L3").out == {1, 3}


RANKS = SPEC.pack.codes[:-1]


@pytest.mark.parametrize(("lower", "higher"), list(pairwise(RANKS)))
def test_the_cards_rank_from_blaren_to_gok(lower, higher):
    assert stand(f"{higher} {lower} {higher}", gok_call="off").out == {1}


def test_a_player_with_a_low_kille_is_out_and_so_is_the_lowest_of_the_other_cards():
    assert stand("KI L5 L6 L7").out == {0, 1}


def test_a_kille_got_in_exchange_is_out():
    assert play("L5 KI L6 L7", "0 swap, 1 stand, 2 stand, 3 stand").out == {0, 1}


def test_a_high_kille_is_not_out():
    script = "0 stand, 1 stand, 2 stand, 3 swap"
    assert play("L5 L6 L7 BL", script, talon="KI").out == {0}


def test_killes_that_met_are_not_out():
    assert play("KI KI L6 L7", "0 swap, 1 stand, 2 stand, 3 stand").out == {2}


def test_in_the_english_article_a_dealt_kille_is_not_out():  # D-E02
    assert stand("KI L5 L6 L7", preset="wikipedia").out == {1}
    assert stand("KI L5 L6 L7", dealt_kille="high").out == {1}


def test_a_player_chopped_by_a_husar_is_out():
    assert play("L9 HU L6 L7", "0 swap, 2 stand, 3 stand").out == {0, 2}


def test_the_player_who_was_dealt_the_card_that_a_svin_chopped_is_out():
    assert play("L9 L10 SV L6 L7", "0 swap, 1 swap, 3 stand, 4 stand").out == {0, 3}


def test_chopped_players_do_not_count_for_the_lowest_card():  # D-E08
    hands, script = "L2 HU L6 L7", "0 swap, 2 stand, 3 stand"
    assert play(hands, script).out == {0, 2}
    assert play(hands, script, lowest_excludes_chopped=False).out == {0}
    assert play(hands, script, preset="wikipedia").out == {0, 2}


def test_low_killes_do_not_count_for_the_lowest_card():
    assert stand("KI L5 L6 L7").out == {0, 1}
    assert stand("KI L5 L6 L7", lowest_excludes_chopped=False).out == {0, 1}


def test_a_kuku_and_a_high_kille_are_equal():  # D-E03
    hands, script = "GO HU L6 BL", "0 swap, 0 wait, 2 swap"
    # 0 is chopped holding the gok; dealer's husar is shown; 2 takes BL, 3 draws the kille
    table = play(hands, f"{script}, 0 wait, 3 swap", talon="KI")
    assert table.out == {0, 2}


def test_a_gok_is_never_out_for_the_lowest_card_against_a_high_kille():  # D-E03
    # two players, forehand stands with the kuku, the dealer draws a kille: both stay
    script = "0 stand, 0 wait, 1 swap"
    assert play("GO L5", script, talon="KI").out == set()
    assert play("GO L5", script, talon="KI", high_kille="above_gok").out == {0}


def test_by_the_english_ranks_the_high_kille_is_above_the_gok():  # D-E03
    assert stand("GO KI", preset="wikipedia", two_player="ordinary").out == {0}
    assert stand("GO KI", dealt_kille="high", high_kille="above_gok").out == {0}
    assert stand("GO KI", dealt_kille="high", high_kille="equal_gok").out == set()


# "Ibland kan alla kvarvarande spelare uppfylla något av ovanstående kriterier."


def test_if_all_would_go_out_the_lowest_card_is_left_out_of_account_when_somebody_is_chopped():
    table = play("L5 HU", "0 swap")
    assert table.out == {0}  # 1's husar would be the lowest of one card
    table = play("L5 HU KI", "0 swap, 2 stand")
    assert table.out == {0, 2}


def test_if_that_does_not_help_because_nobody_is_chopped_nobody_is_out():
    assert stand("L5 L5").out == set()
    assert stand("KI L5 L5").out == set()
    assert stand("KI L5").out == set()
    assert stand("KI KI").out == set()


def test_if_that_does_not_help_because_all_are_low_killes_or_chopped_nobody_is_out():
    # 0's L5 goes to the dealer, who draws a svin: 0 is chopped, the dealer has their low kille back
    table = play("L5 KI", "0 swap, 1 swap", talon="SV")
    assert table.hands == "L5 KI"
    assert table.chopped == {0}
    assert table.out == set()


def test_a_husars_victim_is_marked_only_and_can_be_saved_by_a_deadlock():  # D-E23
    table = play("L5 KI", "0 swap, 1 swap", talon="HU")
    assert (table.hands, table.chopped) == ("KI L5", {1})
    assert table.out == set()


@pytest.mark.parametrize(
    ("script", "talon"),
    [
        ("1 stand", ""),
        ("1 swap", "L9"),
        ("1 swap", "BL"),
        ("1 swap", "KI"),
        ("1 swap", "GO"),
        ("1 swap", "HU"),
        ("1 swap", "SV"),
        ("1 swap", "VH L9"),
    ],
)
def test_forehand_takes_a_kille_from_the_dealer_and_both_stay_whatever_the_dealer_does(
    script, talon
):
    assert play("L5 KI", f"0 swap, {script}", talon=talon).out == set()


def test_with_two_a_low_kille_costs_only_a_holder_who_is_chopped_himself():
    table = play("KI HU", "0 swap")
    assert table.out == {0}
    table = play("L5 KI", "0 stand, 1 swap", talon="HU")
    assert (table.hands, table.out) == ("L5 KI", {1})


@pytest.mark.parametrize("preset", ["svensk", "wikipedia"])
def test_the_deadlock_rules_hold_for_both_presets(preset):  # D-E09
    assert stand("L5 L5", preset=preset).out == set()
    assert play("L5 HU L5 L9", "0 swap, 2 stand, 3 stand", preset=preset).out == {0, 2}


def test_three_players_of_whom_one_is_chopped_and_the_others_are_equally_low():
    table = play("L9 HU HU", "0 swap, 2 stand")
    assert table.out == {0}


def test_with_chopped_cards_compared_the_deadlock_rules_are_the_same():  # D-E08
    assert play("L9 HU HU", "0 swap, 2 stand", lowest_excludes_chopped=False).out == {0}


# "går turen att ge vidare medsols till närmaste icke utslagna spelare"


def test_the_deal_passes_clockwise_to_the_nearest_player_who_is_not_out():
    assert Table(5, dealer=4, reentry="none").all_stand("L2 L5 L6 L7 L8").next_dealer == 1
    assert Table(5, dealer=4, reentry="none").all_stand("L5 L2 L6 L7 L8").next_dealer == 0


def test_also_when_nobody_is_out():
    table = Table(2).all_stand("L5 L5")
    assert table.next_dealer == 0
    assert table.deal("L5 L6").record["dealer"] == 0


def test_who_is_out_sits_out():
    table = Table(5, dealer=4, reentry="none").all_stand("L5 L2 L6 L7 L8").deal("L1 L2 L3 L4")
    assert table.hands == "L4 - L1 L2 L3"
    table.act("2 stand, 3 stand, 4 stand")
    assert table.seat == 0


def test_an_exchange_passes_over_a_seat_that_is_out():
    table = Table(5, dealer=3, reentry="none").all_stand("L5 L6 L2 L7 L8")
    assert table.out == {1}
    assert table.deal("L4 L3 L2 L1").record["dealer"] == 4
    assert table.act("0 swap").hands == "L3 - L4 L2 L1"


# Two players, by the English article (D-E15)


def wiki_two(hands, script="", talon="", **more):
    return play(hands, script, talon, two_player="wiki", **more)


@pytest.mark.parametrize("hands", ["KI L5", "L5 KI", "KI GO", "GO KI", "KI KI"])
def test_of_two_players_a_dealt_kille_means_new_cards_from_the_same_dealer(hands):
    table = wiki_two(hands)
    assert table.batch.at_chance[0]
    table.deal(hands)  # again and again
    assert table.deal("L5 L6").record["dealer"] == 1
    assert (table.seat, table.pot) == (0, 4)


@pytest.mark.parametrize("hands", ["GO L5", "L5 GO"])
def test_of_two_players_a_dealt_gok_means_an_immediate_showdown(hands):
    table = wiki_two(hands)
    assert table.ended
    assert table.out == {hands.split().index("L5")}


def test_two_goks_leave_both_in():
    assert wiki_two("GO GO").out == set()


@pytest.mark.parametrize("card", ["SV", "HU"])
def test_of_two_players_one_who_tries_to_exchange_with_a_svin_or_husar_has_lost(card):
    table = wiki_two(f"L5 {card}", "0 swap")
    assert (table.ended, table.out) == (True, {0})


@pytest.mark.parametrize("card", ["SV", "HU"])
def test_also_when_it_comes_from_the_talon_and_nothing_is_undone(card):
    table = wiki_two("L5 L9", "0 swap, 1 swap", talon=card)
    assert table.hands == "L9 L5"
    assert table.out == {1}


def test_it_is_over_at_once_even_if_the_dealer_would_have_his_turn():
    table = wiki_two("L5 VH", "0 swap", talon="HU", dealer_after_inn=True)
    assert (table.ended, table.out) == (True, {0})


def test_the_loser_loses_even_with_the_lowest_card_elsewhere():
    assert wiki_two("L5 L2", "0 stand, 1 swap", talon="HU", fraga="off").out == {1}
    table = wiki_two("L2 L9", "0 stand, 1 swap", talon="HU", lowest_excludes_chopped=False)
    assert table.out == {1}


def test_with_ordinary_rules_for_two_a_svin_undoes():
    table = play("L5 L9", "0 swap, 1 swap", talon="SV")
    assert (table.hands, table.chopped) == ("L5 L9", {0})


def test_three_players_play_by_ordinary_rules_in_both_presets():
    assert play("KI GO L5", preset="wikipedia").seat == 0
    assert play("L5 HU L6", "0 swap", preset="wikipedia").seat == 2


def test_the_presets_differ_in_it():
    assert play("GO L5", preset="wikipedia").ended
    assert not play("GO L5", preset="svensk").ended


# A single deal (`episode: deal`)


def test_in_a_single_deal_who_goes_out_pays_the_stake_and_the_others_share_it():
    table = stand("L5 L5 L6 L7", episode="deal", stake=6)
    assert table.returns == [-6, -6, 6, 6]
    assert table.phase == "over"
    assert not table.record["truncated"]


def test_shares_may_be_fractions():
    assert stand("L5 L6 L7 L8", episode="deal").returns == pytest.approx([-2, 2 / 3, 2 / 3, 2 / 3])


def test_in_a_single_deal_nobody_antes_and_nobody_buys_in():
    table = play("L5 L6 L7 L8", episode="deal")
    assert (table.pot, table.returns) == (0, [0, 0, 0, 0])
    table.act("0 stand, 1 stand, 2 stand, 3 stand")
    assert table.phase == "over"


def test_in_a_single_deal_nobody_out_costs_nothing():
    assert stand("L5 L5", episode="deal").returns == [0, 0]


def test_hands_that_are_dealt_again_belong_to_the_single_deal():
    table = play("L5 L6", "0 ask, 1 yes", episode="deal")
    assert table.batch.at_chance[0]
    assert table.all_stand("L5 L6").returns == [-2, 2]


def test_the_cap_on_hands_cuts_a_single_deal_off_too():
    table = play("L5 L6", "0 ask, 1 yes", episode="deal", max_deals=1)
    assert table.phase == "over"
    assert table.record["truncated"]
    assert table.returns == [0, 0]
