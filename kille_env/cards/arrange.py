"""Kernels that arrange a table's cards anew, for `resample` and `relabel` of games.

`cards` says of every card which one lies in its place in the other arrangement.
"""

import numpy as np

from kille_env.cards.sets import card_bit, how_many, lowest_card, nth_card, without_lowest
from kille_env.core.jit import index, kernel
from kille_env.core.rng import below

_ONE = np.uint64(1)


@kernel
def whole_pack(cards):
    """Return the set of all cards."""
    return (_ONE << np.uint64(cards.shape[0])) - _ONE


@kernel
def card_from(table, cards):
    """Draw a card of a set, each equally likely; the set is not empty."""
    return nth_card(cards, below(table, how_many(cards)))


@kernel
def deal_places(table, places, free, may_come, cards):
    """Put random cards into some places, all ways of doing so equally likely.

    Args:
        table: The table with the generator.
        places: The cards whose places are dealt to, a set.
        free: The cards that lie nowhere yet, a set.
        may_come: The cards that may lie there, a set; enough of them are free.
        cards: Where it is written.

    Returns:
        The cards that are still free.
    """
    while places != 0:
        card = card_from(table, free & may_come)
        free &= ~card_bit(card)
        cards[index(lowest_card(places))] = card
        places = without_lowest(places)
    return free


@kernel
def relabel_cards(field, cards):
    """Put the new cards into a list of cards; -1 stays."""
    for place in range(field.shape[0]):
        if field[index(place)] >= 0:
            field[index(place)] = cards[index(field[index(place)])]


@kernel
def relabel_set(field, cards):
    """Return the set of the new cards of a set."""
    rest, relabeled = np.uint64(field), np.uint64(0)
    while rest != 0:
        relabeled |= card_bit(cards[index(lowest_card(rest))])
        rest = without_lowest(rest)
    return relabeled
