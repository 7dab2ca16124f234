"""A memory of rows that a method learns from again and again."""

from collections.abc import Mapping

import numpy as np


class Rows:
    """At most N rows, as columns.

    Attributes:
        size: N.
        count: How many rows were ever added.
    """

    def __init__(self, size: int) -> None:
        """Begin empty."""
        self.size, self.count = size, 0
        self._columns: list[np.ndarray] = []

    def add(self, *columns: np.ndarray) -> None:
        """Add rows in place of the oldest ones."""
        self._put((self.count + np.arange(len(columns[0]))) % self.size, columns)

    def add_sampled(self, rng: np.random.Generator, *columns: np.ndarray) -> None:
        """Add rows so that all that were ever added are equally likely to be kept (Vitter 1985)."""
        number = self.count + np.arange(len(columns[0]))
        drawn = rng.integers(number + 1)
        self._put(np.where(number < self.size, number, drawn), columns)

    def sample(self, size: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Draw rows, as columns."""
        drawn = rng.integers(min(self.count, self.size), size=size)
        return [column[drawn] for column in self._columns]

    def state(self) -> dict[str, np.ndarray]:
        """Return what `load` needs, as arrays."""
        kept = min(self.count, self.size)
        columns = {str(number): column[:kept] for number, column in enumerate(self._columns)}
        return {"count": np.array(self.count), **columns}

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue with the rows of a state."""
        columns = [state[str(number)] for number in range(len(state) - 1)]
        self.count, self._columns = 0, []
        if columns:
            self._put(np.arange(len(columns[0])), columns)
        self.count = int(state["count"])

    def _put(self, place: np.ndarray, columns: tuple[np.ndarray, ...] | list[np.ndarray]) -> None:
        if not self._columns:
            self._columns = [np.zeros((self.size, *new.shape[1:]), new.dtype) for new in columns]
        kept = place < self.size
        for column, new in zip(self._columns, columns, strict=True):
            column[place[kept]] = new[kept]
        self.count += len(place)
