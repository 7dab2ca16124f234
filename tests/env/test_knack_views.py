"""Knack: who knows what, what the observation's parts claim, and what people are told."""

import pytest

import kille_env
from env.knack_tables import Table, play
from env.trick_tables import differ, number, of
from kille_env.games.knack import SPEC
from kille_env.records import Recorder, read_records, replay, write_records

CODES = SPEC.pack.codes
THREE = "7C 8C 9C | AC 7D JS | KC KD QS"
DOWN = "0 7C, 1 AC, 2 KC, 1 *7D"


def cards(*codes):
    """A part with an entry for each card."""
    return [int(code in codes) for code in CODES]


def ranks(codes):
    """A part with an entry for each rank."""
    return [int(rank in codes) for rank in "6789TJQKA"]


def played(code):
    """The number of a card in a list of played cards."""
    return CODES.index(code) + 1


def face_down():
    """Seat 1 has led the seven of diamonds face down, seat 2 is to play."""
    return play(THREE).knock(0, 1, 2).act(DOWN)


# Who knows what


def test_a_hand_is_its_owners_alone():
    assert differ(play(THREE), play("7C 8C 9C | AC 7D TS | KC KD QS")) == {1}


def test_the_order_in_which_cards_came_is_nothing_to_know():
    assert differ(play(THREE), play("9C 7C 8C | AC 7D JS | QS KC KD")) == set()


def test_the_card_turned_up_and_the_calls_are_everybodys():
    assert differ(play(THREE), play(THREE, turn_up="7H")) == {0, 1, 2}
    assert differ(play(THREE, "0 knock"), play(THREE, "0 fold")) == {0, 1, 2}


def test_a_folded_hand_stays_its_owners_alone():
    fold = "0 fold, 1 knock, 2 knock, 1 AC, 2 KC"
    assert differ(play(THREE, fold), play("7C 8C TC | AC 7D JS | KC KD QS", fold)) == {0}


def test_a_card_led_face_down_is_known_to_its_leader_alone():
    other = play("7C 8C 9C | AC 8D JS | KC KD QS").knock(0, 1, 2)
    assert differ(face_down(), other.act(DOWN.replace("7D", "8D"))) == {1}


def test_it_stays_so_to_the_end_of_the_deal():  # D-N03
    rest = "2 KD, 0 8C, 1 JS, 2 QS, 0 9C"
    other = play("7C 8C 9C | AC 8D JS | KC KD QS").knock(0, 1, 2)
    other.act(f"{DOWN.replace('7D', '8D')}, {rest}")
    assert differ(face_down().act(rest), other) == {1}


def test_nobody_is_told_a_card_led_face_down_but_its_leader():
    telling = [play(THREE).knock(0, 1, 2).told(DOWN, seat) for seat in (0, 1, None)]
    hidden = "seat 1 leads a card face down"
    shown = f"{hidden} (the seven of diamonds)."
    assert telling == [[f"{hidden}."], [shown], [shown]]


def test_the_words_name_it_to_its_leader_alone():
    table = face_down()
    assert "a card face down (the seven of diamonds)" in table.batch.describe(0, 1)
    assert "a card face down." in table.batch.describe(0, 0)
    assert "seven of diamonds" not in table.batch.describe(0, 0)


# The observation


def test_phase_and_trick():
    table = play(THREE)
    assert (table.part("phase", 0), table.part("trick", 0)) == ([1, 0], [0, 0, 0])
    table.knock(0, 1, 2)
    assert (table.part("phase", 0), table.part("trick", 0)) == ([0, 1], [1, 0, 0])
    table.act(DOWN)
    assert table.part("trick", 0) == [0, 1, 0]


@pytest.mark.parametrize("joined", range(5))
def test_number_joined(joined):
    hands = " | ".join(f"6{suit} 7{suit} 8{suit}" for suit in "CDS") + " | 9C TC JC | 9D TD JD"
    table = play(hands, ", ".join(f"{seat} knock" for seat in range(joined)) or "")
    assert table.part("number_joined", 4) == [int(min(joined, 3) == place) for place in range(4)]


