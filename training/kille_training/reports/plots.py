"""The plots of a training run and of a solution, as SVG; and what all plots share."""

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from kille_training.evaluation.duplicate import DETERMINISTIC, PLAYS
from kille_training.reports.pages import WIDE
from kille_training.reports.palette import (
    GREEDY,
    INK,
    LINE,
    PAPER,
    SAMPLED,
    SERIES,
    SOFT,
)

LEAST = 1e-6
"""What a logarithmic axis shows for less, nothing included."""
DASHED = (0, (4, 2))
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": SOFT,
    "axes.facecolor": PAPER,
    "axes.labelcolor": INK,
    "figure.facecolor": PAPER,
    "grid.color": LINE,
    "legend.frameon": False,
    "text.color": INK,
    "text.parse_math": False,  # a name may hold dollar signs
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "svg.hashsalt": "kille",  # equal figures are equal files
    "svg.fonttype": "none",
}


def learning_curve(
    measurements: Sequence[Mapping[str, str]], measure: str, width: float = WIDE
) -> str:
    """Returns the plot of what the policy earned while it learned, with 95% intervals.

    Args:
        measurements: Lines of measurements.csv.
        measure: What they hold, as "units per deal".
        width: In inches.
    """
    baselines = list(dict.fromkeys(row["against"] for row in measurements))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, 0.8 + 2.1 * max(1, len(baselines))), layout="constrained")
        panels = figure.subplots(max(1, len(baselines)), sharex=True, squeeze=False)[:, 0]
        for axes, against in zip(panels, baselines, strict=False):
            axes.axhline(0.0, color=SOFT, linewidth=0.8)
            axes.set_title(f"against {against}", loc="left", fontsize=9)
            axes.set_ylabel(measure)
            mine = [row for row in measurements if row["against"] == against]
            for play, rows in _by_play(mine).items():
                decisions = [int(row["decisions"]) / 1e6 for row in rows]
                mean, low, high = (
                    [float(row[name]) for row in rows] for name in ("mean", "low", "high")
                )
                look = _look(play)
                axes.fill_between(decisions, low, high, color=look["color"], alpha=0.15, lw=0)
                axes.plot(decisions, mean, label=play, **look)
            axes.legend(loc="lower right", ncols=2)
        _count_decisions(panels[-1])
        return as_svg(figure)


def nash_conv_curve(points: Sequence[Mapping[str, str]], measure: str, width: float = WIDE) -> str:
    """Returns the plot of exact NashConv while the policy learned, on a logarithmic axis.

    Args:
        points: Lines of exact.csv.
        measure: What NashConv is counted in, as "units per deal".
        width: In inches.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, 3.0), layout="constrained")
        axes = figure.subplots()
        for play, rows in _by_play(points).items():
            decisions = [int(row["decisions"]) / 1e6 for row in rows]
            values = [max(LEAST, float(row["nash_conv"])) for row in rows]
            axes.plot(decisions, values, label=play, **_look(play))
        logarithmic(axes, "y")
        axes.set_ylabel(f"NashConv, {measure}")
        axes.grid(axis="y")
        axes.legend(loc="upper right", ncols=2)
        _count_decisions(axes)
        return as_svg(figure)


def convergence(
    curves: Mapping[str, tuple[Sequence[int], Sequence[float]]], target: float | None = None
) -> str:
    """Returns the plot of NashConv over the iterations, both on logarithmic axes.

    Args:
        curves: Iterations and NashConv by name.
        target: Where it was to end, if that is to be drawn.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDE, 3.4), layout="constrained")
        axes = figure.subplots()
        if target is not None:
            axes.axhline(target, color=SOFT, linewidth=0.8, linestyle=DASHED)
        for (name, (iterations, found)), colour in zip(curves.items(), cycle(SERIES), strict=False):
            axes.plot(iterations, found, color=colour, linewidth=1.6, label=name)
        if curves:  # empty axes have no logarithm
            logarithmic(axes, "xy")
        axes.set_xlabel("iterations")
        axes.set_ylabel("NashConv, units per deal")
        if len(curves) > 1:
            axes.legend(loc="upper right", fontsize=8)
        return as_svg(figure)


def as_svg(figure: Figure) -> str:
    """Returns the figure as an `<svg>` element."""
    text = io.StringIO()
    with warnings.catch_warnings():
        # The letters of a name that this font lacks are drawn by whoever shows the plot.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})
    whole = text.getvalue()
    # Several plots on one page would repeat the names of their groups.
    return re.sub(r'<g id="[^"]*"', "<g", whole[whole.index("<svg") :])


def logarithmic(axes: Any, which: str) -> None:
    """Makes the "x" or "y" axis logarithmic, or both, with plain numbers beside them."""
    for letter in which:
        axes.set(**{f"{letter}scale": "log"})
        axis = getattr(axes, f"{letter}axis")
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_formatter("")


def _by_play(rows: Sequence[Mapping[str, str]]) -> dict[str, list[Mapping[str, str]]]:
    """Returns lines by way of playing; one that is deterministic belongs to both."""
    plays = {row["play"] for row in rows}
    return {
        play: [row for row in rows if row["play"] in (play, DETERMINISTIC)]
        for play in (*PLAYS, DETERMINISTIC)
        if play in plays and (play != DETERMINISTIC or len(plays) == 1)
    }


def _look(play: str) -> dict[str, Any]:
    """Returns how the line of a way of playing looks: the same on every plot.

    What was measured is marked: a short run has one point, and no line.
    """
    colour, line = (SAMPLED, DASHED) if play == "sampled" else (GREEDY, "-")
    return {"color": colour, "linestyle": line, "linewidth": 1.6, "marker": "o", "markersize": 3}


def _count_decisions(axes: Any) -> None:
    """Labels the axis that counts decisions, from 0."""
    axes.set_xlabel("decisions, millions")
    axes.set_xlim(left=0.0)
