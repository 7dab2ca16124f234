"""Colours of a tournament's page, and its plot of intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np

from kille_training.reports.pages import WIDE

TEXT = 11
"""Size of the letters of a plot, in the pixels of a phone."""
PIXELS = 78
"""Pixels of an inch: a narrow plot is as wide as a phone."""


def shades(mark: np.ndarray, firm: np.ndarray) -> Mapping[tuple[int, int], str]:
    """Returns the class of each cell of a crosstable: better or worse, and whether firmly so."""
    words = {(1, 1): "better firm", (1, 0): "better", (-1, -1): "worse firm", (-1, 0): "worse"}
    return {
        (row, column): words.get((int(mark[row, column]), int(firm[row, column])), "")
        for row, column in np.ndindex(mark.shape)
    }


def convergence(
    played: np.ndarray, half: np.ndarray, measure: str, many: str, width: float = WIDE
) -> str:
    """Returns the plot of how the intervals narrow while deals are played, as SVG.

    Args:
        played: [N] deals.
        half: [N, E] half the interval of each entrant after so many; NaN where there is none.
        measure: What is measured, for the axis.
        many: What is counted: "deals" or "matches".
        width: In inches.
    """
    wide, high = round(PIXELS * width), 230
    known = np.where(half > 0, half, np.nan)
    full = np.isfinite(known).any(axis=1)
    if not full.any():
        return ""
    played, known = played[full], known[full]
    across = _Axis.of(played, 44, wide - 12)
    up = _Axis.of(known[np.isfinite(known)], high - 40, 22)
    middle = np.nanmedian(known, axis=1)
    guide = middle[-1] * np.sqrt(played[-1] / played)
    lines = [_line(across, up, played, column, "soft", 0.7) for column in known.T]
    lines.append(_line(across, up, played, guide, "ink", 1.0, dashed=True))
    lines.append(_line(across, up, played, middle, "ink", 1.8))
    for value in across.ticks:
        lines.append(_text(across.at(value), high - 26, f"{value:,.0f}", "middle"))
    for value in up.ticks:
        y = up.at(value)
        lines.append(f'<path d="M44 {y:.1f}H{wide - 12}" stroke="var(--line)"/>')
        lines.append(_text(40, y + 4, f"{value:g}", "end"))
    lines.append(_text((44 + wide) / 2, high - 8, many, "middle"))
    lines.append(_text(2, 12, f"± {measure}: each entrant, their median, and 1 / √{many}", "start"))
    return (
        f'<svg viewBox="0 0 {wide} {high}" style="max-width:{wide}px" font-size="{TEXT}" '
        f'fill="none">{"".join(lines)}</svg>'
    )


@dataclass(frozen=True)
class _Axis:
    """A logarithmic axis: values between low and high stand between two pixels."""

    low: float
    high: float
    first: float
    last: float

    @classmethod
    def of(cls, values: np.ndarray, first: float, last: float) -> "_Axis":
        low, high = float(values.min()), float(values.max())
        return cls(low / 1.1, max(high, 1.01 * low) * 1.1, first, last)

    @property
    def ticks(self) -> list[float]:
        """Powers of ten, and twice and five times them where the axis is short."""
        parts = (1, 2, 5) if self.high < 100 * self.low else (1,)
        powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        found = [part * 10.0**power for power in powers for part in parts]
        return [value for value in found if self.low <= value <= self.high]

    def at(self, values: Any) -> Any:
        """Returns the pixels of values."""
        share = np.log(values / self.low) / np.log(self.high / self.low)
        return self.first + share * (self.last - self.first)


def _line(
    across: _Axis,
    up: _Axis,
    x: np.ndarray,
    y: np.ndarray,
    colour: str,
    width: float,
    dashed: bool = False,
) -> str:
    seen = np.isfinite(y)
    points = " ".join(
        f"{left:.1f},{top:.1f}"
        for left, top in zip(across.at(x[seen]), up.at(y[seen]), strict=True)
    )
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return f'<polyline points="{points}" stroke="var(--{colour})" stroke-width="{width}"{dash}/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="var(--soft)">{text}</text>'
