"""Layouts: the named parts of a vector of features, one behind the other."""

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Part:
    """A named stretch of a vector of features.

    Attributes:
        name: Its name, the key in `parts` views and in the docs.
        size: Number of features.
        meaning: Their meaning, in a line.
        high: Largest value (the least is 0).
        offset: Index of its first feature; filled in by `lay_out`.
    """

    name: str
    size: int
    meaning: str
    high: int = 1
    offset: int = 0

    @property
    def slice(self) -> slice:
        """Where the part lies."""
        return slice(self.offset, self.offset + self.size)


def lay_out(*parts: Part) -> tuple[Part, ...]:
    """Return the parts one behind the other, with their offsets."""
    placed, offset = [], 0
    for part in parts:
        placed.append(replace(part, offset=offset))
        offset += part.size
    return tuple(placed)


def offsets(layout: Callable[[int], tuple[Part, ...]]) -> Any:
    """Return where the parts of a layout begin, by name, as a constant for kernels.

    Two numbers for each part: it begins at the first, plus the second for each seat of the table.
    `kille_env.cards.features` has what reads them.
    """
    one, two = layout(1), layout(2)
    # Offsets are linear in the number of seats, so those for one and for two seats fix the line.
    begins = [(2 * a.offset - b.offset, b.offset - a.offset) for a, b in zip(one, two, strict=True)]
    names = [part.name for part in one]
    return namedtuple("Offsets", names)(*begins)  # pyright: ignore[reportUntypedNamedTuple]


def width(parts: tuple[Part, ...]) -> int:
    """Return the number of features of a layout."""
    return parts[-1].offset + parts[-1].size


def feature_scale(parts: tuple[Part, ...]) -> np.ndarray:
    """Return the factors that scale a layout's features to between 0 and 1, [F] float32."""
    return np.concatenate([np.full(part.size, 1.0 / part.high, np.float32) for part in parts])
