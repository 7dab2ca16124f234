"""How long `kille report` takes, warm: `python benchmarks/reports.py`.

Plays the bundled tournaments and a large one, 100 entrants with 100,000 observations at tables of
four, into a folder that is thrown away; then runs `kille report` on each several times, each time
in a process of its own, and prints the medians of the seconds on the clock and of the processor's.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from kille_training.arena.results import TournamentResult
from kille_training.arena.settings import (
    MatchmakingSettings,
    TablesSettings,
    TournamentSettings,
    load_tournament,
)
from kille_training.arena.tournament import Folder, play_in_folder
from kille_training.recipes import find

BUNDLED = ("byteskille", "femkortskille", "knack", "krypkille", "kungsholmskille")
LARGE = TournamentSettings(
    name="large",
    table=TablesSettings("byteskille", (4,)),
    entrants={f"player {number:03}": "uniform" for number in range(100)},
    matchmaking=MatchmakingSettings("random", lineups=40, deals=100),
)


def seconds(folder: Path) -> tuple[float, float]:
    """Returns how long one report takes: on the clock, and of the processor."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "kille_training.cli.main", "report", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, used


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2, help="processes that play")
    parser.add_argument("names", nargs="*", help="recipes, or large; all by default")
    options = parser.parse_args()
    print("| tournament | entrants | table sizes | observations | seconds | processor |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in options.names or (*BUNDLED, LARGE.name):
        settings = LARGE
        if name != LARGE.name:
            settings = load_tournament(find(name, "tournament"))
        with tempfile.TemporaryDirectory() as path:
            folder = Folder(Path(path) / name)
            result = play_in_folder(folder, replace(settings, workers=options.workers))
            seconds(folder.path)  # warms what is read from disk
            taken = [seconds(folder.path) for _ in range(options.repeats)]
        print(line(name, result, *(statistics.median(each) for each in zip(*taken, strict=True))))


def line(name: str, result: TournamentResult, clock: float, processor: float) -> str:
    """Returns a line of the table."""
    played = sum(tally.observations for tally in result.tallies.values())
    return (
        f"| {name} | {len(result.names)} | {len(result.tallies)} | {played:,} | {clock:.1f} | "
        f"{processor:.1f} |"
    )


if __name__ == "__main__":
    main()
