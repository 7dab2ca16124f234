"""A table as a seat sees it, and the change from one table to the next.

A game's `view` returns what one seat may see; pictures, pages, texts and replays are made from it.
It follows the rule of the observation: a card that the viewer may not know is face down, and
nothing else about it differs from any other card that lies there.

Every place where a card can lie has a name, a word and numbers: "hand 2 0" is the first card in the
hand of seat 2. Cards in a hidden hand are in no order that says something about them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

TALON = "talon"
Zones = Mapping[str, Sequence[int]]
"""Which cards lie in a hand, before a seat, in a trick, on a pile; in the order of its keys."""

_SPREAD = ("hand ", "open ")  # zones of which each card has a place of its own


class Card(NamedTuple):
    """A card that lies on the table or in a hand.

    Attributes:
        place: Where it lies, a name that is unique in the view: "hand 2 0", "trick 1", "open 3 0".
        face: The card, its number in the pack, of equal cards the first; None is face down.
        word: A word beside it: "high" at a harlequin.
        faded: Whether it counts no longer: it was laid aside, or its seat is out.
    """

    place: str
    face: int | None
    word: str = ""
    faded: bool = False


class Pile(NamedTuple):
    """Cards that lie on each other in the middle: a talon, discards.

    Attributes:
        place: "talon", "aside" (cards that were laid aside), "turned up" (the card that names
            trumps).
        count: Number of cards.
        top: The uppermost card; None is face down.
    """

    place: str
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]
    top: int | None = None


class Seat(NamedTuple):
    """A seat and the cards in front of it.

    Attributes:
        hand: The cards that it holds, in an order that says nothing about those face down.
        played: The cards that lie in front of it: in this trick, turned up, given for good.
        words: Its deeds and its fate, a word or two each: "swapped", "struck", "knocks".
        tricks: Number of tricks that it has won in this deal, None in a game without tricks.
        units: Its gains and losses in this match, as the table's `reward` has them. Where
            `Batch.deal` and `Batch.apply` play (records, the terminal, the page) that is all of
            them; `Batch.step` pays them out, so there it is only the unpaid rest.
        present: Whether it plays in this deal.
        score: Text on its plate in place of the units: "12/50"; "" is none.
        retired: Whether it can neither act nor earn again in this match.
    """

    hand: tuple[Card, ...] = ()
    played: tuple[Card, ...] = ()
    words: tuple[str, ...] = ()
    tricks: int | None = None
    units: float = 0.0
    present: bool = True
    score: str = ""
    retired: bool = False


class Laid(NamedTuple):
    """A card in the middle, where cards meet: in a trick, or among the last cards of a deal."""

    seat: int  # the seat that played it
    place: str  # where it lies, as in the seat's cards
    face: int | None  # as in `Card`
    word: str = ""  # a word below it: "out", "8 points"
    best: bool = False  # whether it is the best one so far


class Call(NamedTuple):
    """A call."""

    seat: int  # the seat that calls; -1 is nobody in particular
    words: str  # in Swedish: "Husar hugger!"
    meaning: str  # in English


class View(NamedTuple):
    """A table as a seat sees it.

    Attributes:
        title: "Byteskille, deal 3".
        viewer: The seat that looks; None sees everything.
        dealer: The seat that deals.
        turn: The seat whose turn it is, as far as the viewer may know; -1 none.
        seats: [P] the seats.
        piles: The piles in the middle.
        pot: Units in the pot, None where there is none.
        question: The question to the seat to act, a sentence: "Keep your 2, or draw?". A game need
            not fill it in for other viewers: they are shown whose turn it is.
        strip: The cards that meet: a trick in the order of play; at the end of a deal the last
            cards, the lowest first, where they decide.
        history: Events of this deal besides the cards on the table, a line each.
        calls: The calls of this deal, all of them public.
        verdict: Why the deal ended as it did, a sentence or two; "" while it goes on.
        zones: Where every card lies, for a viewer that sees everything; empty for a seat. Cards
            move in pictures if a game fills it in.
    """

    title: str
    viewer: int | None
    dealer: int
    turn: int
    seats: tuple[Seat, ...]
    piles: tuple[Pile, ...] = ()
    pot: float | None = None
    question: str = ""
    strip: tuple[Laid, ...] = ()
    history: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    verdict: str = ""
    zones: Zones = {}  # noqa: RUF012 - nobody writes into it


class Move(NamedTuple):
    """A card that went from one place, or pile, to another."""

    source: str  # of the view before
    target: str  # of the view after; "won 2" are the tricks of seat 2, of which no card is shown


class Change(NamedTuple):
    """The change from one view to the next, in order."""

    moves: tuple[Move, ...] = ()
    calls: tuple[Call, ...] = ()
    verdict: str = ""  # why the deal ended as it did, if it ended


def change_of(before: View, after: View, seen: View, *, dealt: bool) -> Change:
    """Return the difference of two views, as a seat may know it."""
    others = (seat for seat in range(len(after.seats)) if seen.viewer not in (None, seat))
    hidden = {f"hand {seat}" for seat in others}
    moves = moves_between({} if dealt else before.zones, after.zones, hidden)
    left = Counter(() if dealt else before.calls)
    return Change(
        moves=moves,
        calls=tuple(_without(after.calls, left)),
        verdict=seen.verdict if dealt or not before.verdict else "",
    )


def _without(calls: Iterable[Call], heard: Counter[Call]) -> Iterable[Call]:
    for call in calls:
        if heard[call]:
            heard[call] -= 1
        else:
            yield call


def moves_between(before: Zones, after: Zones, hidden: Collection[str] = ()) -> tuple[Move, ...]:
    """Return how cards came to the places where they lie now, in the order of the zones."""
    old, new = _places(before, after, hidden), _places(after, before, hidden)
    moves = (Move(old.get(card, TALON), place) for card, place in new.items())
    return tuple(move for move in moves if move.source != move.target)


def _places(zones: Zones, others: Zones, hidden: Collection[str]) -> dict[int, str]:
    """Return the place of each card; `others` are the zones of the other moment."""
    places = {}
    for zone, cards in zones.items():
        if zone in hidden:  # in another order, places would tell which of the cards have moved
            staying = others.get(zone, ())
            cards = sorted(cards, key=lambda card: (card not in staying, card))
        for number, card in enumerate(cards):
            places[int(card)] = f"{zone} {number}" if zone.startswith(_SPREAD) else zone
    return places
