"""Where cards lie, by the names of their places, for views.

A zone is a hand, the cards that lie open before a seat, a card in a trick, a pile.
"""

from collections.abc import Sequence
from typing import Any

from kille_env.core.pack import Pack
from kille_env.words.view import Card, Zones

ASIDE, TURNED_UP = "aside", "turned up"
KNOCK = "Knack, knack!"  # the sound of a knock on the table


def face_of(pack: Pack, card: int) -> int:
    """Return the card that a view shows: equal cards look alike, so the first of them."""
    return int(card) - int(card) % pack.copies


def spread(
    pack: Pack, zone: str, cards: Sequence[int], *, known: bool, word: str = "", faded: bool = False
) -> tuple[Card, ...]:
    """Return the cards of a zone such as "hand 2", each at a place of its own.

    Args:
        pack: Their pack.
        zone: The zone.
        cards: The cards in their order.
        known: Whether the viewer knows all of them, or none.
        word: A word beside each.
        faded: Whether they count no longer.
    """
    return tuple(
        Card(f"{zone} {number}", face_of(pack, card) if known else None, word, faded)
        for number, card in enumerate(cards)
    )


def trick_zones(played: Any, leaders: Any, winners: Any, lying: int, num_players: int) -> Zones:
    """Return the zones of the cards that were played: won ones first, then the trick that lies."""
    zones: dict[str, list[int]] = {}
    for trick in range(lying + 1):
        for step in range(num_players):
            seat = (int(leaders[trick]) + step) % num_players
            where = f"trick {seat}" if trick == lying else f"won {int(winners[trick])}"
            if played[trick, seat] >= 0:
                zones.setdefault(where, []).append(int(played[trick, seat]))
    return zones


def clockwise(table: Any) -> list[int]:
    """Return all seats, the one on the dealer's left first, as cards are dealt."""
    number, dealer = int(table["num_players"]), int(table["dealer"])
    return [(dealer + step) % number for step in range(1, number + 1)]
