"""What colluding gains, and how fast tournaments are: `python benchmarks/arena.py`.

Each goal is a function that prints a table in Markdown:

    collusion   what two seats gain that share what they know
    speed       how long one core plays single deals of one card, all rotations, kept on disk

A table-deal is one deal played once; a deal played in all rotations of S seats counts S. Means are
units. Everything has a seed, so the numbers are the same each time, but for `speed`.
"""

import argparse
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kille_agents.catalog import load_policy, rule_of_thumb
from kille_env.play.policy import UniformPolicy
from kille_env.registry import spec
from kille_training.arena.settings import (
    MatchmakingSettings,
    TablesSettings,
    TournamentSettings,
)
from kille_training.arena.tournament import Folder, Tournament
from kille_training.evaluation.collusion import exact_collusion
from kille_training.pool.jobs import Here
from kille_training.solving.byteskille.deals import build_deal
from markdown_tables import table

SEATS = 3


def collusion(_: int) -> None:
    """Prints what two of three seats gain that share what they know."""
    rules = spec("byteskille").resolve({"episode": "deal"})
    deal = build_deal(SEATS, rules)
    players = [
        UniformPolicy(),
        rule_of_thumb(SEATS, rules),
        load_policy("byteskille/solved", "byteskille", SEATS, rules),
    ]
    rows = []
    for player in players:
        for seats in combinations(range(SEATS), 2):
            found = exact_collusion(player, seats, SEATS, rules, deal=deal)
            told = (found.own, found.selfish, found.agreed, found.shared)
            where = " and ".join(("forehand", "middle", "dealer")[seat] for seat in seats)
            gains = (f"{found.gain:.4f}", f"{found.from_sharing:.4f}")
            rows.append([player.name, where, *(f"{value:+.4f}" for value in told), *gains])
    head = ["players", "colluding", "own", "selfish", "agreed", "shared", "gain", "from sharing"]
    print(table(head, rows), "\n")


def speed(deals: int) -> None:
    """Prints how long a tournament of rules of thumb takes, from nothing to kept results."""
    rows = []
    for seats in (2, 3, 5):
        settings = TournamentSettings(
            table=TablesSettings("byteskille", (seats,)),
            entrants={"one": "rule_of_thumb", "another": "rule_of_thumb"},
            matchmaking=MatchmakingSettings("gauntlet", "copies", deals, hero="one"),
            workers=0,
        )
        seconds = []
        for _ in range(4):  # the first one compiles
            with TemporaryDirectory() as place, Here() as pool:
                tournament = Tournament(Folder(Path(place) / "run"), settings, pool)
                start = time.perf_counter()
                tournament.play()
                seconds.append(time.perf_counter() - start)
                tournament.close()
        middle = float(np.median(seconds[1:]))
        spread = f"{min(seconds[1:]):.2f} to {max(seconds[1:]):.2f}"
        rows.append([seats, f"{deals * seats:,}", f"{middle:.2f}", spread])
    print(f"{deals:,} single deals of Byteskille in all rotations, one process.\n")
    print(table(["seats", "tables", "seconds, median of 3", "from to"], rows), "\n")


GOALS: dict[str, tuple[Callable[[int], None], int]] = {
    "collusion": (collusion, 0),
    "speed": (speed, 100_000),
}
"""Goals, and how many runs or deals each takes."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("goals", nargs="+", choices=GOALS)
    parser.add_argument("--count", type=int, help="runs or deals; each goal has its own number")
    options = parser.parse_args()
    for name in options.goals:
        goal, count = GOALS[name]
        print(f"## {name}\n", flush=True)
        goal(options.count or count)


if __name__ == "__main__":
    main()
