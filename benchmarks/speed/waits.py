"""Rows for what a step spends: instructions, wrong guesses and cache misses, counted by `perf`."""

import csv
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from kille_env.core.batch import Batch
from speed.batch import played, random_actions
from speed.rows import Row, row

EVENTS = {
    "instructions:u": "instructions",
    "cycles:u": "cycles",
    "branch-misses:u": "branches",
    "L1-dcache-load-misses:u": "loads",
    "cache-misses:u": "lines",
}
"""What `perf stat` counts, and the unit of a decision's share."""


def _counts(batch: Batch, steps: int, rng: np.random.Generator) -> dict[str, float]:
    """Returns what steps took per decision, by event, without what this machine cannot count.

    `perf` counts only between the words "enable" and "disable" on a pipe, and nothing that runs
    inside the operating system, so choosing the actions and the pipe are not included.
    """
    with ExitStack() as stack:
        file = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "counts"
        (heard, say), (hear, answer) = os.pipe(), os.pipe()
        for end in (heard, say, hear, answer):
            stack.callback(os.close, end)
        command = ["perf", "stat", "-x;", "-o", str(file), "-e", ",".join(EVENTS), "-D", "-1"]
        control = ["--control", f"fd:{heard},{answer}", "-p", str(os.getpid())]
        perf = subprocess.Popen(
            [*command, *control], pass_fds=(heard, answer), stderr=subprocess.DEVNULL
        )

        def tell(word: str) -> None:
            os.write(say, f"{word}\n".encode())
            os.read(hear, 16)  # "ack"

        for _ in range(steps):
            actions = random_actions(batch.mask, rng)
            tell("enable")
            batch.step(actions)
            tell("disable")
        perf.send_signal(signal.SIGINT)  # it writes the counts and ends
        perf.wait()
        lines = list(csv.reader(file.read_text().splitlines(), delimiter=";"))
    found = {
        line[2]: float(line[0]) for line in lines if len(line) > 2 and not line[0].startswith("<")
    }
    decisions = steps * batch.num_tables
    return {name: count / decisions for name, count in found.items()}


def bench_waits(game: str, players: int, repeats: int) -> Iterator[Row]:
    """What a step spends per decision, with tables that fit into the caches and with more."""
    if not shutil.which("perf"):
        print(
            "bench waits: no `perf` here; on Debian linux-perf has it",
            file=sys.stderr,
        )
        return
    rng = np.random.default_rng(1)
    for tables in (64, 4096, 65536):
        batch = played(game, tables, players)
        runs = [_counts(batch, max(3, 200_000 // tables), rng) for _ in range(repeats)]
        for event, unit in EVENTS.items():
            if event in runs[0]:
                what = f"{event.removesuffix(':u')}, {tables} tables, {players} seats"
                yield row(what, [run[event] for run in runs], f"{unit} a decision")
    missing = [event for event in EVENTS if event not in runs[0]]
    if missing:
        print(
            f"bench waits: not counted here: {', '.join(missing)}",
            file=sys.stderr,
        )
