"""The page of two configurations with several seeds each: the differences, and every run."""

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kille_env.registry import spec
from kille_training.learn.runs import seed_runs
from kille_training.pages.page import (
    GREEDY,
    SAMPLED,
    SOFT,
    WIDE,
    Verdict,
    plot,
    render,
    write,
    yaml_lines,
)
from kille_training.pages.plots import STYLE, as_svg
from kille_training.settings import plain, versions
from kille_training.statistics.aggregate import interquartile_mean

if TYPE_CHECKING:
    from kille_training.learn.seeds import Difference, SeedComparison


def write_seeds_page(found: "SeedComparison", out: Path) -> Path:
    """Write the page of a comparison of seeds, and return where it is.

    Args:
        found: What it shows.
        out: The page's file.

    Raises:
        KilleError: It cannot be written.
    """
    settings = next(iter(seed_runs(found.better).values())).settings()
    out.parent.mkdir(parents=True, exist_ok=True)
    page = render(
        "learn/seeds.html.j2",
        found=found,
        game=spec(found.table.game),
        verdict=verdict(found),
        plot=plot(lambda width: differences(found, width)),
        settings_lines=yaml_lines(plain(settings)),
        rules=found.table.rules.as_dict(),
        versions=versions(),
        unit_s="deals",
    )
    return write(out, page)


def verdict(found: "SeedComparison") -> Verdict:
    """Return in how many measures the interval excludes no difference."""
    clear = [each for each in found.differences if each.low > 0 or each.high < 0]
    return Verdict(
        f"{found.better} and {found.worse} differ in {len(clear)} of {len(found.differences)} "
        "measures by more than the luck of seeds and deals."
    )


def differences(found: "SeedComparison", width: float = WIDE) -> str:
    """Return the plot of every run and of the differences, as SVG.

    Args:
        found: What it shows.
        width: In inches.
    """
    rows = found.differences
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, 0.6 + 1.0 * len(rows)), layout="constrained")
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
