"""Shared parts of all pages: colors, templates and charts.

A color has one meaning, on light and dark screens; the hues are those of Okabe and Ito, distinct
for any color vision. Charts are rows of HTML tables, so that labels are readable on a phone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil, floor, log10
from typing import Any

import jinja2
import numpy as np
import yaml
from markupsafe import Markup

from kille_env.words.text import printable

COLORS = {
    "paper": ("#ffffff", "#15181d"),
    "ink": ("#1f2328", "#e4e7eb"),
    "soft": ("#5b6470", "#a0a9b5"),
    "line": ("#d7dce2", "#343a43"),
    "panel": ("#f5f6f8", "#1e2229"),
    "link": ("#0b5cad", "#7fb8f0"),
    "greedy": ("#0072b2", "#5ab4e5"),
    "sampled": ("#d55e00", "#f0964a"),
    "better": ("#d8efe5", "#16453a"),
    "better-firm": ("#93d3ba", "#1b6c56"),
    "worse": ("#f3e0ec", "#472a40"),
    "worse-firm": ("#dfa6c8", "#87457a"),
}
"""Color values on light and dark screens, by purpose."""

PAPER, INK, SOFT, LINE = (COLORS[name][0] for name in ("paper", "ink", "soft", "line"))
GREEDY, SAMPLED = (COLORS[name][0] for name in ("greedy", "sampled"))

SERIES = ("#1b6ca8", "#c8553d", "#588157", "#7d5ba6", "#b08900")
"""Colors of series within one plot; its legend names them."""

LEAST = 1e-6  # smallest value on a logarithmic axis; smaller ones, including 0, are clipped to it
WIDE, NARROW = 9.6, 3.6
"""Widths of plots in inches, for a page and for a phone, where 9 points are 12 px."""
STEPS = (1, 2, 5, 10)  # distances between ticks, times a power of ten
MOST_TICKS = 4


@dataclass(frozen=True)
class Verdict:
    """The first sentence of a page, in at most twenty words."""

    text: str
    tone: str = ""  # "better", "worse" or "", for its color


def plot(draw: Callable[[float], str]) -> Markup:
    """Draw a plot for wide and narrow screens by a function from the width in inches to SVG."""
    wide, narrow = themed(draw(WIDE)), themed(draw(NARROW))
    return Markup('<div class="wide">{}</div><div class="narrow">{}</div>').format(
        Markup(wide), Markup(narrow)
    )


def render(template: str, **values: Any) -> bytes:
    """Return a page from a template of this package, as "arena/tournament.html.j2"."""
    return _environment().get_template(template).render(values).encode()


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kille_training", "."),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "signed": signed,
        "figure": figure,
        "percent": percent,
        "within": within,
        "count": lambda value: f"{value:,}",
    }
    environment.globals |= {"colors": Markup(css()), "interval": interval}
    return environment


def yaml_lines(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as lines of YAML."""
    return yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True).splitlines()


def signed(value: float, digits: int = 3) -> str:
    """Return a number with its sign."""
    return f"{value:+.{digits}f}"


def figure(value: float, digits: int = 3) -> str:
    """Return a number without its sign, or "" if it is unknown."""
    return f"{value:.{digits}f}" if np.isfinite(value) else ""


def within(half: float, digits: int = 3) -> str:
    """Return half an interval as " ± 0.01", or "" if it is unknown."""
    return f" ± {half:.{digits}f}" if np.isfinite(half) else ""


def percent(share: float, digits: int = 1) -> str:
    """Return a share in percent, or "" if it is unknown."""
    return f"{100 * share:.{digits}f}%" if np.isfinite(share) else ""


def interval(low: float, high: float, digits: int = 3) -> str:
    """Return an interval as text."""
    if not np.isfinite([low, high]).all():
        return "no interval yet"
    return f"{low:+.{digits}f} to {high:+.{digits}f}"


def _shown(value: Any) -> Any:
    """Escape control characters in texts."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


# Colors


def css() -> str:
    """Return the colors as variables of a style sheet, light and dark."""
    light, dark = (
        " ".join(f"--{name}: {values[theme]};" for name, values in COLORS.items())
        for theme in (0, 1)
    )
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"  @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    )


def themed(svg: str) -> str:
    """Return a plot with the page's variables in place of fixed colors."""
    for name, (light, _) in COLORS.items():
        svg = svg.replace(light, f"var(--{name})")
    return svg


# Charts


@dataclass(frozen=True)
class Scale:
    """The axis of charts in the cells of a column."""

    low: float  # value at the left edge
    high: float  # value at the right edge
    ticks: tuple[float, ...]  # round numbers between them

    @classmethod
    def over(cls, *values: np.ndarray) -> "Scale":
        """Return a scale of 0 and all finite values."""
        known = np.concatenate([np.ravel(each) for each in values])
        known = known[np.isfinite(known)]
        low, high = min(0.0, *known, 0.0), max(0.0, *known, 0.0)
        if low == high:
            low, high = -1.0, 1.0
        step = _step((high - low) / MOST_TICKS)
        ticks = tuple(step * k for k in range(ceil(low / step), floor(high / step) + 1))
        room = (high - low) / 20
        return cls(low - room, high + room, ticks)

    def at(self, value: float) -> str:
        """Return the position of a value in percent of the width, clipped to the edges."""
        return f"{100 * self._share(value):.2f}%"

    def length(self, low: float, high: float) -> str:
        """Return the distance between two values in percent of the width."""
        return f"{100 * (self._share(high) - self._share(low)):.2f}%"

    @property
    def zero(self) -> str | None:
        """The position of 0; None on a logarithmic axis."""
        return self.at(0.0)

    def _share(self, value: float) -> float:
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


class LogScale(Scale):
    """A logarithmic axis between powers of ten."""

    @classmethod
    def over(cls, *values: np.ndarray) -> "LogScale":
        """Return a scale of all values from `LEAST` up."""
        known = np.maximum(np.concatenate([np.ravel(each) for each in values]), LEAST)
        first, last = floor(log10(known.min())), ceil(log10(known.max()))
        last = max(last, first + 1)
        step = ceil((last - first) / MOST_TICKS)
        ticks = tuple(10.0**power for power in range(last, first - 1, -step))[::-1]
        return cls(10.0**first, 10.0**last, ticks)

    @property
    def zero(self) -> None:
        """A logarithmic axis has no 0."""
        return

    def _share(self, value: float) -> float:
        power = log10(max(value, LEAST) / self.low) / log10(self.high / self.low)
        return min(1.0, max(0.0, power))


def _step(least: float) -> float:
    """Return the smallest round number of at least this size."""
    power = 10.0 ** floor(log10(least))
    return power * next(step for step in STEPS if step * power >= least * (1 - 1e-9))
