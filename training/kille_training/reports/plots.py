"""The report's pictures, as SVG that stands in the page itself."""

import io
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from kille_env.cards.pack import KILLE_CODES
from kille_training.evaluation.swap_map import SwapMap
from kille_training.labels import position_names

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8a8a8a",
    "axes.labelcolor": "#333333",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "svg.hashsalt": "kille",  # equal figures are equal files
    "svg.fonttype": "path",
}
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#7d5ba6", "#b08900")


def learning_curve(measurements: Sequence[dict[str, str]], measure: str) -> str:
    """Returns the picture of what the agent earned while it learnt, with 95 % intervals.

    Args:
        measurements: Lines of measurements.csv.
        measure: What they tell, as "units a deal".
    """
    baselines = list(dict.fromkeys(row["against"] for row in measurements))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.2, 0.8 + 2.1 * max(1, len(baselines))), layout="constrained")
        panels = figure.subplots(max(1, len(baselines)), sharex=True, squeeze=False)[:, 0]
        for axes, against, colour in zip(panels, baselines, cycle(COLOURS), strict=False):
            axes.axhline(0.0, color="#8a8a8a", linewidth=0.8)
            axes.set_title(f"against {against}", loc="left", fontsize=10)
            axes.set_ylabel(measure)
            for play, dashes in (("argmax", "-"), ("sampled", (0, (4, 2)))):
                rows = [
                    row for row in measurements if (row["against"], row["play"]) == (against, play)
                ]
                decisions = [int(row["decisions"]) / 1e6 for row in rows]
                mean, low, high = (
                    [float(row[name]) for row in rows] for name in ("mean", "low", "high")
                )
                axes.plot(
                    decisions, mean, color=colour, linestyle=dashes, linewidth=1.6, label=play
                )
                if play == "argmax":
                    axes.fill_between(decisions, low, high, color=colour, alpha=0.18, linewidth=0)
            axes.legend(frameon=False, loc="lower right", ncols=2)
        panels[-1].set_xlabel("decisions, millions")
        panels[-1].set_xlim(left=0.0)
        return as_svg(figure)


def swap_heat_map(found: SwapMap, rule: SwapMap | None = None) -> str:
    """Returns the picture of how likely a swap is, by card and position.

    Args:
        found: What the agent does.
        rule: What the rule-of-thumb player does; a dot marks where he swaps.
    """
    players = len(found.dealt)
    names = position_names(players)
    blocks = [
        (f"{name}, dealt", row)
        for name, row in zip(names, _rows(found, rule, "dealt"), strict=True)
    ]
    blocks += [
        (f"{name}, taken", row)
        for name, row in zip(names, _rows(found, rule, "taken"), strict=True)
        if not np.isnan(row[0]).all()
    ]
    if not np.isnan(found.asks).all():
        blocks.append(
            (f"{names[0]} asks", (found.asks, found.asks * 0 if rule is None else rule.asks))
        )
    values = np.array([row[0] for _, row in blocks])
    dots = np.array([row[1] for _, row in blocks])
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.2, 0.8 + 0.34 * len(blocks)), layout="constrained")
        axes = figure.subplots()
        colours = mpl.colormaps["RdYlBu_r"].with_extremes(bad="#eeeeee")
        image = axes.imshow(
            np.ma.masked_invalid(values), cmap=colours, vmin=0, vmax=1, aspect="auto"
        )
        where = np.argwhere(dots > 0.5)
        axes.scatter(where[:, 1], where[:, 0], s=7, color="#222222", linewidths=0)
        axes.set_xticks(range(len(KILLE_CODES)), KILLE_CODES, fontsize=8)
        axes.set_yticks(range(len(blocks)), [label for label, _ in blocks], fontsize=8)
        axes.set_xticks(np.arange(-0.5, len(KILLE_CODES)), minor=True)
        axes.set_yticks(np.arange(-0.5, len(blocks)), minor=True)
        axes.grid(which="minor", color="white", linewidth=1)
        axes.tick_params(which="both", length=0)
        axes.spines[:].set_visible(False)
        bar = figure.colorbar(image, ax=axes, pad=0.01, aspect=12, ticks=[0, 0.5, 1])
        bar.outline.set_visible(False)  # type: ignore[operator]
        return as_svg(figure)


def convergence(
    curves: Mapping[str, tuple[Sequence[int], Sequence[float]]], target: float | None = None
) -> str:
    """Returns the picture of NashConv over the iterations, both on logarithmic axes.

    Args:
        curves: Iterations and NashConv by name.
        target: Where it was to end, if that is to be drawn.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.2, 3.4), layout="constrained")
        axes = figure.subplots()
        if target is not None:
            axes.axhline(target, color="#8a8a8a", linewidth=0.8, linestyle=(0, (4, 2)))
        for (name, (iterations, found)), colour in zip(
            curves.items(), cycle(COLOURS), strict=False
        ):
            axes.plot(iterations, found, color=colour, linewidth=1.6, label=name)
        if curves:  # empty axes have no logarithm
            axes.set_xscale("log")
            axes.set_yscale("log")
        axes.set_xlabel("iterations")
        axes.set_ylabel("NashConv, units a deal")
        if len(curves) > 1:
            axes.legend(frameon=False, loc="upper right", fontsize=8)
        return as_svg(figure)


def _rows(found: SwapMap, rule: SwapMap | None, which: str) -> list[tuple[np.ndarray, np.ndarray]]:
    theirs = getattr(rule, which) if rule is not None else np.zeros_like(getattr(found, which))
    return list(zip(getattr(found, which), theirs, strict=True))


def as_svg(figure: Figure) -> str:
    """Returns the figure as an `<svg>` element."""
    text = io.StringIO()
    FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})
    whole = text.getvalue()
    return whole[whole.index("<svg") :]
