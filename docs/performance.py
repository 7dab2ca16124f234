"""Makes the tables of docs/performance.md, docs/peers.svg and the README's line on both.

They come from the results in docs/data/bench.

    python docs/performance.py            write them
    python docs/performance.py --check    exit with 1 if they are stale

The results are what `python benchmarks/bench.py NAME ... --out docs/data/bench` has written.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from blocks import filled, table, write

DOCS = Path(__file__).parent
PAGE = DOCS / "performance.md"
README = DOCS.parent / "README.md"
PICTURE = DOCS / "peers.svg"
RESULTS = DOCS / "data" / "bench"

MACHINE = ("cpu", "cores", "sources")
"""What is said of the machine below each table; the first one has the versions of libraries too."""

SELECTED = {
    "batch": ("batch step, 64 tables", "batch step, 65536 tables", "batch step, 4096 tables, 20"),
    "one": ("",),
    "threads": ("two threads over one, 16384",),
    "aec": ("AEC decision",),
    "gym": ("KilleEnv decision, 4 seats, against rule",),
    "seats": ("SeatVecEnv step",),
    "start": ("first compilation: import", "warm start"),
    "train": ("MaskablePPO end to end",),
    "cost": ("",),
}
"""Rows that the page shows of each file, by how they begin."""

SLOWER = " in Python"
"""Solvers of OpenSpiel that are slower than its own in C++; the picture shows them too."""

Line = dict[str, Any]


def figure(value: float) -> str:
    """Returns a number with three digits that count, or all of those before its point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{2 - math.floor(math.log10(value))}f}" if value else "0"


def _spread(low: float, high: float) -> str:
    return "" if low == high else f"{figure(low)} to {figure(high)}"


def bench_table(file: Path) -> str:
    """Returns the table of one benchmark and what it was measured on."""
    result = json.loads(file.read_text(encoding="utf-8"))
    rows: list[Line] = result["rows"]
    made = _peers(rows) if any(row["times"] for row in rows) else _figures(rows)
    names = result["machine"] if file.stem == "peers" else MACHINE
    on = ", ".join(f"{name} {result['machine'][name]}" for name in names)
    return f"{made}\n\nMeasured on: {on}."


def selected_table() -> str:
    """Returns the selected rows of all files, and what they were measured on."""
    rows, machines = [], []
    for name, begins in SELECTED.items():
        result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        rows += [row for row in result["rows"] if row["what"].startswith(begins)]
        machines.append(result["machine"])
    on = ", ".join(
        f"{name} {' and '.join(sorted({str(each[name]) for each in machines}))}" for name in MACHINE
    )
    return f"{_figures(rows)}\n\nMeasured on: {on}."


def _figures(rows: Sequence[Line]) -> str:
    lines = [
        (row["what"], figure(row["value"]), _spread(row["low"], row["high"]), row["unit"])
        for row in rows
    ]
    return table(("what", "median", "spread", "unit"), lines)


def _peers(rows: Sequence[Line]) -> str:
    head = ("library and game", "measured", "ours is faster by", "spread", "included")
    lines = []
    for row in rows:
        if row["what"].endswith(SLOWER):
            continue
        median, *ends = row["times"] or (0, 0, 0)
        name, times = row["what"], f"{figure(median)} ×"
        ours = (f"**{name}**", "", "") if row["times"] is None else (name, times, _spread(*ends))
        lines.append(
            (
                ours[0],
                f"{figure(row['value'])} {row['unit']}",
                *ours[1:],
                row["includes"],
            )
        )
    return table(head, lines)


SENTENCE = (
    "{Pgx: Kuhn, 4,096 tables} times the decisions per second of Pgx at Kuhn poker and "
    "{Pgx: Leduc, 4,096 tables} times at Leduc poker (4,096 tables);\none table "
    "{RLCard: Leduc, `Env`} times as fast as RLCard's Leduc and {OpenSpiel: Leduc, `State`} times "
    "as OpenSpiel's bare `State` of it; an AEC turn {PettingZoo: Leduc, AEC} times as fast\nas "
    "PettingZoo's Leduc; {OpenSpiel: Leduc, CFR in C++} times the iterations of OpenSpiel's CFR in "
    "C++, both at Leduc. [What each figure includes](docs/performance.md#beside-the-peers)"
)
"""The README's line. A row of the results in braces, without its version, is our multiple of it."""


def sentence(rows: Sequence[Line]) -> str:
    """Returns the README's line."""
    times = {
        re.sub(r" [\d.]+:", ":", row["what"]): figure(row["times"][0])
        for row in rows
        if row["times"]
    }
    return re.sub(r"\{(.+?)\}", lambda match: times[match[1]], SENTENCE)


PANELS = {"M decisions/s": "Random play, million decisions per second",
          "µs a decision": "One table in Python, µs per decision (shorter is better)",
          "iterations/s": "Leduc poker, iterations of CFR and CFR+ per second"}  # fmt: skip
WIDTH, LABEL, BAR, ROOM = 760, 300, 14, 20
STYLE = """text { font: 12px sans-serif; fill: #24292f } .title { font-weight: bold }
.ours { fill: #b4541a } .other { fill: #6f8fae }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .ours { fill: #f0883e } .other { fill: #7d9cc0 } }"""


def picture(rows: Sequence[Line]) -> str:
    """Returns bars of every figure on a logarithmic scale, a panel for each unit."""
    parts, y = [], 6
    for unit, group in groupby(rows, key=lambda row: row["unit"]):
        if unit not in PANELS:
            continue
        y += 22
        parts.append(f'<text class="title" x="8" y="{y}">{PANELS[unit]}; logarithmic</text>')
        panel = list(group)
        low = min(row["value"] for row in panel) / 2
        scale = (WIDTH - LABEL - 70) / math.log(max(row["value"] for row in panel) / low)
        for row in panel:
            y += ROOM
            parts.append(_bar(row, y, math.log(row["value"] / low) * scale))
        y += 8
    body = "\n".join(parts)
    about = "Speed of this suite and of other libraries, on logarithmic scales"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10}" role="img" '
        f'aria-label="{about}">\n<style>{STYLE}</style>\n{body}\n</svg>\n'
    )


def _bar(row: Line, y: int, length: float) -> str:
    kind = "other" if row["times"] else "ours"
    name = row["what"].replace("`", "").replace("&", "&amp;")
    return (
        f'<text x="{LABEL - 8}" y="{y}" text-anchor="end">{name}</text>'
        f'<rect class="{kind}" x="{LABEL}" y="{y - 11}" width="{length:.1f}" height="{BAR}"/>'
        f'<text x="{LABEL + length + 6:.1f}" y="{y}">{figure(row["value"])}</text>'
    )


def built() -> dict[Path, str]:
    """Returns what the page and the picture should hold."""
    blocks: dict[str, Callable[[], str]] = {
        name: partial(bench_table, RESULTS / f"{name}.json") for name in ("peers", "games")
    }
    blocks["selected"] = selected_table
    rows = json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))["rows"]
    return {
        PAGE: filled(PAGE, blocks),
        README: filled(README, {"peers": partial(sentence, rows)}),
        PICTURE: picture(rows),
    }


if __name__ == "__main__":
    sys.exit(write(built(), "--check" in sys.argv))
