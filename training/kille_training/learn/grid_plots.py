"""Plots of grids of runs: two configurations with several seeds, and the benchmark."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from kille_agents.greedy import PLAYS
from kille_env.files import write_whole
from kille_training.learn.benchmark import Line, Results
from kille_training.pages.page import GREEDY, SAMPLED, SERIES, SOFT, WIDE
from kille_training.pages.plots import DASHED, STYLE, as_svg, logarithmic
from kille_training.statistics.aggregate import bootstrap, interquartile_mean, performance_profile

if TYPE_CHECKING:
    from kille_training.learn.seeds import Difference

LOWEST = 1e-4
"""Lower limit of NashConv in stakes in curves: the last digit of the tables."""
_LOOKS = ("-", DASHED)
_MORE = ("#222222", "#56b4e9", "#e377c2", "#7a4b2a", "#8a929c")
"""Colors from the sixth method on."""


def differences_plot(rows: "Sequence[Difference]") -> str:
    """Return the plot of all runs and of the differences as SVG, a row for each measure."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDE, 0.6 + 1.0 * len(rows)), layout="constrained")
        panels = figure.subplots(len(rows), 2, squeeze=False)
        for (runs, gap), row in zip(panels, rows, strict=True):
            for height, (values, color) in enumerate(((row.first, GREEDY), (row.second, SAMPLED))):
                level = np.full(len(values), height)
                runs.plot(values, level, "o", color=color, alpha=0.5, ms=5, mew=0)
                middle = interquartile_mean(np.array(values)[:, None])
                runs.plot([middle, middle], [height - 0.3, height + 0.3], color=color, lw=2)
            runs.set_yticks([0, 1], ["first", "second"])
            runs.set_ylim(1.6, -0.6)
            runs.set_title(row.measure, loc="left", fontsize=9)
            gap.errorbar(
                row.mean, 0, xerr=[[row.mean - row.low], [row.high - row.mean]],
                fmt="o", color=GREEDY, capsize=3,
            )  # fmt: skip
            gap.axvline(0.0, color=SOFT, lw=0.8)
            gap.set_yticks([])
        panels[0, 1].set_title("difference, 95% interval", loc="left", fontsize=9)
        return as_svg(figure)


def curves(results: Results) -> str:
    """Plot NashConv over CPU seconds, each run thin and the interquartile mean thick."""
    names = results.exact
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.4, 3.0 * len(names)), layout="constrained")
        panels = figure.subplots(len(names), 2, squeeze=False, sharey=True)
        for row, name in enumerate(names):
            for column, play in enumerate(PLAYS):
                axes = panels[row, column]
                for (method, color), look in zip(_colors(results), cycle(_LOOKS), strict=False):
                    _curve(axes, results.of_method(method, name), play, color, look, method)
                logarithmic(axes, "y")
                axes.set_title(f"{name}, {play}", loc="left", fontsize=10)
                axes.grid(axis="y")
        for axes in panels[:, 0]:
            axes.set_ylabel("NashConv, stakes")
        for axes in panels[-1]:
            axes.set_xlabel("CPU seconds")
        figure.legend(
            *panels[0, 0].get_legend_handles_labels(), loc="outside right upper", fontsize=8
        )
        return as_svg(figure)


def profiles(results: Results) -> str:
    """Return the plot of performance profiles of sampled play, with 95% bands."""
    thresholds = np.geomspace(1e-3, 1.0, 60)
    profile = partial(performance_profile, thresholds=thresholds)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 3.8), layout="constrained")
        axes = figure.subplots()
        for method, color in _colors(results):
            scores = results.scores(method, "sampled")
            if scores is None:
                continue
            axes.plot(thresholds, profile(scores), color=color, linewidth=1.8, label=method)
            if len(scores) > 1:
                found = bootstrap(scores, profile)
                ends = np.clip((found.low, found.high), 0.0, 1.0)
                axes.fill_between(thresholds, *ends, color=color, alpha=0.15)
        logarithmic(axes, "x")
        axes.set_xlabel("NashConv of sampled play, stakes")
        axes.set_ylabel("share of runs that reach it")
        axes.legend(fontsize=8)
        return as_svg(figure)


PICTURES: dict[str, Callable[[Results], str]] = {
    "benchmark_curves": curves,
    "benchmark_profiles": profiles,
}
"""The plots of the benchmark, by file name."""


def write_pictures(results: Results, folder: Path) -> None:
    """Write the plots as SVG; a grid without an exact table or a method has none."""
    if results.exact and results.methods:
        for name, make in PICTURES.items():
            lines = (line.rstrip() for line in make(results).splitlines())
            write_whole(folder / f"{name}.svg", ("\n".join(lines) + "\n").encode())


def _colors(results: Results) -> list[tuple[str, str]]:
    """Return the methods with their colors, which repeat after ten."""
    return list(zip(results.methods, cycle((*SERIES, *_MORE)), strict=False))


def _curve(axes: Any, runs: Sequence[Line], play: str, color: str, look: Any, name: str) -> None:
    if not runs:
        return
    courses = [
        np.array([(x["seconds"], max(LOWEST, x[play])) for x in run["points"] if play in x]).T
        for run in runs
    ]
    for seconds, heights in courses:
        axes.plot(seconds, heights, color=color, linewidth=0.6, alpha=0.45)
    # A long update may skip several measurements, so runs have points at different times.
    begin, end = (max(s[0] for s, _ in courses), min(s[-1] for s, _ in courses))
    at = courses[0][0][(courses[0][0] >= begin) & (courses[0][0] <= end)]
    between = np.array([np.exp(np.interp(at, s, np.log(h))) for s, h in courses])
    middle = interquartile_mean(between.T[:, :, None])
    axes.plot(at, middle, color=color, linewidth=2, linestyle=look, label=name)
