"""Plays work units in child processes that are monitored, so that no player stops a tournament.

A child plays one unit at a time and announces each player before its code runs, see `child`. If a
player thinks for too long, or the child dies meanwhile or sends what it should not, the child is
replaced and the player has failed. Nothing that a child sends is unpickled. Children use one thread
for arithmetic, so that the output of networks does not depend on the number of cores. What players
print goes to a log file. Children run in sessions of their own, so Ctrl-C reaches only this
process; they end when it ends, for whatever reason.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, redirect_stdout, suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import IO, cast

import cloudpickle
import numpy as np

from kille_env.errors import KilleError
from kille_env.policy import PlayerLike
from kille_env.words.text import printable
from kille_training.arena.executors.child import FILES_CLOSED, FRAME, MARK, MOST_TEXT, Said
from kille_training.arena.play import MAX_REASON, PlayerCache, Tables, play_unit
from kille_training.arena.work import Failure, Outcome, Thinking, WorkUnit
from kille_training.children import start_child

LOADING_LIMIT = 300.0
"""Seconds that loading a player may take, or the time limit if that is longer: what the player
imports may have to be compiled first."""
TICK = 0.25
"""Longest time between two looks at a child, in seconds."""
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
        self._workers, self._limit = workers, time_limit
        self._log, self._folder = log, folder
        self._objects = _packed(objects or {})
        self._idle: list[_Child] = []
        self._busy: list[_Child] = []
        self._closed = False

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kills the processes, whatever they are doing."""
        self._closed = True
        for child in (*self._idle, *self._busy):
            child.end()
        self._idle, self._busy = [], []

    def run(self, units: Iterable[WorkUnit]) -> Iterator[Outcome]:
        """Plays units, taking them as processes become free.

        Yields:
            What comes of them, in the order in which they end.

        Raises:
            WorkerError: A unit could not be played, and no player is to blame.
        """
        if self._closed:
            raise WorkerError("this LocalExecutor is closed; create another one")
        waiting = iter(units)
        tick = TICK if self._limit is None else min(TICK, self._limit / 4)
        try:
            while True:
                for unit in some(waiting, self._workers - len(self._busy)):
                    self._begin(unit)
                if not self._busy:
                    return
                wait([child.frames.fileno() for child in self._busy], tick)
                for child in tuple(self._busy):
                    outcome = self._outcome(child)
                    if outcome is not None:
                        for unit in some(waiting, 1):  # it plays while the caller looks at this
                            self._begin(unit)
                        yield outcome
        finally:
            for child in self._busy:  # nobody waits for what they play
                child.end()
            self._busy = []

    def _begin(self, unit: WorkUnit, deaths: int = 0) -> None:
        """Has a child play a unit of which some have died already."""
        idle = self._idle
        child = idle.pop() if idle else _Child(self._log, self._folder, self._objects)
        self._busy.append(child)
        child.begin(unit, deaths)

    def _outcome(self, child: "_Child") -> Outcome | None:
        """Returns what came of a child's unit; None while it is played, or played again."""
        unit = child.unit
        try:
            outcome = child.listen(self._limit)
        except _Stopped as stopped:
            self._busy.remove(child)
            child.end()
            if child.about is not None:
                return Outcome(unit, failure=_failure(child.about, str(stopped)))
            if child.deaths + 1 >= TRIES:
                where = "" if self._log is None else f" {self._log} may say more"
                raise WorkerError(
                    f"a process died {TRIES} times while it played {unit.game} with "
                    f"{unit.num_players} seats, and no player was thinking ({stopped}); is there "
                    f"enough memory?{where}"
                ) from None
            self._begin(unit, child.deaths + 1)
            return None
        if outcome is not None:
            self._busy.remove(child)
            self._idle.append(child)
        return outcome


def some(waiting: Iterator[WorkUnit], most: int) -> Iterator[WorkUnit]:
    """Yields at most so many units, and takes not one more."""
    for _, unit in zip(range(most), waiting, strict=False):
        yield unit


def _task(decisions: int) -> str:
    if not decisions:
        return "to be loaded"
    return f"for a batch of {decisions:,} decision{'s' if decisions > 1 else ''}"


class _Stopped(Exception):
    """A child can no longer be used; the text says why."""


