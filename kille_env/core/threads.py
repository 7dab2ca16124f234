"""Stepping slices of a batch in parallel, so that an interrupt leaves whole steps behind."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from typing import Any


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
