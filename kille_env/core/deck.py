"""Packs of cards: whole numbers with names, and drawing from a table's pack.

A card of the Kille pack is `2 * type + copy`: 21 types twice, from blaren (0) to kille (20). The
two copies look alike; only the pig's undo and `deck` positions tell them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kille_env.core.jit import index, kernel
from kille_env.core.rng import below
from kille_env.errors import CardError, did_you_mean

KILLE_CODES = (
    "BL",
    "BP",
    "KR",
    *(f"L{i}" for i in range(1, 13)),
    "VH",
    "KA",
    "SV",
    "HU",
    "GO",
    "KI",
)
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
VH, KA, SV, HU, GO, KI = 15, 16, 17, 18, 19, 20


@dataclass(frozen=True)
class Pack:
    """A kind of pack.

    Attributes:
        codes: The code of each card type, in rank order.
        copies: How many equal cards there are of each type.
        names: The name of each card type for people.
    """

    codes: tuple[str, ...]
    copies: int
    names: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of cards."""
        return len(self.codes) * self.copies

    def code(self, card: int) -> str:
        """Returns the code of a card, "L5" for 14 or 15 of the Kille pack."""
        return self.codes[int(card) // self.copies]

    def name(self, card: int) -> str:
        """Returns the name of a card for people."""
        return self.names[int(card) // self.copies]

    def parse(self, code: str) -> int:
        """Returns the type of a card code.

        Raises:
            CardError: The code is unknown.
        """
        if code in self.codes:
            return self.codes.index(code)
        raise CardError(f"{code!r} is not a card. {did_you_mean(code, self.codes)}")

    def stack(self, codes: Sequence[str]) -> np.ndarray:
        """Returns a whole pack, int8 [C], that begins with the given cards.

        The first of two equal codes is copy 0. The cards that are not named follow in rank order;
        whoever draws past the named ones draws at random among them (see `draw`).

        Raises:
            CardError: A code is unknown or stands there too often.
        """
        used: dict[int, int] = {}
        cards = []
        for position, code in enumerate(codes):
            kind = self.parse(code)
            copy = used.get(kind, 0)
            if copy == self.copies:
                times = "once" if self.copies == 1 else f"{self.copies} times"
                raise CardError(
                    f"card {position} of the deck is one {code} too many: "
                    f"a pack holds every card {times}"
                )
            used[kind] = copy + 1
            cards.append(kind * self.copies + copy)
        named = set(cards)
        cards += [card for card in range(self.size) if card not in named]
        return np.array(cards, dtype=np.int8)


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
