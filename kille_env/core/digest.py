"""The digest of everything that a kernel is compiled from: the name of its place in the cache.

Numba compiles a function with all that it calls, and with the values of the globals and closures
that they read, but its own cache looks at the function's own file alone. Here all of them are
walked, from the function through the names in its code, so nothing has to be listed, and nothing
can be forgotten. The digest covers what is in memory, and the files that it came from.
"""

import hashlib
import sys
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

LIBRARIES = ("builtins", "math", "operator", "numpy", "numba")
"""Modules that are known by their version."""

COMPILER = ("compiler", "digest", "jit", "machine")
"""Files of this folder that decide how every kernel is compiled."""


class UnstableError(Exception):
    """A kernel reads something that another process cannot recognize."""


class Sources(NamedTuple):
    """Sources of a compiled kernel."""

    digest: str  # equal only for kernels that compile to the same code
    files: frozenset[str]  # that its functions, modules and classes come from, and the compiler's


def sources_of(function: Any, settings: tuple[Any, ...] = ()) -> Sources:
    """Return the sources of a compiled kernel.

    The globals that it reads are taken for constant, as Numba takes them.
    """
    walk = _Walk()
    walk.files |= {str(Path(__file__).with_name(f"{name}.py")) for name in COMPILER}
    walk.value(function)
    walk.add(*settings)
    for content in sorted(map(_content, walk.files)):  # wherever the package lies
        walk.add(content)
    return Sources(walk.hash.hexdigest()[:32], frozenset(filter(_content, walk.files)))


@cache
def _content(file: str) -> str:
    """Return the digest of a file; "" if there is none, as for code typed at a prompt."""
    path = Path(file)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


class _Walk:
    """A walk that feeds a hash with everything reachable from a function."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.files: set[str] = set()
        self._numbers: dict[Any, int] = {}

    def add(self, *words: Any) -> None:
        """Add numbers, texts, bytes and tuples of them."""
        for word in words:
            data = word if isinstance(word, bytes) else repr(word).encode()
            self.hash.update(b"%d %s " % (len(data), type(word).__name__.encode()))
            self.hash.update(data)

    def value(self, value: Any) -> None:
        """Add a value that a kernel reads."""
        kind = type(value)
        if value is None or kind in (bool, int, float, complex, str, bytes):
            self.add(value)
        elif kind in (tuple, frozenset):
            self.add(kind.__name__, len(value))
            for item in value if kind is tuple else sorted(value, key=repr):
                self.value(item)
        elif kind is slice:
            self.value((value.start, value.stop, value.step))
        elif isinstance(value, CodeType):
            self._code(value)
        elif isinstance(value, Enum):
            self._class(kind)
            self.value((value.name, value.value))
        elif isinstance(value, tuple):  # a named one
            self._class(kind)
            self.value(tuple(value))
        elif isinstance(value, (np.generic, np.ndarray)) and not value.dtype.hasobject:
            self.value((kind.__name__, value.dtype, value.shape, value.strides, value.tobytes()))
        elif isinstance(value, np.dtype) and not value.hasobject:
            self.add("dtype", repr(value))
        elif isinstance(value, ModuleType) and _is_library(value.__name__):
            self.add("module", value.__name__)
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, type):
            self._class(value)
        elif inner := getattr(value, "py_func", None):  # a kernel, or what Numba made of it
            self.value((inner, *sorted(getattr(value, "targetoptions", {}).items())))
        elif _is_library(getattr(value, "__module__", "")) and hasattr(value, "__name__"):
            self.add(
                kind.__name__, getattr(value, "__module__", ""), getattr(value, "__name__", "")
            )
        else:
            raise UnstableError(f"{kind.__name__} {value!r:.80}")

    def _function(self, function: FunctionType) -> None:
        # Functions may call each other in circles.
        if self._again(function):
            return
        if _is_library(function.__module__) and "<" not in function.__qualname__:
            self.add(function.__module__, function.__qualname__)
            return
        self.files.add(function.__code__.co_filename)
        self._code(function.__code__)
        try:
            cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
        except ValueError:
            raise UnstableError("a closure that is not filled yet") from None
        names = sorted(set(_names(function.__code__)))
        defaults = *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()
        for value in (*cells, *defaults):
            self._read(value, names)
        for name in filter(function.__globals__.__contains__, names):
            self.add(name)
            self._read(function.__globals__[name], names)

    def _read(self, value: Any, names: list[str]) -> None:
        """Add a value and, if it is a module, the meanings of the function's names there."""
        if not isinstance(value, ModuleType) or _is_library(value.__name__):
            self.value(value)
        elif not self._again(value, *names):
            self.files.add(getattr(value, "__file__", None) or "")
            for name in filter(vars(value).__contains__, names):
                self.add(name)
                self._read(vars(value)[name], names)

    def _code(self, code: CodeType) -> None:
        self.add(code.co_code, code.co_flags, code.co_argcount, code.co_kwonlyargcount)
        self.add(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self.value(code.co_consts)

    def _class(self, kind: type) -> None:
        if self._again(kind):
            return
        self.add(kind.__module__, kind.__qualname__)
        if _is_library(kind.__module__):
            return
        self.files.add(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")
        if issubclass(kind, Enum):
            self.value(tuple((name, one.value) for name, one in kind.__members__.items()))
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self.value((kind._fields, tuple(kind._field_defaults.items())))  # pyright: ignore
        else:
            raise UnstableError(f"class {kind.__qualname__}")

    def _again(self, *what: Any) -> bool:
        """Add a reference; return whether it was met before."""
        met = what in self._numbers
        self.add("reference", self._numbers.setdefault(what, len(self._numbers)))
        return met


def _is_library(module: Any) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in LIBRARIES


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in code, and in the code inside of it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
