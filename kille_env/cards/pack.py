"""Packs of cards: whole numbers with names, and drawing from a table's pack.

A card of the Kille pack is `2 * type + copy`: 21 types twice, from blaren (0) to kille (20). The
two copies look alike; only the pig's undo and `deck` positions tell them apart.
"""

from enum import IntEnum

import numpy as np

from kille_env.core.jit import index, kernel
from kille_env.core.pack import Pack
from kille_env.core.rng import below


class Kind(IntEnum):
    """The types of cards of the Kille pack, the lowest first, by their codes."""

    BL, BP, KR = range(3)
    L1, L2, L3, L4, L5, L6, L7, L8, L9, L10, L11, L12 = range(3, 15)
    VH, KA, SV, HU, GO, KI = range(15, 21)


KILLE_CODES = tuple(kind.name for kind in Kind)
KILLE_NAMES = (
    "blaren",
    "blompottan",
    "kransen",
    *(f"lilja {i}" for i in range(1, 13)),
    "värdshus",
    "kavall",
    "svin",
    "husar",
    "gök",
    "kille",
)

KILLE_PACK = Pack(KILLE_CODES, 2, KILLE_NAMES)


@kernel
def take_pack(table):
    """Puts the pack together for a new deal: everything undrawn, random unless it was stacked."""
    table["drawn"] = 0
    if table["stacked"] == 0:
        deck = table["deck"]
        for position in range(deck.shape[0]):
            deck[position] = position


@kernel
def draw(table):
    """Returns the next card of the pack; past the stacked cards a random one of the rest."""
    deck = table["deck"]
    position = np.int64(table["drawn"])
    table["drawn"] = position + 1
    if position >= table["stacked"]:
        other = position + below(table, deck.shape[0] - position)
        card = deck[index(other)]
        deck[index(other)] = deck[index(position)]
        deck[index(position)] = card
    return np.int64(deck[index(position)])


@kernel
def reshuffle(table, cards):
    """Shuffles a set of cards that were out of play into a new talon; the old one is used up.

    Needs a table with cards drawn again (`table_dtype`). Where `stacked` names them, the named ones
    come first; from a name on that is not among `cards` the order is random.
    """
    again = table["again"]
    start, rest = np.int64(table["again_end"]), np.uint64(cards)
    given = np.int64(table["stacked"]) - table["deck"].shape[0]
    end = start
    while end < given and rest != 0:
        card = np.uint64(again[index(end)])
        if (rest >> card) & np.uint64(1) == 0:
            card ^= np.uint64(1)  # the other copy looks the same
        if (rest >> card) & np.uint64(1) == 0:
            table["stacked"] = table["deck"].shape[0] + end
            break
        again[index(end)] = card
        rest &= ~(np.uint64(1) << card)
        end += 1
    for card in range(table["deck"].shape[0]):
        if (rest >> np.uint64(card)) & np.uint64(1) != 0:
            again[index(end)] = card
            end += 1
    table["again_end"] = end


@kernel
def draw_again(table):
    """Returns the next card, like `draw`; once the pack is used up, one of those reshuffled."""
    size = table["deck"].shape[0]
    if table["drawn"] < size:
        return draw(table)
    again = table["again"]
    position = np.int64(table["drawn"]) - size
    if table["drawn"] >= table["stacked"]:
        other = position + below(table, np.int64(table["again_end"]) - position)
        card = again[index(other)]
        again[index(other)] = again[index(position)]
        again[index(position)] = card
    table["drawn"] += 1
    return np.int64(again[index(position)])


@kernel
def talon_left(table):
    """How many cards can be drawn before a reshuffle; needs a table with cards drawn again."""
    return table["deck"].shape[0] + np.int64(table["again_end"]) - np.int64(table["drawn"])
