"""The colours of every page and plot. One colour means one thing, on light and dark screens.

The hues are those of Okabe and Ito, which people with any colour vision can tell apart.
"""

COLOURS = {
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
"""What a colour is for, and its value on light and on dark screens."""

PAPER, INK, SOFT, LINE = (COLOURS[name][0] for name in ("paper", "ink", "soft", "line"))
GREEDY, SAMPLED = (COLOURS[name][0] for name in ("greedy", "sampled"))

NO_DATA = "#e9ebee"
SHARES = "RdYlBu_r"
"""Colour map of a probability, from never to always."""
SERIES = ("#1b6ca8", "#c8553d", "#588157", "#7d5ba6", "#b08900")
"""Colours of what one plot alone compares; its legend names them."""


def css() -> str:
    """Returns the colours as variables of a style sheet, light and dark."""
    light, dark = (
        " ".join(f"--{name}: {values[theme]};" for name, values in COLOURS.items())
        for theme in (0, 1)
    )
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"  @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    )


def themed(svg: str) -> str:
    """Returns a plot with the page's variables in place of fixed colours."""
    for name, (light, _) in COLOURS.items():
        svg = svg.replace(light, f"var(--{name})")
    return svg
