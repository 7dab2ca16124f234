"""Determinizer of Knack: what a seat cannot rule out, no more, and all of it equally often.

The worlds are enumerated with the slow twin: the hidden cards are dealt in every way, the same
decisions are played, and what the seat would then know is compared.
"""

import importlib
import random
from collections import Counter
from itertools import combinations
from math import comb
from typing import Any

import numba
import numpy as np
import pytest
from scipy.stats import chisquare

import kille_env
from env.arrangements import BY_CHANCE, pair_p_value, place_after_place
from env.knack_tables import Table, play
from kille_env.core.determinization import Determinizer, History
from kille_env.testing.determinization import check_determinizations

PACK = kille_env.spec("knack").pack.codes
KNACK = importlib.import_module("reference.knack")
SLOW = bool(numba.config.DISABLE_JIT)


# Every world, by the twin


def replay(table: Table, dealt: dict[int, list[str]], down: str | None) -> Any:
    """Returns the twin after the same decisions with other cards; None if it is another game."""
    order = [(table.first_dealer + 1 + step) % table.players for step in range(table.players)]
    deck = [card for other in order for card in dealt[other][:2]]
    deck += [dealt[other][2] for other in order]
    deck.append(table.decks[0][len(deck)])
    deck += [card for card in PACK if card not in set(deck)]
    match = KNACK.Match(table.players, table.rules.as_dict(), table.first_dealer, lambda: deck)
    try:
        for text in table.actions:
            match.play(f"play *{down}" if "*" in text else text)
    except ValueError:
        return None
    return match


def world_of(match: Any) -> tuple[int, ...]:
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
                    found.add(world_of(match))
            return
        other = rest[0]
        for cards in combinations(sorted(free), 3 - len(opened[other])):
            deal(rest[1:], free - set(cards), {**dealt, other: [*opened[other], *cards]})

    deal(others, frozenset(PACK) - known, {seat: list(true.dealt[seat])})
    return found


def drawn(table: Table, seat: int, number: int) -> Counter[tuple[int, ...]]:
    """How often determinizations are drawn, described as `world_of` does."""
    batch = table.batch.take(np.zeros(number, dtype=np.int64))
    batch.resample(seat, np.arange(number))
    hands = batch.tables["hand"][:, : table.players].tolist()
    downs = batch.tables["face_down"].tolist()
    return Counter((*h, *([down] * (down >= 0))) for h, down in zip(hands, downs, strict=True))


def check_uniform(table: Table, seat: int, number: int) -> None:
    """Checks that so many determinizations can be, and that all of them are drawn equally often."""
    worlds = sorted(possible(table, seat))
    assert len(worlds) == number
    counts = drawn(table, seat, 200 if SLOW else 10 * number)
    assert set(counts) <= set(worlds)
    if not SLOW:
        assert chisquare([counts[world] for world in worlds]).pvalue > BY_CHANCE


# What a seat can tell; the card turned up is the six of hearts


def test_a_lead_to_the_first_trick_rules_out_the_highest_trump():
    table = play("AC 7C 8C | 6D 7D 8D", "0 knock, 1 knock, 0 7C")
    check_uniform(table, 1, number=comb(31 - 1, 2))


def test_an_ace_that_is_turned_up_makes_that_the_king():
    table = play("AC 7C 8C | 6D 7D 8D", "0 knock, 1 knock, 0 7C", turn_up="AH")
    check_uniform(table, 1, number=comb(31 - 1, 2))


def test_who_does_not_follow_has_none_of_the_suit():
    table = play("AC 7C 8C | 6D 7D 8D", "0 knock, 1 knock, 0 7C, 1 6D")
    check_uniform(table, 0, number=comb(31 - 6, 2))


def test_who_must_trump_and_does_not_has_no_trump_either():
    table = play("AC 7C 8C | 6D 7D 8D", "0 knock, 1 knock, 0 7C, 1 6D", must_trump=True)
    check_uniform(table, 0, number=comb(31 - 6 - 8, 2))


