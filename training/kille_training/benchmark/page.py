"""Tables and pictures of the benchmark, from the results of its runs."""

from collections.abc import Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import fmean
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from kille_agents.greedy import PLAYS
from kille_env.files import write_whole
from kille_training.benchmark.results import (
    Line,
    Results,
    held_out_units,
    rule_of_thumb_units,
)
from kille_training.benchmark.tables import measured_exactly
from kille_training.benchmark.tuning import Tried
from kille_training.pages.page import SERIES
from kille_training.pages.plots import DASHED, STYLE, as_svg, logarithmic
from kille_training.results import TextTable
from kille_training.statistics.aggregate import (
    bootstrap,
    interquartile_mean,
    performance_profile,
)

EXACT = ("method", ">greedy", ">sampled")
PLAYED = ("method", ">rule of thumb", ">held-out population", ">a response gains")
SPENT = ("method", ">million decisions", ">processor seconds", ">elapsed seconds")
"""Columns of what was reached; ">" marks figures."""
SAMPLED = "sampled"
LOWEST = 1e-4
"""NashConv in stakes that curves show for less: the last digit of the tables."""


def reached_rows(results: Results) -> list[tuple[str, ...]]:
    """Returns what methods reached at the end, one row per table and method.

    NashConv in stakes is the interquartile mean over the seeds with its interval, the others are
    means over the seeds, in units per deal, in decisions and in seconds.
    """
    rows = []
    for name in results.tables:
        for line in (line for line in results.players if line["run"]["table"] == name):
            rows.append((name, line["run"]["method"], *_cells([line])))
        for method in results.methods:
            if runs := results.of(method, name):
                rows.append((name, method, *_cells(runs)))
    return rows


def overall_rows(results: Results) -> list[tuple[str, ...]]:
    """Returns the interquartile mean of NashConv over all exact tables, method by method."""
    rows = []
    for method in results.methods:
        found = [results.scores(method, _exact(results), play) for play in PLAYS]
        rows.append((method, *("" if scores is None else _mean(scores) for scores in found)))
    return rows


def reached_tables(results: Results) -> list[TextTable]:
    """Returns what methods reached at the end, for the terminal, table by table."""
    kinds = (
        ("NashConv in stakes, interquartile mean, 95% interval", EXACT, slice(2, 4)),
        ("units per deal against others, mean over the seeds", PLAYED, slice(4, 7)),
        ("what a run took, mean over the seeds", SPENT, slice(7, 10)),
    )
    rows, shown = reached_rows(results), []
    for name in results.tables:
        here = [row for row in rows if row[0] == name]
        for about, columns, part in kinds:
            if found := [(row[1], *row[part]) for row in here if any(row[part])]:
                shown.append(TextTable(f"{name}: {about}", columns, found))
    return shown


def tuned_table(lines: Sequence[Tried]) -> TextTable:
    """Returns what candidates reached, for the terminal; the best of each method has a mark."""
    rows = [
        (
            line.method,
            line.candidate + (" *" if line.best else ""),
            f"{line.nash_conv:.4f}",
            ", ".join(f"{key}: {value}" for key, value in line.settings.items()) or "the defaults",
        )
        for line in lines
    ]
    heading = "NashConv of sampled play in stakes, the mean over tables and seeds; * is the best"
    return TextTable(heading, ("method", "candidate", ">NashConv", "settings"), rows)


def curves(results: Results) -> str:
    """Returns the plot of NashConv over processor seconds, each run thin, the mean thick."""
    names = _exact(results)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.4, 3.0 * len(names)), layout="constrained")
        panels = figure.subplots(len(names), 2, squeeze=False, sharey=True)
        for row, name in enumerate(names):
            for column, play in enumerate(PLAYS):
                axes = panels[row, column]
                for (method, colour), look in zip(_colours(results), cycle(_LOOKS), strict=False):
                    _curve(axes, results.of(method, name), play, colour, look, method)
                logarithmic(axes, "y")
                axes.set_title(f"{name}, {play}", loc="left", fontsize=10)
                axes.grid(axis="y")
        for axes in panels[:, 0]:
            axes.set_ylabel("NashConv, stakes")
        for axes in panels[-1]:
            axes.set_xlabel("processor seconds")
        shown = panels[0, 0].get_legend_handles_labels()
        figure.legend(*shown, loc="outside right upper", fontsize=8)
        return as_svg(figure)


