"""Determinizations that are too many to list, counted place after place at a full table."""

import importlib
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from scipy.stats import chisquare

from env import knack_tables, trick_tables
from env.counted import BY_CHANCE, draw
from env.trick_tables import Table
from kille_env.cards.sets import members

GAME = "krypkille"

# A full table of a game in which what is played says what else is held


def ways(may: np.ndarray, kinds: Iterable[int]) -> int:
    """Count the ways in which each place gets a card that may lie there, [places, kinds]."""
    count = Counter({tuple(kinds): 1})
    for row in may:
        after: Counter[tuple[int, ...]] = Counter()
        for left, number in count.items():
            for kind in np.flatnonzero(row):
                if left[kind]:
                    rest = (*left[:kind], left[kind] - 1, *left[kind + 1 :])
                    after[rest] += number * left[kind]
        count = after
    return sum(count.values())


def pair_chances(may: np.ndarray, first: int, second: int) -> np.ndarray:
    """Return how likely cards lie on two places, [cards, cards]; `may` is [places, cards]."""
    kinds, kind_of = np.unique(may, axis=1, return_inverse=True)
    kind_of = kind_of.ravel()
    rest, number = np.delete(kinds, (first, second), axis=0), np.bincount(kind_of)
    chances = np.zeros(kinds.shape[1:] * 2)
    for one, other in np.ndindex(chances.shape):
        left = number.copy()
        left[one] -= 1
        left[other] -= 1
        if kinds[first, one] and kinds[second, other] and left.min() >= 0:
            chances[one, other] = ways(rest, left.tolist())
    of_cards = chances[np.ix_(kind_of, kind_of)]
    np.fill_diagonal(of_cards, 0)
    return of_cards / of_cards.sum()


def pair_p_value(may: np.ndarray, drawn: np.ndarray, first: int, second: int) -> float:
    """Return the p-value of cards drawn for two places, [K, places]; 0 for an impossible one."""
    chances, counts = pair_chances(may, first, second), np.zeros(may.shape)
    np.add.at(counts, (drawn[:, first], drawn[:, second]), 1)
    if counts[chances == 0].any():
        return 0.0
    likely = chances > 0
    return float(chisquare(counts[likely], counts.sum() * chances[likely]).pvalue)


def place_after_place(may: np.ndarray, number: int, seed: int) -> np.ndarray:
    """Draw as a wrong sampler does: for each place any card that may lie there and is left."""
    rng, drawn = np.random.default_rng(seed), []
    while len(drawn) < number:
        left, one = np.ones(len(may), dtype=bool), []
        for row in may:
            choice = np.flatnonzero(row & left)
            if len(choice) == 0:
                break
            one.append(rng.choice(choice))
            left[one[-1]] = False
        else:
            drawn.append(one)
    return np.array(drawn)


Places = list[tuple[int, int]]
"""Whose hidden cards a seat does not see, and which card lies there; the talon is seat -1."""


def allowed(table: Table, places: Places) -> np.ndarray:
    """[places, places] Which hidden card may lie where: the decisions stay legal with it there.

    Each place is judged alone: the slow twin plays with one card more in the pack.
    """
    match_of = importlib.import_module(f"reference.{table.game}").Match
    words = [text for text in table.actions if not text.startswith("play")]
    may = np.ones((len(places), len(places)), dtype=bool)
    for row, (owner, old) in enumerate(places):
        for column, (_, new) in enumerate(places if owner >= 0 else ()):
            before, after = table.spec.pack.code(old), table.spec.pack.code(new)
            match = match_of(
                table.players, table.rules.as_dict(), table.first_dealer, lambda: table.decks[0]
            )
            for text in words:
                match.play(text)
            match.hand[owner][match.hand[owner].index(before)] = after
            try:
                for text in table.actions[len(words) :]:
                    mine = match.seat == owner and text == f"play *{before}"
                    match.play(f"play *{after}" if mine else text)
            except ValueError:
                may[row, column] = False
    return may