def test_who_follows_may_have_whatever_is_left():
    table = play("AC 7C 8C | 6C 7D 8D", "0 knock, 1 knock, 0 7C, 1 6C")
    check_uniform(table, 0, number=comb(31, 2))


def test_two_and_a_low_lead_to_the_second_trick_rules_out_high_trumps():
    table = play("AC 7C 7H | 6D 7D 8D", "0 knock, 1 knock, 0 AC, 1 6D, 0 7H")
    check_uniform(table, 1, number=30 - 4)


def test_two_and_a_high_lead_to_the_second_trick_does_not():
    table = play("AC KH JH | 6D 7D 8D", "0 knock, 1 knock, 0 AC, 1 6D, 0 JH")
    check_uniform(table, 1, number=30 - 1)  # the ace would have been led to the first trick


def test_three_or_more_and_a_lead_face_down_rules_out_trumps():
    table = play(
        "AC 7C 8C | 6D 7D 8D | 6S 7S 8S",
        "0 knock, 1 knock, 2 knock, 0 AC, 1 6D, 2 6S, 0 *8C, 1 7D, 2 7S, 0 7C",
    )
    # Seat 2 has not seen 7 clubs, 7 diamonds, 6 spades. What lies face down is one of those, the
    # last card of seat 1 a diamond or a spade.
    check_uniform(table, 2, number=7 * 13 + 13 * 12)
    # Seat 0 knows what lies there. Neither of the two others has a club or a heart.
    check_uniform(table, 0, number=14 * 13)


def test_the_third_trick_says_nothing_about_the_card_that_lies_face_down():
    table = play(
        "AC 7C 8D | 6D 7D 8S | 6S 7S 8H",
        "0 knock, 1 knock, 2 knock, 0 AC, 1 6D, 2 6S, 0 *7C, 1 7D, 2 8H, 2 7S, 0 8D",
    )
    # Seat 2 has not seen 8 clubs, 6 diamonds, 7 spades. What lies face down may well be a spade,
    # though seat 0 had none when a spade was led.
    check_uniform(table, 2, number=8 * 13 + 13 * 12)


def test_who_has_folded_looks_at_hands_that_can_hold_the_same_cards():
    table = play(
        "AC 7H 7C | 6D 8H 7D | 6S 7S 8S", "0 knock, 1 knock, 2 fold, 0 AC, 1 6D, 0 7H, 1 8H"
    )
    # Unseen are 8 clubs, 8 diamonds, 6 spades and 6 hearts. Seat 0 has none of the 4 highest
    # hearts, seat 1 no club.
    check_uniform(table, 2, number=24 * 20 - 16)


def test_before_the_play_nothing_is_known_but_what_one_sees():
    table = play("AC 7C 8C | 6D 7D 8D", "0 knock")
    check_uniform(table, 1, number=comb(32, 3))


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


Places = list[tuple[int, str]]


def hidden_places(table: Table, seat: int) -> Places:
    """Whose hidden cards a seat does not see, and which card lies there; the talon is seat -1."""
    match = table._twin()
    places = [(s, card) for s in range(table.players) if s != seat for card in match.hand[s]]
    places += [(s, card) for s, card in match.hidden.items() if s != seat]
    return places + [(-1, card) for card in table.decks[0][3 * table.players + 1 :]]


def allowed(table: Table, seat: int) -> np.ndarray:
    """[places, cards] Which hidden card may lie where: the decisions stay legal with it there.

    Both are in the order of `hidden_places`. The twin plays with one card more in the pack, so
    that each place is judged alone.
    """
    places = hidden_places(table, seat)
    may = np.ones((len(places), len(places)), dtype=bool)
    for row, (owner, old) in enumerate(places):
        for column, (_, new) in enumerate(places if owner >= 0 else ()):
            match = KNACK.Match(
                table.players, table.rules.as_dict(), table.first_dealer, lambda: table.decks[0]
            )
            match.hand[owner][match.hand[owner].index(old)] = new
            try:
                for text in table.actions:
                    mine = match.seat == owner and text == f"play *{old}"
                    match.play(f"play *{new}" if mine else text)
            except ValueError:
                may[row, column] = False
    return may


