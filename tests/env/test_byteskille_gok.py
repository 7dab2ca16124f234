"""Calling with the gok, and the question for better cards."""

import pytest

from env.tables import Table, play

# "En spelare som sitter med kuku har rätt att närsomhelst lägga upp kortet" (D-E10)


def test_a_gok_holder_may_call_on_his_own_turn():
    table = play("GO L5 L6 L7")
    assert table.legal == "stand swap call"
    table.act("0 call")
    assert table.ended
    assert table.out == {1}
    assert table.events == ["call 0 1 GO -"]


def test_a_gok_holder_may_call_before_the_turn_of_any_other():
    table = play("L5 L6 GO L7")
    assert (table.seat, table.phase, table.legal) == (2, "gok", "call wait")
    table.act("2 call")
    assert table.ended
    assert table.out == {0}
    assert table.events == ["call 2 0 GO -"]


def test_the_gok_lies_open_after_the_call_and_so_do_all_cards():
    assert play("L5 L6 GO L7", "2 call").open_cards == {"L50", "L60", "GO0", "L70"}


def test_he_is_asked_once_before_each_turn_but_his_own():
    table = play("L5 L6 GO L7", "2 wait, 0 stand, 2 wait, 1 stand")
    assert (table.seat, table.phase, table.legal) == (2, "turn", "stand swap call")
    table.act("2 stand, 2 wait")
    assert (table.seat, table.phase) == (3, "turn")


def test_after_waiting_the_player_on_turn_decides():
    table = play("L5 L6 GO L7", "2 wait")
    assert (table.seat, table.phase, table.legal) == (0, "turn", "stand swap")


def test_two_holders_are_asked_clockwise_from_the_left_of_the_player_on_turn():
    table = play("GO L6 L8 GO L7", "3 wait, 0 stand")
    assert table.seat == 3  # before seat 1's turn: to their left first
    table.act("3 wait")
    assert (table.seat, table.phase) == (0, "gok")
    table.act("0 wait")
    assert (table.seat, table.phase) == (1, "turn")


def test_the_second_holder_may_call_after_the_first_has_waited():
    table = play("GO L6 L8 GO L7", "3 wait, 0 stand, 3 wait, 0 call")
    assert table.ended
    assert table.out == {1}


def test_players_who_would_have_been_chopped_by_him_escape():
    hands = "L5 L6 HU GO"
    assert play(hands, "3 wait, 0 stand, 3 call").out == {0}
    table = play(hands, "3 wait, 0 stand, 3 wait, 1 swap")
    assert table.chopped == {1}


def test_who_was_pushed_a_gok_is_asked_in_place_of_the_one_who_gave_it_away():
    table = play("GO L5 L6 L7", "0 swap, 1 stand")
    assert (table.seat, table.phase) == (1, "gok")


def test_a_chopped_holder_of_a_hidden_gok_is_asked_like_any_other():
    table = play("GO HU L6 L7", "0 swap")
    assert table.chopped == {0}
    assert (table.seat, table.phase) == (0, "gok")


def test_a_gok_laid_aside_is_nobodys():
    hands, script = "L5 L6 GO VH", "2 wait, 0 stand, 2 wait, 1 stand, 2 swap"
    table = play(hands, script, talon="L9", dealer_after_inn=True)
    assert (table.seat, table.phase) == (3, "turn")


def test_a_gok_given_back_by_an_undone_exchange_counts_again():
    # pig_scope all undoes the exchange with the talon too; no turn, so no question, comes after it
    table = play(
        "L5 L6 GO VH",
        "2 wait, 0 stand, 2 wait, 1 stand, 2 swap, 3 swap",
        talon="L9 SV",
        dealer_after_inn=True,
        pig_scope="all",
    )
    assert table.hands == "L5 L6 GO VH"
    assert table.record["goks"] == 1


def test_own_turn_asks_on_the_own_turn_only():
    table = play("L5 GO L6 L7", gok_call="own_turn")
    assert (table.seat, table.phase) == (0, "turn")
    assert table.act("0 stand").legal == "stand swap call"
    assert table.act("1 call").ended


def test_off_never_offers_it_and_the_english_article_does_not_know_it():
    assert play("GO L5 L6 L7", gok_call="off").legal == "stand swap"
    table = play("L5 GO L6 L7", preset="wikipedia")
    assert (table.seat, table.phase) == (0, "turn")
    assert table.act("0 stand").legal == "stand swap"


def test_only_a_gok_can_call():
    for card in ("KI", "HU", "L12"):
        assert play(f"{card} L5 L6 L7").legal == "stand swap"


def test_nobody_is_asked_to_call_during_a_question_or_its_answers():
    table = play("L5 GO L7", "1 wait, 0 ask")
    assert (table.seat, table.phase) == (2, "answer_dealer")
    table.act("2 defer")
    assert (table.seat, table.phase, table.legal) == (1, "answer_third", "yes no")
    table.act("1 no")
    assert (table.seat, table.phase) == (0, "turn")  # asked once before this turn already


