"""The colors of pictures, as a style sheet: drawings name a color by class and hold none.

The hues are those of Okabe and Ito, which people with any color vision can tell apart. A class
named for a color fills with it, `edge` adds an outline in ink, and `line` or `line-COLOR` draws
an outline and fills nothing. Widths of lines stand in the drawings.
"""

from collections.abc import Callable
from typing import Literal

Theme = Literal["light", "both"]

COLORS = {
    "paper": ("#fffdf6", "#e9e2d2"),
    "rim": ("#b9b2a1", "#0d0f12"),
    "ink": ("#22252b", "#1a1c20"),
    "shade": ("#efe8d6", "#d8cfba"),
    "red": ("#d55e00", "#c65700"),
    "gold": ("#e69f00", "#da9700"),
    "green": ("#009e73", "#008c66"),
    "blue": ("#0072b2", "#0068a3"),
    "sky": ("#56b4e9", "#4fa8db"),
    "rose": ("#cc79a7", "#c0709d"),
    "page": ("#ffffff", "#101614"),
    "felt": ("#2b7657", "#16382d"),
    "seam": ("#3f8c6b", "#235245"),
    "on-felt": ("#f4fbf7", "#d9e8e0"),
    "plate": ("#fffdf6", "#22302b"),
    "plate-rim": ("#1d4d3a", "#4b6a5d"),
    "label": ("#1c2723", "#f1f4ef"),
    "note": ("#475750", "#b3c4bb"),
    "gain": ("#17663c", "#7fd4a4"),
    "loss": ("#a3282f", "#f4a6a9"),
    "turn": ("#f5b82e", "#f5b82e"),
    "mark": ("#9a5b00", "#f5b82e"),
    "tag": ("#1c2723", "#0c1210"),
    "on-tag": ("#ffffff", "#ffffff"),
}
"""Each color on light and on dark screens."""


def style(theme: Theme) -> str:
    """Return the style sheet of pictures."""
    if theme == "both":
        return _variables() + _rules(lambda name: f"var(--picture-{name})")
    return _rules(lambda name: COLORS[name][0])


def _rules(color: Callable[[str], str]) -> str:
    ink = f"stroke:{color('ink')};stroke-linecap:round;stroke-linejoin:round"
    lines = (
        f".line-{name}{{fill:none;stroke:{color(name)};stroke-linecap:round;stroke-linejoin:round}}"
        for name in COLORS
    )
    return "\n".join(
        [
            *(f".{name}{{fill:{color(name)}}}" for name in COLORS),
            *lines,
            f".line{{fill:none;{ink}}}",
            f".edge{{{ink}}}",
            ".text{font-family:'Helvetica Neue',Arial,sans-serif;font-weight:700}",
            ".faded{opacity:.55}",
            "",
        ]
    )


def _variables() -> str:
    light, dark = (
        "".join(f"--picture-{name}:{both[number]};" for name, both in COLORS.items())
        for number in (0, 1)
    )
    return (
        f":root{{{light}}}\n"
        f"@media (prefers-color-scheme: dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=dark]{{{dark}}}\n"
    )