def test_money():
    table = play(THREE, start={"bets": [900, 6, 6]}, deals=9)
    assert number(table.part("deals_left", 1)) == 8
    assert number(table.part("bet", 1)) == 2
    assert number(table.part("bets", 1)) == 3
    table.knock(0).deal(THREE).knock(0).deal(THREE)
    assert number(table.part("bet", 1)) == 255
    assert number(table.part("bets", 1)) == 1
    assert number(play(THREE, episode="deal").part("deals_left", 0)) == 0
    assert number(play(THREE).part("deals_left", 0)) == 2


def test_trump_and_turn_up():
    table = play(THREE, turn_up="JH")
    assert table.part("trump", 2) == [0, 0, 1, 0]
    assert table.part("turn_up", 2) == ranks("J")


def test_what_is_led_and_what_wins_so_far():
    table = play(THREE).knock(0, 1, 2)
    for part in ("led", "highest", "highest_trump"):
        assert not any(table.part(part, 0))
    table.act("0 7C")
    assert table.part("led", 1) == [1, 0, 0, 0]
    assert table.part("highest", 1) == ranks("7")
    table.act("1 AC")
    assert table.part("highest", 2) == ranks("A")
    assert table.part("highest_trump", 2) == [0]


def test_a_trump_that_wins_so_far():
    table = play("7C 8C 9C | QH 7D JS | KC KD QS").knock(0, 1, 2).act("0 7C, 1 QH")
    assert table.part("led", 2) == [1, 0, 0, 0]
    assert table.part("highest", 2) == ranks("Q")
    assert table.part("highest_trump", 2) == [1]


def test_a_card_led_face_down_is_a_trump_without_a_rank():
    table = face_down()
    assert table.part("led_down", 2) == [1]
    assert table.part("led", 2) == [0, 0, 1, 0]
    assert not any(table.part("highest", 2))
    assert table.part("highest_trump", 2) == [1]


def test_trumps_and_those_not_seen():
    table = play("AH 7H 9C | AC TH JS | KC KD QS", turn_up="6H").knock(0, 1, 2)
    assert table.part("trumps", 0) == ranks("7A")
    assert table.part("trumps_unseen", 0) == ranks("89TJQK")
    table.act("0 AH, 1 TH")
    assert table.part("trumps", 0) == ranks("7")
    assert table.part("trumps_unseen", 0) == ranks("89JQK")


def test_hand_and_cards_that_are_gone():
    table = face_down()
    assert table.part("hand", 0) == cards("8C", "9C")
    assert table.part("gone", 0) == cards("6H", "7C", "AC", "KC")
    assert table.part("hand", 1) == cards("JS")
    assert table.part("gone", 1) == cards("6H", "7C", "AC", "KC", "7D")


def test_which_own_cards_would_win_so_far():
    table = play("7C 8C 9C | 8H 9H AD | 6C TC AC").knock(0, 1, 2)
    assert table.part("takes", 0) == cards("7C", "8C", "9C")
    assert not any(table.part("takes", 1))
    table.act("0 9C")
    assert table.part("takes", 1) == cards("8H", "9H")
    table.act("1 AD")
    assert table.part("takes", 2) == cards("TC", "AC")


def test_how_many_higher_cards_are_not_seen():
    table = play("7C KC 9H | AC 7D JS | TC KD QS", turn_up="AH").knock(0, 1, 2)
    above = {"7C": 1 + 6, "KC": 1 + 1, "9H": 1 + 4}
    assert table.part("above", 0) == [above.get(code, 0) for code in CODES]
    table.act("0 9H")
    table.act("1 AC, 2 TC")
    above = {"7C": 1 + 4, "KC": 1}
    assert table.part("above", 0) == [above.get(code, 0) for code in CODES]


