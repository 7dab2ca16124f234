"""Determinizations of Knack: what a seat cannot rule out, no more, and all of it equally often.

They are enumerated with the slow twin: the hidden cards are dealt in every way, the same
decisions are played, and what the seat would then know is compared.
"""

import importlib
import random
from collections import Counter
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest

import kille_env
from env.arrangements import BY_CHANCE, Places, check_full_table
from env.hidden_cards import draw, p_value
from env.knack_tables import Table, play
from kille_env.play.decisions import Decisions, History

PACK, PRESETS = kille_env.spec("knack").pack.codes, kille_env.spec("knack").presets
KNACK = importlib.import_module("reference.knack")


def pack_of(table: Table) -> list[str]:
    """The cards that are played with."""
    return table.spec.pack.codes_without(table.spec.left_out(table.rules))


# Every determinization, by the twin


def replay(table: Table, dealt: dict[int, list[str]], down: str | None) -> Any:
    """Returns the twin after the same decisions with other cards; None if it is another game."""
    order = [(table.first_dealer + 1 + step) % table.players for step in range(table.players)]
    deck = [card for other in order for card in dealt[other][:2]]
    deck += [dealt[other][2] for other in order]
    deck.append(table.decks[0][len(deck)])
    deck += [card for card in pack_of(table) if card not in set(deck)]
    match = KNACK.Match(table.players, table.rules.as_dict(), table.first_dealer, lambda: deck)
    try:
        for text in table.actions:
            match.play(f"play *{down}" if "*" in text else text)
    except ValueError:
        return None
    return match


def hidden_cards_of(match: Any) -> tuple[int, ...]:
    """The hands as sets of cards, by seat, and the card that lies face down or -1."""
    hands = [sum(1 << PACK.index(card) for card in match.hand[s]) for s in sorted(match.hand)]
    return (*hands, *(PACK.index(card) for card in match.hidden.values()))


def possible(table: Table, seat: int) -> set[tuple[int, ...]]:
    """All determinizations that the seat cannot tell from the table, by trying every deal."""
    true = table._twin()
    opened = {s: {e[2] for e in true.events if e[:2] == ("play", s)} for s in range(table.players)}
    known = {*true.dealt[seat], true.turn_up}.union(*opened.values())
    others = [s for s in range(table.players) if s != seat]
    found = set()

    def deal(rest: list[int], free: frozenset[str], dealt: dict[int, list[str]]) -> None:
        if not rest:
            leader = next((s for s in true.hidden if s != seat), None)
            mine = [true.hidden.get(seat)]
            downs = (
                mine if leader is None else [c for c in dealt[leader] if c not in opened[leader]]
            )
            for down in downs:
                match = replay(table, dealt, down)
                if match and match.view(seat) == true.view(seat):
                    found.add(hidden_cards_of(match))
            return
        other = rest[0]
        for cards in combinations(sorted(free), 3 - len(opened[other])):
            deal(rest[1:], free - set(cards), {**dealt, other: [*opened[other], *cards]})

    deal(others, frozenset(pack_of(table)) - known, {seat: list(true.dealt[seat])})
    return found


