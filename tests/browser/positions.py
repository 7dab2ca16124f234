"""Tables at which a person is asked, in every phase of every game, kept as a server keeps them."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np

from kille_env.core.table import OVER
from kille_env.registry import list_games, spec
from kille_training.table.online import Order, players_for
from kille_training.table.sitting import Sitting

SEEDS, DECISIONS = 300, 30


def phases_of(game: str) -> list[str]:
    """Return the names of the phases in which somebody decides."""
    phases = import_module(f"kille_env.games.{game}.rules").Phase
    return [phase.name for phase in phases if phase > OVER]


def sizes_of(game: str, phase: str) -> list[int]:
    """Return 2, 4 and the most seats, and others where the phase needs them."""
    others = {
        ("byteskille", "ANSWER_DEALER"): [2, 3],
        ("byteskille", "ANSWER_THIRD"): [3],
        ("byteskille", "BUYIN"): [3, 4, 20],
    }
    return others.get((game, phase), sorted({2, 4, spec(game).max_players}))


POSITIONS = [
    (game, phase, seats)
    for game in list_games()
    for phase in phases_of(game)
    for seats in sizes_of(game, phase)
]


def keep(folder: Path, game: str, phase: str, seats: int) -> None:
    """Write the first table at which the person has a choice in a phase."""
    rules = spec(game).resolve({"episode": "match"})
    number = int(import_module(f"kille_env.games.{game}.rules").Phase[phase])
    for seed in range(SEEDS):
        order = Order(game, ("uniform",) * (seats - 1), rules, seed)
        sitting = Sitting(game, rules, [None, *players_for(order)], seed=seed)
        sitting.begin()
        rng = np.random.default_rng(seed)
        for _ in range(DECISIONS * seats):
            batch = sitting.batch
            if sitting.over:
                break
            if not sitting.waits:
                sitting.play()
                continue
            legal = np.flatnonzero(batch.mask[0])
            if batch.tables["phase"][0] == number and len(legal) > 1:
                matches = [dict(record) for record in sitting.records(unfinished=True)]
                said = {"order": order.as_dict(), "matches": matches[-1:]}
                (folder / "table.json").write_text(json.dumps(said))
                return
            sitting.act(int(rng.choice(legal)))
    raise AssertionError(f"nobody is asked in {phase} of {game} with {seats} seats")
