"""What a seat sees, part by part: what the meaning claims, at every seat, clockwise from it."""

from itertools import chain

import pytest

from env.tables import Table, play
from env.trick_tables import number, of, relative, types
from kille_env.games.byteskille import SPEC

CODES = SPEC.pack.codes
ALL = range(4)


def digits(values):
    """The number that base-256 digits stand for, lowest first."""
    return sum(value << (8 * place) for place, value in enumerate(values))


# What is decided


PHASES = {"turn": 0, "gok": 1, "answer_dealer": 2, "answer_third": 3, "buyin": 4}


@pytest.mark.parametrize(
    ("phase", "table"),
    [
        ("turn", lambda: play("L5 L6 L7 L8")),
        ("answer_dealer", lambda: play("L5 L6 L7", "0 ask")),
        ("answer_third", lambda: play("L5 L6 L7", "0 ask, 2 defer")),
        ("buyin", lambda: Table(4).all_stand("L5 L6 L7 L8")),
    ],
)
def test_phase(phase, table):
    table = table()
    assert table.phase == phase
    for seat in range(table.players):
        assert table.part("phase", seat) == of(PHASES[phase], players=5)
        assert table.information("phase", seat) == of(PHASES[phase], players=5)


def test_phase_gok_shows_to_the_holder_who_is_asked_only():
    table = play("L5 GO L7 GO")
    assert table.seat == 1
    for seat, phase in enumerate(("turn", "gok", "turn", "turn")):
        assert table.part("phase", seat) == of(PHASES[phase], players=5)
        assert table.information("phase", seat) == of(PHASES[phase], players=5)


def test_between_hands_nothing_is_decided():
    table = play("L5 L5", "0 stand, 1 stand")
    assert table.part("phase", 0) == [0] * 5
    assert table.part("on_turn", 0) == table.part("to_come", 0) == [0, 0]


# The own card


def test_card():
    table = play("L5 BL KI GO", dealer=2)  # forehand is seat 3
    for seat, card in enumerate(("BL", "KI", "GO", "L5")):
        assert table.part("card", seat) == types(card)


def test_card_is_zero_for_who_sits_out():
    table = Table(5, reentry="none").all_stand("L1 L5 L6 L7 L8").deal("L2 L3 L4 L5")
    for part in ("card", "card_high", "card_open", "card_dealt"):
        assert not any(table.part(part, 0))
    assert table.information("dealt", 0) == [0]
    assert table.information("dealt", 1) == [CODES.index("L5") + 1]  # 1 is the dealer


def test_card_high():
    assert play("KI L5 L6 L7").part("card_high", 0) == [0]
    assert play("KI L5 L6 L7", dealt_kille="high").part("card_high", 0) == [1]
    assert play("KI KI L6 L7", "0 swap").part("card_high", 1) == [1]
    assert play("GO L5 L6 L7").part("card_high", 0) == [0]


def test_card_open():
    table = play("KI L5 L6 VH L7 L8", "0 swap, 1 stand, 2 swap")
    assert [table.part("card_open", seat)[0] for seat in range(6)] == [0, 1, 0, 1, 0, 0]


def test_card_dealt():
    table = play("L2 L5 L8 SV L9", "0 swap, 1 swap")
    assert [table.part("card_dealt", seat)[0] for seat in range(5)] == [0, 0, 0, 1, 1]
    table.act("2 swap")  # undone
    assert [table.part("card_dealt", seat)[0] for seat in range(5)] == [1] * 5


# The question


def test_asked():
    table = play("L5 L6 L7")
    assert table.part("asked", 1) == [0]
    table.act("0 ask")
    assert [table.part("asked", seat) for seat in range(3)] == [[1]] * 3
    assert table.act("2 no").part("asked", 0) == [1]


def test_redeals_left_counts_down_with_each_question_that_is_granted():
    table = play("L5 L6", max_redeals=5)
    assert number(table.part("redeals_left", 0)) == 5
    table.act("0 ask, 1 yes").deal("L5 L6")
    assert number(table.part("redeals_left", 1)) == 4
    assert digits(table.information("redeals", 0)) == 1
    table.act("0 ask, 1 no")
    assert number(table.part("redeals_left", 1)) == 4


def test_redeals_left_is_at_most_31():
    assert number(play("L5 L6", max_redeals=99).part("redeals_left", 0)) == 31


# What can be located


def test_seen_counts_the_own_card():
    table = play("L5 L5 KI L7")
    assert table.part("seen", 0) == types("L5")
    assert table.part("seen", 2) == types("KI")


