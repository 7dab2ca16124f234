"""What there is to see at a table: what pictures, pages and replays are drawn from.

A game's `view` says what one seat may see, and `change` what moved between two tables and what was
called. Neither knows of pixels, and both follow the rule of the observation: a card that the viewer
may not know is face down, and nothing else about it differs from any other card that lies there.

Every place where a card can lie has a name, a word and numbers: "hand 2 0" is the first card in the
hand of seat 2. Cards in a hidden hand are in no order that says something about them.
"""

from typing import NamedTuple


class Card(NamedTuple):
    """A card that lies on the table or in a hand.

    Attributes:
        place: Where it lies, a name that is unique in the view: "hand 2 0", "trick 1", "open 3 0".
        face: The card, its number in the pack, of equal cards the first; None is face down.
        word: What is written beside it: "high" at a kille.
        faded: Whether it counts no longer: it was laid aside, or its seat is out.
    """

    place: str
    face: int | None
    word: str = ""
    faded: bool = False


class Pile(NamedTuple):
    """Cards that lie on each other in the middle: a talon, discards.

    Attributes:
        place: "talon", "aside" (what was laid aside), "turned up" (the card that names trumps).
        count: How many cards.
        top: The uppermost card; None is face down.
    """

    place: str
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]
    top: int | None = None


class Seat(NamedTuple):
    """A seat and what lies in front of it.

    Attributes:
        hand: The cards that it holds, in an order that says nothing about those face down.
        played: The cards that lie in front of it: in this trick, turned up, given for good.
        words: What it has done or is, a word or two each: "swapped", "is chopped", "knocked".
        tricks: How many tricks it has won in this deal, None where there are none.
        units: What it has won or lost in this match, as the table's `reward` has it. Where
            `Batch.deal` and `Batch.apply` play (records, the terminal, the page) that is all of it;
            `Batch.step` pays it out, so there it is only what has not been paid yet.
        present: Whether it plays in this deal.
        score: What stands on its plate in place of the units: "12/50"; "" is none.
    """

    hand: tuple[Card, ...] = ()
    played: tuple[Card, ...] = ()
    words: tuple[str, ...] = ()
    tricks: int | None = None
    units: float = 0.0
    present: bool = True
    score: str = ""


class Laid(NamedTuple):
    """A card in the middle, where cards meet: in a trick, or among the last cards of a deal.

    Attributes:
        seat: Whose it is.
        place: Where it lies, as in the seat's cards.
        face: The card as in `Card`.
        word: What is written below: "out", "8 points".
        best: Whether it is the best one so far.
    """

    seat: int
    place: str
    face: int | None
    word: str = ""
    best: bool = False


class View(NamedTuple):
    """A table as somebody sees it.

    Attributes:
        title: "Byteskille, hand 3".
        viewer: The seat that looks, None for somebody who sees everything.
        dealer: The seat that deals.
        turn: The seat whose turn it is, as far as the viewer may know; -1 none.
        seats: [P] the seats.
        piles: What lies in the middle.
        pot: Units in the pot, None where there is none.
        question: Who has to decide what, a sentence.
        strip: The cards that meet: a trick in the order of play; at the end of a deal the last
            cards, the lowest first, where they decide.
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


class Move(NamedTuple):
    """A card that went from one place to another.

    Attributes:
        source: The place of the view before, or of a pile.
        target: The place of the view after, or of a pile; "won 2" are the tricks that seat 2 has
            won, of which no card is shown.
    """

    source: str
    target: str


class Call(NamedTuple):
    """What somebody said.

    Attributes:
        seat: Who; -1 is nobody in particular.
        words: In Swedish: "Husar hugger!".
        meaning: In English.
    """

    seat: int
    words: str
    meaning: str


class Change(NamedTuple):
    """What happened between two tables, besides what the views show.

    Attributes:
        moves: Cards that moved, in order.
        calls: What was said, in order.
    """

    moves: tuple[Move, ...] = ()
    calls: tuple[Call, ...] = ()
