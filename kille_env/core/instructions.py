"""What the functions of `kille_env.core.machine` are in compiled code, in LLVM's instructions.

The compiler imports this; nothing else needs it.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

from kille_env.core import machine

BYTE = ir.IntType(8)
LINE = 64
"""Bytes that a processor fetches at once."""


def _count(function: Callable[..., Any], instruction: str, *flags: Any) -> None:
    """Makes a function an instruction that counts bits of a 64-bit word."""

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
    """Makes a function a store of bytes that are made of the bits of a word.

    Args:
        function: The function.
        spread: Makes them of a vector with a byte, 0 or 1, for each bit, given a builder.
        size: How many bits of the word, from the lowest; None is all of them.
    """

    @type_callable(function)
    def _type(_context: Any) -> Any:
        return lambda word, out, at: types.none if out.layout == "C" and out.ndim == 1 else None

    @lower_builtin(function, types.Integer, types.Array, types.Integer)
    def _lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, array, offset = arguments
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
    """Two bytes side by side are a number of 16 bits, whose halves are added."""
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
    """Emits LLVM's `prefetch(address, write, keep in all caches, data)` for each line."""
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, arguments[0])
    item = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])
    address, number = BYTE.as_pointer(), ir.IntType(32)
    start = builder.bitcast(item, address)
    kind_of_call = ir.FunctionType(ir.VoidType(), [address, number, number, number])
    call = cgutils.get_or_insert_function(builder.module, kind_of_call, "llvm.prefetch.p0i8")
    for offset in range(0, context.get_abi_sizeof(context.get_data_type(kind.dtype)), LINE):
        line = builder.gep(start, [ir.Constant(ir.IntType(64), offset)])
        builder.call(call, [line, number(1), number(3), number(1)])
    return context.get_dummy_value()
