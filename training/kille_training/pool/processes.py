"""Execute jobs in monitored child processes, which contain failures of foreign code.

A child works on one item at a time and announces the owner of foreign code before it runs, see
`jobs`. If that code exceeds its time, or if the child dies meanwhile or sends an invalid message,
the owner has failed and the child is replaced. Messages of a child are never unpickled. Children
use one thread for arithmetic, so that the output of networks does not depend on the number of
cores. They run in sessions of their own, so Ctrl-C reaches only this process; they end when it
ends.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from itertools import islice
from multiprocessing import Pipe
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import cloudpickle

from kille_env.files import make_folder
from kille_training.pool.child import FILES_CLOSED, LARGEST, Said, decode
from kille_training.pool.jobs import Arrays, Failed, I, Job, WorkerError, shown

TICK = 0.25  # maximum seconds between two checks of the children
TRIES = 2  # tries of an item after deaths of its child outside foreign code
ENVIRONMENT = {
    name: "1"
    for name in (
        "PYTHONUNBUFFERED",  # otherwise the output of a killed child is lost
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    )
}


class Processes(AbstractContextManager["Processes"]):
    """A pool of processes on this machine; see `jobs.Pool`."""

    def __init__(
        self,
        workers: int,
        *,
        log: Path | None = None,
        folder: Path | None = None,
        tick: Callable[[], None] | None = None,
    ) -> None:
        """Set up the pool; processes start with the first items."""
        if workers < 1:
            raise WorkerError(f"workers is {workers}, expected 1 process or more")
        self._workers, self._log, self._folder, self._tick = workers, log, folder, tick
        self._inbox: SimpleQueue[tuple[_Child, bytes | Exception]] = SimpleQueue()
        self._idle: list[_Child] = []
        self._busy: list[_Child] = []
        self._job: Any = None
        self._packed = b""

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the processes."""
        for child in (*self._idle, *self._busy):
            child.end()
        self._idle, self._busy = [], []

    def run(self, job: Job[I], items: Iterable[I]) -> Iterator[tuple[I, Arrays | Failed]]:
        """Execute a job on items, fetched as processes become free; see `jobs.Pool`."""
        if job is not self._job:
            self.close()
            self._job, self._packed = job, cloudpickle.dumps(job)
        waiting = iter(items)
        try:
            while True:
                for item in islice(waiting, max(0, self._workers - len(self._busy))):
                    self._begin(item)
                if not self._busy:
                    return
                if self._tick is not None:
                    self._tick()
                for result in self._results():
                    for item in islice(waiting, 1):  # while the caller is busy
                        self._begin(item)
                    yield result
        finally:
            for child in self._busy:  # their results are no longer needed
                child.end()
            self._busy = []

    def _begin(self, item: object, deaths: int = 0) -> None:
        """Give an item to a child, after so many deaths of earlier children."""
        if not self._idle:
            self._idle.append(_Child(self._packed, self._inbox, self._log, self._folder))
        child = self._idle.pop()
        self._busy.append(child)
        child.begin(item, deaths)

    def _results(self) -> Iterator[tuple[Any, Arrays | Failed]]:
        """Wait a moment for messages, and yield the items with results."""
        stopped: dict[_Child, str] = {}
        for child, message in self._messages():
            if child not in self._busy or child in stopped:
                continue
            try:
                result = child.hear(message)
            except _Stopped as error:
                stopped[child] = str(error)
                continue
            if result is not None:
                self._busy.remove(child)
                self._idle.append(child)
                yield child.item, result
        for child in tuple(self._busy):
            why = stopped.get(child) or child.why_stopped()
            if not why:
                continue
            self._busy.remove(child)
            child.end()
            if child.about is not None:
                yield child.item, Failed(child.about.whose, shown(why))
            elif child.deaths + 1 < TRIES:
                self._begin(child.item, child.deaths + 1)
            else:
                where = "" if self._log is None else f" For details see {self._log}"
                raise WorkerError(
                    f"a process died {TRIES} times outside any player's code ({why}); is there "
                    f"enough memory?{where}"
                )

    def _messages(self) -> Iterator[tuple["_Child", bytes | Exception]]:
        """Wait a moment for the first message of a child, and yield all received ones."""
        with suppress(Empty):
            yield self._inbox.get(timeout=TICK)
            while True:
                yield self._inbox.get_nowait()


