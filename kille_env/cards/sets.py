"""Sets of cards or seats as words: bit `i` stands for card, or seat, number `i`.

Functions for sets of seats alone are in `kille_env.cards.seats`, those for Kille cards alone in
`kille_env.tricktaking.tricks`.
"""

from typing import Any

import numpy as np

from kille_env.core.jit import kernel
from kille_env.core.machine import bits_set, zeros_above, zeros_below

_ONE = np.uint64(1)


@kernel
def card_bit(card):
    """Return the set of one card."""
    return _ONE << np.uint64(card)


@kernel
def in_cards(cards, card):
    """Return whether a card is in a set."""
    return (np.uint64(cards) >> np.uint64(card)) & _ONE != 0


@kernel
def how_many(cards):
    """Return the number of cards in a set."""
    return np.int64(bits_set(np.uint64(cards)))


@kernel
def lowest_card(cards):
    """Return the lowest card of a set that is not empty."""
    return np.int64(zeros_below(np.uint64(cards)))


@kernel
def without_lowest(cards):
    """Return a set that is not empty without its lowest card."""
    cards = np.uint64(cards)
    # Subtracting 1 turns the lowest bit off and the zeros below it on; the AND clears those.
    return cards & (cards - _ONE)


@kernel
def highest_card(cards):
    """Return the highest card of a set that is not empty."""
    return np.int64(63 - zeros_above(np.uint64(cards)))


@kernel
def nth_card(cards, number):
    """Return a card of a set, counted from its lowest, which is number 0."""
    rest = np.uint64(cards)
    for _ in range(number):
        rest = without_lowest(rest)
    return lowest_card(rest)


def members(word: Any) -> list[int]:
    """Return the numbers of the cards or seats of a set, the lowest first; not for kernels."""
    bits = int(word)
    return [number for number in range(bits.bit_length()) if bits >> number & 1]
