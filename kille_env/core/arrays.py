"""Arrays that kernels write: others read them, and one thread uses them at a time.

Kernels check neither shapes nor indices, so no array of theirs is replaced, or written by others.
"""

from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from kille_env.core.jit import index, kernel
from kille_env.errors import KilleError


class Fixed:
    """Base of classes with attributes that are set once: kernels rely on their shapes.

    Attributes:
        FIXED: Their names.
    """

    FIXED: ClassVar[frozenset[str]]

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute."""
        if name in self.FIXED and name in self.__dict__:
            what = f"{type(self).__name__}.{name}"
            raise AttributeError(f"{what} cannot be replaced", name=name, obj=self)
        super().__setattr__(name, value)


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a view of an array through which nothing can be written."""
    view = array.view()
    view.flags.writeable = False
    return view


class Shown(NamedTuple):
    """Public arrays of a batch, in the order of its loops' arguments; see `Batch`."""

    seat: np.ndarray
    observation: np.ndarray
    mask: np.ndarray
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray


@kernel
def tell_rules(tables, seats, observations, told, out):
    """Write observations [N, F] with the features of the tables' rules [R, K] behind them."""
    features = observations.shape[1]
    for i in range(tables.shape[0]):
        for place in range(features):
            out[i, place] = observations[i, place]
        own = index(tables[i]["rules"])
        for place in range(told.shape[1]):
            out[i, features + place] = told[own, place] if seats[i] >= 0 else 0


class Told(NamedTuple):
    """What the option `observe_rules` adds to the arrays of a batch.

    Attributes:
        rules: [R, K] uint8, the features of each rule set.
        observation: [N, F + K] uint8, the public array.
    """

    rules: np.ndarray
    observation: np.ndarray


class Arrays:
    """The arrays of a batch as kernels take them, writable; a context that one thread is in.

    Attributes:
        tables: [N] records, the whole state.
        rules: [R] records of the rules.
        shown: The public arrays of the batch.
        told: See `Told`; None without the option.
        busy: Whether a thread reads or writes them just now.
    """

    __slots__ = ("busy", "rules", "shown", "tables", "told")

    def __init__(
        self, tables: np.ndarray, rules: np.ndarray, shown: Shown, told: Told | None = None
    ) -> None:
        """Take arrays that are not in use."""
        self.tables, self.rules, self.shown, self.told = tables, rules, shown, told
        self.busy = False

    def tell(self) -> None:
        """Bring the observations with rules up to date."""
        if self.told is not None:
            shown, told = self.shown, self.told
            tell_rules(self.tables, shown.seat, shown.observation, told.rules, told.observation)

    def __enter__(self) -> "Arrays":
        """Begin to use the arrays."""
        # No lock: Python switches threads at calls, so nothing comes between these two lines, and a
        # lock costs a twentieth of a step.
        if self.busy:
            self.refuse()
        self.busy = True
        return self

    def __exit__(self, *_: object) -> None:
        """End the use."""
        self.tell()
        self.busy = False

    def refuse(self) -> NoReturn:
        """Raise the error about a second thread."""
        raise KilleError(
            "another thread is using this batch; give each thread its own, by Batch.clone()"
        )
