"""Sets of cards or seats as words: bit `i` stands for card, or seat, number `i`.

What only sets of seats need is in `kille_env.cards.seats`, what only Kille cards need in
`kille_env.tricktaking.tricks`.
"""

from typing import Any

import numpy as np

from kille_env.core.jit import kernel

_PAIRS, _FOURS, _EIGHTS = (
    np.uint64(word) for word in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F)
)
_ONE, _TWO = np.uint64(1), np.uint64(2)


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


def members(word: Any) -> list[int]:
    """Returns the numbers of the cards or seats of a set, the lowest first; not for kernels."""
    bits = int(word)
    return [number for number in range(bits.bit_length()) if bits >> number & 1]
