"""Compile kernels in a child process while this one does something else.

A kernel is a plain Python function, too: hundreds of times slower, and the same to the bit. So an
environment of one table does not wait for the compiler. It plays its first decisions in plain
Python; a child process fills the cache of kernels meanwhile, and a thread then loads them, and the
table goes on compiled. A batch of many tables waits for the compiler: a second process for a part
of its kernels gained nothing when it was tried.

This needs a second core and a cache that can be written. Without them, or if the child fails,
kernels are compiled when they are first called.
"""

import atexit
import hashlib
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from kille_env.core import jit
from kille_env.core.game import Game, game_of
from kille_env.core.jit import Kernel, here

SWITCH = "KILLE_PLAIN_START"
"""Environment variable; "0" compiles before the first step, as batches do."""

_jobs: dict[tuple[str, ...], threading.Thread] = {}
_turn = threading.Lock()
"""One child compiles at a time."""
_stopping = threading.Event()


def begin(game: Game, kernels: str, *arguments: str) -> None:
    """Let the tables of a game run in plain Python until their kernels are compiled."""
    job = kernels, game.module.__name__, *arguments
    # A job that has failed stays in `_jobs`, so it is not tried again at every `make`.
    if job in _jobs or here.compiled or game.is_compiled or not _possible():
        return
    _jobs[job] = threading.Thread(target=_run, args=job, name="kille-env-start", daemon=True)
    Kernel.starting = True
    _jobs[job].start()


def compile_ahead(game: Game, kernels: str, *arguments: str) -> Callable[..., bool]:
    """Compile the kernels of a job in a child process, unless they are cached.

    Returns:
        A wait for the child, with an optional timeout in seconds: whether the child has ended.
    """
    job = kernels, game.module.__name__, *arguments
    if here.compiled or not _possible() or _marker(job).exists():
        return lambda timeout=None: True
    if job not in _jobs:
        _jobs[job] = threading.Thread(target=_compile_in_child, args=(job,), daemon=True)
        _jobs[job].start()
    thread = _jobs[job]

    def wait(timeout: float | None = None) -> bool:
        thread.join(timeout)
        return not thread.is_alive()

    return wait


def finish() -> None:
    """Wait until everything that was begun is compiled; afterwards nothing runs in plain Python."""
    # A job's own thread compiles, too, and would wait for itself.
    if Kernel.starting and threading.current_thread() not in _jobs.values():
        for thread in list(_jobs.values()):
            thread.join()


jit.before_compiling.append(finish)


@cache
def _possible() -> bool:
    """Return whether a child can compile beside this process."""
    if jit.PLAIN or os.environ.get(SWITCH) == "0" or not sys.executable:
        return False
    # Containers and schedulers often allow fewer cores than the machine has.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) > 1 and jit.cache_base() is not None


def _run(*job: str) -> None:
    """Compile in a child unless the cache has everything, then load the kernels."""
    try:
        with _turn:
            # The child compiles, and this thread only loads: compiling here would hold Python's
            # lock, and the table would stand still.
            if _marker(job).exists() or _compile_in_child(job):
                here.compiled = True
                for _ in _calls(*job):
                    if _stopping.is_set():
                        return
    except Exception:  # the first call in plain sight compiles, and raises what there is to raise
        pass
    finally:
        _go_on_compiled(job)


def _go_on_compiled(job: tuple[str, ...]) -> None:
    """Replace the game's plain loops; a call that is under way ends in plain Python."""
    here.compiled = True
    if not _stopping.is_set():
        game_of(job[1]).go_on_compiled()
    Kernel.starting = any(thread.is_alive() for other, thread in _jobs.items() if other != job)


def _calls(kernels: str, *arguments: str) -> Iterator[object]:
    """Call the kernels of a job, one after the other."""
    module, _, function = kernels.partition(":")
    yield from getattr(importlib.import_module(module), function)(*arguments)


def _marker(job: tuple[str, ...]) -> Path:
    """Return the file that says that the cache has the kernels of a job."""
    from importlib.metadata import version  # slow to import

    numba = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_"))
    words = repr((job, _digests(job), version("numpy"), sys.version, numba))
    base = jit.cache_base()
    assert base is not None
    return base / f"started-{hashlib.sha256(words.encode()).hexdigest()[:32]}"


def _digests(job: tuple[str, ...]) -> list[str]:
    """Return digests of this package and those of a job's modules, whose kernels it compiles."""
    # Jobs of other packages compile kernels of their own, and a game may be anybody's.
    names = {name.partition(".")[0] for name in (__name__, *job[:2])}
    specs = [importlib.util.find_spec(name) for name in sorted(names)]
    roots = [root for found in specs if found for root in found.submodule_search_locations or ()]
    return [jit.source_digest(Path(root)) for root in roots]


def _compile_in_child(job: tuple[str, ...]) -> bool:
    """Compile in a child process, which ends with this one; return whether it has."""
    # Not `multiprocessing`, which would import the caller's main module in the child.
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import child; child{job!r}"
    # Without it the child would start a child of its own.
    environment = os.environ | {SWITCH: "0"}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        # A plain wait could not be interrupted when the interpreter ends.
        while process.poll() is None:
            if _stopping.wait(0.05):
                process.kill()
    return process.returncode == 0


def child(*job: str) -> None:
    """Compile everything of a job into the cache; the body of the child process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for _ in _calls(*job):
        pass
    # Last, so that a child that was killed leaves no marker.
    _marker(job).touch()


def _end_with_parent() -> None:
    """End this process when the parent's end of the pipe is closed, however it ends."""
    # A parent that is killed runs no exit handlers, but the system closes its end of the pipe.
    sys.stdin.read()
    os._exit(1)


@atexit.register
def _stop() -> None:
    """End the child and the thread before the interpreter is taken apart."""
    _stopping.set()
    for thread in list(_jobs.values()):
        thread.join()


def _after_fork(*_: Any) -> None:
    """Compile at the first call in a forked process, which has no thread that loads kernels."""
    global _turn
    _turn = threading.Lock()  # a thread that the fork did not copy may hold the old one for ever
    _jobs.clear()
    Kernel.starting = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
