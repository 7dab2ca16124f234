"""Fingerprints of Python objects: what a player is, in a text that another process finds again.

A function is its code, its defaults, the values it closes over and the globals it reads; a class
is its bases and what it defines; any other object is its class and the state that pickling would
write; an array or a tensor is its numbers. What a library defines is its name. Names of your own
functions and classes, comments and line numbers do not count, so moving a function into another
cell of a notebook changes nothing. Bytecode differs between versions of Python, and so does the
fingerprint of a function.

Nothing is pickled, and nothing is read back: a fingerprint is a digest.
"""

import copyreg
import dis
import functools
import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FunctionType,
    MappingProxyType,
    ModuleType,
    NoneType,
)
from typing import Any

import numpy as np

import kille_env
from kille_agents.objects import is_from
from kille_env.errors import ConfigError

Parts = tuple[str, list[Any]]
"""The kind of a thing, and what it is made of, in order."""

PLAIN = (NoneType, bool, int, float, complex, str, bytes, EllipsisType)
OURS = ("kille_env", "kille_agents", "kille_training")
LIBRARIES = {"site-packages", "dist-packages"}
"""Folders whose modules are libraries."""
SKIPPED = {
    "__abstractmethods__",
    "__annotations__",
    "__classdictcell__",
    "__dataclass_fields__",
    "__dataclass_params__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__orig_bases__",
    "__parameters__",
    "__qualname__",
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
}
"""Attributes of a class that say nothing of what its instances do."""
PICKLING = 4
"""The protocol whose view of an object's state is taken."""


def fingerprint_of(name: str, player: Any) -> str:
    """Returns what identifies a player that is a Python object, in this process and in others.

    If the object has an attribute `fingerprint`, a text or a method that returns one, only that
    counts.

    Args:
        name: What errors call it.
        player: A function, a class, a torch module, a model of Stable-Baselines3 or another object.

    Raises:
        ConfigError: Part of it has no state that can be compared, such as an open file.
    """
    given = getattr(player, "fingerprint", None)
    if callable(given) and not isinstance(player, type):
        given = given()
    if isinstance(given, str) and given:
        return _hash([given.encode()]).hex()
    try:
        return _Walk().digest(player).hex()
    except (_Unknown, RecursionError) as error:
        raise ConfigError(
            f"nothing would recognize the player {name!r} in another process: {error}. Give it an "
            "attribute `fingerprint`, a text that you change when the player changes, or play "
            "without a folder (out=None)"
        ) from error


class _Unknown(Exception):
    """A part has no state that can be compared."""


class _Walk:
    """Digests a thing with all that it is made of."""

    def __init__(self) -> None:
        self._open: dict[int, int] = {}  # how deep a thing lies in which we are
        self._known: dict[int, tuple[Any, bytes]] = {}  # with the thing, so that its id stays its
        self._reach = 0  # how far up the things refer that have been seen

    def digest(self, thing: Any) -> bytes:
        """Returns the digest of a thing, the same for things that are made of the same."""
        if type(thing) in PLAIN:
            return _hash([type(thing).__name__.encode(), repr(thing).encode()])
        if id(thing) in self._known:
            return self._known[id(thing)][1]
        depth = len(self._open)
        if id(thing) in self._open:
            self._reach = min(self._reach, self._open[id(thing)])
            return _hash([b"above", str(depth - self._open[id(thing)]).encode()])
        outside, self._reach = self._reach, depth
        self._open[id(thing)] = depth
        kind, parts = _parts(thing)
        digests = [self.digest(part) for part in parts]
        del self._open[id(thing)]
        found = _hash([kind.encode(), *(sorted(digests) if kind in UNORDERED else digests)])
        if self._reach == depth:  # what refers to something around it depends on where it stands
            self._known[id(thing)] = thing, found
        self._reach = min(outside, self._reach)
        return found


def _hash(texts: list[bytes]) -> bytes:
    found = hashlib.sha256()
    for text in texts:
        found.update(len(text).to_bytes(8, "little") + text)
    return found.digest()


def _parts(thing: Any) -> Parts:
    """Returns what a thing is made of, by the first of `KINDS` that it is."""
    try:
        return next(parts(thing) for fits, parts in KINDS if fits(thing))
    except Exception as error:  # the code of somebody else may raise anything
        raise _Unknown(f"it holds a {type(thing).__name__} ({error})") from error


def _is_library(module: str) -> bool:
    """Returns whether a module belongs to Python, to an installed library or to this package."""
    top = module.partition(".")[0]
    if top == "__main__":  # in a notebook its file is that of the kernel, a library
        return False
    if top in sys.stdlib_module_names or top in OURS:
        return True
    file = getattr(sys.modules.get(top), "__file__", None)
    return file is not None and not LIBRARIES.isdisjoint(Path(file).parts)


def _named(module: str | None, name: str) -> Parts:
    """Returns what a library calls a thing; of this package with its version."""
    ours = str(module).partition(".")[0] in OURS
    return "named", [module, name, kille_env.__version__ if ours else None]


def _of_library(thing: Any) -> bool:
    """Returns whether a thing is a function or class that a library defines."""
    return isinstance(thing, (FunctionType, BuiltinFunctionType, type)) and _is_library(
        str(thing.__module__)
    )


