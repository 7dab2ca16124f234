"""Asks the memory for a table before its turn comes.

Many tables do not fit into the caches, and a record has gaps that a step does not touch, so the
processor does not guess which bytes come next.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

LINE = 64
"""Bytes that a processor fetches at once."""


def prefetch(array: np.ndarray, index: int) -> None:
    """Fetches `array[index]`, which will soon be written, without waiting; for compiled code."""


@type_callable(prefetch)
def _type(context: Any) -> Any:
    return lambda array, index: types.none


@lower_builtin(prefetch, types.Array, types.Integer)
def _lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Emits LLVM's `prefetch(address, write, keep in all caches, data)` for each line."""
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, arguments[0])
    item = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    start = builder.bitcast(item, byte)
    kind_of_call = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    call = cgutils.get_or_insert_function(builder.module, kind_of_call, "llvm.prefetch.p0i8")
    for offset in range(0, context.get_abi_sizeof(context.get_data_type(kind.dtype)), LINE):
        line = builder.gep(start, [ir.Constant(ir.IntType(64), offset)])
        builder.call(call, [line, number(1), number(3), number(1)])
    return context.get_dummy_value()
