"""What all pages share: the environment of their templates, and how they are written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import yaml
from markupsafe import Markup

from kille_env.errors import KilleError
from kille_env.files import write_whole
from kille_env.words.text import printable
from kille_training.pages.palette import css, themed

WIDE, NARROW = 9.6, 4.6
"""Widths of plots in inches: for the width of a page, and for a phone."""


@dataclass(frozen=True)
class Verdict:
    """What comes first on a page, in at most twenty words.

    Attributes:
        text: The sentence.
        tone: "better", "worse" or "", which colours it.
    """

    text: str
    tone: str = ""


def plot(draw: Callable[[float], str]) -> Markup:
    """Draws a plot twice, for wide and for narrow screens; the page shows the one that fits.

    Args:
        draw: Returns the plot as SVG for a width in inches.
    """
    wide, narrow = themed(draw(WIDE)), themed(draw(NARROW))
    return Markup('<div class="wide">{}</div><div class="narrow">{}</div>').format(
        Markup(wide), Markup(narrow)
    )


def render(template: str, **values: Any) -> bytes:
    """Returns a page.

    Args:
        template: Its file in this package, as "arena/tournament.html.j2".
        values: What it shows.
    """
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
    environment.globals |= {"colours": Markup(css()), "interval": interval}
    return environment.get_template(template).render(values).encode()


def write(path: Path, page: bytes, again: str = "kille_training.report(FOLDER, PAGE)") -> Path:
    """Writes a page, whole or not at all, and returns where it is.

    Args:
        path: Its file.
        page: The page.
        again: The command that writes it somewhere else.

    Raises:
        KilleError: It cannot be written there; the message says what to do instead.
    """
    try:
        write_whole(path, page)
    except OSError as error:
        raise KilleError(
            f"cannot write the page {path} ({error.strerror}); "
            f"write it to another place with {again}"
        ) from None
    return path


def yaml_lines(settings: Mapping[str, Any]) -> list[str]:
    """Returns settings as lines of YAML."""
    return yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True).splitlines()


def signed(value: float, digits: int = 3) -> str:
    """Returns a number with its sign."""
    return f"{value:+.{digits}f}"


def figure(value: float, digits: int = 3) -> str:
    """Returns a number without its sign, or nothing for one that is not known."""
    return f"{value:.{digits}f}" if np.isfinite(value) else ""


def within(half: float, digits: int = 3) -> str:
    """Returns half an interval as it stands behind a mean, or nothing without one."""
    return f" ± {half:.{digits}f}" if np.isfinite(half) else ""


def percent(share: float, digits: int = 1) -> str:
    """Returns a share in percent, or nothing for one that is not known."""
    return f"{100 * share:.{digits}f}%" if np.isfinite(share) else ""


def interval(low: float, high: float, digits: int = 3) -> str:
    """Returns an interval in words; a single deal has none."""
    if not np.isfinite([low, high]).all():
        return "no interval yet"
    return f"{low:+.{digits}f} to {high:+.{digits}f}"


def _shown(value: Any) -> Any:
    """Makes control characters of texts from files visible."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
