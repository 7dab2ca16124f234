"""Packs of cards: whole numbers with names, and drawing from a table's pack.

A card of the Kille pack is `2 * type + copy`: 21 types twice, from blaren (0) to kille (20). The
two copies look alike; only the pig's undo and `deck` positions tell them apart.
"""

from collections.abc import Mapping
from enum import IntEnum

import numpy as np

from kille_env.cards.sets import how_many, in_cards
from kille_env.core.jit import index, kernel
from kille_env.core.pack import Pack
from kille_env.core.rng import below
from kille_env.core.spec import PackSwitch


class Kind(IntEnum):
    """The types of cards of the Kille pack, the lowest first, by their codes."""

    BL, BP, KR = range(3)
    L1, L2, L3, L4, L5, L6, L7, L8, L9, L10, L11, L12 = range(3, 15)
    VH, KA, SV, HU, GO, KI = range(15, 21)


TYPES = len(Kind)
KILLE_CODES = tuple(kind.name for kind in Kind)
KILLE_NAMES = (
    *("blaren", "blompottan", "kransen", *(f"lilja {i}" for i in range(1, 13))),
    *("värdshus", "kavall", "svin", "husar", "gök", "kille"),
)
KILLE_WORDS = (
    *("mask", "flowerpot", "wreath", *map(str, range(1, 13))),
    *("inn", "cavalier", "pig", "hussar", "cuckoo", "harlequin"),
)
KILLE_PACK = Pack(KILLE_CODES, 2, KILLE_NAMES, KILLE_WORDS)


@kernel
def take_pack(table):
    """Put the pack together for a new deal: everything undrawn, random unless it was stacked."""
    table["drawn"] = 0
    if table["stacked"] == 0:
        deck = table["deck"]
        for position in range(deck.shape[0]):
            deck[position] = position


def pack_switch(pack: Pack, by_preset: Mapping[str, str | None], decision: str) -> PackSwitch:
    """Return the switch `pack` of a game, with its value by preset and its decision's number."""
    meaning = "the cards that are played with, in all their copies; null: the whole pack"
    return PackSwitch("pack", meaning, by_preset, decision=decision, pack=pack)


@kernel
def left_out(rules):
    """Return the set of cards that are not played with: the switch `pack`."""
    return np.uint64(rules["pack"])


@kernel
def leave_out(table, cards):
    """Take cards out of the pack: they lie in front of it, and count as drawn."""
    # In front of the pack they count as drawn, so dealing needs no test for them.
    deck, front, rest = table["deck"], np.int64(0), np.int64(how_many(cards))
    table["drawn"] = rest
    if table["stacked"] != 0:
        return  # they lie there
    for card in range(deck.shape[0]):
        if in_cards(cards, card):
            deck[index(front)] = card
            front += 1
        else:
            deck[index(rest)] = card
            rest += 1


@kernel
def draw(table):
    """Return the next card of the pack; past the stacked cards a random one of the rest."""
    deck, position = table["deck"], np.int64(table["drawn"])
    if position >= table["stacked"]:
        # The pack is shuffled card by card as it is drawn, so that undrawn cards cost nothing.
        other = position + below(table, deck.shape[0] - position)
        card = deck[index(other)]
        deck[index(other)] = deck[index(position)]
        deck[index(position)] = card
    table["drawn"] += 1
    return np.int64(deck[index(position)])


@kernel
def talon_left(table):
    """Return how many cards the talon has left."""
    return table["deck"].shape[0] - np.int64(table["drawn"])