POSITIONS: dict[str, tuple[Any, ...]] = {
    # Hands, decisions, by seat how many determinizations there are, rules; the six of hearts is
    # turned up.
    "a lead to the first trick rules out the highest trump": (
        *("AC 7C 8C | 6D 7D 8D", "0 knock, 1 knock, 0 7C"),
        {1: comb(31 - 1, 2)},
    ),
    "an ace that is turned up makes that the king": (
        *("AC 7C 8C | 6D 7D 8D", "0 knock, 1 knock, 0 7C"),
        {1: comb(31 - 1, 2)},
        {"turn_up": "AH"},
    ),
    "who does not follow has none of the suit": (
        *("AC 7C 8C | 6D 7D 8D", "0 knock, 1 knock, 0 7C, 1 6D"),
        {0: comb(31 - 6, 2)},
    ),
    "who must trump and does not has no trump either": (
        *("AC 7C 8C | 6D 7D 8D", "0 knock, 1 knock, 0 7C, 1 6D"),
        {0: comb(31 - 6 - 8, 2)},
        {"must_trump": True},
    ),
    "who follows may have whatever is left": (
        *("AC 7C 8C | 6C 7D 8D", "0 knock, 1 knock, 0 7C, 1 6C"),
        {0: comb(31, 2)},
    ),
    "two and a low lead to the second trick rules out high trumps": (
        *("AC 7C 7H | 6D 7D 8D", "0 knock, 1 knock, 0 AC, 1 6D, 0 7H"),
        {1: 30 - 4},
    ),
    "two and a high lead to the second trick does not; the ace would have been led to the first": (
        *("AC KH JH | 6D 7D 8D", "0 knock, 1 knock, 0 AC, 1 6D, 0 JH"),
        {1: 30 - 1},
    ),
    # Seat 2 has not seen 7 clubs, 7 diamonds, 6 spades. What lies face down is one of those, the
    # last card of seat 1 a diamond or a spade. Seat 0 knows what lies there: neither of the two
    # others has a club or a heart.
    "three or more and a lead face down rules out trumps": (
        "AC 7C 8C | 6D 7D 8D | 6S 7S 8S",
        "0 knock, 1 knock, 2 knock, 0 AC, 1 6D, 2 6S, 0 *8C, 1 7D, 2 7S, 0 7C",
        {2: 7 * 13 + 13 * 12, 0: 14 * 13},
    ),
    # Seat 2 has not seen 8 clubs, 6 diamonds, 7 spades. What lies face down may well be a spade,
    # though seat 0 had none when a spade was led.
    "the third trick says nothing about the card that lies face down": (
        "AC 7C 8D | 6D 7D 8S | 6S 7S 8H",
        "0 knock, 1 knock, 2 knock, 0 AC, 1 6D, 2 6S, 0 *7C, 1 7D, 2 8H, 2 7S, 0 8D",
        {2: 8 * 13 + 13 * 12},
    ),
    # Unseen are 8 clubs, 8 diamonds, 6 spades and 6 hearts. Seat 0 has none of the 4 highest
    # hearts, seat 1 no club.
    "who has folded looks at hands that can hold the same cards": (
        "AC 7H 7C | 6D 8H 7D | 6S 7S 8S",
        "0 knock, 1 knock, 2 fold, 0 AC, 1 6D, 0 7H, 1 8H",
        {2: 24 * 20 - 16},
    ),
    "before the play nothing is known but what one sees": (
        *("AC 7C 8C | 6D 7D 8D", "0 knock"),
        {1: comb(32, 3)},
    ),
    # Five of ten cards are unseen. Seat 0 would have led the king of trumps.
    "no card that is left out is dealt": (
        *("TH KS TS | QH JS AS", "0 knock, 1 knock, 0 TS, 1 JS"),
        {0: comb(5, 2), 1: comb(5 - 1, 2)},
        {"preset": "tiny", "turn_up": "AH"},
    ),
}


@pytest.mark.compiled
@pytest.mark.parametrize("name", POSITIONS)
def test_determinizations_are_those_that_look_the_same_to_the_seat_each_equally_likely(name):
    hands, script, numbers, *rules = POSITIONS[name]
    table = play(hands, script, **(rules[0] if rules else {}))
    for seat, number in numbers.items():
        expected = Counter(possible(table, seat))
        assert len(expected) == number
        tables = draw(table.batch, seat, 10 * number)[0].tables
        downs = [[down] * (down >= 0) for down in tables["face_down"].tolist()]
        held = tables["hand"][:, : table.players].tolist()
        drawn = [(*hand, *down) for hand, down in zip(held, downs, strict=True)]
        assert p_value(expected, drawn) > BY_CHANCE


# A full table


