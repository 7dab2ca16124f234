"""Draws the pictures of docs/environments.md: tables in the middle of a deal.

python docs/environments.py            write them again (`make docs`)
python docs/environments.py --check    exit with 1 and name what is stale
"""

import sys
from pathlib import Path

import numpy as np
from blocks import write

from kille_env import make_batch
from kille_env.pictures.scene import arrange
from kille_env.pictures.svg import document
from kille_env.play.decisions import Decisions
from kille_env.play.policy import best_actions, decide, resolve

DOCS = Path(__file__).parent
PICTURES = {
    "table_seat": ("byteskille", 4, 0, "wide", 11, 7),
    "table_open": ("krypkille", 5, None, "wide", 6, 17),
    "table_many": ("byteskille", 20, 0, "wide", 5, 14),
}
"""By file: game, seats, who looks, shape, seed, and how many decisions have been made."""


def table(game: str, seats: int, viewer: int | None, shape: str, seed: int, decisions: int) -> str:
    """Returns a table as SVG; all seats play by the rule of thumb."""
    batch = make_batch(game, 1, seats, episode="match", seed=seed, restart=False)
    player = resolve("rule_of_thumb", game, seats, batch.rules)
    row, key = np.zeros(1, np.int64), np.zeros(1, np.uint64)
    batch.reset(deal=False)
    for _ in range(decisions):
        while batch.seat[0] < 0 and not batch.over[0]:
            batch.deal()
        batch.apply(best_actions(decide(player, Decisions(batch, row, key))))
    view = batch.game.view(batch.tables[0], batch.rules, viewer)
    return document(arrange(view, batch.spec, shape=shape), "both") + "\n"


def built() -> dict[Path, str]:
    """Returns what each file should hold."""
    return {DOCS / f"{name}.svg": table(*facts) for name, facts in PICTURES.items()}


if __name__ == "__main__":
    sys.exit(write(built(), "--check" in sys.argv[1:]))