def profiles(results: Results) -> str:
    """Returns the plot of performance profiles of sampled play, with 95% bands."""
    thresholds = np.geomspace(1e-3, 1.0, 60)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 3.8), layout="constrained")
        axes = figure.subplots()
        for method, colour in _colours(results):
            scores = results.scores(method, _exact(results), SAMPLED)
            if scores is None:
                continue
            profile = partial(performance_profile, thresholds=thresholds)
            axes.plot(thresholds, profile(scores), color=colour, linewidth=1.8, label=method)
            if len(scores) > 1:
                found = bootstrap(scores, profile)
                ends = np.clip((found.low, found.high), 0.0, 1.0)
                axes.fill_between(thresholds, *ends, color=colour, alpha=0.15)
        logarithmic(axes, "x")
        axes.set_xlabel("NashConv of sampled play, stakes")
        axes.set_ylabel("share of runs that reach it")
        axes.legend(fontsize=8)
        return as_svg(figure)


PICTURES = {"benchmark_curves": curves, "benchmark_profiles": profiles}
"""The pictures, by the name of their file."""
_LOOKS = ("-", DASHED)
_MORE = ("#222222", "#56b4e9", "#e377c2", "#7a4b2a", "#8a929c")
"""Colours of the sixth method and those after it."""


def write_pictures(results: Results, folder: Path) -> None:
    """Writes the pictures as SVG; a grid without an exact table or a method has none."""
    if not _exact(results) or not results.methods:
        return
    for name, make in PICTURES.items():
        lines = (line.rstrip() for line in make(results).splitlines())
        write_whole(folder / f"{name}.svg", ("\n".join(lines) + "\n").encode())


def _exact(results: Results) -> list[str]:
    return [name for name in results.tables if measured_exactly(name)]


def _colours(results: Results) -> list[tuple[str, str]]:
    """Returns the methods with their colours, which begin again after ten."""
    return list(zip(results.methods, cycle((*SERIES, *_MORE)), strict=False))


def _curve(axes: Any, runs: Sequence[Line], play: str, colour: str, look: Any, name: str) -> None:
    if not runs:
        return
    for run in runs:
        seconds = [point["seconds"] for point in run["points"]]
        axes.plot(seconds, _heights(run["points"], play), color=colour, linewidth=0.6, alpha=0.45)
    # An update may pass several checkpoints: runs have the last one, but not all before it.
    shared = set.intersection(*({point["share"] for point in run["points"]} for run in runs))
    kept = [[point for point in run["points"] if point["share"] in shared] for run in runs]
    seconds = np.mean([[point["seconds"] for point in points] for points in kept], axis=0)
    middle = interquartile_mean(np.array([_heights(points, play) for points in kept]).T[:, :, None])
    axes.plot(seconds, middle, color=colour, linewidth=2, linestyle=look, label=name)


def _heights(points: Sequence[Line], play: str) -> list[float]:
    return [max(LOWEST, point[play]["nash_conv"]) for point in points]


def _cells(runs: Sequence[Line]) -> list[str]:
    ends = [run["points"][-1] for run in runs]
    cells = []
    for play in PLAYS:
        found = [end[play]["nash_conv"] for end in ends if play in end]
        cells.append(_mean(np.array(found)[:, None]) if found else "")
    thumb = fmean(map(rule_of_thumb_units, runs))
    others = fmean(map(held_out_units, runs))
    decisions = [end["decisions"] for end in ends if "decisions" in end]
    learnt = [f"{np.mean(decisions) / 1e6:.1f}"] if decisions else [""]
    for key in ("seconds", "wall_seconds"):
        learnt.append(f"{np.mean([end[key] for end in ends]):.0f}" if decisions else "")
    gains = [end["response"]["total"][0] for end in ends if "response" in end]
    gain = f"{np.mean(gains):.3f}" if gains else ""
    return [*cells, f"{thumb:+.3f}", f"{others:+.3f}", gain, *learnt]


def _mean(scores: np.ndarray) -> str:
    """Returns the interquartile mean of NashConv, [R, T], with its interval over two seeds or more.

    NashConv is never below 0, so neither is the interval.
    """
    if len(scores) < 2:
        return _stakes(interquartile_mean(scores))
    found = bootstrap(scores, interquartile_mean)
    return f"{_stakes(found.value)} ({_stakes(max(0.0, found.low))} to {_stakes(found.high)})"


def _stakes(nash_conv: Any) -> str:
    return f"{round(nash_conv, 4) + 0.0:.4f}"  # "0.0000" where rounding leaves a little less
