"""Objects whose attributes kernels rely on."""

from typing import Any

import numpy as np


class Fixed:
    """Base of classes whose public attributes are set once: kernels rely on their shapes."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a private attribute, or a public one that has not been set yet.

        Raises:
            AttributeError: It has been.
        """
        if name in self.__dict__ and not name.startswith("_"):
            what = f"{type(self).__name__}.{name}"
            raise AttributeError(f"{what} cannot be replaced", name=name, obj=self)
        super().__setattr__(name, value)


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a view of an array through which nothing can be written."""
    view = array.view()
    view.flags.writeable = False
    return view