PAIRS = tuple(zip(range(13), (1, 2, 3, 10, 5, 6, 7, 8, 9, 11, 12, 0, 4), strict=True))


def test_hands_of_a_full_table_are_drawn_as_often_as_there_are_ways_to_deal_the_others():
    table, seat = full_table(), 8
    places = [PACK.index(card) for _, card in hidden_places(table, seat)]
    may = allowed(table, seat)
    batch = table.batch.take(np.zeros(50 if SLOW else 30000, dtype=np.int64))
    lies = batch.resample(seat, np.arange(batch.num_tables))[:, places]
    worlds = (lies[:, :, None] == np.array(places)).argmax(axis=2)
    assert (np.array(places)[worlds] == lies).all()
    assert may[np.arange(len(places)), worlds].all()
    if not SLOW:
        assert min(pair_p_value(may, worlds, *pair) for pair in PAIRS) > BY_CHANCE


def test_a_sampler_that_deals_place_after_place_is_found_out():
    """The test before this one can fail."""
    may = allowed(full_table(), 8)
    worlds = place_after_place(may, 2000, seed=0)
    assert min(pair_p_value(may, worlds, *pair) for pair in PAIRS) < BY_CHANCE / 1000


# Any table


def random_table(rng: random.Random) -> Table:
    """A table in its first deal, under any rules, after some random decisions."""
    players = rng.randint(2, 11)
    rules = {"must_trump": rng.random() < 0.5, "remainder": rng.choice(("draw", "left"))}
    table = Table(players, rng.randrange(players), **rules)
    cards = rng.sample(PACK, 3 * players + 1)
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


def test_a_world_plays_the_same_on_the_twin():
    rng = random.Random(7)
    for number in range(100 if SLOW else 600):
        table = random_table(rng)
        seat = rng.randrange(table.players)
        world = table.batch.clone()
        world.resample(seat, [number])
        record = world.tables[0]
        dealt = {s: [PACK[card] for card in record["cards"][s]] for s in range(table.players)}
        down = int(record["face_down"])
        match = replay(table, dealt, PACK[down] if down >= 0 else None)
        assert match
        assert match.view(seat) == table._twin().view(seat)
        assert [*world_of(match)[: table.players]] == record["hand"][: table.players].tolist()


def test_the_card_that_lies_face_down_is_not_told_by_what_has_been_done():
    """In no determinization does the past name an action that was not possible there."""
    table = Table(3).deal("AC 7C 8C | 6D 7D 8D | 6S 7S 8S")
    history = History(table.batch)
    for text in ("knock", "knock", "knock", "play AC", "play 6D", "play 6S", "play *8C"):
        actions = np.array([table.batch.find_action(text)])
        history.note(actions)
        table.batch.apply(actions)
    worlds = Determinizer(table.batch, [0], [0], history)
    past = worlds.draw_with_past(50)[1]
    assert past.mask[np.arange(len(past.action)), past.action].all()
    assert len(past.action) == 50 * 4  # of the others: two knocks and two cards, not the last one


def test_a_remainder_that_was_said_beforehand_is_drawn_in_a_world():
    table = play("AC 7C 8C | 6D 7D 8D", "0 knock", start={"remainder_to": 1})
    assert table.record["remainder_to"] == 1
    world = table.batch.clone()
    world.resample(0, [0])
    assert world.tables["remainder_to"][0] == -1


@pytest.mark.parametrize("players", (2, 3, 5, 11))
@pytest.mark.parametrize("rules", ({}, {"must_trump": True}, {"remainder": "left", "deals": 2}))
def test_determinizations_keep_what_is_promised(players, rules):
    known = kille_env.spec("knack").resolve(rules)
    check_determinizations("knack", players, known, 300 if SLOW else 1000, seed=players)
