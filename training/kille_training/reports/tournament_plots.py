"""The pictures of a tournament's page, as SVG that stands in the page itself."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from kille_training.reports.plots import COLOURS, STYLE, as_svg

GREY = "#8a8a8a"
ROW = 0.24
"""Height of an entrant in a picture, inches."""


def ratings(names: Sequence[str], elo: np.ndarray, low: np.ndarray, high: np.ndarray) -> str:
    """Returns the picture of ratings with their intervals, the best on top.

    Args:
        names: [E].
        elo: [E] ratings; NaN is left out.
        low: [E] lower ends of the intervals.
        high: [E] upper ends.
    """
    order: list[int] = np.argsort(-elo, kind="stable").tolist()
    order = [one for one in order if np.isfinite(elo[one])]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.2, 0.8 + ROW * len(order)), layout="constrained")
        axes = figure.subplots()
        places = np.arange(len(order))
        axes.axvline(0.0, color=GREY, linewidth=0.8)
        axes.hlines(places, low[order], high[order], color=COLOURS[0], linewidth=2.2, alpha=0.45)
        axes.scatter(elo[order], places, s=16, color=COLOURS[0], zorder=3)
        axes.set_yticks(places, [names[one] for one in order], fontsize=8)
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.set_xlabel("rating, Elo points")
        axes.grid(axis="x", color="#eeeeee")
        axes.set_axisbelow(True)
        return as_svg(figure)


def by_size(names: Sequence[str], sizes: Sequence[int], elo: np.ndarray, half: np.ndarray) -> str:
    """Returns the picture of ratings over the table size.

    Args:
        names: [E].
        sizes: [K] table sizes.
        elo: [K, E] ratings; NaN where one did not sit.
        half: [K, E] half the intervals.
    """
    last = np.nan_to_num(elo[-1], nan=-np.inf)
    order = np.argsort(-last, kind="stable").tolist()
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.2, max(3.2, 0.9 + 0.17 * len(names))), layout="constrained")
        axes = figure.subplots()
        axes.axhline(0.0, color=GREY, linewidth=0.8)
        shift = np.linspace(-0.06, 0.06, max(2, len(order)))
        for place, one in enumerate(order):
            colour = COLOURS[place % len(COLOURS)]
            dashes = ("-", (0, (4, 2)), (0, (1, 1)))[place // len(COLOURS) % 3]
            axes.errorbar(
                np.arange(len(sizes)) + shift[place], elo[:, one], half[:, one],
                color=colour, linestyle=dashes, linewidth=1.2, elinewidth=0.9,
                marker="o", markersize=3, label=names[one],
            )  # fmt: skip
        axes.set_xticks(range(len(sizes)), [f"{seats} seats" for seats in sizes])
        axes.set_ylabel("rating, Elo points")
        figure.legend(loc="outside right center", frameon=False, fontsize=7)
        return as_svg(figure)


def convergence(played: np.ndarray, half: np.ndarray, measure: str) -> str:
    """Returns the picture of how the intervals narrow while deals are played.

    Args:
        played: [N] deals.
        half: [N, E] half the interval of each entrant after so many.
        measure: What is measured, for the axis.
    """
    with mpl.rc_context(STYLE), np.errstate(invalid="ignore"):
        figure = Figure(figsize=(8.2, 3.0), layout="constrained")
        axes = figure.subplots()
        known = np.where(half > 0, half, np.nan)
        axes.plot(played, known, color=COLOURS[0], linewidth=0.8, alpha=0.35)
        full = np.isfinite(known).any(axis=1)
        if full.any():
            middle = np.nanmedian(known[full], axis=1)
            axes.plot(played[full], middle, color="#222222", linewidth=1.8, label="median")
            guide = middle[-1] * np.sqrt(played[full][-1] / played[full])
            axes.plot(
                played[full], guide, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)),
                label="as the root of the deals",
            )  # fmt: skip
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.legend(frameon=False, loc="upper right", fontsize=8)
        axes.set_xlabel("deals")
        axes.set_ylabel(f"± {measure}")
        return as_svg(figure)


def places(names: Sequence[str], shares: np.ndarray) -> str:
    """Returns the picture of how often each entrant finishes where, the best on top.

    Args:
        names: [E].
        shares: [E, P] share of the tables; NaN for who did not sit.
    """
    seats = shares.shape[1]
    mean = shares @ np.arange(1, seats + 1)
    order: list[int] = np.argsort(mean, kind="stable").tolist()
    order = [one for one in order if np.isfinite(mean[one])]
    colours = mpl.colormaps["RdYlBu"](np.linspace(0.92, 0.08, seats))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.2, 0.9 + ROW * len(order)), layout="constrained")
        axes = figure.subplots()
        rows, left = np.arange(len(order)), np.zeros(len(order))
        for rank in range(seats):
            width = shares[order, rank]
            axes.barh(rows, width, left=left, color=colours[rank], height=0.8, label=rank + 1)
            left += width
        axes.set_yticks(rows, [names[one] for one in order], fontsize=8)
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.set_xlim(0.0, 1.0)
        axes.set_xlabel("share of the tables")
        figure.legend(
            loc="outside upper center", ncols=min(seats, 10), frameon=False, fontsize=8,
            title="place",
        )  # fmt: skip
        return as_svg(figure)


def shades(mark: np.ndarray, firm: np.ndarray) -> Mapping[tuple[int, int], str]:
    """Returns the class of each cell of a crosstable: better or worse, and whether firmly so."""
    words = {(1, 1): "better firm", (1, 0): "better", (-1, -1): "worse firm", (-1, 0): "worse"}
    return {
        (row, column): words.get((int(mark[row, column]), int(firm[row, column])), "")
        for row, column in np.ndindex(mark.shape)
    }