class _Asked(NamedTuple):
    """Owner and task of the running code, and its time limit in seconds."""

    whose: int
    task: str
    seconds: float


class _Stopped(Exception):
    """Raised if a child is no longer usable, with the reason."""


class _Child:
    """A child process."""

    def __init__(
        self, job: bytes, inbox: "SimpleQueue[Any]", log: Path | None, folder: Path | None
    ) -> None:
        if log is not None:
            make_folder(log.parent)
        ours, theirs = Pipe()
        paths = dict.fromkeys(str(Path(each).absolute()) for each in sys.path)
        module = "kille_training.pool.child"
        with theirs, Path(os.devnull if log is None else log).open("ab") as printed:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", module, str(os.getpid()), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                cwd=folder,
                env={**os.environ, **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(paths)},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._connection, self._inbox = ours, inbox
        self.about: _Asked | None = None
        self.item: Any = None
        self.deaths, self._heard = 0, time.monotonic()
        self._send(job)
        threading.Thread(target=self._listen, daemon=True).start()

    def begin(self, item: object, deaths: int) -> None:
        """Send an item."""
        self.item, self.deaths, self.about = item, deaths, None
        self._heard = time.monotonic()
        self._send(cloudpickle.dumps(item))

    def _send(self, content: bytes) -> None:
        with suppress(OSError):  # it has ended; `_listen` notices
            self._connection.send_bytes(content)

    def _listen(self) -> None:
        with self._connection:
            try:
                while True:
                    self._inbox.put((self, self._connection.recv_bytes(LARGEST)))
            except Exception as error:  # the end of the file, or no message
                self._inbox.put((self, error))

    def hear(self, message: bytes | Exception) -> Arrays | Failed | None:
        """Process a message; return the result of the item, if it has one."""
        self._heard = time.monotonic()
        if isinstance(message, Exception):
            raise _Stopped(self._died(self._death(message)))
        about = self.about
        try:
            said, content = decode(message)
            if (about is not None) != (said in (Said.ANSWERED, Said.FAILED)):
                raise ValueError(said)
            self.about = None
            if said is Said.ASKED:
                whose, task, seconds = content
                self.about = _Asked(int(whose), str(task), float(seconds))
        except (TypeError, ValueError):
            self.about = about
            raise _Stopped(self._died("it wrote into the files of its process")) from None
        if said is Said.BROKEN:
            raise WorkerError(str(content))
        if said is Said.FAILED and about is not None:
            return Failed(about.whose, shown(str(content)))
        return content if said is Said.DONE else None

    def why_stopped(self) -> str:
        """Return the reason that a silent child is no longer usable, or ""."""
        silent = time.monotonic() - self._heard
        if self.about is not None and silent > self.about.seconds:
            return f"took longer than {self.about.seconds:g} s {self.about.task}"
        if silent > TICK and self._process.poll() is not None:  # its children keep the pipe open
            return self._died(self._death(EOFError()))
        return ""

    def _died(self, how: str) -> str:
        asked = "" if self.about is None else f": it was asked {self.about.task}"
        return f"its process died ({how}){asked}" if asked else how

    def _death(self, error: Exception) -> str:
        """Return the cause of death as text."""
        garbage = not isinstance(error, EOFError)
        try:
            code = self._process.wait(TICK)
        except subprocess.TimeoutExpired:
            code = 0 if garbage else FILES_CLOSED
        if garbage and code == 0:  # it is alive, or ended because the connection is closed
            return "it wrote into the files of its process"
        if code == FILES_CLOSED:
            return "it closed the files of its process"
        try:
            return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"

    def end(self) -> None:
        """Kill the process and all processes started in it."""
        with suppress(ProcessLookupError):  # it has ended already
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
