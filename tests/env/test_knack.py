"""Knack: a test for each sentence of its rules, and for each default of ours (D-N..).

Seat 0 is forehand, the last seat deals, and hearts are trumps (the six is turned up), unless said
otherwise.
"""

import numpy as np
import pytest

import kille_env
from env.knack_tables import Table, play
from kille_env.errors import CardError, RulesError
from kille_env.games.knack import SPEC

TWO = "7C 8C 9C | 6C TC JC"
THREE = "7C 8C 9C | 6C TC JC | 6D 7D 8D"
FOUR = "7C 8C 9C | 6C TC JC | 6D 7D 8D | 6S 7S 8S"

# Pack, seats, deal


def test_thirty_six_cards_with_the_ace_high_and_the_six_low():
    assert SPEC.pack.size == 36
    assert SPEC.pack.codes[:10] == ("6C", "7C", "8C", "9C", "TC", "JC", "QC", "KC", "AC", "6D")
    table = play("AC KC 7C | QC 6C 8C", "0 knock, 1 knock, 0 KC, 1 QC")
    assert table.record["winners"][0] == 0


def test_every_card_is_there_once():
    batch = kille_env.make_batch("knack")
    with pytest.raises(CardError, match="one 6C too many: a pack holds every card once"):
        batch.reset(deck=["6C", "6C"])


@pytest.mark.parametrize("players", [1, 12])
def test_two_to_eleven_can_play(players):  # D-N11
    with pytest.raises(RulesError, match="2 to 11"):
        kille_env.make_batch("knack", 1, players)


def test_eleven_players_use_thirty_four_cards():
    codes = SPEC.pack.codes
    hands = " | ".join(" ".join(codes[3 * seat : 3 * seat + 3]) for seat in range(11))
    table = play(hands, turn_up="AS").knock(*range(11))
    assert table.phase == "play"
    assert table.record["drawn"] == 34


def test_a_round_of_two_cards_then_a_round_of_one_then_the_turn_up():
    batch = kille_env.make_batch("knack", 1, 3)
    batch.reset(dealer=0, deck=[*SPEC.pack.codes[:10]])
    words = batch.describe(0)
    assert "seat 1  six of clubs, seven of clubs, queen of clubs" in words
    assert "seat 2  eight of clubs, nine of clubs, king of clubs" in words
    assert "seat 0  ten of clubs, jack of clubs, ace of clubs" in words
    assert "the six of diamonds is turned up, diamonds are trumps" in words


def test_the_deal_passes_clockwise():  # D-N01
    table = play(FOUR, dealer=2).knock(3)
    assert table.result["next_dealer"] == 3
    table.deal(FOUR).knock(1)
    assert table.dealer == 3
    assert table.result["next_dealer"] == 0


# Joining


def test_forehand_speaks_first_and_then_clockwise():
    table = play(FOUR, dealer=1)
    for seat in (2, 3, 0, 1):
        assert table.seat == seat
        assert table.legal == "knock, fold"
        table.act(f"{seat} knock")
    assert table.phase == "play"


def test_the_dealer_wins_without_play_when_all_before_him_fold():
    table = play(THREE, "0 fold, 1 fold")
    assert table.result["joined"] == []
    assert table.result["tricks"] == [2, 2, 2]
    assert table.result["chips"] == [0, 0, 0]


def test_whoever_alone_has_knocked_wins_without_play():
    table = play(THREE, "0 fold, 1 knock, 2 fold")
    assert table.result["joined"] == [1]
    assert table.result["tricks"] == [1, 1, 1]
    assert table.result["chips"] == [0, 3, -3]


def test_the_dealer_is_asked_when_one_has_knocked():
    table = play(THREE, "0 knock, 1 fold")
    assert (table.seat, table.legal) == (2, "knock, fold")


def test_winning_without_play_counts_as_three_tricks_for_the_running_bet():  # D-N06
    start = {"bets": [6, 9]}
    asked = play(THREE, "0 knock, 1 fold, 2 fold", start=start)
    assert asked.result["chips"] == [9, 0, -3]
    assert asked.bets == [9]
    unasked = play(THREE, "0 fold, 1 fold", start=start)
    assert unasked.result["chips"] == [0, 0, 6]
    assert unasked.bets == [9]


