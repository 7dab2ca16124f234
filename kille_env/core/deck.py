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

    def stack(self, codes: Sequence[str], redrawn: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Returns a pack that begins with the given cards, and the cards given beyond a whole pack.

        The first of two equal codes is copy 0. The cards that are not named follow in rank order;
        whoever draws past the named ones draws at random among them (see `draw`).

        Args:
            codes: The cards in the order in which they leave the pack.
            redrawn: How many cards may be drawn once more, after a reshuffle.

        Returns:
            The pack, int8 [C], and copy 0 of each card beyond it, int8 [redrawn], -1 behind them.

        Raises:
            CardError: A code is unknown or stands there too often, or the list is too long.
        """
        if len(codes) > self.size + redrawn:
            more = f" and {redrawn} after reshuffles" if redrawn else ""
            raise CardError(
                f"the deck has {len(codes)} cards; expected at most {self.size} of the pack{more}"
            )
        again = np.full(redrawn, -1, dtype=np.int8)
        for position, code in enumerate(codes[self.size :]):
            again[position] = self.parse(code) * self.copies
        used: dict[int, int] = {}
        cards = []
        for position, code in enumerate(codes[: self.size]):
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
        return np.array(cards, dtype=np.int8), again


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