def test_seen_counts_cards_that_were_given_away_and_open_ones():
    table = play("L2 L5 VH L8 L9", "0 swap, 1 swap")
    assert table.hands == "L5 L8 VH L2 L9"
    assert table.part("seen", 0) == types("L5", "L2", "VH")  # follows L2 to seat 3
    assert table.part("seen", 1) == types("L8", "L2", "L5", "VH")
    assert table.part("seen", 2) == types("VH")
    assert table.part("seen", 3) == types("L2", "L8", "VH")
    assert table.part("seen", 4) == types("L9", "VH")


def test_seen_counts_cards_laid_aside_for_those_who_know_them():
    table = play("L2 L5 L9 VH", "0 swap, 1 swap, 2 swap", talon="KA L7", dealer_after_inn=True)
    assert table.hands == "L5 L9 L7 VH"
    assert table.laid_aside == ["KA", "L2"]
    assert table.part("seen", 0) == types("L5", "L2", "KA", "VH")
    assert table.part("seen", 2) == types("L7", "L9", "L2", "KA", "VH")
    assert table.part("seen", 3) == types("VH", "KA")


def test_seen_counts_both_of_a_type():
    assert play("L5 L5 L7 L8", "0 swap").part("seen", 0) == types("L5", "L5")


def test_seen_counts_every_hand_at_the_showdown():
    table = Table(4).all_stand("L5 L6 L6 L1")
    assert table.phase == "buyin"
    for seat in ALL:
        assert table.part("seen", seat) == types("L5", "L6", "L6", "L1")


# The match


def test_deals_left():
    table = play("L5 L6 L7 L8", max_deals=9)
    assert number(table.part("deals_left", 2)) == 8
    table.act("0 stand, 1 stand, 2 stand, 3 stand, 0 decline").deal("L1 L2 L3")
    assert number(table.part("deals_left", 2)) == 7
    assert digits(table.information("deals", 0)) == 2
    assert number(play("L5 L6 L7 L8", max_deals=1000).part("deals_left", 0)) == 255


def test_pots_left():
    table = play("L5 L6", pots=3)
    assert number(table.part("pots_left", 0)) == 3
    table.act("0 stand, 1 stand").deal("L5 L6")
    assert number(table.part("pots_left", 0)) == 2
    assert digits(table.information("pots_won", 0)) == 1
    assert number(play("L5 L6", pots=99).part("pots_left", 0)) == 15


def test_buying_says_which_occasions_are_over():
    table = play("L5 L6 L7 L2")
    assert table.part("buying", 0) == [0, 0]
    table.act("0 stand, 1 stand, 2 stand, 3 stand")
    assert table.part("buying", 0) == table.information("buying", 2) == [1, 0]
    table.act("3 buy").all_stand("0:L2 1:L7 2:L8 3:L2")
    assert table.part("buying", 1) == table.information("buying", 1) == [1, 1]


@pytest.mark.parametrize(("stake", "pot"), [(2, 8), (10, 8), (200, 8)])
def test_pot_is_counted_in_half_stakes(stake, pot):
    table = play("L5 L6 L7 L8", stake=stake)
    assert [number(table.part("pot", seat)) for seat in ALL] == [pot] * 4
    assert digits(table.information("pot", 0)) == 4 * stake


def test_price_is_what_this_seat_would_pay_now_in_half_stakes():
    table = Table(5, stake=6).all_stand("L5 L6 L7 L2 L2")
    assert [number(table.part("price", seat)) for seat in range(5)] == [0, 0, 0, 4, 4]
    assert digits(table.information("price", 4)) == 12
    table.act("3 buy")
    assert [number(table.part("price", seat)) for seat in range(5)] == [0, 0, 0, 0, 4]


def test_price_at_the_second_occasion_is_half_the_pot():
    table = Table(4, stake=6).all_stand("L5 L6 L7 L2").act("3 buy")
    table.all_stand("0:L2 1:L7 2:L8 3:L2")
    assert number(table.part("price", 0)) == number(table.part("price", 3)) == 6  # 18 units
    assert number(table.part("price", 1)) == 0


def test_prices_by_ones_own_count():
    table = Table(4, reentry="wiki3").all_stand("L1 L2 L3 L4").act("0 buy")
    table.all_stand("0:L1 1:L1 2:L5 3:L6")
    assert table.pot == 10
    assert [number(table.part("price", seat)) for seat in ALL] == [5, 2, 0, 0]


# The others, counted clockwise


def test_dealer():
    for dealer in ALL:
        assert play("L5 L6 L7 L8", dealer=dealer).all_see("dealer", of(dealer))
        assert play("L5 L6 L7 L8", dealer=dealer).information("dealer", 1) == relative(
            of(dealer), 1
        )