# The first lead


def test_the_nearest_who_joined_to_the_left_of_the_dealer_leads():
    assert play(FOUR).knock(1, 3).seat == 1
    assert play(FOUR).knock(2, 3).seat == 2
    assert play(FOUR, dealer=1).knock(0, 1).seat == 0


@pytest.mark.parametrize("others", ["6C TC JC", "6C TC JC | 6D 7D 8D"])
def test_forehand_must_lead_the_ace_of_trumps_at_once(others):
    table = play(f"KH AH 7C | {others}").knock(0, 1, 2)
    assert table.legal == "AH"


@pytest.mark.parametrize("others", ["6C TC JC", "6C TC JC | 6D 7D 8D"])
def test_forehand_must_lead_the_king_of_trumps_when_the_ace_is_turned_up(others):  # D-N09
    table = play(f"KH 7H 7C | {others}", turn_up="AH").knock(0, 1, 2)
    assert table.legal == "KH"


def test_the_king_of_trumps_is_free_when_another_card_is_turned_up():
    assert play("KH 7H 7C | 6C TC JC").knock(0, 1).legal == "7C, 7H, KH"


def test_the_ace_of_another_suit_is_no_duty():
    assert play("AD 7C KC | 6C TC JC", turn_up="6H").knock(0, 1).legal == "7C, KC, AD"


def test_the_duty_is_forehands_alone_even_if_another_has_the_ace():
    table = play("7H 8C 9D | AH 8H JC", "0 knock, 1 knock, 0 7H")
    assert table.legal == "8H, AH"


def test_forehand_of_the_play_has_the_duty_when_forehand_of_the_deal_folds():
    assert play("AD KD QD | AH KC 6C | 7C 8C 9C").knock(1, 2).legal == "AH"


def test_two_otherwise_lead_what_they_like_to_the_first_trick():
    assert play("QH JH 7C | 6C TC JC").knock(0, 1).legal == "7C, JH, QH"


def test_of_three_forehand_must_lead_a_trump_to_the_first_trick():
    assert play("7H TH AC | 6C TC JC | 6D 7D 8D").knock(0, 1, 2).legal == "7H, TH"


def test_of_three_forehand_without_a_trump_leads_any_card_face_up():
    assert play(THREE).knock(0, 1, 2).legal == "7C, 8C, 9C"


def test_three_who_joined_count_not_three_at_the_table():
    assert play("7H TH AC | 6C TC JC | 6D 7D 8D").knock(0, 1).legal == "AC, 7H, TH"


# Following, and who wins


def test_suit_must_be_followed_if_possible():
    assert play("7C 8C 9C | 6C 7H AC", "0 knock, 1 knock, 0 7C").legal == "6C, AC"


def test_who_can_not_follow_plays_any_card():  # D-N02
    assert play("7C 8C 9C | 6D 7H AS", "0 knock, 1 knock, 0 7C").legal == "6D, 7H, AS"


def test_must_trump_makes_who_can_not_follow_play_any_trump():  # D-N02
    hands, script = "7C 8C 9C | 6D 7H AH", "0 knock, 1 knock, 0 7C"
    assert play(hands, script, must_trump=True).legal == "7H, AH"
    no_trumps = play("7C 8C 9C | 6D 7S AS", script, must_trump=True)
    assert no_trumps.legal == "6D, 7S, AS"


def test_nobody_has_to_play_higher():
    assert play("9C KC KD | 6C TC AC", "0 knock, 1 knock, 0 9C").legal == "6C, TC, AC"


def test_the_highest_card_of_the_suit_led_wins_without_trumps():
    table = play("9C KC KD | TC AD 7D | AS JC 6S").knock(0, 1, 2)
    assert table.act("0 9C, 1 TC, 2 JC").seat == 2


def test_a_higher_card_of_a_side_suit_does_not_win():
    assert play("7C 8C 9C | AD AS KD", "0 knock, 1 knock, 0 7C, 1 AD").seat == 0


def test_the_highest_trump_wins():
    table = play("9C KC KD | 8H AD 7D | 7H JS 6S").knock(0, 1, 2)
    assert table.act("0 9C, 1 8H, 2 7H").seat == 1


