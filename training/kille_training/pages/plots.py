"""Shared parts of all plots: style, axes and SVG."""

import io
import re
import warnings
from typing import Any

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from kille_training.pages.page import (
    INK,
    LINE,
    PAPER,
    SOFT,
)

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


def as_svg(figure: Figure) -> str:
    """Return the figure as an `<svg>` element."""
    text = io.StringIO()
    with warnings.catch_warnings():
        # The viewer draws letters that this font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})
    whole = text.getvalue()
    # Several plots on one page would repeat the names of their groups.
    return re.sub(r'<g id="[^"]*"', "<g", whole[whole.index("<svg") :])


def logarithmic(axes: Any, which: str) -> None:
    """Make the "x" or "y" axis logarithmic, or both, with plain numbers beside them."""
    for letter in which:
        axes.set(**{f"{letter}scale": "log"})
        axis = getattr(axes, f"{letter}axis")
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_formatter("")
