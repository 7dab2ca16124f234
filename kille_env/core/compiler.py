"""How kernels are compiled, with private parts of Numba: the only module that uses any.

It is imported when the first kernel is compiled or taken from the cache: the facts of a game are
known without it, and importing Numba takes most of the time of a short start.

**Inlined functions.** Numba compiles every function by itself first: optimized, assembled, with an
entry from Python, once more for every constant that it is called with. For functions that exist
only inside of others this is wasted, and was half of the time that a first start took. Here
they are translated only; their callers, into which they vanish, are optimized and assembled.

`kille_env.core.plain` does the same without private parts, in more time.
"""

import hashlib
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import FunctionType
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, event, types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import lower_builtin, models, register_model, type_callable, typeof_impl

from kille_env.core import machine
from kille_env.core.digest import UnstableError, sources_of

njit: Any = numba.njit
settings: Any = numba.config  # pyright: ignore[reportPrivateImportUsage]
"""Numba's settings, which it fills in when it starts: type checkers do not know them."""

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""Options of all kernels: no lock of Python's, no test for a division by zero, and no counting of
references to arrays, which only a function that allocates needs."""


VERSIONS = (numba.__version__, llvmlite.__version__, np.__version__, sys.version)
CHANGE_CODE = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")
"""Numba's settings that change the code of a function."""


class _Files(IndexDataCacheFile):
    """A file for each version of a function, with its own index."""

    # Numba numbers the files and keeps an index in another one. Two processes that save at once can
    # leave the index of one and the file of the other, and a third process would run a kernel for
    # one game's tables on another's.

    def save(self, key: Any, data: Any) -> None:
        """Save a version, whole or not at all."""
        self._save_data(self._name(key), (key, data))

    def load(self, key: Any) -> Any:
        """Return a version, None if it is not there."""
        try:
            # The file name is a shortened hash, so the whole key is stored and compared as well.
            found, data = self._load_data(self._name(key))
        except FileNotFoundError:
            return None
        return data if found == key else None

    def _name(self, key: Any) -> str:
        return f"{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.nbc"


class _Cache(FunctionCache):
    """Numba's cache of a function, which goes on without if the disk is full."""

    def __init__(self, function: Callable[..., Any], say: Callable[[OSError], None]) -> None:
        super().__init__(function)
        self._cache_file = _Files(self.cache_path, "", "")  # the folder says what it is made from
        self._say = say

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled version of the function."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self._say(error)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Return the key that tells versions of the function apart."""
        return sig, codegen.magic_tuple()


def compiled(
    function: Any, folder_of: Callable[[str], Path | None], unwritable: Callable[[OSError], None]
) -> Any:
    """Return a dispatcher of a function for calls from Python."""
    make = njit(no_cfunc_wrapper=True, **OPTIONS)
    settings_now = tuple(str(getattr(settings, name, None)) for name in CHANGE_CODE)
    try:
        key = sources_of(function, VERSIONS + settings_now).digest
    except UnstableError:  # another process could not tell whether it is the same
        return make(function)
    folder = folder_of(key) if Path(function.__code__.co_filename).is_file() else None
    # The linker takes two functions of one name for the same, wherever they came from.
    made = make(_renamed(function, f"{function.__qualname__}_{key}"))
    made.compile = _whole(made.compile)
    if folder:
        before = settings.CACHE_DIR
        # Numba reads the setting here; other packages' functions keep theirs.
        settings.CACHE_DIR = str(folder)
        try:
            made._cache = _Cache(made.py_func, unwritable)
        finally:
            settings.CACHE_DIR = before
    return made


