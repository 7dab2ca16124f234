"""A view as a scene: every thing on the table with its place and its drawing.

A thing keeps its key from scene to scene (a card the name of the place where it lies), so that
pages can move what has moved. The drawing is SVG around its own origin, and equal things have equal
drawings, so that each has to be turned into pixels once only.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate
from typing import NamedTuple

from kille_env.core.spec import GameSpec
from kille_env.pictures.layout import CARD, HIGH, WIDE, Block, Box, Layout, layout
from kille_env.words.text import chips, labels, signed
from kille_env.words.view import Card, Pile, Seat, View

_VEIL = '<rect class="felt faded" x="-32" y="-46" width="64" height="92" rx="6"/>'
"""The veil over a faded card; it hides the cards below, which would shine through."""
PILES = {"talon": "stock", "aside": "laid aside", "turned up": "trumps"}
"""Names of piles."""
_PILE, _POT = (104.0, 122.0), (112.0, 122.0)


class Item(NamedTuple):
    """A thing on the table, its middle at (x, y)."""

    key: str  # its name, which is unique in the scene: "hand 2 0", "seat 3", "pot"
    x: float
    y: float
    scale: float  # how much larger it is than its drawing
    width: float  # of its drawing, which lies around (0, 0)
    height: float
    drawing: str  # SVG elements; cards are used as the symbols of `kille_env.pictures.cards`

    @property
    def box(self) -> Box:
        """The rectangle that it covers."""
        return Box(self.x, self.y, self.width * self.scale, self.height * self.scale)


class Scene(NamedTuple):
    """A table, ready to be drawn, in units of which a card is 64 x 92 at scale 1."""

    width: float
    height: float
    items: tuple[Item, ...]  # the lowest first
    title: str


def arrange(view: View, spec: GameSpec, *, names: Sequence[str] | None = None) -> Scene:
    """Return the scene of a view, 960 x 600 units."""
    seats = len(view.seats)
    plan = layout(seats)
    who = labels(names, seats)
    if names is None and view.viewer is not None:
        who[view.viewer] += " (you)"
    items = [Item("felt", WIDE / 2, HIGH / 2, 1.0, WIDE, HIGH, _felt(WIDE, HIGH))]
    items += _middle(view, spec, plan)
    for number, seat in enumerate(view.seats):
        place = (number - (view.viewer or 0)) % seats
        items += _seat(view, spec, plan, number, place, seat, who[number])
    items.append(_dealer(plan.blocks[(view.dealer - (view.viewer or 0)) % seats]))
    return Scene(WIDE, HIGH, tuple(items), f"{view.title}. {view.question}".strip())


# What belongs to a seat


def _seat(
    view: View, spec: GameSpec, plan: Layout, number: int, place: int, seat: Seat, name: str
) -> Iterator[Item]:
    """Yield the plate of a seat and its cards."""
    block = plan.blocks[place]
    width, height = block.plate.width / block.scale, block.plate.height / block.scale
    plate = _plate(name, seat, width, turn=number == view.turn, dealer=number == view.dealer)
    yield Item(f"seat {number}", block.plate.x, block.plate.y, block.scale, width, height, plate)
    if plan.fronts:
        yield from _row(seat.played, spec, plan.fronts[place], plan.cards)
        yield from _row(seat.hand, spec, block.hand, block.cards)
    else:
        yield from _row((*seat.hand, *seat.played), spec, block.hand, block.cards)


def _row(cards: Sequence[Card], spec: GameSpec, room: Box, scale: float) -> Iterator[Item]:
    """Yield cards beside each other, on top of each other where there is less room."""
    width = CARD[0] * scale
    step = width + 4.0 * scale
    if len(cards) > 1:
        # A long hand overlaps, so that corners with the ranks stay visible.
        step = min(step, (room.width - width) / (len(cards) - 1))
    left = room.x - step * (len(cards) - 1) / 2
    for i, card in enumerate(cards):
        drawing = _card(card, spec)
        yield Item(card.place, left + i * step, room.y, scale, *CARD, drawing)


def _card(card: Card, spec: GameSpec) -> str:
    """Draw a card, with a word across its foot."""
    drawing = _use(card.face, spec)
    if card.word:
        drawing += (
            '<rect class="tag" x="-29" y="22" width="58" height="20" rx="10"/>'
            f"{_text(0, 36.5, 14, card.word, 'on-tag', 54, 'middle')}"
        )
    return drawing + _VEIL if card.faded else drawing


def _use(face: int | None, spec: GameSpec, x: float = 0.0, y: float = 0.0) -> str:
    """Draw a card by its symbol."""
    code = "back" if face is None else spec.pack.code(face)
    width, height = CARD
    left, top = x - width / 2, y - height / 2
    return f'<use href="#card-{code}" x="{left:g}" y="{top:g}" width="64" height="92"/>'


def _plate(name: str, seat: Seat, width: float, *, turn: bool, dealer: bool) -> str:
    """Draw the plate of a seat: name, words, units; the seat on turn has a frame and a mark."""
    # A seat that does not play in this deal has no plate below its name. The dealer's leaves room
    # for the mark of the dealer, which is a thing of its own.
    left, right = -width / 2 + 9, width / 2 - 9
    room = f'x="{2 - width / 2:g}" y="-18" width="{width - 4:g}" height="36" rx="9"'
    parts = [f'<rect class="plate" {room}/>'] if seat.present else []
    rim = (
        ("line-turn", 3.5) if turn else ("line-plate-rim", 1) if seat.present else ("line-seam", 1)
    )
    parts.append(f'<rect class="{rim[0]}" {room} stroke-width="{rim[1]}"/>')
    if turn:
        parts.append(f'<path class="mark" d="M{left - 2:g} -11l8 5l-8 5z"/>')
    amount = seat.score or signed(seat.units)
    space = right - left - text_width(amount, 12.5)
    words = _latest(seat.words, space, 11.5)
    small = min(11.5, max(9.0, 11.5 * space / max(1.0, text_width(words, 11.5))))
    name_color, note, sign = "label", "note", "note"
    if not seat.present:
        name_color = note = sign = "on-felt"
    elif seat.units:
        sign = "gain" if seat.units > 0 else "loss"
    start, end = left + 9 * turn, right - 18 * dealer
    if seat.tricks:
        card = f'x="{end - 8:g}" y="-13" width="8" height="11.5" rx="1.5"'
        parts.append(f'<rect class="line-{note}" {card} stroke-width="1.5"/>')
        parts.append(_text(end - 11, -2.5, 12, str(seat.tricks), note, 16, "end"))
        end -= 22
    parts += [
        _text(start, -1.5, 13.5, name, name_color, end - start),
        _text(left, 13, small, words, note, space),
        _text(right, 13, 12.5, amount, sign, width, "end"),
    ]
    return "".join(parts)


def _dealer(block: Block) -> Item:
    """Return the mark of the dealer, in a corner of its plate."""
    drawing = f'<circle class="gold edge" r="8"/>{_text(0, 4, 11, "D", "ink", 16, "middle")}'
    plate, scale = block.plate, block.scale
    x, y = plate.x + plate.width / 2 - 14 * scale, plate.y - 7.5 * scale
    return Item("dealer", x, y, scale, 17.0, 17.0, drawing)


# What lies in the middle


def _middle(view: View, spec: GameSpec, plan: Layout) -> Iterator[Item]:
    """Yield pot and piles beside each other, and the title below them."""
    things = [(pile.place, *_PILE, _pile(pile, spec)) for pile in view.piles]
    if view.pot is not None:
        things.insert(0, ("pot", *_POT, _pot(view.pot)))
    room, scale = plan.middle, plan.cards
    at = -sum(width for _, width, _, _ in things) / 2
    for key, width, height, drawing in things:
        x, y = room.x + (at + width / 2) * scale, room.y - 14.0 * scale
        yield Item(key, x, y, scale, width, height, drawing)
        at += width
    title = _text(0, 5, 22, view.title, "on-felt", room.width / scale, "middle")
    below = room.y + room.height / 2 - 12 * scale
    yield Item("on-felt", room.x, below, scale, room.width / scale, 24, title)


def _pile(pile: Pile, spec: GameSpec) -> str:
    """Draw a pile: edges of cards below the uppermost, how many there are, and its name."""
    edges = min(3, max(0, pile.count - 1))
    under = [_use(None, spec, 2.0 * i - 3, 2.0 * i - 13) for i in range(edges)]
    top = _use(pile.top, spec, 2.0 * edges - 3, 2.0 * edges - 13) if pile.count else ""
    number = _text(0, 27, 19, str(pile.count), "on-tag", 38, "middle")
    count = f'<rect class="tag" x="-19" y="8" width="38" height="25" rx="12"/>{number}'
    name = _text(0, 58, 19, PILES.get(pile.place, pile.place), "on-felt", _PILE[0], "middle")
    return "".join((*under, top, count if edges else "", name))


def _pot(pot: float) -> str:
    """Draw the pot: more chips for a larger one, and its amount."""
    high = 1 + min(4, int(pot) // 10)
    pieces = [
        f'<ellipse class="red" cx="{x}" cy="{22 - 7 * i}" rx="20" ry="10"/>'
        f'<ellipse class="line-paper" cx="{x}" cy="{22 - 7 * i}" rx="20" ry="10"/>'
        f'<ellipse class="paper" cx="{x}" cy="{21 - 7 * i}" rx="12" ry="5"/>'
        for x, number in ((-23, high - 1), (23, high - 1), (0, high))
        for i in range(number)
    ]
    amount, _, _ = chips(pot).partition(" ")
    words = _text(0, 58, 19, f"pot {amount}", "on-felt", _POT[0], "middle")
    empty = '<ellipse class="line-seam" cx="0" cy="22" rx="20" ry="10" stroke-width="2"/>'
    return "".join((*(pieces if pot > 0 else [empty]), words))


def _felt(width: float, height: float) -> str:
    """Draw the table."""
    x, y = -width / 2, -height / 2
    return (
        f'<rect class="felt" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="28"/>'
        f'<rect class="line-seam" x="{x + 12:g}" y="{y + 12:g}" width="{width - 24:g}" '
        f'height="{height - 24:g}" rx="20" stroke-width="2"/>'
    )


# Text


def _text(
    x: float, y: float, size: float, text: str, kind: str, room: float, anchor: str = "start"
) -> str:
    """Draw a line of text, cut with an ellipsis where it is wider than its room."""
    place = f'x="{x:g}" y="{y:g}" font-size="{size:g}"'
    if anchor != "start":
        place += f' text-anchor="{anchor}"'
    return f'<text class="text {kind}" {place}>{escape(cut(text, room, size))}</text>'


def text_width(text: str, size: float) -> float:
    """Return an upper estimate of the width of a bold text in any font."""
    return size * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    """Return the width of a letter of a bold sans-serif font, in its size."""
    if letter in "iljtfIr.,:;'|!()[]- ":
        return 0.36
    if letter in "mwMW@%" or ord(letter) > 0x2E80:  # wide letters, and those of eastern scripts
        return 1.0
    return 0.74 if letter.isupper() else 0.6


def _latest(words: Sequence[str], room: float, size: float) -> str:
    """Return words in a line; where there is no room for all, the first ones go."""
    line = ", ".join(words)
    for first in range(1, len(words)):
        if text_width(line, size) <= room:
            break
        line = ", ".join(words[first:])
    return line


def cut(text: str, room: float, size: float) -> str:
    """Return a text that fits into some room, with an ellipsis where something is missing."""
    if text_width(text, size) <= room:
        return text
    widths = accumulate(map(_letter_width, text))
    ends = (size * (width + _letter_width("…")) > room for width in widths)
    fits = next((number for number, ends_outside in enumerate(ends) if ends_outside), len(text))
    return text[:fits].rstrip(" ,") + "…"