def full_table() -> Table:
    """Eleven players before the third trick; thirteen cards are hidden, one of them face down."""
    table = play(
        "QC TS 9H | 9D JD 7S | KC JH 8C | QS 8H 7H | 6C TC 6S | AC KS 9S | AD JS TH | 6H JC KH | "
        "KD 8D 8S | QH AS 7D | AH TD 6D",
        turn_up="QD",
    )
    table.knock(*range(11))
    return table.act(
        "0 QC, 1 7S, 2 KC, 3 8H, 4 TC, 5 AC, 6 JS, 7 JC, 8 8S, 9 AS, 10 AH, "
        "5 *9S, 6 AD, 7 KH, 8 8D, 9 7D, 10 TD, 0 9H, 1 9D, 2 JH, 3 QS, 4 6S"
    )


def hidden_places(table: Table, seat: int) -> Places:
    """Whose hidden cards a seat does not see, and which card lies there."""
    match = table._twin()
    places = [(s, card) for s in range(table.players) if s != seat for card in match.hand[s]]
    places += [(s, card) for s, card in match.hidden.items() if s != seat]
    places += [(-1, card) for card in table.decks[0][3 * table.players + 1 :]]
    return [(s, PACK.index(card)) for s, card in places]


PAIRS = tuple(zip(range(13), (1, 2, 3, 10, 5, 6, 7, 8, 9, 11, 12, 0, 4), strict=True))


@pytest.mark.compiled
def test_hands_of_a_full_table_are_drawn_as_often_as_there_are_ways_to_deal_the_others():
    table = full_table()
    check_full_table(table, 8, hidden_places(table, 8), PAIRS)


# Any table


def random_table(rng: random.Random) -> Table:
    """A table in its first deal, under any rules, after some random decisions."""
    players = rng.randint(2, 11)
    rules = {"must_trump": rng.random() < 0.5, "remainder": rng.choice(("draw", "left"))}
    if players <= 3:
        rules["preset"] = rng.choice(PRESETS)
    table = Table(players, rng.randrange(players), **rules)
    cards = rng.sample(pack_of(table), 3 * players + 1)
    table.deal(" | ".join(" ".join(cards[3 * s : 3 * s + 3]) for s in range(players)), cards[-1])
    joins = rng.choice((0.5, 0.95))
    for _ in range(rng.randrange(4 * players)):
        if table.phase == "join":
            text = "knock" if rng.random() < joins else "fold"
        else:
            text = rng.choice(table.batch.legal_texts())
        before = table.batch.clone()
        table.batch.apply([table.batch.find_action(text)])
        if table.seat is None:
            table.batch._tables[:] = before.tables
            break
        table.actions.append(text)
    return table


def test_a_determinization_plays_the_same_on_the_twin(scale):
    rng = random.Random(7)
    for number in range(scale(600, 60)):
        table = random_table(rng)
        seat = rng.randrange(table.players)
        batch = table.batch.clone()
        batch.resample(seat, [number])
        record = batch.tables[0]
        dealt = {s: [PACK[card] for card in record["cards"][s]] for s in range(table.players)}
        down = int(record["face_down"])
        match = replay(table, dealt, PACK[down] if down >= 0 else None)
        assert match
        assert match.view(seat) == table._twin().view(seat)
        hands = hidden_cards_of(match)[: table.players]
        assert [*hands] == record["hand"][: table.players].tolist()


def test_the_card_that_lies_face_down_is_not_told_by_what_has_been_done():
    """In no determinization does the past name an action that was not possible there."""
    table = Table(3).deal("AC 7C 8C | 6D 7D 8D | 6S 7S 8S")
    history = History(table.batch)
    for text in ("knock", "knock", "knock", "play AC", "play 6D", "play 6S", "play *8C"):
        actions = np.array([table.batch.find_action(text)])
        history.note(actions)
        table.batch.apply(actions)
    past = Decisions(table.batch, [0], [0], history).draw_with_past(50)[1]
    assert past.mask[np.arange(len(past.action)), past.action].all()
    assert len(past.action) == 50 * 4  # of the others: two knocks and two cards, not the last one


def test_a_remainder_that_was_said_beforehand_is_drawn_in_a_determinization():
    table = play("AC 7C 8C | 6D 7D 8D", "0 knock", start={"remainder_to": 1})
    assert table.record["remainder_to"] == 1
    table.batch.resample(0, [0])
    assert table.record["remainder_to"] == -1
