"""The one place that decides how kernels are compiled and cached.

Numba notices an edit in the file of a cached function, but not an edit in another file that it
calls or reads a constant from: it then returns the old result without a word. So each kernel lies
in a folder that is named after a digest of all that it is compiled from, see
`kille_env.core.digest`; after an edit the old kernel is simply never met again.
"""

import gc
import hashlib
import os
import shutil
import sys
import tempfile
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import platformdirs

from kille_env.streams import say

F = TypeVar("F", bound=Callable[..., Any])

PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0")
"""Whether kernels run as the plain Python that they are written in. This is Numba's setting, read
here because Numba itself is imported when something is compiled."""

index = np.uintp
"""For indices in hot loops: a signed one may count from the end, which costs a test each time."""

TRIED = ("0.68.",)
"""Prefixes of the Numba versions whose private parts `kille_env.core.compiler` knows."""

KEPT_KERNELS = 1000
"""Compiled kernels that stay on disk, about those of ten versions of the sources."""


@cache
def source_digest(root: Path) -> str:
    """Return a short digest of all Python files of a package, and of Numba's version."""
    from importlib.metadata import version  # slow to import; commands that print need no digest

    digest = hashlib.sha256(version("numba").encode())
    for file in sorted(root.rglob("*.py")):
        digest.update(file.relative_to(root.parent).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_base() -> Path | None:
    """Return the first folder for caches that can be written, or None."""
    chosen = os.environ.get("KILLE_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(chosen)] if chosen else [Path(platformdirs.user_cache_dir("kille-env"))]
    places.append(
        Path(tempfile.gettempdir())
        / f"kille-env-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    )
    for place in places:
        try:
            # Compiled code is loaded from here, so no other user may write to it.
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Permissions do not tell whether the disk is full: only writing does.
            with tempfile.TemporaryFile(dir=place):
                return place
        except OSError:
            continue
    return None


def kernel_folder(key: str) -> Path | None:
    """Return where a kernel is kept, None if nothing can be written."""
    base = cache_base()
    if base is None:
        return None
    folder = base / f"kernels-{key}"
    _in_use.add(folder)
    try:
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _forget_old(base)
        os.utime(folder)  # in use: those go that were not used for longest
    except OSError as error:
        _say_unwritable(error)
    return folder if folder.exists() else None


_in_use: set[Path] = set()


def _forget_old(base: Path) -> None:
    """Remove the kernels that were not used for longest, and never this process's own."""
    used = {}
    for folder in set(base.glob("kernels-*")) - _in_use:
        with suppress(OSError):  # another process may have removed it
            used[folder] = folder.stat().st_mtime
    for old in sorted(used, key=lambda folder: used[folder], reverse=True)[KEPT_KERNELS:]:
        shutil.rmtree(old, ignore_errors=True)


@cache
def _unwritable() -> list[OSError]:
    """Return the list of errors met in writing the cache, one list per process."""
    return []


def _say_unwritable(error: OSError) -> None:
    """Say on standard error, once, that there is no cache."""
    if not _unwritable():
        say(
            f"kille-env: compiled code cannot be kept ({error.strerror}: {cache_base()}); "
            "continuing without, so the next start compiles again. Free some space, or set "
            "KILLE_CACHE_DIR to another folder."
        )
    _unwritable().append(error)


@cache
def _compiler() -> Any:
    """Return the module that compiles kernels, and imports Numba with it."""
    # `compiler` uses private parts of Numba. `plain` needs none and takes its place where Numba is
    # another than those tried, or lacks such a part.
    from importlib.metadata import version

    try:
        if not version("numba").startswith(TRIED):
            raise ImportError(f"tried with {', '.join(TRIED)}x")
        from kille_env.core import compiler
    except (ImportError, AttributeError, TypeError) as error:
        warnings.warn(
            f"kille-env compiles kernels in a slower way and keeps none, because Numba "
            f"{version('numba')} is not one that it knows ({error}); results are the same. "
            f"For full speed, install a Numba {TRIED[-1]}x",
            RuntimeWarning,
            stacklevel=2,
        )
        from kille_env.core import plain as compiler
    compiler.accept(Kernel)
    return compiler


class _Here(threading.local):
    """How this thread runs kernels."""

    plain = False
    compiled = False


here = _Here()


before_compiling: list[Callable[[], None]] = []
"""Called before a compilation is announced: `kille_env.core.start` waits for its child."""


class Kernel:
    """A compiled function, in two forms that are made when they are first needed.

    Python calls `compiled`, which is cached; other kernels call `inlined`, which becomes a part of
    them. While single tables start (`kille_env.core.start`), it runs as `py_func`.
    """

    starting = False  # whether kernels that are not loaded yet run as plain Python
    loaded = False  # whether the compiled form is ready

    def __init__(self, function: Callable[..., Any]) -> None:
        """Take a function; nothing is compiled yet."""
        update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        """Call the function from Python."""
        if here.plain:
            return self.py_func(*arguments)
        # A kernel that plain Python calls here calls others, which must run as plain Python as
        # well.
        if Kernel.starting and not here.compiled and not self.loaded:
            here.plain = True
            try:
                with np.errstate(over="ignore"):  # NumPy's scalars warn where words wrap around
                    return self.py_func(*arguments)
            finally:
                here.plain = False
        return self.compiled(*arguments)

    def __reduce__(self) -> Any:
        name, module = self.py_func.__name__, self.py_func.__module__
        if module != "__main__" and getattr(sys.modules.get(module), name, None) is self:
            return name  # pickled by name, like a function
        return Kernel, (self.py_func,)

    @cached_property
    def compiled(self) -> Any:
        """The dispatcher for calls from Python."""
        return _compiler().compiled(self.py_func, kernel_folder, _say_unwritable)

    @cached_property
    def inlined(self) -> Any:
        """The dispatcher for calls from other kernels."""
        return _compiler().inlined(self.py_func)


def kernel(function: F) -> F:
    """Compile a function that allocates nothing, raises nothing and touches no Python object.

    The GIL is released while it runs from Python. Calls between kernels are always inlined: an
    array is seven words to pass, and passing them cost a quarter of a step. To a type checker the
    decorator is the identity. `a[:] = b` allocates, in case the two overlap: write a loop. What a
    kernel reads besides its arguments is constant: functions, modules, enumerations, numbers,
    texts, arrays; one that reads anything else is compiled in each process.
    """
    return function if PLAIN else Kernel(function)  # type: ignore[return-value]


def filled(template: F, functions: dict[str, Any]) -> F:
    """Return a plain function like `template` that finds its global names in `functions`.

    The core's loops call `deal`, `apply` or `observe` without knowing a game.
    """
    # Numba reads globals as constants when it compiles, so the game's functions are inlined; as
    # arguments they would be calls through pointers.
    globals_ = {**template.__globals__, **functions}
    copy = types.FunctionType(template.__code__, globals_, template.__name__)
    copy.__qualname__, copy.__module__ = template.__qualname__, template.__module__
    return copy  # type: ignore[return-value]


def bind(template: F, functions: dict[str, Any]) -> F:
    """Return a kernel like `template` that finds its global names in `functions`; see `filled`."""
    return kernel(filled(template, functions))


def in_plain() -> bool:
    """Return whether this thread runs kernels as plain Python for now."""
    return here.plain or (Kernel.starting and not here.compiled)


def loop(template: F, functions: dict[str, Any]) -> F:
    """Return the dispatcher of `bind`'s kernel: a step of one table should take no detour."""
    bound = bind(template, functions)
    return getattr(bound, "compiled", bound)


@contextmanager
def announce_compilation(name: str) -> Iterator[None]:
    """Announce compilation on standard error, if anything is compiled meanwhile."""
    if PLAIN:
        yield
        return
    for wait in before_compiling:
        wait()
    started: list[float] = []
    # A thread beside the main one would write into a prompt that waits for an answer.
    aloud = threading.current_thread() is threading.main_thread()
    collecting = gc.isenabled()

    def start() -> None:
        if not started:
            started.append(time.perf_counter())
            # The compiler makes millions of objects and drops few: looking for garbage is waste.
            gc.disable()
            if aloud:
                say(f"kille-env: compiling {name} (once; later starts are warm) ...")

    try:
        with _compiler().before_compiling(start):
            yield
    finally:
        if collecting:
            gc.enable()
    if started and aloud:
        took = time.perf_counter() - started[0]
        say(f"kille-env: {name} compiled in {took:.1f} s")