def _function(thing: FunctionType) -> Parts:
    cells = [_content(cell) for cell in thing.__closure__ or ()]
    reads = [
        (name, thing.__globals__[name])
        for name in sorted(set(_globals_read(thing.__code__)))
        if name in thing.__globals__
    ]
    return "function", [
        thing.__code__, thing.__defaults__, thing.__kwdefaults__, cells, reads, vars(thing)
    ]  # fmt: skip


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing has been assigned yet
        return None


def _globals_read(code: CodeType) -> Iterator[str]:
    """Yields the names of globals that some code, or a function in it, reads."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_read(constant)


def _code(thing: CodeType) -> Parts:
    return "code", [
        thing.co_code, thing.co_exceptiontable, thing.co_consts, thing.co_names,
        thing.co_varnames, thing.co_freevars, thing.co_cellvars, thing.co_flags,
        thing.co_argcount, thing.co_posonlyargcount, thing.co_kwonlyargcount,
    ]  # fmt: skip


def _class(thing: type) -> Parts:
    defined = [(name, value) for name, value in sorted(vars(thing).items()) if name not in SKIPPED]
    return "class", [type(thing), thing.__bases__, defined]


def _module(thing: ModuleType) -> Parts:
    """Returns a module's name, and for one of the user's own also what its file holds."""
    file = getattr(thing, "__file__", None)
    if file is None or _is_library(thing.__name__) or not Path(file).is_file():
        return "module", [thing.__name__]
    return "module", [thing.__name__, Path(file).read_bytes()]


def _array(thing: np.ndarray) -> Parts:
    if thing.dtype.hasobject:
        return "objects", [thing.shape, thing.tolist()]
    return "array", [str(thing.dtype), thing.shape, thing.tobytes()]


def _tensor(thing: Any) -> Parts:
    """Returns the numbers of a tensor, wherever they lie; some types NumPy does not know."""
    flat = thing.detach().cpu().contiguous().reshape(-1)
    content = flat.view(sys.modules["torch"].uint8).numpy().tobytes() if flat.numel() else b""
    return "tensor", [str(thing.dtype), tuple(thing.shape), content]


def _torch_module(thing: Any) -> Parts:
    """Returns all that a module holds but whether it is training: it plays in evaluation mode."""
    state = {name: value for name, value in vars(thing).items() if name != "training"}
    return "torch module", [type(thing), state]


def _model(thing: Any) -> Parts:
    """Returns the layers and weights of a model's policy: how it was trained does not play."""
    policy = thing.policy
    layers = [(name, type(part)) for name, part in policy.named_modules()]
    return "model", [type(thing), layers, dict(policy.state_dict())]


def _wraps(thing: Any) -> bool:
    """Returns whether a library has wrapped a function, as `functools.cache` and Numba do."""
    return _is_library(str(type(thing).__module__)) and hasattr(thing, "__wrapped__")


def _reduced(thing: Any) -> Parts:
    """Returns what pickling would write of an object."""
    reduce: Callable[[Any], Any] | None = copyreg.dispatch_table.get(type(thing))
    found = reduce(thing) if reduce else thing.__reduce_ex__(PICKLING)
    if isinstance(found, str):
        return _named(getattr(thing, "__module__", None), found)
    make, arguments, state, items, pairs, *rest = (*found, None, None, None)
    return "object", [make, arguments, state, list(items or ()), list(pairs or ()), *rest]


UNORDERED = ("set",)
"""Kinds whose parts have no order."""
KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Parts]], ...] = (
    (lambda thing: type(thing) in (tuple, list), lambda thing: ("sequence", list(thing))),
    (lambda thing: type(thing) in (set, frozenset), lambda thing: ("set", list(thing))),
    (
        lambda thing: type(thing) in (dict, MappingProxyType),
        lambda thing: ("dict", [each for item in thing.items() for each in item]),
    ),
    (_of_library, lambda thing: _named(thing.__module__, thing.__qualname__)),
    (lambda thing: type(thing) is FunctionType, _function),
    (lambda thing: type(thing) is CodeType, _code),
    (lambda thing: isinstance(thing, type), _class),
    (lambda thing: isinstance(thing, ModuleType), _module),
    (
        lambda thing: type(thing) in (staticmethod, classmethod),
        lambda thing: (type(thing).__name__, [thing.__func__]),
    ),
    (
        lambda thing: type(thing) is property,
        lambda thing: ("property", [thing.fget, thing.fset, thing.fdel]),
    ),
    (
        lambda thing: type(thing) is functools.cached_property,
        lambda thing: ("cached", [thing.func]),
    ),
    (lambda thing: type(thing) is np.ndarray, _array),
    (lambda thing: is_from("torch", "Tensor", thing), _tensor),
    (lambda thing: is_from("torch.nn", "Module", thing), _torch_module),
    (lambda thing: is_from("stable_baselines3.common.base_class", "BaseAlgorithm", thing), _model),
    (_wraps, lambda thing: ("wrapped", [type(thing), thing.__wrapped__])),
    (lambda thing: True, _reduced),
)
"""Every kind of thing: whether a thing is one, and what it is made of."""