def test_in_hand():
    table = Table(5, reentry="none").all_stand("L5 L6 L1 L7 L8").deal("L2 L3 L4 L5")
    assert table.all_see("in_hand", [1, 1, 0, 1, 1])
    for viewer in range(5):
        assert table.information("in_hand", viewer) == relative([1, 1, 0, 1, 1], viewer)


def test_on_turn_and_to_come():
    table = play("L5 L6 L7 L8", dealer=1)
    assert table.all_see("on_turn", of(2))
    assert table.all_see("to_come", of(3, 0, 1))
    table.act("2 stand, 3 stand")
    assert table.all_see("on_turn", of(0))
    assert table.all_see("to_come", of(1))


def test_a_passed_players_turn_is_not_to_come():
    table = play("L5 VH L7 L8", "0 swap")
    assert table.all_see("on_turn", of(2))
    assert table.all_see("to_come", of(3))


def test_during_a_question_it_is_forehands_turn():
    table = play("L5 L6 L7", "0 ask")
    assert table.all_see("on_turn", [1, 0, 0])
    assert table.information("on_turn", 0) == [0, 0, 1]  # the dealer is to answer
    assert table.act("2 defer").information("on_turn", 1) == [1, 0, 0]


def test_while_buying_in_nobodys_turn_to_exchange_is_left():
    table = Table(4).all_stand("L5 L6 L7 L8")
    assert table.all_see("on_turn", of())
    assert table.all_see("to_come", of())
    assert table.information("on_turn", 2) == relative(of(0), 2)


def test_deeds():
    table = play("L5 L6 L9 L7 L8 VH", "0 swap, 1 stand, 2 swap, 3 swap, 4 swap", talon="L2",
                 dealer_after_inn=True)  # fmt: skip
    assert table.all_see("stood", of(1, players=6))
    assert table.all_see("swapped", of(0, 2, 3, players=6))
    assert table.all_see("gave", of(1, 3, 4, players=6))
    assert table.all_see("drew", of(4, players=6))


def test_a_chopped_or_stopped_attempt_is_no_exchange():
    table = play("L5 HU L6 L7", "0 swap")
    assert table.all_see("swapped", of())
    assert table.all_see("gave", of())
    assert table.all_see("chopped", of(0))


def test_chopped_names_the_one_whom_the_svin_costs():
    table = play("L2 L5 SV L7 L8", "0 swap, 1 swap")
    assert table.all_see("chopped", of(0, players=5))


def test_untouched():
    table = play("L2 L5 L6 SV L8", "0 swap, 1 swap")
    assert table.all_see("untouched", [0, 0, 0, 1, 1])
    assert table.act("2 swap").all_see("untouched", [1, 1, 1, 1, 1])


def test_untouched_after_the_talon():
    table = play("L5 L6 L2 VH", "0 stand, 1 stand, 2 swap", talon="L9", dealer_after_inn=True)
    assert table.all_see("untouched", of(0, 1, 3))


def test_open():
    table = play("KI L5 VH L7 L8", "0 swap, 1 swap")
    assert table.hands == "L5 L7 VH KI L8"
    assert table.all_see("open", of(2, 3, players=5))


def known(**cards):
    """The part `known` by seat: s1="L5" and so on."""
    return [CODES.index(cards[f"s{seat}"]) + 1 if f"s{seat}" in cards else 0 for seat in range(5)]


def test_known():
    table = play("L2 L5 VH L8 L9", "0 swap, 1 swap")
    assert table.hands == "L5 L8 VH L2 L9"
    expected = [
        known(s0="L5", s2="VH", s3="L2"),
        known(s0="L5", s1="L8", s2="VH", s3="L2"),
        known(s2="VH"),
        known(s1="L8", s2="VH", s3="L2"),
        known(s2="VH", s4="L9"),
    ]
    for viewer, row in enumerate(expected):
        assert table.part("known", viewer) == relative(row, viewer), viewer


def test_a_card_is_followed_through_exchanges_and_an_undo():
    table = play("L2 L5 L6 SV L8", "0 swap, 1 swap, 2 swap")
    assert table.hands == "L2 L5 L6 SV L8"
    expected = [
        known(s0="L2", s1="L5", s3="SV"),
        known(s0="L2", s1="L5", s2="L6", s3="SV"),
        known(s0="L2", s2="L6", s3="SV"),
        known(s3="SV"),
        known(s3="SV", s4="L8"),
    ]
    for viewer, row in enumerate(expected):
        assert table.part("known", viewer) == relative(row, viewer), viewer


def test_known_high():
    table = play("KI KI L6 L7", "0 swap")
    assert table.all_see("known_high", of(0, 1))
    assert table.act("1 swap").all_see("known_high", of(0))
    table = play("KI L5 L6 L7", dealt_kille="high")
    assert table.part("known_high", 0) == [1, 0, 0, 0]
    assert table.part("known_high", 1) == [0, 0, 0, 0]  # not theirs to know