def check_full_table(
    table: Table, seat: int, places: Places, pairs: Sequence[tuple[int, int]], number: int = 30_000
) -> None:
    """Check how often cards were drawn for pairs of places; that it can fail is checked, too."""
    may, cards = allowed(table, places), np.array([card for _, card in places])
    lies = draw(table.batch, seat, number)[1][:, cards]
    drawn = (lies[:, :, None] == cards).argmax(axis=2)
    assert (cards[drawn] == lies).all()
    assert may[np.arange(len(cards)), drawn].all()
    assert min(pair_p_value(may, drawn, *pair) for pair in pairs) > BY_CHANCE
    wrong = place_after_place(may, 2000, seed=0)
    assert min(pair_p_value(may, wrong, *pair) for pair in pairs) < BY_CHANCE / 1000


def knack_table() -> Table:
    """Eleven players before the third trick; thirteen cards are hidden, one of them face down."""
    table = knack_tables.play(
        "QC TS 9H | 9D JD 7S | KC JH 8C | QS 8H 7H | 6C TC 6S | AC KS 9S | AD JS TH | 6H JC KH | "
        "KD 8D 8S | QH AS 7D | AH TD 6D",
        turn_up="QD",
    )
    table.knock(*range(11))
    return table.act(
        "0 QC, 1 7S, 2 KC, 3 8H, 4 TC, 5 AC, 6 JS, 7 JC, 8 8S, 9 AS, 10 AH, "
        "5 *9S, 6 AD, 7 KH, 8 8D, 9 7D, 10 TD, 0 9H, 1 9D, 2 JH, 3 QS, 4 6S"
    )


def places_at_knack(table: Table, seat: int) -> Places:
    """Whose hidden cards a seat does not see, and which card lies there."""
    codes = table.spec.pack.codes
    match = table._twin()
    places = [(s, card) for s in range(table.players) if s != seat for card in match.hand[s]]
    places += [(s, card) for s, card in match.hidden.items() if s != seat]
    places += [(-1, card) for card in table.decks[0][3 * table.players + 1 :]]
    return [(s, codes.index(card)) for s, card in places]


def femkortskille_table() -> Table:
    """Eight players in the fourth trick, forty cards dealt; seat 1 has not seen fifteen cards."""
    hands = (
        "L5 L6 SV | BL GO GO | L4 L7 L9 | BL L2 L6 | BP L7 HU | L11 VH KA | L3 L5 HU | L4 L10 L11"
    )
    script = (
        "5 knock, 6 knock, 7 knock, 0 knock, 1 knock, 2 knock, 3 knock, 4 knock, "
        "5 L9, 6 HU, 7 L1, 0 L5, 1 GO, 2 L4, 3 BL, 4 KI, 4 HU, 5 L10, 6 BP, 7 L1, 0 L6, 1 GO, "
        "2 L7, 3 KR, 1 BL, 2 L12, 3 L2, 4 BP, 5 KA, 6 KR, 7 L4, 0 SV, 0 L12"
    )
    talon = "L9 L10 BP KR L1 L1 L12 KA L3 L8 L12 SV KR L8 L2 KI"
    return trick_tables.play("femkortskille", hands, script, talon, dealer=4, follow="lowest")


@pytest.mark.compiled
def test_hands_of_a_full_table_are_drawn_as_often_as_there_are_ways_to_deal_the_others():
    table = knack_table()
    pairs = tuple(zip(range(13), (1, 2, 3, 10, 5, 6, 7, 8, 9, 11, 12, 0, 4), strict=True))
    check_full_table(table, 8, places_at_knack(table, 8), pairs)
    table = femkortskille_table()
    hands, deck = table.record["hand"], table.record["deck"].tolist()
    places = [(seat, card) for seat in range(8) if seat != 1 for card in members(hands[seat])]
    places += [(-1, card) for card in deck[table.record["drawn"] :]]
    assert len(places) == 15
    pairs = tuple((place, (3 * place + 1) % 15) for place in range(15) if place != 7)
    check_full_table(table, 1, places, pairs)
