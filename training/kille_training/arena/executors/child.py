"""The process in which work units are played; `processes` starts and monitors it.

    python -m kille_training.arena.executors.child MONITOR PARENT

MONITOR is the file of a `Monitor`, PARENT the id of the process that started this one. Python
objects that play and then units arrive on standard input, outcomes go to standard output, all
pickled.
"""

import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from kille_env.core.determinization import Determinizer, History
from kille_env.errors import KilleError
from kille_env.policy import PlayerLike
from kille_env.registry import make_batch
from kille_training.arena.executors.monitor import Crash, Monitor
from kille_training.arena.play import PlayerCache, failure, play_unit, unit_rules
from kille_training.arena.work import Outcome, WorkUnit


def main() -> None:
    """Plays units until the parent process has ended."""
    path, parent = Path(sys.argv[1]), int(sys.argv[2])
    _die_before(parent)
    monitor = Monitor(path)
    with suppress(OSError):  # some systems keep the file of mapped memory
        path.unlink()
    units, outcomes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Whatever players print, in Python or not, goes where standard error goes: to the log.
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    monitor.guard((0, 1, 2, units.fileno(), outcomes.fileno()))
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(units, waiting, monitor), daemon=True).start()
    table = _Table(monitor, _Objects(waiting.get()))
    while True:
        pickle.dump(table.play(waiting.get()), outcomes, protocol=pickle.HIGHEST_PROTOCOL)
        outcomes.flush()


def _die_before(parent: int) -> None:
    """Makes the kernel kill this process when its parent dies."""
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
        with suppress(OSError):  # when memory runs out, players go first
            Path("/proc/self/oom_score_adj").write_text("1000")
    if sys.platform != "win32" and os.getppid() != parent:
        os._exit(1)


def _take(units: IO[bytes], waiting: "queue.SimpleQueue[Any]", monitor: Monitor) -> None:
    """Queues objects and units as they arrive, and ends this process when no more can arrive."""
    try:
        while True:
            waiting.put(pickle.load(units))
    finally:
        os._exit(monitor.exit_code())


class _Objects(Mapping[str, PlayerLike]):
    """Players that the parent process has sent, each unpacked when it is to be loaded.

    So an object that cannot be unpacked is a player that fails, as one whose file is broken.
    """

    def __init__(self, packed: Mapping[str, bytes]) -> None:
        self._packed = packed

    def __getitem__(self, name: str) -> PlayerLike:
        return pickle.loads(self._packed[name])

    def __contains__(self, name: object) -> bool:
        return name in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


class _Table:
    """Where a child plays: what it has compiled, and the players that it has loaded."""

    def __init__(self, monitor: Monitor, objects: Mapping[str, PlayerLike]) -> None:
        self._monitor = monitor
        self._cache = PlayerCache(objects)
        self._warm: set[tuple[str, int]] = set()

    def play(self, unit: WorkUnit) -> Outcome | Crash:
        """Plays a unit, whatever happens in it."""
        try:
            # Before any player is timed: compiling counts for none of them.
            if (unit.game, unit.num_players) not in self._warm:
                _warm_up(unit)
                self._warm.add((unit.game, unit.num_players))
            return play_unit(unit, self._cache, self._monitor.thinking)
        except BaseException as error:
            _, about = self._monitor.read()
            if about is None:
                return Crash(traceback.format_exc())
            self._monitor.forgive()
            return Outcome(unit, failure=failure(about, error))


def _warm_up(unit: WorkUnit) -> None:
    """Compiles what playing and searching need, or loads it from the cache."""
    batch = make_batch(
        unit.game, 1, unit.num_players, rules=unit_rules(unit), seed=0, restart=False
    )
    batch.reset()
    history = History(batch)
    for _ in range(2):
        rows = np.flatnonzero(batch.seat >= 0)
        with suppress(KilleError):  # not every game has determinizations
            Determinizer(batch, rows, np.zeros(len(rows), np.uint64), history).draw_with_past(1)
        actions = batch.mask.argmax(axis=1)
        history.note(actions)
        batch.step(actions)


if __name__ == "__main__":
    main()
