"""The contest: a process for each library, which take turns, and ratios within each turn."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kille_env.errors import KilleError
from speed.peers.work import AEC, BATCH, CFR, CFR_PLUS, LOOP, NASH_CONV
from speed.rows import Row, row, spread

UNITS: dict[str, tuple[str, Callable[[float], float]]] = {
    BATCH: ("M decisions/s", lambda seconds: 1e-6 / seconds),
    LOOP: ("µs a decision", lambda seconds: 1e6 * seconds),
    AEC: ("µs a decision", lambda seconds: 1e6 * seconds),
    CFR: ("iterations/s", lambda seconds: 1 / seconds),
    CFR_PLUS: ("iterations/s", lambda seconds: 1 / seconds),
    NASH_CONV: ("ms a NashConv", lambda seconds: 1e3 * seconds),
}
"""The unit of each kind of work, and the figure in it for the seconds per piece."""


@dataclass(frozen=True)
class Peer:
    """A library that is measured.

    Attributes:
        name: Its name; empty for this suite.
        module: The module of this room that plays it.
        install: What installs it.
    """

    name: str
    module: str
    install: str


PEERS = (
    Peer("", "tables", ""),
    Peer("", "trees", "pip install open_spiel"),
    Peer("Pgx", "in_pgx", "pip install jax pgx"),
    Peer("EnvPool", "in_envpool", "pip install envpool"),
    Peer("OpenSpiel", "in_open_spiel", "pip install open_spiel"),
    Peer("RLCard", "in_rlcard", "pip install rlcard"),
    Peer("PettingZoo", "in_pettingzoo", "pip install 'pettingzoo[classic]' rlcard"),
)
"""Who is measured, this suite first: the others' ratios are to it."""

ROOT = Path(__file__).parents[3]


@dataclass
class Worker:
    """A process that measures one library.

    Attributes:
        peer: The library.
        process: The process.
        version: The library's version.
        works: [kind, what, includes] of everything that it measures.
        seconds: Seconds per piece in each turn, by number of the work.
    """

    peer: Peer
    process: subprocess.Popen[str]
    version: str
    works: list[list[str]]
    seconds: dict[int, list[float]] = field(default_factory=dict)

    def measure(self, number: int) -> None:
        """Measures a work once more.

        Raises:
            KilleError: The process has ended.
        """
        assert self.process.stdin
        print(number, file=self.process.stdin, flush=True)
        self.seconds.setdefault(number, []).append(_answer(self.process))

    def close(self) -> None:
        """Ends the process."""
        self.process.communicate()


def _answer(process: subprocess.Popen[str]) -> Any:
    """Returns what a process writes next."""
    assert process.stdout
    if line := process.stdout.readline():
        return json.loads(line)
    raise KilleError(f"the process {process.args} ended with status {process.wait()}; see above")


def interpreters() -> list[str]:
    """Returns where libraries may be: this environment, and those of `make test-libraries`."""
    others = sorted(ROOT.glob(".venv-libraries/*/bin/python"))
    return [sys.executable, *map(str, others)]


def start(peer: Peer, pythons: Sequence[str]) -> Worker | None:
    """Returns a process in the first environment that has the library, or None."""
    for python in pythons:
        process = subprocess.Popen(
            [python, "-m", "speed.peers.worker", peer.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"},
            text=True,
        )
        hello = _answer(process)
        if "missing" not in hello:
            return Worker(peer, process, hello["version"], hello["works"])
        process.communicate()
        print(f"{peer.module} in {python}: {hello['missing']}", file=sys.stderr)
    return None


def bench_peers(game: str, players: int, repeats: int) -> Iterator[Row]:
    """The same kind of work in other libraries, where they are installed, each on one core.

    Whatever game and seats are asked for: poker hands of two players are compared with single deals
    of Byteskille with two seats, solvers at the same game.
    """
    found = [(peer, start(peer, interpreters())) for peer in PEERS]
    workers = [worker for _, worker in found if worker]
    try:
        for kind in UNITS:
            yield from _compared(kind, workers, repeats)
    finally:
        for worker in workers:
            worker.close()
    for peer, worker in found:
        if worker is None:
            print(f"{peer.name or 'Leduc'} is not measured: {peer.install}", file=sys.stderr)
    print(
        "PufferLib is not measured: it does not install beside numpy 2. All others at once: "
        "make test-libraries ARGS=peers",
        file=sys.stderr,
    )


def _compared(kind: str, workers: Sequence[Worker], repeats: int) -> Iterator[Row]:
    """One kind of work, in turns; the first worker that does it is what others compare with."""
    works = [(w, n) for w in workers for n, work in enumerate(w.works) if work[0] == kind]
    for _ in range(repeats):
        for worker, number in works:
            worker.measure(number)
    if works:
        unit, figure = UNITS[kind]
        ours = works[0][0].seconds[works[0][1]]
        for worker, number in works:
            yield compared(worker, number, ours, unit, figure)


def compared(
    worker: Worker, number: int, ours: Sequence[float], unit: str, figure: Callable[[float], float]
) -> Row:
    """Returns the row of a work.

    Args:
        worker: Who has done it.
        number: Which work it is.
        ours: Seconds per piece that this suite took, in each turn.
        unit: Unit of the figure.
        figure: Makes the figure from seconds.
    """
    _, what, includes = worker.works[number]
    seconds, peer = worker.seconds[number], worker.peer
    ratios = [theirs / mine for theirs, mine in zip(seconds, ours, strict=True)]
    return row(
        f"{peer.name or 'kille-env'} {worker.version}: {what}",
        [figure(value) for value in seconds],
        unit,
        times=spread(ratios) if peer.name else None,
        includes=includes,
    )
