"""The map of swaps of the README, drawn from the table in docs/solutions.md."""

import re
from collections.abc import Iterator
from pathlib import Path

import kille_env
from kille_env.pictures.cards import HEIGHT, WIDTH, symbols
from kille_env.pictures.scene import text_width
from kille_env.pictures.style import style

DOCS = Path(__file__).parent
PACK = kille_env.spec("byteskille").pack
RULES, SEATS = "svensk", 3
STEP, CARD, LEFT, TOP = 38.0, 0.55, 148.0, 112.0
"""Of the map: from column to column, the size of a card, and where the first cell lies."""
ROW, CELL = 54.0, 34.0
LEGEND = {"swap": "swaps", "stand": "stands", "none": "does not come up"}
SIGNS = {
    "swap": ("turn", "line", "M9 12H25M20 7L25 12L20 17M25 22H9M14 17L9 22L14 27"),
    "stand": ("plate-rim", "line-on-felt", "M10 17H24"),
    "none": ("faded plate-rim", "line-on-felt", ""),
}
"""By choice: the color of a cell, and what is drawn on it, in which color."""


def choices() -> dict[str, dict[str, str]]:
    """Return each seat's choice by card when all seats before it have stood."""
    page = (DOCS / "solutions.md").read_text(encoding="utf-8")
    rows = re.findall(rf"^\| `{RULES}` \| {SEATS} \| \w+ \| .*: .*", page, re.MULTILINE)
    cells = [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows]
    return {seat: dict(_ranges(text)) for _, _, seat, _, text in cells}


def _ranges(text: str) -> Iterator[tuple[str, str]]:
    """Yield code and choice of "blaren to lilja 4: swap; lilja 5 to gök: stand"."""
    for part in text.split("; "):
        cards, choice = part.split(": ")
        ends = [PACK.names.index(re.sub(r" \(\w+\)", "", name)) for name in cards.split(" to ")]
        for number in range(ends[0], ends[-1] + 1):
            yield PACK.codes[number], choice


def swap_map() -> str:
    """Return the picture: cards above, and below each what every seat does with it."""
    found = choices()
    width = LEFT + STEP * len(PACK.codes) + 20
    height = TOP + ROW * len(found) + 46
    title = "When to swap: the equilibrium of a deal with three seats"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{title}">\n<title>{title}</title>\n<style>{style("light")}</style>\n'
        f"{symbols(PACK.codes)}\n"
        f'<rect class="felt" width="{width:g}" height="{height:g}" rx="14"/>\n'
        + "\n".join([*_cards(), *_rows(found), *_legend(TOP + ROW * len(found) + 20)])
        + "\n</svg>\n"
    )


def _cards() -> Iterator[str]:
    yield _words(20, 58, "holds", size=21)
    for column, code in enumerate(PACK.codes):
        x = LEFT + column * STEP - WIDTH * CARD / 2 + CELL / 2
        yield (
            f'<use href="#card-{code}" x="{x:g}" y="22" width="{WIDTH * CARD:g}" '
            f'height="{HEIGHT * CARD:g}"/>'
        )


def _rows(found: dict[str, dict[str, str]]) -> Iterator[str]:
    for row, (seat, choice) in enumerate(found.items()):
        y = TOP - 18 + row * ROW
        yield _words(20, y + CELL / 2 + 7, seat, size=21)
        for column, code in enumerate(PACK.codes):
            yield _cell(LEFT + column * STEP, y, choice.get(code, "none"))


def _legend(y: float) -> Iterator[str]:
    x = LEFT
    for choice, what in LEGEND.items():
        yield _cell(x, y - 18, choice)
        yield _words(x + CELL + 12, y + 6, what, size=19)
        x += CELL + 44 + text_width(what, 19)


def _cell(x: float, y: float, choice: str) -> str:
    """Draw what a seat does with a card, as a cell of the map."""
    ground, line, sign = SIGNS[choice]
    return (
        f'<g transform="translate({x:g} {y:g})"><rect class="{ground}" width="{CELL:g}" '
        f'height="{CELL:g}" rx="6"/><path class="{line}" stroke-width="2.4" d="{sign}"/></g>'
    )


def _words(x: float, y: float, text: str, *, size: float) -> str:
    return f'<text class="text on-felt" x="{x:g}" y="{y:g}" font-size="{size:g}">{text}</text>'


FILES = {DOCS / "front" / "swaps.svg": swap_map}
