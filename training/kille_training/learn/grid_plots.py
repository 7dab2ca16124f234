"""Plots of the benchmark."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from kille_env.files import write_whole
from kille_training.learn.benchmark import Line, Results, score_of
from kille_training.pages.page import SERIES, SOFT, WIDE
from kille_training.pages.plots import STYLE, as_svg, logarithmic

LOWEST = 1e-4  # lower limit of scores in curves
AXES = {"decisions": "decisions, thousands", "seconds": "CPU seconds"}
"""Axes of the curves of a run, and their labels."""
SCALE = {"decisions": 1000, "seconds": 1}
MARKS = {"o": "●", "s": "■", "^": "▲"}  # marks of arms, and the same as letters
COLORS = (*SERIES, "#222222", "#56b4e9", "#e377c2", "#7a4b2a", "#8a929c")
"""Colors of methods."""


def curves(results: Results, task: str) -> str:
    """Plot the scores at a task: over decisions, over CPU seconds, and at the end by arm."""
    methods, arms = results.values("method"), results.values("arm")
    budgets, looks = results.values("budget"), dict(zip(methods, cycle(COLORS), strict=False))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDE, 4.0), layout="constrained")
        panels = figure.subplots(1, 3, sharey=True)
        for number, (axes, key) in enumerate(zip(panels, AXES, strict=False)):
            budget = budgets[min(number, len(budgets) - 1)]
            for method, color in looks.items():
                _curve(axes, results.runs(task, method, arms[0], budget), key, color)
            axes.set_xlabel(AXES[key])
            axes.set_title(arms[0], loc="left", fontsize=9)
        for place, (method, color) in enumerate(looks.items()):
            for shift, (arm, mark) in enumerate(zip(arms, MARKS, strict=False)):
                runs = results.runs(task, method, arm, budgets[0])
                _end(panels[2], runs, place + (shift - 1) / 5, color, mark)
        panels[2].set_xticks(range(len(methods)), methods, rotation=40, ha="right")
        said = ", ".join(f"{MARKS[mark]} {arm}" for arm, mark in zip(arms, MARKS, strict=False))
        panels[2].set_title(f"at the end: {said}", loc="left", fontsize=9)
        logarithmic(panels[0], "y")
        lowest = panels[0].get_ylim()[0] / 2  # a reference far below would flatten the curves
        for axes in panels:
            axes.grid(axis="y")
        for line in results.players(task):
            if (height := float(score_of([line]).value)) > lowest:
                for axes in panels:
                    axes.axhline(height, color=SOFT, linewidth=1, linestyle=":")
                panels[1].annotate(
                    line["method"], (1, height), (0, 2), xycoords=("axes fraction", "data"),
                    color=SOFT, textcoords="offset points", ha="right", va="bottom", fontsize=8,
                )  # fmt: skip
        panels[0].set_ylabel("NashConv, share of uniform play's")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=7)
        return as_svg(figure)


def write_pictures(results: Results, folder: Path) -> None:
    """Write a plot of each task with runs as SVG."""
    for task in results.values("task"):
        lines = (line.rstrip() for line in curves(results, task).splitlines())
        write_whole(folder / f"{task}.svg", ("\n".join(lines) + "\n").encode())


def _curve(axes: Any, runs: Sequence[Line], key: str, color: str) -> None:
    """Draw each run thin, and their geometric mean thick."""
    courses = [
        np.array([(x[key] / SCALE[key], max(LOWEST, x["share"])) for x in run["points"]]).T
        for run in runs
    ]
    if not courses:
        return
    for along, heights in courses:
        axes.plot(along, heights, color=color, linewidth=0.6, alpha=0.4)
    # A long update may skip several measurements, so runs have points at different places.
    begin, end = (max(at[0] for at, _ in courses), min(at[-1] for at, _ in courses))
    at = np.linspace(begin, end, 50)
    middle = np.mean([np.interp(at, along, np.log(heights)) for along, heights in courses], axis=0)
    axes.plot(at, np.exp(middle), color=color, linewidth=2, label=runs[0]["method"])


def _end(axes: Any, runs: Sequence[Line], place: float, color: str, mark: str) -> None:
    """Draw the final score of runs with its interval."""
    if runs:
        found = score_of(runs)
        ends = np.nan_to_num([[found.value - found.low], [found.high - found.value]])
        axes.errorbar(place, found.value, yerr=ends, fmt=mark, color=color, capsize=2, ms=5)
