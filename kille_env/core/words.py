"""Bits of words, counted, found, and spread over arrays, by the instructions that machines have."""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from kille_env.core.jit import index, kernel, settings


def _counting(instruction: str, *flags: bool) -> Any:
    """Returns a function for kernels: an instruction of LLVM that counts bits of a 64-bit word."""

    def typed(_typing: Any, word: Any) -> Any:
        return types.int64(types.uint64), generate

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        constants = [ir.Constant(ir.IntType(1), flag) for flag in flags]
        return getattr(builder, instruction)(*arguments, *constants)

    return intrinsic(typed)


bits_set = _counting("ctpop")
"""How many bits of a word are 1."""
zeros_below = _counting("cttz", False)
"""How many bits of a word are 0 below the lowest 1; 64 if there is none."""
zeros_above = _counting("ctlz", False)
"""How many bits of a word are 0 above the highest 1; 64 if there is none."""

if settings.DISABLE_JIT:

    def bits_set(word: Any) -> int:
        """As above."""
        return int(word).bit_count()

    def zeros_below(word: Any) -> int:
        """As above."""
        return (int(word) & -int(word)).bit_length() - 1 if word else 64

    def zeros_above(word: Any) -> int:
        """As above."""
        return 64 - int(word).bit_length()


def _store(of_flags: Callable[[Any, Any, int], Any], bits: int = 0) -> Any:
    """Returns a function for kernels that stores bytes made of the bits of a word.

    Args:
        of_flags: Makes them of a vector of bytes, one for each bit, with LLVM's instructions.
        bits: How many bits of the word, from the lowest; 0 is all of them.
    """

    def typed(_typing: Any, word: Any, out: Any, at: Any) -> Any:
        assert out.ndim == 1 and out.layout == "C", "a row of bytes that lie side by side"
        return types.void(word, out, types.uintp), generate

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, array, offset = arguments
        size = bits or signature.args[0].bitwidth
        low = builder.trunc(word, ir.IntType(bits)) if bits else word
        flags = builder.bitcast(low, ir.VectorType(ir.IntType(1), size))
        row = of_flags(builder, builder.zext(flags, ir.VectorType(_BYTE, size)), size)
        data = context.make_array(signature.args[1])(context, builder, array).data
        place = builder.bitcast(builder.gep(data, [offset]), row.type.as_pointer())
        builder.store(row, place, align=1)
        return context.get_dummy_value()

    return intrinsic(typed)


def _as_they_are(_builder: Any, flags: Any, _size: int) -> Any:
    return flags


def _sums_of_two(builder: Any, flags: Any, size: int) -> Any:
    """Two bytes side by side are a number of 16 bits, whose halves are added."""
    pairs = ir.VectorType(ir.IntType(16), size // 2)
    both = builder.bitcast(flags, pairs)
    eight = ir.Constant(pairs, [8] * (size // 2))
    sums = builder.add(both, builder.lshr(both, eight))
    return builder.trunc(sums, ir.VectorType(_BYTE, size // 2))


_BYTE = ir.IntType(8)
_store_bits, _store_pairs = _store(_as_they_are), _store(_sums_of_two)
_store_four = _store(_as_they_are, 4)

if settings.DISABLE_JIT:

    def _bits(word: Any) -> np.ndarray:
        return np.array([int(word) >> i & 1 for i in range(8 * word.itemsize)], dtype=np.uint8)

    def _store_bits(word: Any, out: np.ndarray, at: int) -> None:
        bits = _bits(word)
        out[at : at + bits.size] = bits

    def _store_four(word: Any, out: np.ndarray, at: int) -> None:
        out[at : at + 4] = _bits(word)[:4]

    def _store_pairs(word: Any, out: np.ndarray, at: int) -> None:
        sums = _bits(word).reshape(-1, 2).sum(axis=1)
        out[at : at + sums.size] = sums


@kernel
def write_word(word, size, out, at):
    """Writes each bit of a word of so many bits as a byte, the lowest first.

    Args:
        word: Of the type that has the size: uint8, uint16, uint32 or uint64.
        size: The number of its bits.
        out: [F] uint8 or int8.
        at: Where the first of them goes.
    """
    out[index(at)] = 0  # these two vanish, unless bounds are checked
    out[index(at + size - 1)] = 0
    _store_bits(word, out, index(at))


@kernel
def write_four(word, out, at):
    """Writes each of the four lowest bits of a word as a byte; see `write_word`."""
    out[index(at)] = 0  # as above
    out[index(at + 3)] = 0
    _store_four(np.uint8(word), out, index(at))


@kernel
def write_pairs(word, size, out, at):
    """Writes each pair of bits of a word as a byte, their sum, the lowest first.

    Args:
        word: Of the type that has twice the size in bits.
        size: The number of pairs.
        out: [F] uint8.
        at: Where the first of them goes.
    """
    out[index(at)] = 0  # as above
    out[index(at + size - 1)] = 0
    _store_pairs(word, out, index(at))
