"""How likely cards lie where, if all ways to lay them that can be are equally likely.

For positions with too many determinizations to list: they are counted, place after place.
"""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from scipy.stats import chisquare

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
