"""How kernels are compiled where Numba is one that `kille_env.core.compiler` was not tried with.

This uses only what Numba documents for everybody. It compiles every kernel by itself, keeps none,
and leaves to LLVM what becomes a part of what: slower, and the same to the bit.
"""

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from typing import Any

import numba
import numpy as np
from numba.extending import overload, typeof_impl

from kille_env.core import machine

ONE = np.uint64(1)


@cache
def inlined(function: Callable[..., Any]) -> Any:
    """Return a dispatcher of a function, the same one each time."""
    return numba.njit(nogil=True, error_model="numpy")(function)


def compiled(function: Callable[..., Any], *_: Any) -> Any:
    """Return a dispatcher of a function; nothing is kept on disk."""
    return inlined(function)


def before_compiling(_: Callable[[], None]) -> Any:
    """Return a context that says nothing: the warning has said that every start compiles."""
    return nullcontext()


def accept(kernels: type) -> None:
    """Teach Numba to take objects of a class in a kernel as their `inlined`."""
    typeof_impl.register(kernels)(lambda kernel, _context: numba.typeof(kernel.inlined))


# The functions of `kille_env.core.machine`


@overload(machine.bits_set)
def _bits_set(word: Any) -> Any:
    def count(word: Any) -> Any:
        number = 0
        while word:
            word &= word - ONE
            number += 1
        return number

    return count


@overload(machine.zeros_below)
def _zeros_below(word: Any) -> Any:
    def count(word: Any) -> Any:
        number = 0
        while number < 64 and not (word >> np.uint64(number)) & ONE:
            number += 1
        return number

    return count


@overload(machine.zeros_above)
def _zeros_above(word: Any) -> Any:
    def count(word: Any) -> Any:
        number = 0
        while number < 64 and not word >> np.uint64(63 - number):
            number += 1
        return number

    return count


@overload(machine.store_bits)
def _store_bits(word: Any, out: Any, at: Any) -> Any:
    size = word.bitwidth

    def store(word: Any, out: Any, at: Any) -> None:
        for bit in range(size):
            out[np.intp(at) + bit] = (np.uint64(word) >> np.uint64(bit)) & ONE

    return store


@overload(machine.store_four)
def _store_four(word: Any, out: Any, at: Any) -> Any:
    def store(word: Any, out: Any, at: Any) -> None:
        for bit in range(4):
            out[np.intp(at) + bit] = (np.uint64(word) >> np.uint64(bit)) & ONE

    return store


@overload(machine.store_pairs)
def _store_pairs(word: Any, out: Any, at: Any) -> Any:
    size = word.bitwidth // 2

    def store(word: Any, out: Any, at: Any) -> None:
        for pair in range(size):
            both = np.uint64(word) >> np.uint64(2 * pair)
            out[np.intp(at) + pair] = (both & ONE) + (both >> ONE & ONE)

    return store


@overload(machine.prefetch)
def _prefetch(array: Any, index: Any) -> Any:
    def nothing(array: Any, index: Any) -> None: ...

    return nothing
