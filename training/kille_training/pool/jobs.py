"""Jobs on many items, and the culprits of failures.

A job is a callable object that gets an item and returns arrays. Where it runs code of others, such
as a player's, it says whose code that is, so that whatever happens meanwhile has a culprit:

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
Arrays = dict[str, np.ndarray]
"""The result of a job. Nothing in it needs to be unpickled."""
MAX_REASON = 500
"""Characters of a reason that are kept."""


class Report(Protocol):
    """Reports the owner of the code that runs in a context."""

    def __call__(self, whose: int, task: str, seconds: float) -> AbstractContextManager[None]:
        """Open the context."""
        ...


Job = Callable[[I, Report], Arrays]


@dataclass(frozen=True)
class Failed:
    """Why an item has no result."""

    whose: int
    reason: str


class WorkerError(KilleError):
    """A job could not be done, and no code of others is to blame."""


class Pool(Protocol):
    """Where jobs are done; opened as a context."""

    def run(self, job: Job[I], items: Iterable[I]) -> Iterator[tuple[I, Arrays | Failed]]:
        """Do a job on items, taking them as they are needed."""
        ...


class Here(AbstractContextManager["Here"]):
    """Does jobs in this process, one item after the other, without time limits.

    Code of others that hangs or crashes takes the process with it.
    """

    def __exit__(self, *_: object) -> None:
        """Leave nothing open."""

    def run(self, job: Job[I], items: Iterable[I]) -> Iterator[tuple[I, Arrays | Failed]]:
        """Do a job on items; see `Pool`."""
        for item in items:
            with _printing_elsewhere():
                result = attempt(job, item, _report)
            yield item, result


@contextmanager
def _printing_elsewhere() -> Generator[None]:
    """Print on standard error, if there is one: the output of players is not that of a command."""
    with ExitStack() as stack:
        stream = standard_error()
        if stream is None:
            stream = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
        stack.enter_context(redirect_stdout(stream))
        yield


class Blame(Exception):
    """Code of others has failed."""

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
        text = "an error that cannot be shown"
    return shown(f"{type(error).__name__}: {text}")


def shown(reason: str) -> str:
    """Return a reason as it is kept: printable, and not longer than need be."""
    return printable(reason[:MAX_REASON])


def _report(whose: int, task: str, seconds: float) -> AbstractContextManager[None]:
    return blaming(whose)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
