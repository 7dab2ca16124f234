"""The plot of two configurations with several seeds each: every run, and the differences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kille_training.pages.page import GREEDY, SAMPLED, SOFT, WIDE
from kille_training.pages.plots import STYLE, as_svg
from kille_training.statistics.aggregate import interquartile_mean

if TYPE_CHECKING:
    from kille_training.learn.seeds import Difference


def plot_seeds(rows: "Sequence[Difference]") -> str:
    """Return the plot as SVG, a row of two panels for each measure."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDE, 0.6 + 1.0 * len(rows)), layout="constrained")
        panels = figure.subplots(len(rows), 2, squeeze=False)
        for (runs, gap), row in zip(panels, rows, strict=True):
            _runs(runs, row)
            gap.errorbar(
                row.mean, 0, xerr=[[row.mean - row.low], [row.high - row.mean]],
                fmt="o", color=GREEDY, capsize=3,
            )  # fmt: skip
            gap.axvline(0.0, color=SOFT, lw=0.8)
            gap.set_yticks([])
        panels[0, 1].set_title("difference, 95% interval", loc="left", fontsize=9)
        return as_svg(figure)


def _runs(axes: Axes, row: "Difference") -> None:
    """Draw a point for each run, and a line for the interquartile mean of each configuration."""
    for height, (values, colour) in enumerate(((row.first, GREEDY), (row.second, SAMPLED))):
        axes.plot(values, np.full(len(values), height), "o", color=colour, alpha=0.5, ms=5, mew=0)
        middle = interquartile_mean(np.array(values)[:, None])
        axes.plot([middle, middle], [height - 0.3, height + 0.3], color=colour, lw=2)
    axes.set_yticks([0, 1], ["first", "second"])
    axes.set_ylim(1.6, -0.6)
    axes.set_title(row.measure, loc="left", fontsize=9)
