"""The plots of a tournament's page, as SVG."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from kille_training.reports.palette import INK, PLACES, SIZES, SOFT
from kille_training.reports.plots import DASHED, STYLE, WIDE, as_svg, logarithmic

ROW = 0.24
"""Height of an entrant in a plot, inches."""


def ratings(
    names: Sequence[str],
    elo: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    width: float = WIDE,
) -> str:
    """Returns the plot of ratings with their intervals, the best on top.

    Args:
        names: [E].
        elo: [E] ratings; NaN is left out.
        low: [E] lower ends of the intervals.
        high: [E] upper ends.
        width: In inches.
    """
    order = [one for one in np.argsort(-elo, kind="stable").tolist() if np.isfinite(elo[one])]
    with mpl.rc_context(STYLE):
        figure, axes = _rows_of(names, order, width)
        rows = np.arange(len(order))
        axes.hlines(rows, low[order], high[order], color=SOFT, linewidth=2.2, alpha=0.6)
        axes.scatter(elo[order], rows, s=16, color=INK, zorder=3)
        _rating_axis(axes)
        return as_svg(figure)


def by_size(
    names: Sequence[str],
    sizes: Sequence[int],
    elo: np.ndarray,
    half: np.ndarray,
    width: float = WIDE,
) -> str:
    """Returns the plot of ratings at each table size, the best at the largest tables on top.

    Args:
        names: [E].
        sizes: [K] table sizes.
        elo: [K, E] ratings; NaN where one did not sit.
        half: [K, E] half the intervals.
        width: In inches.
    """
    order = np.argsort(-np.nan_to_num(elo[-1], nan=-np.inf), kind="stable").tolist()
    colours = mpl.colormaps[SIZES](np.linspace(0.15, 0.85, len(sizes)))
    shifts = np.linspace(-0.25, 0.25, len(sizes))
    with mpl.rc_context(STYLE):
        figure, axes = _rows_of(names, order, width, extra=0.3)
        for size, colour, shift, mine, theirs in zip(
            sizes, colours, shifts, elo, half, strict=True
        ):
            axes.errorbar(
                mine[order], np.arange(len(order)) + shift, xerr=theirs[order], fmt="o",
                color=colour, markersize=3.5, elinewidth=1.4, label=f"{size} seats",
            )  # fmt: skip
        _rating_axis(axes)
        figure.legend(loc="outside upper center", ncols=min(len(sizes), 4), fontsize=8)
        return as_svg(figure)


def convergence(played: np.ndarray, half: np.ndarray, measure: str, width: float = WIDE) -> str:
    """Returns the plot of how the intervals narrow while deals are played.

    Args:
        played: [N] deals.
        half: [N, E] half the interval of each entrant after so many.
        measure: What is measured, for the axis.
        width: In inches.
    """
    with mpl.rc_context(STYLE), np.errstate(invalid="ignore"):
        figure = Figure(figsize=(width, 3.0), layout="constrained")
        axes = figure.subplots()
        known = np.where(half > 0, half, np.nan)
        axes.plot(played, known, color=SOFT, linewidth=0.8, alpha=0.45)
        full = np.isfinite(known).any(axis=1)
        if full.any():
            middle = np.nanmedian(known[full], axis=1)
            axes.plot(played[full], middle, color=INK, linewidth=1.8, label="median")
            guide = middle[-1] * np.sqrt(played[full][-1] / played[full])
            axes.plot(
                played[full], guide, color=INK, linewidth=1.0, linestyle=DASHED,
                label="1 / √deals",
            )  # fmt: skip
            logarithmic(axes, "xy")
            axes.legend(loc="upper right", fontsize=8)
        axes.set_xlabel("deals")
        axes.set_ylabel(f"± {measure}")
        return as_svg(figure)


def places(names: Sequence[str], shares: np.ndarray, width: float = WIDE) -> str:
    """Returns the plot of how often each entrant finishes where, the best on top.

    Args:
        names: [E].
        shares: [E, P] share of the tables; NaN for who did not sit.
        width: In inches.
    """
    seats = shares.shape[1]
    mean = shares @ np.arange(1, seats + 1)
    order = [one for one in np.argsort(mean, kind="stable").tolist() if np.isfinite(mean[one])]
    colours = mpl.colormaps[PLACES](np.linspace(0.18, 0.82, seats))
    with mpl.rc_context(STYLE):
        figure, axes = _rows_of(names, order, width, extra=0.3)
        rows, left = np.arange(len(order)), np.zeros(len(order))
        for rank in range(seats):
            part = shares[order, rank]
            axes.barh(rows, part, left=left, color=colours[rank], height=0.8, label=rank + 1)
            left += part
        axes.set_xlim(0.0, 1.0)
        axes.set_xlabel("share of the tables")
        figure.legend(
            loc="outside upper center", ncols=min(seats, 10), fontsize=8, title="place",
        )  # fmt: skip
        return as_svg(figure)


def shades(mark: np.ndarray, firm: np.ndarray) -> Mapping[tuple[int, int], str]:
    """Returns the class of each cell of a crosstable: better or worse, and whether firmly so."""
    words = {(1, 1): "better firm", (1, 0): "better", (-1, -1): "worse firm", (-1, 0): "worse"}
    return {
        (row, column): words.get((int(mark[row, column]), int(firm[row, column])), "")
        for row, column in np.ndindex(mark.shape)
    }


def _rows_of(
    names: Sequence[str], order: Sequence[int], width: float, extra: float = 0.0
) -> tuple[Figure, Any]:
    """Opens a figure with one row per entrant, in this order from the top."""
    figure = Figure(figsize=(width, 0.8 + extra + ROW * len(order)), layout="constrained")
    axes = figure.subplots()
    most = 32 if width >= WIDE else 16
    shown = (names[one] for one in order)
    labels = [name if len(name) <= most else f"{name[: most - 1]}…" for name in shown]
    axes.set_yticks(np.arange(len(order)), labels, fontsize=8, color=INK)
    axes.set_ylim(len(order) - 0.4, -0.6)
    return figure, axes


def _rating_axis(axes: Any) -> None:
    axes.axvline(0.0, color=SOFT, linewidth=0.8, zorder=0)
    axes.set_xlabel("rating, Elo points")
    axes.grid(axis="x")
    axes.set_axisbelow(True)