def test_the_winner_leads_and_the_others_follow_clockwise():
    table = play("7C 8C 9C | 6C TC JC | AC 7D 8D").knock(0, 1, 2)
    table.act("0 7C, 1 6C, 2 AC")
    assert (table.seat, table.record["trick"]) == (2, 1)
    table.act("2 *7D")
    assert table.seat == 0
    table.act("0 8C")
    assert table.seat == 1


# The second lead, two players


@pytest.mark.parametrize(
    ("hand", "legal"),
    [
        ("AC JH 7H", "JH"),
        ("AC QH 7D", "QH"),
        ("AC KH 7H", "KH"),
        ("AC AH 7D", "AH"),
        ("AC QH JH", "JH, QH"),  # D-N10
        ("AC KH QH", "QH, KH"),
    ],
)
def test_of_two_the_second_lead_is_a_trump_from_the_jack_up(hand, legal):
    table = play(f"7C 8C 9C | {hand}", "0 knock, 1 knock, 0 7C, 1 AC")
    assert table.legal == legal


def test_of_two_lower_trumps_are_free_and_nothing_is_led_face_down():
    script = "0 knock, 1 knock, 0 7C, 1 AC"
    assert play("7C 8C 9C | AC TH 7D", script).legal == "7D, TH"
    assert play("7C 8C 9C | AC 8D 7D", script).legal == "7D, 8D"


def test_who_follows_to_the_second_trick_has_no_such_duty():
    table = play("AC 8C 9D | 6C 7S JH", "0 knock, 1 knock, 0 AC, 1 6C, 0 8C")
    assert table.legal == "JH, 7S"


# The second lead, three or more


def test_of_three_the_second_lead_is_a_trump_any_trump():
    table = play("7C 8C 9C | AC 7H AH | 6D 7D 8D").knock(0, 1, 2)
    assert table.act("0 7C, 1 AC, 2 6D").legal == "7H, AH"


def test_of_three_who_has_no_trump_leads_any_card_face_down():
    table = play("7C 8C 9C | AC 7D AD | 6D 7S 8D").knock(0, 1, 2)
    assert table.act("0 7C, 1 AC, 2 6D").legal == "*7D, *AD"


def test_four_who_joined_are_as_three():
    table = play("7C 8C 9C | AC 7D AD | 6D 7S 8D | 6C JS QS").knock(0, 1, 2, 3)
    assert table.act("0 7C, 1 AC, 2 6D, 3 6C").legal == "*7D, *AD"


def led_face_down(third, fourth="TD QS KS"):
    """Seat 1 leads the seven of diamonds face down to the second trick of four."""
    table = play(f"7C 8C 9C | AC 7D 8D | {third} | {fourth}").knock(0, 1, 2, 3)
    return table.act(f"0 7C, 1 AC, 2 {third.split()[0]}, 3 {fourth.split()[0]}, 1 *7D")


def test_others_must_play_a_trump_to_a_card_led_face_down():
    assert led_face_down("6D 9H AD").legal == "9H"


def test_others_without_a_trump_play_any_card_face_up():
    assert led_face_down("6D 9D AD").legal == "9D, AD"


def test_a_card_led_face_down_is_below_the_six_of_trumps():
    table = play("7C 8C 9C | AC 7D 8D | 9D 6H AD", turn_up="7H").knock(0, 1, 2)
    table.act("0 7C, 1 AC, 2 9D, 1 *7D, 2 6H, 0 8C")
    assert table.record["winners"][1] == 2


def test_a_card_led_face_down_wins_when_nobody_has_a_trump():
    table = led_face_down("6D 9D AD").act("2 AD, 3 QS, 0 8C")
    assert table.record["winners"][1] == 1
    assert table.seat == 1


def test_a_card_led_face_down_comes_back_to_nobodys_hand():
    table = led_face_down("6D 9D AD").act("2 AD, 3 QS, 0 8C")
    assert table.legal == "8D"
    table.act("1 8D, 2 9D, 3 KS, 0 9C")
    assert table.result["tricks"] == [1, 1, 2]


def test_the_ace_of_trumps_is_no_duty_in_the_second_trick():
    table = play("7C 8C 9C | AC 8H AH | 6D 7D 8D").knock(0, 1, 2)
    assert table.act("0 7C, 1 AC, 2 6D").legal == "8H, AH"