def test_seats_as_each_sees_them():
    table = play("7C 8C 9C | AC 7D JS | KC KD QS | 6C 6D 6S", "0 fold, 1 knock")
    assert table.all_see("dealer", of(3))
    assert table.all_see("joined", of(1))
    assert table.all_see("to_speak", of(2, 3))
    assert table.all_see("to_play", of())
    table.act("2 knock, 3 knock, 1 AC, 2 KC")
    assert table.all_see("to_play", of(3))
    assert table.all_see("leads", of(1))
    assert table.all_see("holds", of(1))
    table.act("3 6C")
    assert table.all_see("tricks", of(1))


def test_suits_that_somebody_lacks_for_all_to_see():
    table = play(THREE).knock(0, 1, 2)
    none = [0] * 3
    assert table.part("void", 0) == none * 4
    table.act("0 7C")  # a lead of three without a trump: they have none
    assert table.part("void", 1) == none * 2 + [0, 0, 1] + none
    table.act("1 AC, 2 KC, 1 *7D, 2 KD, 0 8C")
    assert table.part("void", 0) == none * 2 + [1, 1, 1] + none
    other = play("7C 8C 9C | AD 7D JS", "0 knock, 1 knock, 0 7C, 1 AD")
    assert other.part("void", 0) == [0, 1] + [0, 0] * 3
    trumps = play("7C 8C 9C | AD 7D JS", "0 knock, 1 knock, 0 7C, 1 AD", must_trump=True)
    assert trumps.part("void", 0) == [0, 1, 0, 0, 0, 1, 0, 0]


def test_played_cards_by_trick_and_seat():
    table = face_down()
    assert table.part("played", 0) == [
        *(played("7C"), played("AC"), played("KC")),
        *(0, 37, 0),
        *(0, 0, 0),
    ]
    assert table.part("played", 1)[3:6] == [played("7D"), 0, 0]
    assert table.information("played", 0) == table.part("played", 0)


# The information state and the full state


def test_information_state_of_bets_and_deals():
    table = play(THREE, start={"bets": [3, 3, 900]}, deals=9)
    digits = table.information("bets", 0)
    assert digits[:18] == [1, 0, 0, 0, 0, 2, 0, 0, 0, 300 & 255, 300 >> 8, 0, 0, 0, 1, 0, 0, 0]
    assert not any(digits[18:])
    assert table.information("deals", 0) == [1, 0, 0, 0]
    assert table.information("dealt", 1) == cards("AC", "7D", "JS")


def test_full_state_shows_what_is_hidden():
    table = face_down()
    full = table.batch.full_state(2)[0]
    parts = {part.name: full[part.slice].tolist() for part in SPEC.full_state(3)}
    assert parts["hands"] == cards("KD", "QS") + cards("8C", "9C") + cards("JS")
    assert parts["down_card"] == cards("7D")
    assert parts["to_act"] == [1, 0, 0]


# Words


def test_a_table_in_words():
    table = play(THREE, start={"bets": [3, 6]}).knock(0, 1, 2).act(f"{DOWN}, 2 KD")
    assert table.batch.describe(0, 0).splitlines() == [
        "Knack, deal 1 of 3, dealer seat 2, the six of hearts is turned up, hearts are trumps",
        "Bets on the table: 3, 6; the running bet is 3.",
        "The first trick: seat 0 (you) the seven of clubs, seat 1 the ace of clubs, "
        "seat 2 the king of clubs -- seat 1 takes it.",
        "The second trick: seat 1 a card face down, seat 2 the king of diamonds.",
        "  seat 0 (you)  eight of clubs, nine of clubs  knocks",
        "  seat 1        ?                              knocks, 1 trick",
        "  seat 2        ?                              knocks",
        "seat 0 (you) plays to the second trick.",
    ]


