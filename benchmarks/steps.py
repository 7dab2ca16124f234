"""A step now and in another checkout: `python benchmarks/steps.py --before CHECKOUT`.

Each checkout plays in a process of its own, whose cache of kernels is its own too; the two take
turns, so that a slow minute of the machine meets both. A figure is the time of a step of one table
with its observation, mask and rewards, random legal play over 4,096 tables; choosing the actions is
not counted. Ratios compare two figures of the same turn.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from markdown_tables import table

TABLES, STEPS = 4096, 30


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--before", type=Path, required=True, help="Folder of the other checkout.")
    parser.add_argument("--games", nargs="+", default=[], help="GAME or GAME:SEATS; all by default")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        _work(*options.worker.split(":"))
        return
    import kille_env

    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for case in options.games or kille_env.list_games():
            name, _, seats = case.partition(":")
            seats = seats or str(kille_env.spec(name).default_players)
            ours = _start(Path(__file__).parents[1], Path(cache), name, seats)
            theirs = _start(options.before.resolve(), Path(cache), name, seats)
            runs = [(_ask(theirs), _ask(ours)) for _ in range(options.turns)]
            for process in (ours, theirs):
                process.communicate()
            before, now = zip(*runs, strict=True)
            ratios = [b / n for b, n in runs]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            medians = [f"{statistics.median(times):.1f}" for times in (before, now)]
            rows.append([name, seats, *medians, f"{statistics.median(ratios):.2f}", spread])
    print(table(["game", "seats", "before, ns", "now, ns", "faster by", "spread"], rows))


def _start(checkout: Path, cache: Path, game: str, seats: str) -> subprocess.Popen:
    """Returns a process that plays with a checkout's code, once it is ready."""
    rooms = os.pathsep.join(str(checkout / room) for room in (".", "agents", "training"))
    own = cache / checkout.name
    environment = os.environ | {"PYTHONPATH": rooms, "KILLE_CACHE_DIR": str(own)}
    command = [sys.executable, __file__, "--before", ".", "--worker", f"{game}:{seats}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=environment, **pipes)
    _ask(process)
    return process


def _ask(process: subprocess.Popen) -> float:
    """Returns the nanoseconds of a step in a process, measured now."""
    print(file=process.stdin, flush=True)
    return float(process.stdout.readline())  # type: ignore[union-attr]


def _work(game: str, seats: str) -> None:
    """Measures once for each line that comes in."""
    import kille_env

    batch = kille_env.make_batch(game, TABLES, int(seats), episode="match", seed=0)
    batch.reset()
    rng = np.random.default_rng(1)
    for _ in sys.stdin:
        spent = []
        for _ in range(STEPS):
            actions = (batch.mask * rng.random(batch.mask.shape)).argmax(axis=1)
            start = time.perf_counter()
            batch.step(actions)
            spent.append(time.perf_counter() - start)
        print(statistics.median(spent) / TABLES * 1e9, flush=True)


if __name__ == "__main__":
    main()
