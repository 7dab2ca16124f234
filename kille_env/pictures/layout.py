"""Where everything lies on a table: geometry alone, in the units of a scene.

The viewer sits below in the middle. The others sit around an oval, clockwise, at equal distances;
distances are counted in blocks (what a seat takes), sideways in widths and upwards in heights, so
that neighbors keep clear of each other wherever the oval turns. The cards in front of the seats
lie on a smaller oval, by the same rule, and piles and pot in the middle of that. Of the possible
sizes the largest is taken at which nothing overlaps. A layout depends on nothing but the
number of seats, so that no seat moves during a match.
"""

from bisect import bisect_left
from functools import cache, partial
from itertools import accumulate, combinations, pairwise, product
from math import copysign, cos, pi, sin
from typing import NamedTuple

from kille_env.pictures.cards import HEIGHT, WIDTH

CARD = (WIDTH, HEIGHT)
MOST_WITH_TRICKS = 11
"""At more seats than these each holds one card, and nothing lies in front of anybody."""
GAP = 5.0
PLATE = 40.0
"""Height of a plate at scale 1."""
OWN_PLATE = 220.0
SMALL = 0.6
"""Scale of the others' cards in a block of scale 1."""
_MIDDLE_OF_MANY = 0.8
_FULLNESS = (0.5, 0.4, 0.6)
"""Exponents of ovals: 1 is an ellipse, 0 a rectangle."""
_POINTS = 240
_SCALES = [step / 50 for step in range(75, 24, -1)]


WIDE, HIGH = 960.0, 600.0
"""Of a scene, in units."""
_OWN_CARDS, _OWN_HAND, _OWN_SCALE = 1.15, 440.0, 1.25
"""Scale of the viewer's cards, room for them in width, and scale of its plate."""
_PLATE_WIDTH = 132.0
"""Of a plate of scale 1."""
_INNER = (560.0, 330.0)
"""Largest width and height of the oval of the cards in front of the seats."""
_MIDDLE = (380.0, 150.0)
"""Room for the middle, for cards of scale 1: two piles and a pot."""


class Box(NamedTuple):
    """A rectangle: its middle and its size."""

    x: float
    y: float
    width: float
    height: float

    def clear_of(self, other: "Box", gap: float = 0.0) -> bool:
        """Return whether two boxes are at least `gap` apart."""
        return (
            abs(self.x - other.x) >= (self.width + other.width) / 2 + gap
            or abs(self.y - other.y) >= (self.height + other.height) / 2 + gap
        )

    def within(self, width: float, height: float) -> bool:
        """Return whether it lies in a scene of this size."""
        return (
            self.width / 2 <= self.x <= width - self.width / 2
            and self.height / 2 <= self.y <= height - self.height / 2
        )