class _Child:
    """A process that plays units.

    Attributes:
        frames: What it sends.
        unit: What it plays.
        deaths: Children that have died of the unit before.
        about: Whose code it runs, about what; None while it runs its own.
    """

    def __init__(self, log: Path | None, folder: Path | None, objects: Mapping[str, bytes]) -> None:
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
        words = ("kille_training.arena.executors.child", str(os.getpid()))
        with Path(os.devnull if log is None else log).open("ab") as errors:
            self._process = start_child(*words, errors=errors, folder=folder)
        self._stdin = cast(IO[bytes], self._process.stdin)
        self.frames = cast(IO[bytes], self._process.stdout)
        os.set_blocking(self.frames.fileno(), False)
        self._received = bytearray()
        self._unsent: list[object] = [objects]  # goes before the first unit
        self.unit: WorkUnit
        self.deaths, self.about = 0, None

    def begin(self, unit: WorkUnit, deaths: int = 0) -> None:
        """Hands it a unit, without waiting until it takes it."""
        self.unit, self.deaths, self.about = unit, deaths, None
        content = b"".join(pickle.dumps(each) for each in (*self._unsent, unit))
        self._unsent = []
        threading.Thread(target=self._send, args=(content,), daemon=True).start()
        try:
            self._tables = Tables(unit)
        except Exception as error:
            raise WorkerError(f"a unit could not be played: {error!r}: {unit}") from error

    def _send(self, content: bytes) -> None:
        with suppress(OSError, ValueError):  # it has ended, which `listen` notices
            self._stdin.write(content)
            self._stdin.flush()

    def listen(self, limit: float | None) -> Outcome | None:
        """Reads what it has sent, without waiting.

        Args:
            limit: Seconds that a player may take for a batch of decisions.

        Returns:
            What came of its unit; None while it is being played.

        Raises:
            _Stopped: It has ended, sends garbage, or a player takes too long.
            WorkerError: It says that something went wrong while no player was thinking.
        """
        ended = self._process.poll() is not None
        with suppress(BlockingIOError):
            while content := os.read(self.frames.fileno(), 1 << 20):
                self._received += content
                for frame in self._complete():
                    if (outcome := self._heard(*frame)) is not None:
                        return outcome
            ended = True
        if ended:
            raise _Stopped(self._died(self._death()))
        if limit is not None and self.about is not None:
            limit = limit if self.about.decisions else max(LOADING_LIMIT, limit)
            if time.monotonic() - self._since > limit:
                raise _Stopped(f"took longer than {limit:g} s {_task(self.about.decisions)}")
        return None

    def _complete(self) -> Iterator[tuple[Said, list[int], bytes]]:
        """Yields the frames that have arrived as a whole, with what follows them."""
        received = self._received
        while len(received) >= FRAME.size:
            mark, said, *numbers = FRAME.unpack_from(received)
            most = {
                Said.EARNED: 8 * self._tables.seated.size, Said.FAILED: MOST_TEXT,
                Said.CRASHED: MOST_TEXT,
            }.get(said, 0)  # fmt: skip
            size = numbers[0] if most else 0
            if mark != MARK or said not in tuple(Said) or not 0 <= size <= most:
                raise _Stopped(self._died("it wrote into the files of its process"))
            if len(received) < FRAME.size + size:
                return
            content = bytes(received[FRAME.size : FRAME.size + size])
            del received[: FRAME.size + size]
            yield Said(said), numbers, content

    def _heard(self, said: Said, numbers: list[int], content: bytes) -> Outcome | None:
        """Takes note of a frame; returns what came of the unit, if it says that."""
        thinking = said in (Said.ANSWERED, Said.FAILED)
        earned = np.frombuffer(content if said is Said.EARNED else b"", "<f8")
        known = said is not Said.ASKED or numbers[0] in self.unit.keys
        whole = said is not Said.EARNED or earned.size == self._tables.seated.size
        whole = whole and bool(np.isfinite(earned).all())
        if (self.about is not None) != thinking or not known or not whole:
            raise _Stopped(self._died("it sent what no child sends"))
        about, self.about, self._since = self.about, None, time.monotonic()
        if said is Said.CRASHED:
            raise WorkerError(f"a unit could not be played:\n{content.decode(errors='replace')}")
        if said is Said.ASKED:
            self.about = Thinking(*numbers)
        if said is Said.FAILED and about is not None:
            return Outcome(self.unit, failure=_failure(about, content.decode(errors="replace")))
        if said is Said.EARNED:
            results = self._tables.results(earned.reshape(self._tables.seated.shape))
            return Outcome(self.unit, results)
        return None

    def _died(self, how: str) -> str:
        task = "" if self.about is None else f": it was asked {_task(self.about.decisions)}"
        return f"its process died ({how}){task}" if task else how

    def _death(self) -> str:
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
        self.frames.close()


def _failure(about: Thinking, reason: str) -> Failure:
    return Failure(about.entrant, printable(reason[:MAX_REASON]), about.panel, about.deal)


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
