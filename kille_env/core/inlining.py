"""Functions that are inlined wherever compiled code calls them.

Numba compiles every function by itself first: optimized, assembled, with an entry from Python, once
more for every constant that it is called with. For functions that exist only inside of others this
is wasted, and was half of the time that the first start of a game took. Here they are translated
only; their callers, into which they vanish, are optimized and assembled.
"""

from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import models, register_model


class _Inlined(JITCodeLibrary):
    """Code that is translated, and optimized and assembled only as a part of its callers."""

    def _optimize_final_module(self) -> None:
        """Leaves that to the callers."""

    def _finalize_final_module(self) -> None:
        """Leaves that to the callers."""
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """Whoever is asked for `set_env`, and for nothing else."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Does nothing: there is no code of its own that could look at its environment."""


class _Translator(Compiler):
    """Numba's compiler, which puts what it makes into an `_Inlined`."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing, target, _Inlined(target.codegen(), "inlined"), *rest)


class InlinedType(types.Dispatcher):
    """The type of such a function, which is made once for all constants of one type."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Returns the signature of a call, 3 and -1 being whole numbers like any other."""
        args = tuple(map(types.unliteral, args))
        return super().get_call_type(
            context, args, {key: types.unliteral(arg) for key, arg in kws.items()}
        )


register_model(InlinedType)(models.OpaqueModel)


def inlined(function: Callable[..., Any], **options: Any) -> Any:
    """Returns a dispatcher of a function that compiled code can call and Python cannot.

    Args:
        function: The function.
        **options: Numba's.
    """
    njit: Any = numba.njit
    return njit(
        forceinline=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        pipeline_class=_Translator,
        **options,
    )(function)
