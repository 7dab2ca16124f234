"""Jobs on many items, with failures attributed to the owner of the code.

A job is a callable that maps an item to arrays. It announces the owner of foreign code, such as a
player's, before it runs, so that a crash or a timeout has a culprit:

    class Play:
        def __call__(self, item, report):
            with report(item.entrant, "to be loaded", 300.0):
                player = load(item.entrant)
            ...
            return {"earned": earned}

    with Processes(4) as pool:
        for item, result in pool.run(Play(), items):
            ...  # arrays by name, or `Failed`
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from kille_env.errors import KilleError
from kille_env.streams import standard_error
from kille_env.words.text import printable

I = TypeVar("I")  # noqa: E741
Arrays = dict[str, np.ndarray]  # result of a job, which needs no unpickling
MAX_REASON = 500  # maximum length of a reason


class Report(Protocol):
    """Announces the owner of the code that runs in a context."""

    def __call__(self, whose: int, task: str, seconds: float) -> AbstractContextManager[None]:
        """Open the context."""
        ...


Job = Callable[[I, Report], Arrays]


@dataclass(frozen=True)
class Failed:
    """The failure of an item, with its culprit and reason."""

    whose: int
    reason: str


class WorkerError(KilleError):
    """Raised if a job fails without foreign code to blame."""


class Pool(Protocol):
    """Executes jobs; a context manager."""

    def run(self, job: Job[I], items: Iterable[I]) -> Iterator[tuple[I, Arrays | Failed]]:
        """Execute a job on items, fetched as they are needed."""
        ...


class Here(AbstractContextManager["Here"]):
    """Executes jobs in this process, one item after the other, without time limits."""

    def __exit__(self, *_: object) -> None:
        """Do nothing."""

    def run(self, job: Job[I], items: Iterable[I]) -> Iterator[tuple[I, Arrays | Failed]]:
        """Execute a job on items; see `Pool`."""
        for item in items:
            with _printing_elsewhere():
                result = attempt(job, item, _report)
            yield item, result


@contextmanager
def _printing_elsewhere() -> Generator[None]:
    """Redirect the players' output to standard error, apart from the command's output."""
    with ExitStack() as stack:
        stream = standard_error()
        if stream is None:
            stream = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
        stack.enter_context(redirect_stdout(stream))
        yield


class Blame(Exception):
    """Raised if foreign code fails, with its owner."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.reason)
        self.failed = failed


def attempt(job: Job[I], item: I, report: Report) -> Arrays | Failed:
    """Return the result of a job, or the failure of its culprit."""
    try:
        return job(item, report)
    except Blame as blame:
        return blame.failed


@contextmanager
def blaming(
    whose: int, kinds: tuple[type[BaseException], ...] = (Exception, SystemExit)
) -> Generator[None]:
    """Turn errors of some kinds into `Blame`."""
    try:
        yield
    except kinds as error:
        raise Blame(Failed(whose, reason_of(error))) from error


def reason_of(error: BaseException) -> str:
    """Return an error as a line of text."""
    try:
        text = str(error)
    except Exception:  # even the error may be broken
        text = "an error without a printable text"
    return shown(f"{type(error).__name__}: {text}")


def shown(reason: str) -> str:
    """Return a printable, shortened reason."""
    return printable(reason[:MAX_REASON])


def _report(whose: int, task: str, seconds: float) -> AbstractContextManager[None]:
    return blaming(whose)


def cores() -> int:
    """Return the number of cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
