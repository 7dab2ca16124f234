"""What a very long tournament takes: `python benchmarks/arena_long.py`.

Plays a rule of thumb against a bot at Byteskille with two seats, into a folder that is thrown away.
Prints the memory that this process has taken at its most (and the largest of its children) whenever
the number of deals has doubled; then the seconds, the bytes on disk and how long a reader waits for
the standings. `--deals 100000000` is the default.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

from kille_training.arena.results import TournamentResult
from kille_training.arena.settings import MatchmakingSettings, TablesSettings, TournamentSettings
from kille_training.arena.store import Store
from kille_training.arena.tournament import Folder, play_in_folder

FIRST_LINE = 100_000
"""Deals after which the first line is printed."""


def megabytes() -> str:
    """Returns the most memory that this process and the largest of its children have taken."""
    own, children = (
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return f"{own:,.0f} MB" + (f", children {children:,.0f} MB" if children else "")


class Lines:
    """Prints a line whenever the number of deals has doubled."""

    def __init__(self) -> None:
        self._deals, self._next, self._began = 0, FIRST_LINE, time.perf_counter()

    def __call__(self, job: str, deals: int, total: int) -> None:
        """See `kille_training.progress.Progress`."""
        self._deals += deals
        if self._deals >= self._next:
            self._next *= 2
            seconds = time.perf_counter() - self._began
            print(f"{self._deals:>12,} deals  {seconds:>7.1f} s  {megabytes()}", flush=True)


def main() -> None:
    """Plays and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--deals", type=int, default=10**8)
    parser.add_argument("--workers", type=int, default=0)
    asked = parser.parse_args()
    settings = TournamentSettings(
        table=TablesSettings("byteskille", (2,)),
        entrants={"rule of thumb": "rule_of_thumb", "caller": "byteskille/caller"},
        matchmaking=MatchmakingSettings(deals=asked.deals),
        workers=asked.workers,
    )
    with tempfile.TemporaryDirectory() as path:
        folder, began = Folder(Path(path)), time.perf_counter()
        play_in_folder(folder, settings, Lines())
        print(f"played in {time.perf_counter() - began:,.0f} s; {megabytes()}")
        size = folder.results.stat().st_size
        print(f"{size:,} bytes on disk")
        began = time.perf_counter()
        with Store(folder.results, readonly=True) as store:
            print(TournamentResult.of(store, "deal", folder.path))
        print(f"read in {time.perf_counter() - began:.3f} s")


if __name__ == "__main__":
    main()
