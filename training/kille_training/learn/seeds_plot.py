"""The plot of two configurations with several seeds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from kille_training.pages.page import GREEDY, SAMPLED, SOFT, WIDE
from kille_training.pages.plots import STYLE, as_svg
from kille_training.statistics.aggregate import interquartile_mean

if TYPE_CHECKING:
    from kille_training.learn.seeds import Difference


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
