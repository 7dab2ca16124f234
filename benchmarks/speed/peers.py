"""Comparison with other libraries: a process for each, in turns, and ratios within each turn."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kille_env.errors import KilleError
from speed.libraries import AEC, BATCH, CFR, CFR_PLUS, LOOP, NASH_CONV, NEEDS, WORKS, Work
from speed.rows import Row, row, spread

UNITS: dict[str, tuple[str, Callable[[float], float]]] = {
    BATCH: ("M decisions/s", lambda seconds: 1e-6 / seconds),
    LOOP: ("µs a decision", lambda seconds: 1e6 * seconds),
    AEC: ("µs a decision", lambda seconds: 1e6 * seconds),
    CFR: ("iterations/s", lambda seconds: 1 / seconds),
    CFR_PLUS: ("iterations/s", lambda seconds: 1 / seconds),
    NASH_CONV: ("ms a NashConv", lambda seconds: 1e3 * seconds),
}
"""The unit of each kind of workload, and the conversion from seconds per piece."""
ROOT = Path(__file__).parents[2]


class Worker:
    """A process that measures one library, in the first environment that has it."""

    def __init__(self, name: str) -> None:
        self.name, self.version = name, ""
        others = sorted(ROOT.glob(".venv-libraries/*/bin/python"))  # of `make test-libraries`
        for python in [sys.executable, *others]:
            self.process = subprocess.Popen(
                [python, "-m", "speed.libraries", name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=ROOT / "benchmarks",
                env={**os.environ, "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"},
                text=True,
            )
            hello = self._answer()
            if "missing" not in hello:
                self.version = hello["version"]
                return
            self.close()
        print(f"{name} is not measured; it needs {' and '.join(NEEDS[name])}", file=sys.stderr)

    def measure(self, number: int) -> float:
        """Measure and return the seconds per piece of a workload."""
        assert self.process.stdin
        print(number, file=self.process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout
        if line := self.process.stdout.readline():
            return json.loads(line)
        status = self.process.wait()
        raise KilleError(f"the process of {self.name} ended with status {status}; see above")

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def bench_peers(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Compare the workloads of installed libraries, each on one core, for any game and seats.

    Poker hands of two players are compared with single deals of Byteskille with two seats, solvers
    at the same game.
    """
    workers = [Worker(name) for name in WORKS]
    try:
        for kind in UNITS:
            yield from _compared(kind, [each for each in workers if each.version], repeats)
    finally:
        for worker in workers:
            worker.close()
    print(
        "All libraries but PufferLib, which does not install beside numpy 2: "
        "make test-libraries ARGS=peers",
        file=sys.stderr,
    )


def _compared(kind: str, workers: Sequence[Worker], repeats: int) -> Iterator[Row]:
    """Compare one kind of workload, in turns, with the first worker that has it."""
    does = [
        (worker, number)
        for worker in workers
        for number, work in enumerate(WORKS[worker.name])
        if work.kind == kind
    ]
    turns = [[worker.measure(number) for worker, number in does] for _ in range(repeats)]
    runs = list(zip(*turns, strict=True))
    for (worker, number), seconds in zip(does, runs, strict=True):
        yield compared(worker.name, worker.version, WORKS[worker.name][number], seconds, runs[0])


def compared(
    name: str, version: str, work: Work, seconds: Sequence[float], ours: Sequence[float]
) -> Row:
    """Return the row of a workload."""
    unit, figure = UNITS[work.kind]
    own = name in ("tables", "trees")
    ratios = [theirs / mine for theirs, mine in zip(seconds, ours, strict=True)]
    return row(
        f"{'kille-env' if own else name} {version}: {work.what}",
        [figure(value) for value in seconds],
        unit,
        times=None if own else spread(ratios),
        includes=work.includes,
    )