def test_who_led_a_forced_trump_is_free_of_it_afterwards():
    table = play("AH KH 7C | 6C 8H JC | 6D 7D 8D").knock(0, 1, 2)
    table.act("0 AH, 1 8H, 2 6D")
    assert table.legal == "KH"


def test_must_trump_does_not_touch_the_leads():
    table = play("7C 8C 9C | AC 7D AD | 6D 7S 8D", must_trump=True).knock(0, 1, 2)
    assert table.act("0 7C, 1 AC, 2 6D").legal == "*7D, *AD"


# The third trick


def test_the_last_cards_are_played_face_up():
    table = led_face_down("6D 9H AD").act("2 9H, 3 QS, 0 8C")
    assert (table.seat, table.legal) == (2, "AD")
    table.act("2 AD")
    assert (table.seat, table.legal) == (3, "KS")


# Payment

WINS_ALL = "0 AC, 1 6C, 0 AD, 1 6D, 0 AS, 1 6S"


def test_the_dealer_pays_for_each_trick():
    table = play("KC 7D 9S | AC 6D TS | JD QD KD").knock(0, 1)
    table.act("0 KC, 1 AC, 1 6D, 0 7D, 0 9S, 1 TS")
    assert table.result["tricks"] == [1, 0, 1]
    assert table.result["chips"] == [1, 2, -3]
    assert table.bets == []


def test_a_dealer_who_takes_tricks_pays_himself():
    table = play("KC 7D 9S | AC 6D TS", "0 knock, 1 knock")
    table.act("0 KC, 1 AC, 1 6D, 0 7D, 0 9S, 1 TS")
    assert table.result["chips"] == [1, -1]


def test_the_unit_is_what_a_trick_costs():  # D-N12
    table = play("KC 7D 9S | AC 6D TS | JD QD KD", unit=5).knock(0, 1)
    table.act("0 KC, 1 AC, 1 6D, 0 7D, 0 9S, 1 TS")
    assert table.result["chips"] == [5, 10, -15]


def test_who_joined_and_has_no_trick_sets_a_bet_of_three_tricks():
    table = play("AC AD AS | 6C 6D 6S | 7C 7D 7S").knock(0, 1).act(WINS_ALL)
    assert table.result["chips"] == [3, -3, -3]
    assert table.bets == [3]


def test_who_folded_pays_nothing():
    table = play("AC AD AS | 6C 6D 6S | 7C 7D 7S | 8C 8D 8S").knock(0, 1).act(WINS_ALL)
    assert table.result["chips"][2] == 0


def test_a_dealer_who_fails_pays_both():
    table = play("AC AD AS | 6C 6D 6S", "0 knock, 1 knock").act(WINS_ALL)
    assert table.result["chips"] == [3, -6]
    assert table.bets == [3]


def test_bets_of_several_who_fail_are_kept_apart():
    table = play("AC AD AS | 6C 6D 6S | 7C 7D 7S").knock(0, 1, 2)
    table.act("0 AC, 1 6C, 2 7C, 0 *AD, 1 6D, 2 7D, 0 AS, 1 6S, 2 7S")
    assert table.result["chips"] == [3, -3, -6]
    assert table.bets == [3, 3]


def test_each_trick_earns_a_third_of_the_running_bet_besides():
    table = play("KC 7D 9S | AC 6D TS | JD QD KD", start={"bets": [6]}).knock(0, 1)
    table.act("0 KC, 1 AC, 1 6D, 0 7D, 0 9S, 1 TS")
    assert table.result["chips"] == [1 + 2, 2 + 4, -3]
    assert table.bets == []


def test_the_bet_of_one_deal_is_played_for_in_the_next_and_the_dealer_pays_too():  # D-N07
    table = play("AC AD AS | 6C 6D 6S | 7C 7D 7S").knock(0, 1).act(WINS_ALL)
    table.deal("KC 7D 9S | AC 6D TS | JD QD KD").knock(1, 2)
    table.act("1 AC, 2 JD, 1 6D, 2 QD, 2 KD, 1 TS")
    assert table.result["chips"] == [-3, 2, 4]
    assert table.bets == []


