"""Puts the suite's own players and the benchmark's best runs on the leaderboard.

    python docs/leaderboard.py    in a checkout whose runs/ holds the published grids

Each is added as `kille leaderboard add` does it, and what is on the board already is not measured
again. The best seed of a method at a table is the one with the lowest NashConv in sampled
play, or else the one that earns most against the held-out population.
"""

import shlex
from collections.abc import Callable
from pathlib import Path

from benchmark import results

from kille_agents.trained import TRAINED
from kille_env.files import write_whole
from kille_training.arena.leaderboard import api
from kille_training.arena.leaderboard.board import read
from kille_training.arena.leaderboard.tracks import Track, tracks
from kille_training.benchmark.grid import RunSettings
from kille_training.benchmark.results import Line, held_out_units, sampled_nash_conv
from kille_training.benchmark.runs import path_of
from kille_training.benchmark.tables import TABLES
from kille_training.reports.leaderboard import leaderboard_page

DOCS = Path(__file__).parent
PAGE, DATA = DOCS / "leaderboard.md", DOCS / "data" / "leaderboard.jsonl"
PLAYERS = ("uniform", "rule_of_thumb", "byteskille/solved", *TRAINED)


def add(player: str, name: str, *only: str) -> None:
    """Measures a player on some tracks, or on all that it plays."""
    words = ["kille", "leaderboard", "add", player, "--name", name, "--by", "kille-env"]
    added = api.add(DATA, api.Entry(name, "kille-env", player, shlex.join(words)), only)
    for line in added.lines:
        print(f"{line.track}: {name} {line.score.mean:+.4f}", flush=True)


def tracks_of(table: str) -> list[str]:
    """Returns the tracks that are played at a table of the benchmark."""
    found = TABLES[table]

    def same(track: Track) -> bool:
        seats = track.num_players == found.num_players
        return seats and track.game == found.game and track.rules == found.rules

    return [name for name, track in tracks().items() if same(track)]


def add_best(grid: str, key: Callable[[Line], float]) -> None:
    """Adds the run of each method with the highest key, at each table of a grid with a track."""
    found, runs = results(grid), Path("runs") / grid
    for table in filter(tracks_of, found.tables):
        for method in found.methods:
            if lines := found.of(method, table):
                best = RunSettings(**max(lines, key=key)["run"])
                folder = path_of(runs, best).with_suffix("")
                tabular = folder / "policy.npz"
                player = str(tabular if tabular.exists() else folder)
                add(player, f"{method} at {table}", *tracks_of(table))


def main() -> None:
    """Measures what is not on the board, and writes the page."""
    for name in PLAYERS:
        add(name, name)
    add_best("exact", lambda run: -sampled_nash_conv(run))
    add_best("games", held_out_units)
    write_whole(PAGE, leaderboard_page(read(DATA)))


if __name__ == "__main__":
    main()
