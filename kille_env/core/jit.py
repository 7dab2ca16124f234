"""The one place that decides how kernels are compiled and cached.

Numba notices an edit in the file of a cached function, but not an edit in another file that it
calls or reads a constant from: it then returns the old result without a word. So the cache lies in
a folder that is named after a digest of every source file that kernels are compiled from; after an
edit the old kernels are simply never met again.
"""

import gc
import hashlib
import os
import shutil
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import platformdirs

F = TypeVar("F", bound=Callable[..., Any])

PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "") not in ("", "0")
"""Whether kernels run as the plain Python that they are written in. This is Numba's setting, read
here because Numba itself is imported when something is compiled."""

index = np.uintp
"""For indices in hot loops: a signed one may count from the end, which costs a test each time."""

ROOMS_OF_KERNELS = ("cards", "core", "games", "tricktaking")
"""Folders of kille-env that kernels of other files call, or read constants from."""

WITHOUT_KERNELS = ("manual.py", "view.py")
"""Files of these rooms for people; no kernel reads them, so an edit there compiles nothing anew."""

KEPT_CACHES = 6
"""Caches of older sources that stay on disk; switching between two checkouts stays warm."""


@cache
def source_digest(root: Path, without: tuple[str, ...] = ()) -> str:
    """Returns a short digest of all Python files of a package, or beside a single file.

    A module outside of a package imports its helpers from the files beside it.

    Args:
        root: Folder of the package, or the file.
        without: Names of files that do not count.
    """
    from importlib.metadata import version  # slow to import; commands that print need no digest

    digest = hashlib.sha256(version("numba").encode())
    files = sorted(root.rglob("*.py") if root.is_dir() else root.parent.glob("*.py"))
    for file in (file for file in files if file.name not in without):
        digest.update(file.relative_to(root.parent).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _digest_of_rooms(own: Path) -> str:
    """Returns a digest of kille-env's rooms of kernels; an edit in an adapter leaves it alone."""
    rooms = "".join(source_digest(own / room, WITHOUT_KERNELS) for room in ROOMS_OF_KERNELS)
    return hashlib.sha256(rooms.encode()).hexdigest()[:16]


def package_root(function: Any) -> Path:
    """Returns the folder of the top-level package that defines `function`, or else its file."""
    function = getattr(function, "py_func", function)
    file = Path(function.__code__.co_filename)
    module = sys.modules.get(str(function.__globals__.get("__name__", "")).partition(".")[0])
    folder = getattr(module, "__path__", None)
    return Path(folder[0]) if folder else file


@cache
def _cache_base() -> Path | None:
    """Returns the first folder for caches that can be written, or None."""
    chosen = os.environ.get("KILLE_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(chosen)] if chosen else [Path(platformdirs.user_cache_dir("kille-env"))]
    places.append(
        Path(tempfile.gettempdir())
        / f"kille-env-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    )
    for place in places:
        try:
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=place):
                return place
        except OSError:
            continue
    return None


@cache
def cache_folder(function_root: Path) -> Path | None:
    """Returns the kernel cache for sources under `function_root`, None if nothing can be written.

    The digest covers kille-env's own rooms as well: a game of another package calls our kernels.
    """
    from kille_env.core.compiler import settings

    base = _cache_base()
    if base is None:
        return None
    own = Path(__file__).resolve().parents[1]
    key = _digest_of_rooms(own)
    if function_root.resolve() != own:
        key += "-" + source_digest(function_root)
    folder = base / f"kernels-{key}{'-bounds' if settings.BOUNDSCHECK else ''}"
    try:
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _forget_old(base)
        os.utime(folder)  # in use: the caches that go are those that were not used for longest
    except OSError as error:
        _say_unwritable(error)
    return folder if folder.exists() else None


def _forget_old(base: Path) -> None:
    """Removes all but the newest caches."""
    used = {}
    for folder in base.glob("kernels-*"):
        with suppress(OSError):  # another process may have removed it
            used[folder] = folder.stat().st_mtime
    for old in sorted(used, key=lambda folder: used[folder], reverse=True)[KEPT_CACHES:]:
        shutil.rmtree(old, ignore_errors=True)


@cache
def _unwritable() -> list[OSError]:
    """Why the cache could not be written, if it could not."""
    return []


def _say_unwritable(error: OSError) -> None:
    """Says on standard error, once, that there is no cache."""
    if not _unwritable():
        print(
            f"kille-env: compiled code cannot be kept ({error.strerror}: {_cache_base()}); "
            "continuing without, so the next start compiles again. Free some space, or set "
            "KILLE_CACHE_DIR to another folder.",
            file=sys.stderr,
        )
    _unwritable().append(error)


class Kernel:
    """A compiled function, in two forms that are made when they are first needed.

    Attributes:
        py_func: The function itself.
        compiled: What Python calls: compiled with all that it calls, and cached.
        inlined: What other kernels call: it becomes a part of them.
    """

    def __init__(self, function: Callable[..., Any], root: Path | None) -> None:
        """See `kernel`."""
        update_wrapper(self, function)
        self.py_func, self._root = function, root

    def __call__(self, *arguments: Any) -> Any:
        """Calls the function from Python."""
        return self.compiled(*arguments)

    @cached_property
    def compiled(self) -> Any:
        """The dispatcher for calls from Python."""
        from kille_env.core import compiler

        folder = cache_folder(self._root or package_root(self.py_func))
        return compiler.compiled(self.py_func, folder, _say_unwritable)

    @cached_property
    def inlined(self) -> Any:
        """The dispatcher for calls from other kernels."""
        from kille_env.core import compiler

        return compiler.inlined(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """What Numba finds where a kernel calls this one."""
        from kille_env.core.compiler import InlinedType

        return InlinedType(self.inlined)


def kernel(function: F, root: Path | None = None) -> F:
    """Compiles a function that allocates nothing, raises nothing and touches no Python object.

    The GIL is released while it runs from Python. Calls between kernels are always inlined: an
    array is seven words to pass, and passing them cost a quarter of a step. To a type checker the
    decorator is the identity. `a[:] = b` allocates, in case the two overlap: write a loop.

    Args:
        function: The function.
        root: Folder or file of the sources that it is compiled from, besides kille-env's; None is
            where it is defined.
    """
    return function if PLAIN else Kernel(function, root)  # type: ignore[return-value]


def bind(template: F, name: str, functions: dict[str, Any]) -> F:
    """Returns a kernel like `template` that finds its global names in `functions`.

    The core's loops call `deal`, `apply` or `observe` without knowing a game. A closure over
    compiled functions would do the same, but Numba cannot cache it; a copy with other globals it
    can.

    Args:
        template: A plain function whose free names are the game's functions.
        name: What the copy is called; two games need two names in the cache.
        functions: The names that it reads: functions, and constants.
    """
    globals_ = {**template.__globals__, **functions}
    copy = types.FunctionType(template.__code__, globals_, f"{template.__name__}_{name}")
    copy.__qualname__ = copy.__name__
    copy.__module__ = template.__module__
    own = package_root(template)
    roots = (package_root(f) for f in functions.values() if callable(f))
    theirs = next((root for root in roots if root != own), own)  # a game of another package
    return kernel(copy, theirs)  # type: ignore[return-value]


def loop(template: F, name: str, functions: dict[str, Any]) -> F:
    """Returns what Python calls of `bind`'s kernel: a step of one table should take no detour."""
    bound = bind(template, name, functions)
    return getattr(bound, "compiled", bound)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Looks for no garbage: the compiler makes millions of objects and drops few of them."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


@contextmanager
def announce_compilation(name: str, root: Path) -> Iterator[None]:
    """Says on standard error what takes so long, the first time that `name` is compiled."""
    folder = cache_folder(root)
    marker = folder / f"compiled-{name}" if folder else None
    if PLAIN or (marker and marker.exists()):
        yield
        return
    print(
        f"kille-env: compiling {name} (once; later starts are warm) ...",
        file=sys.stderr,
    )
    start = time.perf_counter()
    with _no_garbage_collection():
        yield
    print(f"kille-env: {name} compiled in {time.perf_counter() - start:.1f} s", file=sys.stderr)
    if marker and not _unwritable():
        with suppress(OSError):  # the cache may have been cleared meanwhile
            marker.touch()