def _whole(compile_: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a dispatcher's `compile` in which Ctrl-C waits until the kernel is there."""

    # LLVM calls back into Python, and an exception raised there is printed and forgotten, with the
    # kernel. A second Ctrl-C waits for nothing.
    def compile_whole(signature: Any) -> Any:
        main = threading.current_thread() is threading.main_thread()
        # Python allows signal handlers in the main thread only, and a handler of the user stays.
        if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return compile_(signature)
        waiting: list[int] = []

        def wait(number: int, _frame: Any) -> None:
            waiting.append(number)
            signal.signal(signal.SIGINT, signal.default_int_handler)

        signal.signal(signal.SIGINT, wait)
        try:
            return compile_(signature)
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if waiting:
                signal.raise_signal(signal.SIGINT)

    return compile_whole


def _renamed(function: Any, name: str) -> Any:
    """Return a copy of a function under another qualified name."""
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__, copy.__module__ = function.__kwdefaults__, function.__module__
    copy.__qualname__ = name
    return copy


class _BeforeCompiling(event.Listener):
    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call

    def on_start(self, event: Any) -> None:
        """Call the function: Numba has found nothing in the cache and begins to compile."""
        self._call()

    def on_end(self, event: Any) -> None:
        """Do nothing when Numba has compiled."""


def before_compiling(call: Callable[[], None]) -> AbstractContextManager[Any]:
    """Call a function whenever something is going to be compiled within the context."""
    return event.install_listener("numba:compile", _BeforeCompiling(call))


class _Inlined(JITCodeLibrary):
    """Code that is translated, and optimized and assembled only as a part of its callers."""

    def _optimize_final_module(self) -> None:
        """Leave that to the callers."""

    def _finalize_final_module(self) -> None:
        """Leave that to the callers."""
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """The object that Numba asks for `set_env`, and for nothing else."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: there is no code of its own that could look at its environment."""


class _Translator(Compiler):
    """Numba's compiler, with its results in an `_Inlined`."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        # Numba passes a library that would be optimized and assembled; it is dropped for one that
        # is not.
        super().__init__(typing, target, _Inlined(target.codegen(), "inlined"), *rest)


class InlinedType(types.Dispatcher):
    """The type of such a function, which is made once for all constants of one type."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, 3 and -1 being whole numbers like any other."""
        # Numba would translate a function anew for every constant that it is called with.
        args = tuple(map(types.unliteral, args))
        return super().get_call_type(
            context, args, {key: types.unliteral(arg) for key, arg in kws.items()}
        )


register_model(InlinedType)(models.OpaqueModel)


def accept(kernels: type) -> None:
    """Teach Numba to take objects of a class in a kernel as their `inlined`."""
    typeof_impl.register(kernels)(lambda kernel, _context: InlinedType(kernel.inlined))


def inlined(function: Callable[..., Any]) -> Any:
    """Return a dispatcher of a function that compiled code can call and Python cannot."""
    return njit(
        forceinline=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        pipeline_class=_Translator,
        **OPTIONS,
    )(function)


# The functions of `kille_env.core.machine`, in LLVM's instructions

BYTE = ir.IntType(8)
LINE = 64
"""Bytes that a processor fetches at once."""


def _count(function: Callable[..., Any], instruction: str, *flags: Any) -> None:
    """Make a function an instruction that counts bits of a 64-bit word."""

    @type_callable(function)
    def _type(_context: Any) -> Any:
        return lambda word: types.int64 if word == types.uint64 else None

    @lower_builtin(function, types.uint64)
    def _lower(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments, *flags)


_NO = ir.Constant(ir.IntType(1), 0)  # a word of zeros is no error
_count(machine.bits_set, "ctpop")
_count(machine.zeros_below, "cttz", _NO)
_count(machine.zeros_above, "ctlz", _NO)


def _store(
    function: Callable[..., Any], spread: Callable[[Any, Any, int], Any], size: int | None = None
) -> None:
    """Make a function a store of bytes that are made of the bits of a word."""

    @type_callable(function)
    def _type(_context: Any) -> Any:
        return lambda word, out, at: types.none if out.layout == "C" and out.ndim == 1 else None

    @lower_builtin(function, types.Integer, types.Array, types.Integer)
    def _lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, array, offset = arguments
        # Numba has no vectors of bits, LLVM has: a word is cast to flags, and these are widened to
        # bytes.
        number = size or signature.args[0].bitwidth
        low = builder.trunc(word, ir.IntType(size)) if size else word
        flags = builder.bitcast(low, ir.VectorType(ir.IntType(1), number))
        row = spread(builder, builder.zext(flags, ir.VectorType(BYTE, number)), number)
        first = context.make_array(signature.args[1])(context, builder, array).data
        place = builder.bitcast(builder.gep(first, [offset]), row.type.as_pointer())
        builder.store(row, place, align=1)
        return context.get_dummy_value()


def _as_it_is(_builder: Any, row: Any, _size: int) -> Any:
    return row


def _sums_of_two(builder: Any, row: Any, size: int) -> Any:
    """Add neighboring bytes: two are a 16-bit number, whose halves are summed."""
    pairs = ir.VectorType(ir.IntType(16), size // 2)
    both = builder.bitcast(row, pairs)
    sums = builder.add(both, builder.lshr(both, ir.Constant(pairs, [8] * (size // 2))))
    return builder.trunc(sums, ir.VectorType(BYTE, size // 2))


_store(machine.store_bits, _as_it_is)
_store(machine.store_four, _as_it_is, 4)
_store(machine.store_pairs, _sums_of_two)


@type_callable(machine.prefetch)
def _type_of_prefetch(_context: Any) -> Any:
    return lambda array, index: types.none


@lower_builtin(machine.prefetch, types.Array, types.Integer)
def _lower_prefetch(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Emit LLVM's `prefetch(address, write, keep in all caches, data)` for each line."""
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, arguments[0])
    item = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])
    address, number = BYTE.as_pointer(), ir.IntType(32)
    start = builder.bitcast(item, address)
    kind_of_call = ir.FunctionType(ir.VoidType(), [address, number, number, number])
    call = cgutils.get_or_insert_function(builder.module, kind_of_call, "llvm.prefetch.p0i8")
    # A record is longer than a cache line, and one prefetch fetches one line.
    for offset in range(0, context.get_abi_sizeof(context.get_data_type(kind.dtype)), LINE):
        line = builder.gep(start, [ir.Constant(ir.IntType(64), offset)])
        builder.call(call, [line, number(1), number(3), number(1)])
    return context.get_dummy_value()
