"""Plays work units in child processes that are monitored, so that no player stops a tournament.

A child plays one unit at a time and notes, in memory that it shares with this process, who is
thinking. If a player thinks for too long, or the child dies meanwhile, the child is replaced and
the player has failed. Children use one thread for arithmetic, so that the output of networks does
not depend on the number of cores. What players print goes to a log file. Children run in sessions
of their own, so Ctrl-C reaches only this process; they end when it ends, for whatever reason.
"""

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, redirect_stdout, suppress
from pathlib import Path
from typing import IO, cast

import cloudpickle

from kille_env.errors import KilleError
from kille_env.policy import PlayerLike
from kille_training.arena.executors.monitor import FILES_CLOSED, Crash, Monitor
from kille_training.arena.play import PlayerCache, play_unit
from kille_training.arena.work import Failure, Outcome, WorkUnit
from kille_training.children import start_child

LOADING_LIMIT = 300.0
"""Seconds that loading a player may take, or the time limit if that is longer: what the player
imports may have to be compiled first."""
TICK = 0.25
"""Longest time between two looks at who is thinking, in seconds."""
TRIES = 2
"""How often a unit is tried whose child dies while no player is thinking."""


class WorkerError(KilleError):
    """A unit could not be played, and no player is to blame."""


class HereExecutor(AbstractContextManager["HereExecutor"]):
    """Plays units in this process, one after the other, without a time limit.

    For debugging, and for Python objects that have to stay here: a player that hangs or crashes
    takes the process with it.
    """

    def __init__(self, objects: Mapping[str, PlayerLike] | None = None) -> None:
        """Loads no players yet.

        Args:
            objects: Players that are Python objects, by `Entrant.player`.
        """
        self._cache = PlayerCache(objects)

    def __exit__(self, *_: object) -> None:
        """Leaves nothing open."""

    def run(self, units: Iterable[WorkUnit]) -> Iterator[Outcome]:
        """Plays units, taking them as they are needed, and yields what comes of them."""
        for unit in units:
            with redirect_stdout(sys.stderr):  # what players print is not our output
                outcome = play_unit(unit, self._cache)
            yield outcome


class LocalExecutor(AbstractContextManager["LocalExecutor"]):
    """Plays units in processes on this machine."""

    def __init__(
        self,
        workers: int,
        time_limit: float | None = None,
        *,
        log: Path | None = None,
        folder: Path | None = None,
        objects: Mapping[str, PlayerLike] | None = None,
    ) -> None:
        """Starts nothing yet; processes start with the first units.

        Args:
            workers: Number of processes.
            time_limit: Seconds that a player may take for a batch of decisions; None is no limit.
                Loading it has a longer limit, see `LOADING_LIMIT`.
            log: File to which the players' output is appended; None discards it.
            folder: What relative paths of players start from; None is the current folder.
            objects: Players that are Python objects, by `Entrant.player`; each process gets copies.

        Raises:
            WorkerError: An object cannot be sent to another process, or an argument is wrong.
        """
        if workers < 1:
            raise WorkerError(f"workers is {workers}, expected 1 process or more")
        if time_limit is not None and not time_limit > 0:
            raise WorkerError(f"the time limit is {time_limit} s, expected more than 0")
        self._limit, self._log, self._folder = time_limit, log, folder
        self._objects = _packed(objects or {})
        self._workers = workers
        self._threads = ThreadPoolExecutor(workers, "kille arena")
        self._own = threading.local()
        self._children: set[_Child] = set()
        self._closed = False
        self._change = threading.Lock()  # of the two above

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kills the processes, whatever they are doing."""
        with self._change:
            self._closed = True
        for child in list(self._children):
            self._drop(child)
        self._threads.shutdown(cancel_futures=True)

    def run(self, units: Iterable[WorkUnit]) -> Iterator[Outcome]:
        """Plays units, taking them as processes become free.

        Yields:
            What comes of them, in the order in which they end.

        Raises:
            WorkerError: A unit could not be played, and no player is to blame.
        """
        if self._closed:
            raise WorkerError("this LocalExecutor is closed; create another one")
        waiting, playing = iter(units), set[Future[Outcome]]()

        def play(most: int) -> None:
            playing.update(self._threads.submit(self._play, unit) for unit in some(waiting, most))

        try:
            while True:
                play(self._workers - len(playing))
                if not playing:
                    return
                done, _ = wait(playing, return_when=FIRST_COMPLETED)
                for future in done:
                    playing.remove(future)
                    outcome = future.result()
                    play(1)  # a process plays on while the caller looks at this
                    yield outcome
        finally:
            for future in playing:
                future.cancel()

    def _play(self, unit: WorkUnit) -> Outcome:
        """Has the child of this thread play a unit, and replaces the child if it dies."""
        died = ""
        for _ in range(TRIES):
            child = self._child()
            answer = self._ask(child, unit)
            if isinstance(answer, Outcome):
                return answer
            self._drop(child)
            if isinstance(answer, Failure):
                return Outcome(unit, failure=answer)
            if isinstance(answer, Crash):
                raise WorkerError(f"a unit could not be played:\n{answer.text}")
            died = answer
        where = "" if self._log is None else f" {self._log} may say more"
        raise WorkerError(
            f"a process died {TRIES} times while it played {unit.game} with {unit.num_players} "
            f"seats, and no player was thinking ({died}); is there enough memory?{where}"
        )

    def _child(self) -> "_Child":
        """Returns this thread's own child: Linux kills a child when its thread ends."""
        with self._change:
            if self._closed:
                raise WorkerError("this LocalExecutor is closed")
            if getattr(self._own, "child", None) not in self._children:
                self._own.child = _Child(self._log, self._folder, self._objects)
                self._children.add(self._own.child)
            return self._own.child

    def _drop(self, child: "_Child") -> None:
        """Kills a child, whatever it is doing, unless that has been done."""
        with self._change:
            if child in self._children:
                self._children.remove(child)
                child.end()

    def _ask(self, child: "_Child", unit: WorkUnit) -> "Outcome | Failure | Crash | str":
        """Returns the outcome of a unit, who failed, what went wrong, or how the child died."""
        if not child.send(unit):
            return child.death()
        tick = None if self._limit is None else min(TICK, self._limit / 4)
        seen, since = -1, time.monotonic()
        while True:
            try:
                answer = child.inbox.get(timeout=tick)
            except queue.Empty:
                answer = None
            if isinstance(answer, (Outcome, Crash)):
                return answer
            count, about = child.monitor.read()
            if isinstance(answer, _Dead):
                if about is None:
                    return child.death()
                what = f"its process died ({child.death()}): it was asked {_task(about.decisions)}"
                return Failure(about.entrant, what, about.panel, about.deal)
            now = time.monotonic()
            if count != seen:
                seen, since = count, now
            elif about is not None and self._limit is not None:
                limit = self._limit if about.decisions else max(LOADING_LIMIT, self._limit)
                if now - since > limit:
                    what = f"took longer than {limit:g} s {_task(about.decisions)}"
                    return Failure(about.entrant, what, about.panel, about.deal)


