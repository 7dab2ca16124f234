"""What games say of the Kille pack, and where cards lie, by the names of their places, for views.

A zone is a hand, what lies open before a seat, a card in a trick, a pile. `Zones` says which cards
are in each, and the order of its keys and cards may be seen by everybody: where a zone is hidden
from the one who looks, its cards are named so that they tell nothing (`moves_between`).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kille_env.cards.pack import KILLE_PACK, Kind
from kille_env.core.pack import Pack
from kille_env.words.text import plain_letters
from kille_env.words.view import Card, Move

TALON, ASIDE, TURNED_UP = "talon", "aside", "turned up"
KNOCK = "Knack, knack!"  # what a knock on the table sounds like
Zones = Mapping[str, Sequence[int]]

_SPREAD = ("hand ", "open ")  # zones of which each card has a place of its own


def face_of(pack: Pack, card: int) -> int:
    """Returns the card that a view shows: equal cards look alike, so the first of them."""
    return int(card) - int(card) % pack.copies


def spread(
    pack: Pack,
    zone: str,
    cards: Sequence[int],
    *,
    known: bool,
    word: str = "",
    faded: bool = False,
) -> tuple[Card, ...]:
    """Returns the cards of a zone, each at a place of its own.

    Args:
        pack: Their pack.
        zone: "hand 2".
        cards: The cards in their order.
        known: Whether who looks knows all of them, or none.
        word: What is written beside each.
        faded: Whether they count no longer.
    """
    return tuple(
        Card(f"{zone} {number}", face_of(pack, card) if known else None, word, faded)
        for number, card in enumerate(cards)
    )


def moves_between(before: Zones, after: Zones, hidden: Collection[str] = ()) -> tuple[Move, ...]:
    """Returns how cards came to the places where they lie now, in the order of the zones.

    Args:
        before: Which cards lay where; a card that lay nowhere comes from the talon.
        after: Which cards lie where.
        hidden: Zones whose cards the one who looks does not see. There the cards that stay come
            first, so that nothing is told about the others.
    """
    old, new = _places(before, after, hidden), _places(after, before, hidden)
    moves = (Move(old.get(card, TALON), place) for card, place in new.items())
    return tuple(move for move in moves if move.source != move.target)


def _places(zones: Zones, others: Zones, hidden: Collection[str]) -> dict[int, str]:
    """Returns the place of each card; `others` are the zones of the other moment."""
    places = {}
    for zone, cards in zones.items():
        if zone in hidden:
            staying = others.get(zone, ())
            cards = sorted(cards, key=lambda card: (card not in staying, card))
        for number, card in enumerate(cards):
            places[int(card)] = f"{zone} {number}" if zone.startswith(_SPREAD) else zone
    return places


def trick_zones(played: Any, leaders: Any, winners: Any, lying: int, num_players: int) -> Zones:
    """Returns the zones of the cards that were played: won ones first, then the trick that lies.

    Args:
        played: [tricks, P] the cards, -1 none.
        leaders: [tricks] who has led to each: its cards are named from there on.
        winners: [tricks] who has won each, -1 nobody yet.
        lying: The number of the trick that lies on the table, -1 none; a complete one does so until
            somebody leads to the next.
        num_players: Seats.
    """
    zones: dict[str, list[int]] = {}
    for trick in range(lying + 1):
        for step in range(num_players):
            seat = (int(leaders[trick]) + step) % num_players
            where = f"trick {seat}" if trick == lying else f"won {int(winners[trick])}"
            if played[trick, seat] >= 0:
                zones.setdefault(where, []).append(int(played[trick, seat]))
    return zones


def hidden_hands(seats: Sequence[int], viewer: int | None) -> set[str]:
    """Returns the zones of the hands that a viewer does not see; None sees everything."""
    return {f"hand {seat}" for seat in seats if viewer not in (None, seat)}


def clockwise(table: Any) -> list[int]:
    """Returns all seats, the one on the dealer's left first, as cards are dealt."""
    number, dealer = int(table["num_players"]), int(table["dealer"])
    return [(dealer + step) % number for step in range(1, number + 1)]


# The Kille pack in a manual


def describe_pack(left_out: int = 0, highest: Kind = Kind.KI) -> list[str]:
    """Returns what the pack is without some cards, and how its types rank up to `highest`."""
    kinds = kinds_without(left_out)
    lilies = [kind for kind in kinds if Kind.L1 <= kind <= Kind.L12]
    english = {kind: "" for kind in lilies[1:]} | dict.fromkeys(lilies[:1], " (lily)")
    types = [
        f"{KILLE_PACK.codes[kind]} {plain_letters(KILLE_PACK.names[kind])}"
        + english.get(kind, f" ({KILLE_PACK.words[kind]})")
        for kind in kinds
        if kind <= highest
    ]
    accents = [KILLE_PACK.names[kind] for kind in (Kind.VH, Kind.GO) if kind in kinds]
    return [
        f"{'Of the Kille pack' if left_out else 'The Kille pack has'} "
        f"{KILLE_PACK.copies * len(kinds)} cards{' are played with' if left_out else ''}: "
        f"{len(kinds)} types, {KILLE_PACK.copies} equal cards of each. There are no suits.",
        f"From the lowest to the highest, with code and name: {', '.join(types)}.",
        f"Names stand here without accents: at the table you read {' and '.join(accents)}."
        if accents
        else "",
    ]


def kinds_without(left_out: int) -> list[Kind]:
    """Returns the types of the Kille pack without some cards, a set."""
    return [kind for kind in Kind if not left_out >> KILLE_PACK.copies * kind & 1]
