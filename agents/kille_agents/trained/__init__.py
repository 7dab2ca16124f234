"""Networks that come with the suite, one for each game: "game/trained".

Each plays at every table of its game, single deals and whole matches, by the default rules. Each
game has a folder here: what a run of `kille train GAME_trained` leaves as its policy. How strong
they are is in `cards.json`, which `python docs/players.py trained` writes.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kille_agents.network import SPECIFICATION

FOLDER = Path(__file__).parent
CARDS = FOLDER / "cards.json"
TRAINED: dict[str, Path] = {
    f"{file.parent.name}/trained": file.parent for file in sorted(FOLDER.glob(f"*/{SPECIFICATION}"))
}
"""Folders of the networks, by name."""


def trained(game: str) -> list[str]:
    """Return the names of the networks that come for a game: one, or none."""
    return [name for name, folder in TRAINED.items() if folder.name == game]


@cache
def cards() -> Mapping[str, Any]:
    """Return the earnings and exploitability of the networks, by game."""
    return json.loads(CARDS.read_text(encoding="utf-8"))
