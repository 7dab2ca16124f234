"""Threads and a batch: one uses it at a time, and it steps slices of itself in parallel."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NoReturn

from kille_env.errors import KilleError


class Use:
    """Whether a thread reads or writes tables just now; a context that refuses a second thread.

    Python switches threads at calls, so nothing comes between the question and the answer. A lock
    costs a twentieth of a step.
    """

    __slots__ = ("busy",)

    def __init__(self) -> None:
        """Starts unused."""
        self.busy = False

    def __enter__(self) -> None:
        """Begins to use the tables.

        Raises:
            KilleError: Another thread does.
        """
        if self.busy:
            self.refuse()
        self.busy = True

    def __exit__(self, *_: object) -> None:
        """Ends the use."""
        self.busy = False

    def refuse(self) -> NoReturn:
        """Raises the error about a second thread."""
        raise KilleError(
            "another thread is using this batch; give each thread its own, by Batch.clone()"
        )


@lru_cache(maxsize=1)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Returns this process's pool; a forked child makes its own (threads do not survive a fork)."""
    return ThreadPoolExecutor(threads, thread_name_prefix="kille")


def call_in_parallel(function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> None:
    """Calls a kernel with each tuple of arguments, the first of them in this thread.

    Nothing is left running when this returns or raises: Ctrl-C is raised once every call is done.
    """
    own, *others = calls
    with _interrupts_put_off():
        pool = _pool(os.getpid(), len(others))
        jobs: list[Future[Any]] = []
        try:
            jobs.extend(pool.submit(function, *other) for other in others)
            function(*own)
        finally:
            wait(jobs)
        for job in jobs:
            job.result()


@contextmanager
def _interrupts_put_off() -> Iterator[None]:
    """Puts Ctrl-C off to the end of the block; Python gives it to the main thread only."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *what: came.append(what))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            before(*came[-1])