def test_entries_and_declined():
    table = Table(5).all_stand("L5 L6 L7 L2 L2").act("3 buy")
    assert table.all_see("entries", of(3, players=5))
    table.act("4 decline")
    for viewer in range(5):
        assert table.information("first_buyers", viewer) == relative(of(3, players=5), viewer)
    table.deal("L5 L6 L7 L8")
    assert table.all_see("entries", of(3, players=5))
    assert table.all_see("declined", of(4, players=5))
    table = Table(4, reentry="wiki3").all_stand("L1 L2 L3 L4").act("0 buy")
    table.all_stand("0:L1 1:L2 2:L3 3:L4").act("0 buy").deal("L5 L6 L7 L8")
    assert table.all_see("entries", [2, 0, 0, 0])


# The information state


def test_events_tell_the_hand_from_where_one_sits():
    table = play("L2 L5 SV L8 L9", "0 swap, 1 stand")
    for viewer, cards in enumerate(((5, 8), (5, 8), (0, 0), (0, 0), (0, 0))):
        rows = table.information("events", viewer)
        who = [(0 - viewer) % 5 + 1, (1 - viewer) % 5 + 1]
        assert rows[:6] == [2, *who, *cards, 0]  # exchange
        assert rows[6:12] == [1, who[1], 0, 0, 0, 0]  # stand
        assert not any(rows[12:])


def test_an_undone_exchange_is_marked_and_the_svin_names_its_victim():
    table = play("L2 L5 SV L8 L9", "0 swap, 1 swap")
    rows = table.information("events", 3)
    assert rows[:6] == [2, 3, 4, 0, 0, 1]
    assert rows[6:12] == [6, 4, 5, 0, CODES.index("SV") + 1, 3]


def test_killes_are_seen_in_the_events():
    rows = play("KI L5 L6 L7", "0 swap").information("events", 2)
    assert rows[:6] == [2, 3, 4, 21, 0, 0]


def test_open_cards_lie_open_at_the_showdown_only():
    table = play("L5 L6 L7 L8", "0 stand, 1 stand, 2 stand")
    assert table.information("open_cards", 1) == [0] * 4
    table.act("3 stand")
    hands = [CODES.index(card) + 1 for card in ("L5", "L6", "L7", "L8")]
    for viewer in ALL:
        assert table.information("open_cards", viewer) == relative(hands, viewer)


def test_who_is_in_and_who_will_be_asked_to_buy():
    table = Table(5).all_stand("L5 L6 L7 L2 L2")
    for viewer in range(5):
        assert table.information("in_pot", viewer) == relative([1, 1, 1, 0, 0], viewer)
        assert table.information("to_buy", viewer) == relative([0, 0, 0, 1, 1], viewer)


def test_prepaid():
    table = Table(4, reentry="wiki3", ante="deal", reentry_plus_ante=False)
    table.all_stand("L1 L1 L3 L4").act("0 buy")
    for viewer in ALL:
        assert table.information("prepaid", viewer) == relative(of(0), viewer)


# Everything


def full(table, seat):
    """The full state of a seat as a mapping of its parts."""
    row = table.batch.full_state(seat)[0]
    return {part.name: row[part.slice].tolist() for part in SPEC.full_state(table.players)}


def test_the_full_state_begins_with_the_observation():
    table = play("L5 GO KI L7", "1 wait, 0 swap")
    for seat in ALL:
        observed = table.batch.observe(seat)[0]
        assert table.batch.full_state(seat)[0][: len(observed)].tolist() == observed.tolist()


def test_the_full_state_shows_every_hand_and_what_was_laid_aside():
    table = play("KI L6 L2 VH", "0 stand, 1 stand, 2 swap", talon="KA L9", dealer_after_inn=True,
                 dealt_kille="high")  # fmt: skip
    for seat in ALL:
        shown = full(table, seat)
        hands = [types(card) for card in ("KI", "L6", "L9", "VH")]
        assert shown["hands"] == [*chain(*hands[seat:], *hands[:seat])]
        assert shown["high"] == relative(of(0), seat)
        assert shown["to_act"] == relative(of(3), seat)
        assert shown["gok_asked"] == [0]
        assert shown["laid_aside"] == types("KA", "L2")


def test_the_full_state_shows_who_is_asked_to_call():
    table = play("L5 L6 GO L7")
    for seat in ALL:
        assert full(table, seat)["gok_asked"] == [1]
        assert full(table, seat)["to_act"] == relative(of(2), seat)
