"""The process in which units are played; `workers` starts it and watches it.

    python -m kille_training.arena.executors.child WATCH PARENT

WATCH is the file of a `Watch`, PARENT the number of the process that started this one. Units come
by standard input and what comes of them goes to standard output, both pickled.
"""

import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np

from kille_env.core.determinization import Determinizer, History
from kille_env.errors import KilleError
from kille_env.registry import make_batch
from kille_training.arena.executors.watch import Crash, Watch
from kille_training.arena.play import Bench, failure, play_unit, unit_rules
from kille_training.arena.units import Outcome, Unit


def main() -> None:
    """Plays units until the other process has ended."""
    path, parent = Path(sys.argv[1]), int(sys.argv[2])
    _die_before(parent)
    watch = Watch(path)
    with suppress(OSError):  # some systems keep the file of memory that is in use
        path.unlink()
    units, outcomes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Whatever players print, in Python or not, goes where standard error goes: to the log.
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    waiting: queue.SimpleQueue[Unit] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(units, waiting), daemon=True).start()
    table = _Table(watch)
    while True:
        pickle.dump(table.play(waiting.get()), outcomes, protocol=pickle.HIGHEST_PROTOCOL)
        outcomes.flush()


def _die_before(parent: int) -> None:
    """Has this process ended with its parent at the latest, whatever it is running then."""
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
        with suppress(OSError):  # when memory runs out, a player who takes too much is to go first
            Path("/proc/self/oom_score_adj").write_text("1000")
    if sys.platform != "win32" and os.getppid() != parent:
        os._exit(1)


def _take(units: IO[bytes], waiting: "queue.SimpleQueue[Unit]") -> None:
    """Takes units as they come, and ends this process when no more can come."""
    try:
        while True:
            waiting.put(pickle.load(units))
    finally:
        os._exit(0)


class _Table:
    """Where a child plays: what it has compiled, and the players that it has loaded."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._bench = Bench()
        self._warm: set[tuple[str, int]] = set()

    def play(self, unit: Unit) -> Outcome | Crash:
        """Plays a unit, whatever happens in it."""
        try:
            # Before anybody is watched: what is compiled here nobody has to wait for.
            if (unit.game, unit.num_players) not in self._warm:
                _warm_up(unit)
                self._warm.add((unit.game, unit.num_players))
            return play_unit(unit, self._bench, self._watch.thinking)
        except BaseException as error:
            _, about = self._watch.read()
            if about is None:
                return Crash(traceback.format_exc())
            self._watch.forgive()
            return Outcome(unit, failure=failure(about, error))


def _warm_up(unit: Unit) -> None:
    """Compiles what playing and searching need, or loads it."""
    batch = make_batch(
        unit.game, 1, unit.num_players, rules=unit_rules(unit), seed=0, restart=False
    )
    batch.reset()
    history = History(batch)
    for _ in range(2):
        rows = np.flatnonzero(batch.seat >= 0)
        with suppress(KilleError):  # nobody can draw worlds of some games
            Determinizer(batch, rows, np.zeros(len(rows)), history).draw_with_past(1)
        actions = batch.mask.argmax(axis=1)
        history.note(actions)
        batch.step(actions)


if __name__ == "__main__":
    main()
