"""A table in plain text, made from its view: for terminals, language models and descriptions."""

from collections.abc import Callable, Sequence

from kille_env.words.text import YOU, chips, columns, counted, does, inside, signed
from kille_env.words.view import Card, Seat, View

PILES = {"talon": "in the stock", "aside": "laid aside", "turned up": "turned up"}
"""The end of "12 cards in the stock", by the place of a pile."""


def text_of(
    view: View, names: Sequence[str], write: Callable[[int], str], *, brief: bool = False
) -> str:
    """Return a view as text."""
    lines = [_heading(view, names, write)]
    rows = [
        (name, _cards(view, seat, write), _deeds(name, seat), _score(seat, brief))
        for name, seat in zip(names, view.seats, strict=True)
    ]
    lines += columns(rows)
    if view.history and not brief:
        lines += ["So far:", *(f"  {line}" for line in view.history)]
    if view.strip and view.strip[0].place.startswith("trick"):
        cards = (
            f"{names[laid.seat]} "
            f"{'a card face down' if laid.face is None else write(laid.face)}"
            f"{' (best)' if laid.best else ''}"
            for laid in view.strip
        )
        lines.append(f"In the middle: {', '.join(cards)}")
    if not brief:
        lines += [line for line in (view.verdict, view.question) if line]
    return "\n".join(lines)


def _heading(view: View, names: Sequence[str], write: Callable[[int], str]) -> str:
    parts = [view.title, inside(does(names[view.dealer], "deals"))]
    parts += [f"pot {chips(view.pot)}"] if view.pot else []
    for pile in view.piles:
        top = "" if pile.top is None else f" ({write(pile.top)})"
        parts.append(f"{counted(pile.count, 'card', 'cards')} {PILES[pile.place]}{top}")
    return ", ".join(parts)


def _cards(view: View, seat: Seat, write: Callable[[int], str]) -> str:
    played = [card for card in seat.played if not card.place.startswith("trick")]
    opened = ", open" if played and view.turn >= 0 else ""
    return " ".join([_card(card, write) for card in (*seat.hand, *played)]) + opened


def _card(card: Card, write: Callable[[int], str]) -> str:
    return _face(card.face, write) + (f" ({card.word})" if card.word else "")


def _face(face: int | None, write: Callable[[int], str]) -> str:
    return "?" if face is None else write(face)


def _deeds(name: str, seat: Seat) -> str:
    words = [does(name, word).removeprefix(f"{name} ") if name == YOU else word
             for word in seat.words]  # fmt: skip
    return ", ".join(words)


def _score(seat: Seat, brief: bool) -> str:
    return seat.score or (signed(seat.units) if brief else "")
