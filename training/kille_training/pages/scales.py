"""Axes of charts in the cells of tables.

Rows are charts in tables of HTML: labels are text of the page, so they can be read on a phone, and
nothing is drawn for a particular width. What stands where is a share of a cell's width.
"""

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

STEPS = (1, 2, 5, 10)
"""Distances between ticks, times a power of ten."""
MOST_TICKS = 4
LEAST = 1e-6
"""What a logarithmic axis shows for less, nothing included."""


@dataclass(frozen=True)
class Scale:
    """The axis of charts in the cells of a column.

    Attributes:
        low: Where the cell begins.
        high: Where it ends.
        ticks: Round numbers between them.
    """

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def over(cls, *values: np.ndarray) -> "Scale":
        """Returns the scale that shows 0 and all values; those that are not finite do not count."""
        known = np.concatenate([np.ravel(each) for each in values])
        known = known[np.isfinite(known)]
        low, high = min(0.0, *known, 0.0), max(0.0, *known, 0.0)
        if low == high:
            low, high = -1.0, 1.0
        step = _step((high - low) / MOST_TICKS)
        ticks = tuple(step * k for k in range(ceil(low / step), floor(high / step) + 1))
        room = (high - low) / 20
        return cls(low - room, high + room, ticks)

    def at(self, value: float) -> str:
        """Returns where a value stands, in percent of the width; what is outside is at the edge."""
        return f"{100 * self._share(value):.2f}%"

    def length(self, low: float, high: float) -> str:
        """Returns how long the way between two values is, in percent of the width."""
        return f"{100 * (self._share(high) - self._share(low)):.2f}%"

    @property
    def zero(self) -> str | None:
        """Where 0 stands; None where it does not."""
        return self.at(0.0)

    def _share(self, value: float) -> float:
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


class LogScale(Scale):
    """A logarithmic axis between powers of ten; nothing stands at its lower edge."""

    @classmethod
    def over(cls, *values: np.ndarray) -> "LogScale":
        """Returns the scale that shows all values from `LEAST` up."""
        known = np.maximum(np.concatenate([np.ravel(each) for each in values]), LEAST)
        first, last = floor(log10(known.min())), ceil(log10(known.max()))
        last = max(last, first + 1)
        step = ceil((last - first) / MOST_TICKS)
        ticks = tuple(10.0**power for power in range(last, first - 1, -step))[::-1]
        return cls(10.0**first, 10.0**last, ticks)

    @property
    def zero(self) -> None:
        """A logarithmic axis has no 0."""
        return

    def _share(self, value: float) -> float:
        power = log10(max(value, LEAST) / self.low) / log10(self.high / self.low)
        return min(1.0, max(0.0, power))


def _step(least: float) -> float:
    """Returns the smallest round number that is at least so large."""
    power = 10.0 ** floor(log10(least))
    return power * next(step for step in STEPS if step * power >= least * (1 - 1e-9))
