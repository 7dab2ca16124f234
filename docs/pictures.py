"""Draws docs/kille_pack.svg and docs/knack_pack.svg, the cards as docs/pictures.md shows them.

python docs/pictures.py            write both again (`make docs`)
python docs/pictures.py --check    exit with 1 and name the files that are stale
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from blocks import write

import kille_env
from kille_env.pictures.cards import HEIGHT, WIDTH, symbols
from kille_env.pictures.style import style

DOCS = Path(__file__).parent
PICTURES = {
    "kille_pack.svg": (
        "byteskille",
        11,
        "The Kille pack: 21 cards, each of them twice, and a back",
    ),
    "knack_pack.svg": (
        "knack",
        9,
        "The pack of Knack: 36 cards, from the six to the ace, and a back",
    ),
}
"""By file: a game that plays with the pack, cards in a row, and what the picture shows."""
GAP = 8.0


def sheet(codes: Sequence[str], across: int, title: str) -> str:
    """Returns cards and the back in rows, as a document that stands alone."""
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


def built() -> dict[Path, str]:
    """Returns what each file should hold."""
    return {
        DOCS / file: sheet(kille_env.spec(game).pack.codes, across, title)
        for file, (game, across, title) in PICTURES.items()
    }


if __name__ == "__main__":
    sys.exit(write(built(), "--check" in sys.argv[1:]))