class Block(NamedTuple):
    """The room of a seat."""

    hand: Box  # where its cards lie, the first to the left
    plate: Box  # where its name stands
    cards: float  # scale of its cards
    scale: float  # scale of the plate

    def box(self) -> Box:
        """Return the box around hand and plate."""
        both = (self.hand, self.plate)
        left = min(box.x - box.width / 2 for box in both)
        right = max(box.x + box.width / 2 for box in both)
        top = min(box.y - box.height / 2 for box in both)
        bottom = max(box.y + box.height / 2 for box in both)
        return Box((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)


class Layout(NamedTuple):
    """Where everything lies, seats counted from the viewer's on, clockwise."""

    blocks: tuple[Block, ...]  # [P] the seats
    fronts: tuple[Box, ...]  # [P] the cards in front of each
    middle: Box  # where piles and pot lie, beside each other
    cards: float  # scale of the cards in front of seats and in piles


@cache
def layout(seats: int) -> Layout:
    """Return the layout with the largest blocks at which nothing overlaps."""
    # Tried from the largest scale down: there is no formula, and it is done once per size.
    for scale, fullness in product(_SCALES, _FULLNESS):
        found = _attempt(seats, scale, fullness)
        if found is not None:
            return found
    raise ValueError(f"no layout has room for {seats} seats")


def _attempt(seats: int, scale: float, fullness: float) -> Layout | None:
    """Return a layout, None if something overlaps."""
    many = seats > MOST_WITH_TRICKS
    block = partial(_beside if many else _stacked, scale)
    own = _own(many)
    size = block(0.0, 0.0).box()
    oval = Box(WIDE / 2, HIGH / 2, WIDE - size.width - 2 * GAP, HIGH - size.height - 2 * GAP)
    path = [p for p in _oval(oval, fullness) if Box(*p, *size[2:]).clear_of(own.box(), GAP)]
    others = [block(*p) for p in _spread(path, seats - 1, size.width, size.height)]
    cards = _MIDDLE_OF_MANY if many else SMALL * scale
    inner = _inner(own.box(), size, seats > 2)
    fronts = [] if many else _fronts(inner, seats, 1.3 * CARD[0] * cards, CARD[1] * cards)
    middle = Box(inner.x, inner.y, _MIDDLE[0] * cards, _MIDDLE[1] * cards)
    boxes = [own.box(), *(other.box() for other in others), *fronts, middle]
    fits = all(box.within(WIDE, HIGH) for box in boxes)
    if not fits or not all(a.clear_of(b, GAP) for a, b in combinations(boxes, 2)):
        return None
    return Layout((own, *others), tuple(fronts), middle, cards)


def _own(many: bool) -> Block:
    """Return the viewer's block, below in the middle."""
    x, cards, scale = WIDE / 2, _OWN_CARDS, _OWN_SCALE
    height, width = PLATE * scale, OWN_PLATE * scale
    plate = Box(x, HIGH - GAP - height / 2, width, height)
    wide, tall = width if many else _OWN_HAND, CARD[1] * cards
    hand = Box(x, plate.y - (height + tall) / 2 - GAP, wide, tall)
    return Block(hand, plate, cards, scale)


def _stacked(scale: float, x: float, y: float) -> Block:
    """Return a block with the plate below the hand, its middle at (x, y)."""
    wide, tall = _PLATE_WIDTH * scale, CARD[1] * SMALL * scale
    plate, gap = PLATE * scale, 3.0 * scale
    hand = Box(x, y - (plate + gap) / 2, wide, tall)
    return Block(hand, Box(x, y + (tall + gap) / 2, wide, plate), SMALL * scale, scale)


def _beside(scale: float, x: float, y: float) -> Block:
    """Return a block with one card beside the plate, on the side of the middle of the table."""
    card, plate, gap = CARD[0] * SMALL * scale, 92.0 * scale, 3.0 * scale
    side = 1 if x < WIDE / 2 else -1
    hand = Box(x + side * (plate + gap) / 2, y, card, CARD[1] * SMALL * scale)
    name = Box(x - side * (card + gap) / 2, y, plate, PLATE * scale)
    return Block(hand, name, SMALL * scale, scale)


def _inner(own: Box, size: Box, sides: bool) -> Box:
    """Return the ellipse around the seats' open cards; `sides`: whether seats sit at the sides."""
    top, bottom = size.height + 3 * GAP, own.y - own.height / 2 - GAP
    side = size.width + 3 * GAP if sides else GAP
    width, height = min(WIDE - 2 * side, _INNER[0]), min(bottom - top, _INNER[1])
    return Box(WIDE / 2, (top + bottom) / 2, width, height)


def _fronts(inner: Box, seats: int, width: float, height: float) -> list[Box]:
    """Return the boxes of a size for the cards in front of each seat."""
    room = inner._replace(width=inner.width - width, height=inner.height - height)
    points = _spread(_oval(room, 0.4), seats, width, height, whole=True)
    return [Box(*point, width, height) for point in points]


def _oval(box: Box, fullness: float) -> list[tuple[float, float]]:
    """Return points of an oval, clockwise from below."""
    return [
        (box.x - box.width / 2 * across, box.y + box.height / 2 * along)
        for across, along in _round(fullness)
    ]


@cache
def _round(fullness: float) -> list[tuple[float, float]]:
    """Return points of an oval that is 2 wide and 2 high, from (0, 1) on."""
    angles = [2 * pi * step / _POINTS for step in range(_POINTS + 1)]
    return [(_power(sin(angle), fullness), _power(cos(angle), fullness)) for angle in angles]


def _power(base: float, exponent: float) -> float:
    return copysign(abs(base) ** exponent, base)


def _spread(
    path: list[tuple[float, float]], count: int, width: float, height: float, whole: bool = False
) -> list[tuple[float, float]]:
    """Return points at equal distances on a path, in boxes of a size."""
    # A step is counted in widths or heights of a box, whichever is more: boxes a whole step apart
    # keep clear of each other.
    steps = [max(abs(a[0] - b[0]) / width, abs(a[1] - b[1]) / height) for a, b in pairwise(path)]
    distances = list(accumulate(steps, initial=0.0))
    wanted = (distances[-1] * (i if whole else i + 0.5) / count for i in range(count))
    return [_between(path, distances, distance) for distance in wanted]


def _between(
    path: list[tuple[float, float]], distances: list[float], wanted: float
) -> tuple[float, float]:
    """Return the point of a path at a distance from its beginning."""
    after = max(1, bisect_left(distances, wanted))
    (x, y), (to_x, to_y) = path[after - 1], path[after]
    length = distances[after] - distances[after - 1]
    part = (wanted - distances[after - 1]) / length if length else 0.0
    return x + part * (to_x - x), y + part * (to_y - y)