def test_a_new_bet_is_three_tricks_and_the_running_bet():  # D-N08
    table = play("AC AD AS | 6C 6D 6S | 7C 7D 7S", start={"bets": [6, 9, 30]}).knock(0, 1)
    table.act(WINS_ALL)
    assert table.result["chips"] == [3 + 6, -9, -3]
    assert table.bets == [9, 9, 30]


def test_the_lowest_bet_is_the_running_one_and_the_others_stay():
    table = play("KC 7D 9S | AC 6D TS | JD QD KD", start={"bets": [30, 3, 12]}).knock(0, 1)
    table.act("0 KC, 1 AC, 1 6D, 0 7D, 0 9S, 1 TS")
    assert table.result["chips"] == [2, 4, -3]
    assert table.bets == [12, 30]


def test_one_of_several_equal_lowest_bets_is_played_for():
    table = play("KC 7D 9S | AC 6D TS | JD QD KD", start={"bets": [3, 3, 3]}).knock(0, 1)
    table.act("0 KC, 1 AC, 1 6D, 0 7D, 0 9S, 1 TS")
    assert table.result["chips"] == [2, 4, -3]
    assert table.bets == [3, 3]


def test_a_new_bet_lies_before_larger_ones():
    table = play("AC AD AS | 6C 6D 6S | 7C 7D 7S", start={"bets": [3, 3, 30]}).knock(0, 1)
    assert table.act(WINS_ALL).bets == [3, 6, 30]


def test_without_bets_left_the_tricks_earn_the_dealers_pay_alone():
    table = play("7C 8C 9C | 6C TC JC | 6D 7D 8D", start={"bets": [3]}).knock(0)
    assert table.result["chips"] == [6, 0, -3]
    table.deal("7C 8C 9C | 6C TC JC | 6D 7D 8D").knock(1)
    assert table.result["chips"] == [-3, 3, 0]


# The end of a party


def test_a_party_is_one_deal_for_each_player():  # D-N04
    table = play(THREE).knock(0)
    table.deal(THREE).knock(1)
    assert not table.batch.over[0]
    table.deal(THREE).knock(2)
    assert table.batch.over[0]
    assert table.returns == [0, 0, 0]


def test_the_number_of_deals_is_a_switch():  # D-N04
    table = play(THREE, deals=2).knock(0)
    assert not table.batch.over[0]
    assert table.deal(THREE).knock(1).batch.over[0]


def test_a_single_deal_is_a_party_of_one():
    table = play("AC AD AS | 6C 6D 6S | 7C 7D 7S", episode="deal").knock(0, 1).act(WINS_ALL)
    assert table.batch.over[0]
    assert table.result["chips"] == [3, -3, -3]
    assert table.returns == [4, -2, -2]


def test_bets_that_are_left_are_shared_equally():
    table = play(TWO, start={"bets": [3, 9, 15]}, deals=1).knock(0)
    assert table.bets == [9, 15]
    assert table.returns == [6 + 12, -3 + 12]


@pytest.mark.parametrize("seat", [0, 1, 2, 3])
def test_what_can_not_be_divided_is_drawn_for(seat):  # D-N05
    start = {"bets": [3, 9], "remainder_to": seat}
    table = play(FOUR, start=start, deals=1).knock(0)
    shares = [2 + (step == seat) for step in range(4)]
    assert table.result["chips"] == [6, 0, 0, -3]
    assert table.returns == [6 + shares[0], shares[1], shares[2], shares[3] - 3]
    assert table.batch.game.chance(table.record, table.rules) == {"remainder_to": seat}


def test_what_can_not_be_divided_can_stay_on_the_table():  # D-N05
    table = play(FOUR, start={"bets": [3, 9]}, deals=1, remainder="left").knock(0)
    assert table.returns == [8, 2, 2, -1]
    assert table.record["left_on_table"] == 1
    assert table.batch.game.chance(table.record, table.rules) == {}


def test_every_seat_can_draw_the_remainder():
    batch = kille_env.make_batch("knack", 400, 4, rules={"deals": 1}, seed=0, restart=False)
    batch.reset(start={"bets": [3, 9]}, dealer=3)
    for action in ("knock", "fold", "fold", "fold"):
        batch.step(np.full(400, SPEC.actions.index(action)))
    assert batch.over.all()
    assert np.bincount(batch.tables["remainder_to"], minlength=4).min() > 60
    drawn = [batch.game.chance(batch.tables[table], batch.rules) for table in range(400)]
    assert drawn == [{"remainder_to": seat} for seat in batch.tables["remainder_to"].tolist()]
    assert (batch.reward.sum(axis=1) == 12).all()


