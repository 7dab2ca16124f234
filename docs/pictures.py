"""The packs of docs/glossary.md, and the tables in mid-deal of docs/environments.md."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

import kille_env
from kille_env.pictures.cards import HEIGHT, WIDTH, symbols
from kille_env.pictures.scene import arrange
from kille_env.pictures.style import style
from kille_env.pictures.svg import document
from kille_env.play.decisions import Decisions
from kille_env.play.policy import decide, resolve

DOCS = Path(__file__).parent
PACKS = {
    "kille_pack": ("byteskille", 11, "The Kille pack: 21 cards, each of them twice, and a back"),
    "knack_pack": ("knack", 9, "The pack of Knack: 36 cards, from the six to the ace, and a back"),
}
"""By file: a game that plays with the pack, cards in a row, and what the picture shows."""
TABLES = {
    "table_seat": ("byteskille", 4, 0, 11, 7),
    "table_open": ("krypkille", 5, None, 6, 17),
}
"""By file: game, seats, who looks, seed, and how many decisions have been made."""
GAP = 8.0


def sheet(codes: Sequence[str], across: int, title: str) -> str:
    """Return cards and the back in rows, as a document that stands alone."""
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


FILES = {
    **{
        DOCS / f"{name}.svg": partial(sheet, kille_env.spec(game).pack.codes, across, title)
        for name, (game, across, title) in PACKS.items()
    },
    **{DOCS / f"{name}.svg": partial(table, *facts) for name, facts in TABLES.items()},
}
