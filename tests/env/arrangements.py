"""How likely cards lie where, if all ways to lay them that can be are equally likely.

For positions with too many determinizations to list: they are counted, place after place.
"""

import importlib
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import chisquare

from env.hidden_cards import draw
from env.trick_tables import Table

BY_CHANCE = 1e-4
"""A p-value that a right sampler comes below once in ten thousand tests."""


def ways(may: np.ndarray, kinds: Iterable[int]) -> int:
    """In how many ways each place gets a card that may lie there.

    Args:
        may: [places, kinds] which kind of card may lie where.
        kinds: How many cards there are of each kind.
    """
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
    """How likely cards lie on two places, [cards, cards].

    Args:
        may: [places, cards] which card may lie where; as many places as cards.
        first: A place.
        second: Another one.
    """
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
    """The p-value of the cards drawn for two places; 0 if they cannot lie there.

    Args:
        may: [places, cards] which card may lie where.
        drawn: [K, places] the number of the card that lies there.
        first: A place.
        second: Another one.
    """
    chances, counts = pair_chances(may, first, second), np.zeros(may.shape)
    np.add.at(counts, (drawn[:, first], drawn[:, second]), 1)
    if counts[chances == 0].any():
        return 0.0
    likely = chances > 0
    return float(chisquare(counts[likely], counts.sum() * chances[likely]).pvalue)


def place_after_place(may: np.ndarray, number: int, seed: int) -> np.ndarray:
    """What a wrong sampler draws: to each place any card that may lie there and is left.

    Args:
        may: [places, cards] which card may lie where.
        number: How many; what comes to an end with no card for a place is thrown away.
        seed: Seed.
    """
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


# A full table of a game in which what is played says what else is held

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
    """Checks how often cards were drawn for pairs of places; that it can fail is checked, too.

    Args:
        table: The table; none of its discards are hidden.
        seat: Whose determinizations.
        places: The hidden ones.
        pairs: Numbers of places that are looked at together.
        number: How many are drawn.
    """
    may, cards = allowed(table, places), np.array([card for _, card in places])
    lies = draw(table.batch, seat, number)[1][:, cards]
    drawn = (lies[:, :, None] == cards).argmax(axis=2)
    assert (cards[drawn] == lies).all()
    assert may[np.arange(len(cards)), drawn].all()
    assert min(pair_p_value(may, drawn, *pair) for pair in pairs) > BY_CHANCE
    wrong = place_after_place(may, 2000, seed=0)
    assert min(pair_p_value(may, wrong, *pair) for pair in pairs) < BY_CHANCE / 1000