def test_nobody_draws_when_everything_can_be_divided():
    table = play(TWO, start={"bets": [3, 6]}, deals=1).knock(0)
    assert table.returns == [6 + 3, -3 + 3]
    assert table.batch.game.chance(table.record, table.rules) == {}


def test_nothing_is_drawn_for_before_the_end():
    table = play(FOUR, start={"bets": [3, 9], "remainder_to": 2}).knock(0)
    assert table.batch.game.chance(table.record, table.rules) == {}


def test_the_next_party_begins_without_bets():
    table = play(TWO, start={"bets": [3, 6, 6], "remainder_to": 1}, deals=1).knock(0)
    table.batch.reset(dealer=0, deal=False)
    assert "No bets on the table." in table.batch.describe(0)
    assert table.record["remainder_to"] == -1


# Starts in mid-party


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"bets": 3}, "'bets' is 3; expected a list of multiples of 3"),
        ({"bets": [3, 4]}, "'bets' holds 4; expected a list of multiples of 3"),
        ({"bets": [0]}, "'bets' holds 0"),
        ({"bets": [-3]}, "'bets' holds -3"),
        ({"bets": [True]}, "'bets' holds True"),
        ({"bets": [3.0]}, r"'bets' holds 3\.0"),
        ({"bets": list(range(3, 48, 3))}, "15 different amounts; expected at most 14"),
        ({"bets": [3 * 10**12]}, "add up to 3000000000000; expected at most 1000000000000"),
        ({"pot": 3}, r"no key 'pot'\. Possible are: bets, remainder_to"),
        ({"remainder_to": 4}, "'remainder_to' is 4; expected a seat from 0 to 3"),
        ({"remainder_to": None}, "'remainder_to' is None; expected a seat"),
        ({"bets": [6], "remainder_to": True}, "'remainder_to' is True; expected a seat"),
    ],
)
def test_a_start_that_can_not_be_is_refused_and_changes_nothing(start, message):
    batch = kille_env.make_batch("knack", 1, 4, seed=0)
    batch.reset()
    before = batch.save()
    with pytest.raises(RulesError, match=message):
        batch.reset(start=start)
    assert batch.save() == before


def test_a_bet_at_the_start_is_a_multiple_of_three_units():
    with pytest.raises(RulesError, match="'bets' holds 9; expected a list of multiples of 6"):
        play(TWO, start={"bets": [6, 9]}, unit=2)


def test_nobody_can_draw_where_the_remainder_stays():
    with pytest.raises(RulesError, match="nobody draws with remainder='left'"):
        Table(4, start={"remainder_to": 1}, remainder="left")


def test_what_a_start_does_not_name_stays():
    table = Table(4, start={"bets": [3, 9], "remainder_to": 2})
    table.batch.game.set_up(table.record, table.rules, {"remainder_to": 1})
    assert "Bets on the table: 3, 9" in table.batch.describe(0)
    table.batch.game.set_up(table.record, table.rules, {"bets": [6]})
    assert table.record["remainder_to"] == 1
    assert "Bets on the table: 6;" in table.batch.describe(0)
    table.batch.game.set_up(table.record, table.rules, {"bets": []})
    assert "No bets on the table." in table.batch.describe(0)


def test_bets_of_many_sizes_keep_their_order():
    """A new bet is one stake larger than the running one, so at most two new sizes live at once."""
    bets = [3 * size for size in range(10, 52, 3)]
    table = Table(3, start={"bets": bets, "remainder_to": 0}, deals=40)
    most = 0
    while not table.batch.over[0]:
        table.deal("AC KC QC | AD KD QD | AS KS QS").knock(0, 1, 2)  # forehand takes all tricks
        while table.phase == "play":
            table.act(f"{table.seat} {table.legal.split(', ')[0]}")
        most = max(most, int(table.record["num_sizes"]))
    assert most == 15
    assert len(table.bets) == 14 + 40
    assert sum(table.returns) == sum(bets)
