"""The cards, drawn once: every picture of the suite takes them from here.

The drawings are data, in `faces`: a picture of each card that has one, the pips that the others are
made of, the courts of ordinary cards, and letters. Colors are classes, which `style` resolves; all
lengths are in units of a card, 64 by 92. A card shows its rank in the corner as shapes, not as
text: no picture depends on the fonts of the machine that shows it.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from xml.etree import ElementTree

from kille_env.errors import CardError

WIDTH, HEIGHT = 64.0, 92.0
"""Size of a card, in the units of scenes."""

PICTURES = ("BL", "BP", "KR", "VH", "KA", "SV", "HU", "GO", "KI")
"""The cards of the Kille pack that show a picture."""
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
"""The lilies, as the foot of each card numbers them."""
RANKS = {"6": "6", "7": "7", "8": "8", "9": "9", "T": "10", "J": "J", "Q": "Q", "K": "K", "A": "A"}
"""Ranks of ordinary cards by the letter of their code, as their corner shows them."""
COURTS = {"J": "jack", "Q": "queen", "K": "king"}
SUITS = {
    "C": ("clubs", "green"),
    "D": ("diamonds", "blue"),
    "H": ("hearts", "red"),
    "S": ("spades", "ink"),
}
"""Suits by the letter of a code: the drawing and the color."""

Spots = tuple[tuple[float, float], ...]
"""Where pips stand."""

LILIES: tuple[tuple[float, Spots], ...] = tuple(
    (size, tuple((32.0 + step * (place - (n - 1) / 2), y) for n, y in rows for place in range(n)))
    for size, step, rows in (
        (2.7, 0, [(1, 52)]),
        (1.7, 26, [(2, 52)]),
        (1.5, 25, [(1, 39), (2, 65)]),
        (1.5, 25, [(2, 39), (2, 66)]),
        (1.15, 27, [(2, 36), (1, 54), (2, 72)]),
        (1.05, 24, [(2, 35), (2, 53), (2, 71)]),
        (1.0, 17, [(2, 35), (3, 53), (2, 71)]),
        (1.0, 17, [(3, 35), (2, 53), (3, 71)]),
        (1.0, 17, [(3, 35), (3, 53), (3, 71)]),
        (0.82, 16, [(3, 32), (2, 46), (2, 60), (3, 74)]),
        (0.82, 16, [(3, 32), (3, 46), (2, 60), (3, 74)]),
        (0.82, 16, [(3, 32), (3, 46), (3, 60), (3, 74)]),
    )
)
"""How large the lilies of each number are, and where they stand."""
ORDINARY: dict[str, Spots] = {
    rank: tuple((42.5 + 9 * column, y) for column, y in spots)
    for rank, spots in {
        "6": [(side, y) for y in (20, 46, 72) for side in (-1, 1)],
        "7": [(side, y) for y in (20, 46, 72) for side in (-1, 1)] + [(0, 33)],
        "8": [(side, y) for y in (20, 46, 72) for side in (-1, 1)] + [(0, 33), (0, 59)],
        "9": [(side, y) for y in (17, 36.5, 56, 75.5) for side in (-1, 1)] + [(0, 46)],
        "T": [(side, y) for y in (17, 36.5, 56, 75.5) for side in (-1, 1)] + [(0, 26), (0, 66)],
    }.items()
}
"""Where the pips of ordinary cards stand."""


def symbols(codes: Iterable[str]) -> str:
    """Return the drawings of cards and of the back as symbols, each once.

    A page or picture holds them once, with `style`, and shows a card by
    `<use href="#card-L5" x="-32" y="-46" width="64" height="92"/>`, the back by `#card-back`.
    """
    drawn = {f"card-{code}": _face(code) for code in codes} | {"card-back": _drawn("back")}
    return "\n".join(
        f'<symbol id="{name}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}">{_blank()}{face}</symbol>'
        for name, face in drawn.items()
    )


def codes() -> tuple[str, ...]:
    """Return the code of every card that has a face: the Kille pack, then ordinary cards."""
    return tuple(_faces())


def _face(code: str) -> str:
    faces = _faces()
    if code not in faces:
        raise CardError(f"no card {code!r} is drawn; expected one of {', '.join(faces)}")
    return faces[code]


@cache
def _faces() -> dict[str, str]:
    """Return the face of each card, by its code, in the order of the packs."""
    lilies = {f"L{n}": _lily(n) for n in range(1, len(LILIES) + 1)}
    pictures = {code: _picture(code) for code in PICTURES}
    below = {code: pictures.pop(code) for code in PICTURES[:3]}
    ordinary = {rank + suit: _ordinary(rank, suit) for suit in SUITS for rank in RANKS}
    return below | lilies | pictures | ordinary


def _picture(code: str) -> str:
    name = ElementTree.fromstring(_drawn(code)).attrib["data-name"]
    return _drawn(code) + _index(code) + _foot(name.upper())


def _lily(number: int) -> str:
    size, spots = LILIES[number - 1]
    lilies = "".join(_put(_drawn("lily"), x, y, size) for x, y in spots)
    return lilies + _index(str(number)) + _foot(ROMAN[number - 1])


def _ordinary(rank: str, suit: str) -> str:
    name, color = SUITS[suit]
    pip = _colored(name, color)
    corner = _index(RANKS[rank], color) + _put(pip, 12.5, 36, 1.1)
    if rank in COURTS:
        return _colored(COURTS[rank], color) + corner + _put(pip, 12.5, 64, 1.1)
    if rank == "A":
        return _put(pip, 38, 52, 2.4) + corner
    return "".join(_put(pip, x, y, 0.74) for x, y in ORDINARY[rank]) + corner


def _colored(name: str, color: str) -> str:
    """Return a drawing of a suit in the color of one."""
    return _drawn(name).replace('"suit', f'"{color}')


def _put(fragment: str, x: float, y: float, scale: float) -> str:
    return f'<g transform="translate({x:g} {y:g}) scale({scale:g})">{fragment}</g>'


def _blank() -> str:
    place = 'x=".5" y=".5" width="63" height="91" rx="6"'
    return f'<rect class="paper" {place}/><rect class="line-rim" {place} stroke-width="1"/>'


def _index(text: str, color: str = "ink") -> str:
    """Return the corner of a card: its rank, large enough for a thumbnail."""
    written, _ = _written(text, 5.4)
    return f'<g class="line-{color}" stroke-width="3.2" transform="translate(6 7)">{written}</g>'


def _foot(text: str) -> str:
    """Return the name at the foot of a card, in small letters."""
    size = 0.34
    written, length = _written(text, 5)
    left = (WIDTH - size * length) / 2
    return (
        f'<g class="line" stroke-width="1.9" transform="translate({left:.2f} 82.6) scale({size})">'
        f"{written}</g>"
    )


def _written(text: str, gap: float) -> tuple[str, float]:
    """Return text as paths on a line that begins at the origin, and its length."""
    parts: list[str] = []
    x = 0.0
    for letter in text:
        path, advance = _letters()[letter]
        parts.append(f'<path transform="translate({x:.4g})" d="{path}"/>')
        x += advance + gap
    return "".join(parts), x - gap


@cache
def _letters() -> dict[str, tuple[str, float]]:
    """Return the path and the width of each letter; capitals are 14 units high."""
    return {
        glyph.attrib["unicode"]: (glyph.attrib["d"], float(glyph.attrib["horiz-adv-x"]))
        for glyph in ElementTree.fromstring(_drawn("letters"))
    }


@cache
def _drawn(name: str) -> str:
    """Return a drawing as it is stored."""
    folder = files("kille_env.pictures") / "faces"
    return "".join((folder / f"{name}.svg").read_text(encoding="utf-8").splitlines())
