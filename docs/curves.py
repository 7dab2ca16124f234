"""The reference curves of docs/solvers.md: NashConv at three seats, by table and solver."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from blocks import lines_of, table
from matplotlib.figure import Figure

from kille_training.pages.page import SERIES, WIDE
from kille_training.pages.plots import STYLE, as_svg, logarithmic

DOCS = Path(__file__).parent
LEAST = 1e-9  # NashConv at which a curve ends
LINES = {
    "OpenSpiel CFR": (0, "--"),
    "OpenSpiel CFR+": (1, "--"),
    "OpenSpiel MCCFR": (2, "--"),
    "OpenSpiel XFP": (3, "--"),
    "discounted CFR": (0, "-"),
    "predictive CFR+": (1, "-"),
    "MCCFR": (2, "-"),
    "fictitious play": (3, "-"),
    "descent": (4, ":"),
    "fictitious play, descent": (4, "-"),
}
"""Color and style by solver: similar solvers have one color, those of OpenSpiel are dashed."""


def by_table() -> list[tuple[str, Any]]:
    """Return the names of the tables, small ones first, each with its curves, one per row."""
    known = pd.DataFrame(lines_of(DOCS / "data" / "reference_curves.jsonl"))
    order = known.sort_values(["sets", "table"]).table.unique()
    return [(str(name), known[known.table == name]) for name in order]


def reached() -> str:
    """Return the table of the last points of the curves."""
    tables = by_table()
    rows = [
        (method, *(_cell(here.points[here.method == method]) for _, here in tables))
        for method in LINES
    ]
    sizes = (f"`{name}`, {here.sets.iloc[0]:,} information sets" for name, here in tables)
    return table(("solver", *sizes), rows)


def _cell(curves: Any) -> str:
    """Return the last NashConv, iterations and seconds, the mean of the seeds."""
    if curves.empty:
        return ""
    iterations, seconds, found = np.mean([points[-1] for points in curves], axis=0)
    return f"{found:.1e} ({iterations:,.0f}; {seconds:.2g} s)"


def picture() -> str:
    """Plot NashConv over CPU seconds, a panel per table."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDE, 9.0), layout="constrained")
        panels = figure.subplots(3, 2).ravel()
        tables = by_table()
        for axes, (name, here) in zip(panels, tables, strict=False):
            for curve in here.itertuples():
                color, style = LINES[curve.method]
                _, seconds, found = np.array(curve.points).T
                axes.plot(
                    seconds, np.maximum(found, LEAST), style, color=SERIES[color], linewidth=1.4
                )
            logarithmic(axes, "xy")
            axes.set_title(f"{name}, {here.sets.iloc[0]:,} sets", loc="left", fontsize=9)
            axes.set_xlabel("CPU seconds")
            axes.set_ylabel("NashConv, units per deal")
        for method, (color, style) in LINES.items():
            panels[-1].plot([], [], style, color=SERIES[color], label=method)
        panels[-1].legend(loc="center", fontsize=9)
        for axes in panels[len(tables) :]:
            axes.axis("off")
        return as_svg(figure) + "\n"


BLOCKS = {DOCS / "solvers.md": {"reference curves": reached}}
FIGURES = {DOCS / "solutions" / "reference-curves.svg": picture}
