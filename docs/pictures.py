"""Pictures: packs of docs/glossary.md, tables of docs/environments.md, the README's map of swaps.

The map is drawn from docs/data/ladder.jsonl, which docs/truth.py writes.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from blocks import lines_of

import kille_env
from kille_env.pictures.cards import HEIGHT, WIDTH, symbols
from kille_env.pictures.scene import arrange, text_width
from kille_env.pictures.style import style
from kille_env.pictures.svg import document
from kille_env.play.decisions import Decisions
from kille_env.play.policy import decide, resolve

DOCS = Path(__file__).parent
PACKS = {
    "kille_pack": ("byteskille", 11, "The Kille pack: 21 cards, each of them twice, and a back"),
    "knack_pack": ("knack", 9, "The pack of Knack: 36 cards, from the six to the ace, and a back"),
}
"""By file: a game with the pack, cards per row, and the title."""
TABLES = {
    "table_seat": ("byteskille", 4, 0, 11, 7),
    "table_open": ("krypkille", 5, None, 6, 17),
}
"""By file: game, seats, viewer, seed, and number of decisions."""
GAP = 8.0
PACK = kille_env.spec("byteskille").pack
RULES, SEATS = "svensk", 3
STEP, CARD, LEFT, TOP = 38.0, 0.55, 148.0, 112.0
"""Of the map: column width, size of a card, and position of the first cell."""
ROW, CELL = 54.0, 34.0
LEGEND = {"swap": "swaps", "stand": "stands", "none": "does not come up"}
SIGNS = {
    "swap": ("turn", "line", "M9 12H25M20 7L25 12L20 17M25 22H9M14 17L9 22L14 27"),
    "stand": ("plate-rim", "line-on-felt", "M10 17H24"),
    "none": ("faded plate-rim", "line-on-felt", ""),
}
"""By choice: the color of a cell, its symbol, and the color of the symbol."""


def sheet(codes: Sequence[str], across: int, title: str) -> str:
    """Return cards and the back in rows, as a standalone document."""
    names = [*codes, "back"]
    rows = -(-len(names) // across)
    width, height = across * (WIDTH + GAP) + GAP, rows * (HEIGHT + GAP) + GAP
    uses = "\n".join(
        f'<use href="#card-{name}" x="{GAP + number % across * (WIDTH + GAP):g}" '
        f'y="{GAP + number // across * (HEIGHT + GAP):g}" width="{WIDTH:g}" height="{HEIGHT:g}"/>'
        for number, name in enumerate(names)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{title}">\n<style>{style("light")}</style>\n{symbols(codes)}\n{uses}\n</svg>\n'
    )


def table(game: str, seats: int, viewer: int | None, seed: int, decisions: int) -> str:
    """Return a table as SVG; all seats play by the rule of thumb."""
    batch = kille_env.make_batch(game, 1, seats, episode="match", seed=seed, restart=False)
    player = resolve("rule_of_thumb", game, seats, batch.rules)
    row, key = np.zeros(1, np.int64), np.zeros(1, np.uint64)
    batch.reset(deal=False)
    for _ in range(decisions):
        while batch.seat[0] < 0 and not batch.over[0]:
            batch.deal()
        batch.apply(decide(player, Decisions(batch, row, key)).argmax(axis=1))
    view = batch.game.view(batch.tables[0], batch.rules, viewer)
    return document(arrange(view, batch.spec), "both") + "\n"


def choices() -> dict[str, dict[str, str]]:
    """Return each seat's choice by card when all seats before it have stood."""
    rows = lines_of(DOCS / "data" / "ladder.jsonl")
    here = [row for row in rows if (row["preset"], row["seats"]) == (RULES, SEATS)]
    return {row["seat"]: dict(_ranges(row["choices"])) for row in here}


def _ranges(text: str) -> Iterator[tuple[str, str]]:
    """Yield code and choice of "blaren to lilja 4: swap; lilja 5 to gök: stand"."""
    for part in text.split("; "):
        cards, choice = part.split(": ")
        ends = [PACK.names.index(re.sub(r" \(\w+\)", "", name)) for name in cards.split(" to ")]
        for number in range(ends[0], ends[-1] + 1):
            yield PACK.codes[number], choice


def swap_map() -> str:
    """Return the picture: a row of cards, and below each the choice of every seat."""
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
    """Draw a seat's choice with a card as a cell of the map."""
    ground, line, sign = SIGNS[choice]
    return (
        f'<g transform="translate({x:g} {y:g})"><rect class="{ground}" width="{CELL:g}" '
        f'height="{CELL:g}" rx="6"/><path class="{line}" stroke-width="2.4" d="{sign}"/></g>'
    )


def _words(x: float, y: float, text: str, *, size: float) -> str:
    return f'<text class="text on-felt" x="{x:g}" y="{y:g}" font-size="{size:g}">{text}</text>'


FILES = {
    DOCS / "front" / "swaps.svg": swap_map,
    **{
        DOCS / f"{name}.svg": partial(sheet, kille_env.spec(game).pack.codes, across, title)
        for name, (game, across, title) in PACKS.items()
    },
    **{DOCS / f"{name}.svg": partial(table, *facts) for name, facts in TABLES.items()},
}