def test_nobody_is_asked_to_call_while_buying_in():
    table = play("L1 GO L7 L8", "1 wait, 0 stand, 1 stand, 1 wait, 2 stand, 1 wait, 3 stand")
    assert (table.seat, table.phase, table.legal) == (0, "buyin", "buy decline")


# "Frågekille" (D-E11, D-E24)


@pytest.mark.parametrize("hands", ["L5 L6", "L5 L6 L7"])
def test_with_two_or_three_players_forehand_may_ask_before_he_decides(hands):
    table = play(hands)
    assert (table.seat, table.legal) == (0, "stand swap ask")


def test_with_four_he_may_not():
    assert play("L5 L6 L7 L8").legal == "stand swap"


def test_the_number_that_is_dealt_in_counts_and_not_that_of_the_seats():
    table = Table(4, reentry="none").all_stand("L1 L5 L6 L7")
    assert table.deal("L5 L6 L7").legal == "stand swap ask"


def test_only_forehand_may_ask():
    assert play("L5 L6 L7", "0 stand").legal == "stand swap"
    assert play("L5 L6 L7", "0 swap").legal == "stand swap"


def test_with_two_the_dealer_accepts_or_refuses():
    table = play("L5 L6", "0 ask")
    assert (table.seat, table.phase, table.legal) == (1, "answer_dealer", "yes no")


def test_with_three_the_dealer_refuses_or_defers():
    assert play("L5 L6 L7", "0 ask").legal == "no defer"
    assert play("L5 L6 L7", "0 ask", preset="wikipedia", fraga="forced").legal == "yes no defer"
    assert play("L5 L6 L7", "0 ask", fraga3_dealer_accept=True).legal == "yes no defer"


def test_the_third_player_decides_when_the_dealer_defers():
    table = play("L5 L6 L7", "0 ask, 2 defer")
    assert (table.seat, table.phase, table.legal) == (1, "answer_third", "yes no")


@pytest.mark.parametrize("answers", ["2 no", "2 defer, 1 no"])
def test_refused_they_go_on_with_the_cards_they_have(answers):
    table = play("L5 L6 L7", f"0 ask, {answers}")
    assert (table.seat, table.legal) == (0, "stand swap")  # and they do not ask twice
    assert table.hands == "L5 L6 L7"


def test_accepted_the_same_dealer_deals_again():
    table = play("L5 L6", "0 ask, 1 yes", dealer=1)
    assert table.batch.at_chance[0]
    table.deal("L8 L9")
    assert (table.hands, table.record["dealer"]) == ("L8 L9", 1)
    assert (table.seat, table.legal) == (0, "stand swap ask")  # they may ask again


def test_accepted_by_the_third_player_too():
    table = play("L5 L6 L7", "0 ask, 2 defer, 1 yes").deal("L8 L9 L10")
    assert table.record["dealer"] == 2
    assert table.hands == "L8 L9 L10"


def test_accepted_by_the_dealer_of_three_where_he_may():
    table = play("L5 L6 L7", "0 ask, 2 yes", fraga3_dealer_accept=True).deal("L8 L9 L10")
    assert table.hands == "L8 L9 L10"


def test_the_whole_pack_is_dealt_again():
    table = play("L5 L5", "0 ask, 1 yes").deal("L5 L5")
    assert table.hands == "L5 L5"


def test_a_gok_holder_who_is_forehand_may_ask_or_call():
    assert play("GO L6").legal == "stand swap call ask"


def test_max_redeals_is_the_number_of_questions_that_are_granted_in_a_deal():
    table = play("L5 L6", "0 ask, 1 yes", max_redeals=2).deal("L5 L6").act("0 ask, 1 yes")
    assert table.deal("L5 L6").legal == "stand swap"


def test_refused_questions_do_not_count():
    table = play("L5 L6", "0 ask, 1 no, 0 stand, 1 stand", max_redeals=1, reentry="none")
    assert table.record["redeals"] == 0


def test_the_count_of_questions_begins_anew_with_each_deal():
    table = play("L5 L5 L9", "0 ask, 2 defer, 1 yes", max_redeals=1)
    table.deal("KI KI L9").act("0 stand, 1 stand, 2 stand")
    assert table.out == set()
    assert table.deal("L5 L6 L7").legal == "stand swap ask"


def test_automatic_redeals_do_not_count():  # B1.3, D-E15
    table = Table(2, two_player="wiki", max_redeals=1).deal("KI L5").deal("L6 L5")
    assert table.legal == "stand swap ask"


def test_max_redeals_0_and_fraga_off_offer_no_question():
    assert play("L5 L6", max_redeals=0).legal == "stand swap"
    assert play("L5 L6", fraga="off").legal == "stand swap"
    assert play("L5 L6", preset="wikipedia").legal == "stand swap"


def test_a_pot_that_starts_with_three_is_played_with_the_question_from_the_first_hand():  # D-E24
    table = Table(3).deal("L5 L6 L7")
    assert "ask" in table.legal


def test_a_question_costs_nothing_and_no_ante_is_paid_for_the_new_cards():
    for ante in ("pot", "deal"):
        table = play("L5 L6 L7", "0 ask, 2 defer, 1 yes", ante=ante).deal("L5 L6 L7")
        assert table.pot == 6
