"""The reference curves of docs/solvers.md: NashConv at three seats, by table and solver."""

from itertools import zip_longest
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from blocks import lines_of, table
from matplotlib.figure import Figure

from kille_training.pages.page import SERIES, WIDE
from kille_training.pages.plots import STYLE, as_svg, logarithmic

DOCS = Path(__file__).parent
DATA = DOCS / "data" / "reference_curves.jsonl"
LINES = {
    "OpenSpiel CFR": (0, "--"),
    "OpenSpiel CFR+": (1, "--"),
    "OpenSpiel MCCFR": (2, "--"),
    "OpenSpiel XFP": (3, "--"),
    "discounted CFR": (0, "-"),
    "predictive CFR+": (1, "-"),
    "MCCFR": (2, "-"),
    "fictitious play": (3, "-"),
    "descent": (4, "-"),
    "fictitious play, descent": (4, "-."),
}
"""Color and style by solver: similar solvers have one color, those of OpenSpiel are dashed."""


def curves() -> Any:
    """Return the curves, one per row of a DataFrame."""
    return pd.DataFrame(lines_of(DATA))


def reached() -> str:
    """Return NashConv at the end of the curves; means of the seeds."""
    known = curves()
    tables = known.drop_duplicates("table")
    rows = []
    for method in LINES:
        here = known[known.method == method].groupby("table").points
        rows.append((method, *map(_cell, (here.get_group(name) if name in here.groups else [] for name in tables.table))))
    heads = (f"`{line.table}`, {line.sets:,}" for line in tables.itertuples())
    return table(("solver", *heads), rows)


def _cell(runs: Any) -> str:
    """Return the mean last point of runs: NashConv, iterations and seconds."""
    if not len(runs):
        return ""
    iterations, seconds, found = (sum(each) / len(runs) for each in zip(*(points[-1] for points in runs), strict=True))
    return f"{found:.1e} ({iterations:,.0f} in {seconds:.2g} s)"


def picture() -> str:
    """Plot NashConv over CPU seconds, a panel per table."""
    known = curves()
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDE, 9.5), layout="constrained")
        panels = figure.subplots(3, 2).ravel()
        for axes, (name, here) in zip_longest(panels, known.groupby("table", sort=False), fillvalue=("", known[:0])):
            for line in here.itertuples():
                color, style = LINES[line.method]
                _, seconds, found = zip(*line.points, strict=True)
                axes.plot(seconds, found, style, color=SERIES[color], linewidth=1.4)
            axes.set_title(name, loc="left", fontsize=9)
        return as_svg(figure) + "\n"


BLOCKS = {DOCS / "solvers.md": {"reference curves": reached}}
FIGURES = {DOCS / "solutions" / "reference-curves.svg": picture}