def test_a_table_in_words_before_and_after():
    table = Table(2, start={"remainder_to": 0}, deals=1)
    assert table.batch.describe(0, 0).splitlines()[1:] == [
        "No bets on the table.",
        "Cards are to be dealt.",
    ]
    table.deal("AC AD AS | 6C 6D 6S")
    assert table.batch.describe(0).splitlines()[-1] == "seat 0 knocks or folds."
    table.act("0 knock, 1 knock, 0 AC, 1 6C, 0 AD, 1 6D, 0 AS, 1 6S")
    words = table.batch.describe(0).splitlines()
    assert words[1] == "The bets of 3 chips have been shared."
    assert words[-1] == "The match is over."


def test_what_is_left_over_is_told():
    table = play("AC AD AS | 6C 6D 6S", deals=1, remainder="left")
    told = table.told("0 knock, 1 knock, 0 AC, 1 6C, 0 AD, 1 6D, 0 AS, 1 6S")
    assert told[-1] == (
        "The match is over; the bets of 3 chips are shared, 1 chip each. "
        "What is left over stays on the table: 1."
    )


@pytest.mark.parametrize(
    ("script", "bets", "verdict"),
    [
        ("0 knock, 1 fold, 2 fold", [], "You win 3 chips without play: nobody else knocked."),
        ("0 knock, 1 fold, 2 fold", [3], "You win 6 chips without play: nobody else knocked."),
        ("0 fold, 1 fold", [], "seat 2 wins without play: nobody else knocked."),
        ("0 fold, 1 fold", [3], "seat 2 wins 3 chips without play: nobody else knocked."),
    ],
)
def test_who_wins_without_play_is_told_with_the_chips(script, bets, verdict):
    table = play("AC AD AS | 6C 6D 6S | 7C 7D 7S", start={"bets": bets})
    assert table.verdict(script, 0) == verdict


def test_the_verdict_accounts_for_all_that_the_dealer_pays_and_is_shared():
    table = play("AC AD AS | 6C 6D 6S", deals=1, remainder="left")
    script = "0 knock, 1 knock, 0 AC, 1 6C, 0 AD, 1 6D, 0 AS, 1 6S"
    assert table.verdict(script, 1) == (
        "You knocked and took no trick: that costs 3 chips. As dealer you pay 3 chips. "
        "The bets are shared: 1 chip for you."
    )
    assert table.batch.tables[0]["reward"][1] == -3 - 3 + 1


def test_buttons_name_what_a_trick_pays_and_what_the_dealer_pays():
    table = play(THREE, start={"bets": [3, 6]})
    batch = table.batch

    def buttons():
        return [batch.game.choice(batch.tables[0], batch.rules, action, []) for action in (0, 1)]

    assert buttons() == ["Knock: 2 per trick, none costs 6", "Fold"]
    table.act("0 knock, 1 knock")
    assert buttons() == [
        "Knock: 2 per trick, none costs 6; the dealer's 3 besides",
        "Fold: costs the dealer's 3",
    ]


# Records


def test_who_draws_is_written_and_replayed(tmp_path):
    batch = kille_env.make_batch("knack", 1, 2, rules={"deals": 1}, restart=False)
    recorder = Recorder(batch)
    recorder.reset(
        deck=["AC", "AD", "6C", "6D", "AS", "6S", "6H"],
        dealer=1,
        start={"bets": [6], "remainder_to": 1},
    )
    plays = [f"play {code}" for code in ("AC", "6C", "AD", "6D", "AS", "6S")]
    for text in ("knock", "knock", *plays):
        recorder.step([SPEC.actions.index(text)])
    record = recorder.record()
    assert record["start"] == {"bets": [6]}
    assert record["remainder_to"] == 1
    assert record["returns"] == [3 + 6 + 4, -3 - 9 + 4 + 1]
    write_records([record], tmp_path / "one.jsonl")
    (read,) = read_records(tmp_path / "one.jsonl")
    assert replay(read).differences == []
    read["remainder_to"] = 0
    assert [difference.key for difference in replay(read).differences] == ["returns"]
