"""Sets of cards or seats as words: bit `i` stands for card, or seat, number `i`.

What only sets of seats need is in `kille_env.cards.seats`, what only Kille cards need in
`kille_env.tricktaking.tricks`.
"""

from typing import Any

import numpy as np

from kille_env.core.jit import index, kernel

_PAIRS, _FOURS, _EIGHTS = (
    np.uint64(word) for word in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F)
)
_ONE, _TWO = np.uint64(1), np.uint64(2)
_PLACE = np.zeros(67, dtype=np.int64)  # where a single bit stands: 2 is a primitive root of 67
for _card in range(64):
    _PLACE[(1 << _card) % 67] = _card


@kernel
def card_bit(card):
    """The set of one card."""
    return _ONE << np.uint64(card)


@kernel
def in_cards(cards, card):
    """Whether a card is in a set."""
    return (np.uint64(cards) >> np.uint64(card)) & _ONE != 0


@kernel
def how_many(cards):
    """How many cards are in a set, by adding up ever larger groups of bits."""
    groups = np.uint64(cards)
    groups = (groups & _PAIRS) + ((groups >> _ONE) & _PAIRS)
    groups = (groups & _FOURS) + ((groups >> _TWO) & _FOURS)
    groups = (groups + (groups >> np.uint64(4))) & _EIGHTS
    groups += groups >> np.uint64(8)
    groups += groups >> np.uint64(16)
    groups += groups >> np.uint64(32)
    return np.int64(groups & np.uint64(127))


@kernel
def lowest_card(cards):
    """The lowest card of a set that is not empty."""
    cards = np.uint64(cards)
    return _PLACE[index((cards & (~cards + _ONE)) % np.uint64(67))]


@kernel
def without_lowest(cards):
    """A set that is not empty, without its lowest card."""
    cards = np.uint64(cards)
    return cards & (cards - _ONE)


@kernel
def highest_card(cards):
    """The highest card of a set that is not empty."""
    rest = np.uint64(cards)
    for shift in (1, 2, 4, 8, 16, 32):
        rest |= rest >> np.uint64(shift)
    return how_many(rest) - 1


@kernel
def nth_card(cards, number):
    """A card of a set, counted from its lowest, which is number 0."""
    rest = np.uint64(cards)
    for _ in range(number):
        rest = without_lowest(rest)
    return lowest_card(rest)


def members(word: Any) -> list[int]:
    """Returns the numbers of the cards or seats of a set, the lowest first; not for kernels."""
    bits = int(word)
    return [number for number in range(bits.bit_length()) if bits >> number & 1]