def some(waiting: Iterator[WorkUnit], most: int) -> Iterator[WorkUnit]:
    """Yields at most so many units, and takes not one more."""
    for _, unit in zip(range(most), waiting, strict=False):
        yield unit


def _task(decisions: int) -> str:
    if not decisions:
        return "to be loaded"
    return f"for a batch of {decisions:,} decision{'s' if decisions > 1 else ''}"


class _Dead:
    """Stands for an answer when a child sends nothing more."""


class _Child:
    """A process that plays units.

    Attributes:
        monitor: Who is thinking.
        inbox: What it sends.
    """

    def __init__(self, log: Path | None, folder: Path | None, objects: Mapping[str, bytes]) -> None:
        handle, path = tempfile.mkstemp(prefix="kille-arena-")
        os.close(handle)
        self._path = Path(path)  # the child removes it once it shares the memory
        self.monitor = Monitor(self._path, create=True)
        self.inbox: queue.SimpleQueue[Outcome | Crash | _Dead] = queue.SimpleQueue()
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
        words = ("kille_training.arena.executors.child", path, str(os.getpid()))
        with Path(os.devnull if log is None else log).open("ab") as errors:
            self._process = start_child(*words, errors=errors, folder=folder)
        self._stdin = cast(IO[bytes], self._process.stdin)
        self._stdout = cast(IO[bytes], self._process.stdout)
        self._unsent: list[object] = [objects]  # goes before the first unit
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, unit: WorkUnit) -> bool:
        """Sends a unit; returns whether the child is there to take it."""
        self._unsent.append(unit)
        try:
            while self._unsent:
                pickle.dump(self._unsent.pop(0), self._stdin)
            self._stdin.flush()
        except OSError:
            return False
        return True

    def death(self) -> str:
        """Returns how it ended, as text."""
        try:
            code = self._process.wait(TICK)
        except subprocess.TimeoutExpired:
            code = FILES_CLOSED
        if code == FILES_CLOSED:
            return "it closed the files of its process"
        try:
            return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"

    def end(self) -> None:
        """Kills it and every process that players have started in it."""
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):  # it has ended already
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        with suppress(OSError):  # nothing takes what is left
            self._stdin.close()
        self._reader.join(TICK)
        if not self._reader.is_alive():  # else a process that a player has started holds it
            self._stdout.close()
        self.monitor.close()
        self._path.unlink(missing_ok=True)

    def _read(self) -> None:
        try:
            while True:
                self.inbox.put(pickle.load(self._stdout))
        except (EOFError, OSError, pickle.UnpicklingError, ValueError):
            self.inbox.put(_Dead())


def _packed(objects: Mapping[str, PlayerLike]) -> dict[str, bytes]:
    """Returns objects as other processes can unpack them, what `__main__` defines included."""
    packed = {}
    for name, player in objects.items():
        try:
            packed[name] = cloudpickle.dumps(player)
        except Exception as error:  # the code of somebody else may raise anything
            raise WorkerError(
                f"the {name} cannot be sent to other processes ({type(error).__name__}: {error}); "
                "play in this one with workers=0, or name the player as a file or as module:object"
            ) from error
    return packed
