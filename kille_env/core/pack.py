"""A pack of cards: whole numbers with codes and names."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kille_env.errors import CardError, did_you_mean, shortened


@dataclass(frozen=True)
class Pack:
    """A kind of pack.

    Attributes:
        codes: The code of each card type, in rank order.
        copies: How many equal cards there are of each type.
        names: The name of each card type for people.
        words: What English sentences call each card type; the names if none are given.
    """

    codes: tuple[str, ...]
    copies: int
    names: tuple[str, ...]
    words: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of cards."""
        return len(self.codes) * self.copies

    def code(self, card: int) -> str:
        """Return the code of a card, "L5" for 14 or 15 of the Kille pack."""
        return self.codes[int(card) // self.copies]

    def name(self, card: int) -> str:
        """Return the name of a card for people."""
        return self.names[int(card) // self.copies]

    def word(self, card: int) -> str:
        """Return the word for a card in English sentences: "5", "harlequin"."""
        return (self.words or self.names)[int(card) // self.copies]

    def codes_without(self, left_out: Sequence[int]) -> list[str]:
        """Return the codes of all cards but some, in rank order; equal ones stand there twice."""
        return [self.code(card) for card in range(self.size) if card not in left_out]

    def parse(self, code: str) -> int:
        """Return the type of a card code.

        Raises:
            CardError: The code is unknown.
        """
        if isinstance(code, str) and code in self.codes:
            return self.codes.index(code)
        raise CardError(f"{shortened(code)} is not a card. {did_you_mean(code, self.codes)}")

    def stack(self, codes: Sequence[str], left_out: Sequence[int] = ()) -> np.ndarray:
        """Return a pack that begins with the given cards, int8 [C].

        The first of two equal codes is copy 0. The remaining cards follow in rank order; draws
        beyond the given cards are random among them (see `draw`).

        Args:
            codes: The cards in the order in which they leave the pack.
            left_out: Cards that are not played with: they lie in front of all others, where nothing
                is drawn.

        Raises:
            CardError: A code is unknown, not played with or stands there too often, or the list is
                too long.
        """
        size, outside = self.size - len(left_out), set(left_out)
        if len(codes) > size:
            raise CardError(f"the deck has {len(codes)} cards; expected at most {size} of the pack")
        used: dict[int, int] = {}
        cards = list(left_out)
        for position, code in enumerate(codes):
            kind = self.parse(code)
            if kind * self.copies in outside:
                raise CardError(
                    f"card {position} of the deck is {code}, which these rules leave out: the pack "
                    f"is {' '.join(dict.fromkeys(self.codes_without(left_out)))}"
                )
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
        # In rank order: draws beyond the given cards are random, whatever lies there.
        cards += [card for card in range(self.size) if card not in named]
        return np.array(cards, dtype=np.int8)
