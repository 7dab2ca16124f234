"""Objects whose attributes kernels rely on."""

from typing import Any, ClassVar

import numpy as np


class Fixed:
    """Base of classes with attributes that are set once: kernels rely on their shapes.

    Attributes:
        FIXED: Their names.
    """

    FIXED: ClassVar[frozenset[str]]

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute.

        Raises:
            AttributeError: It is fixed, and has been set before.
        """
        if name in self.FIXED and name in self.__dict__:
            what = f"{type(self).__name__}.{name}"
            raise AttributeError(f"{what} cannot be replaced", name=name, obj=self)
        super().__setattr__(name, value)


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a view of an array through which nothing can be written."""
    view = array.view()
    view.flags.writeable = False
    return view
