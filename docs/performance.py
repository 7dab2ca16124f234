"""The tables of docs/performance.md and docs/gpu.md, and the README's line on other libraries.

The results in docs/data/bench are the output of `python benchmarks/bench.py NAME ... --out
docs/data/bench`, those of the GPU of `benchmarks/gpu.py`.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from blocks import lines_of, table

DOCS = Path(__file__).parent
PAGE = DOCS / "performance.md"
README = DOCS.parent / "README.md"
RESULTS = DOCS / "data" / "bench"
GPU_PAGE, GPU_RESULTS = DOCS / "gpu.md", DOCS / "data" / "gpu.jsonl"

MACHINE = ("cpu", "cores", "sources")
"""Keys of the machine shown below each table; the first table also has library versions."""

SELECTED = {
    "batch": ("batch step, 64 tables", "batch step, 65536 tables", "batch step, 4096 tables, 20"),
    "one": ("",),
    "aec": ("AEC decision",),
    "gym": ("KilleEnv decision, 4 seats, against rule",),
    "seats": ("SeatVecEnv step",),
    "start": ("first compilation: import", "warm start"),
    "cost": ("",),
}
"""Rows of each file on the page, by prefix."""

Line = dict[str, Any]


def figure(value: float) -> str:
    """Return a number with three significant digits, or all digits before its point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{2 - math.floor(math.log10(value))}f}" if value else "0"


def bench_table(file: Path) -> str:
    """Return the table of one benchmark and its machine."""
    result = json.loads(file.read_text(encoding="utf-8"))
    names = result["machine"] if file.stem == "peers" else MACHINE
    return f"{_table(result['rows'])}\n\n{_measured_on([result['machine']], names)}"


def selected_table() -> str:
    """Return the selected rows of all files, and their machines."""
    results = {name: json.loads((RESULTS / f"{name}.json").read_text()) for name in SELECTED}
    rows = [
        row
        for name, begins in SELECTED.items()
        for row in results[name]["rows"]
        if row["what"].startswith(begins)
    ]
    machines = [result["machine"] for result in results.values()]
    return f"{_table(rows)}\n\n{_measured_on(machines, MACHINE)}"


def _measured_on(machines: Sequence[dict[str, str]], names: Iterable[str]) -> str:
    values = {name: " and ".join(sorted({each[name] for each in machines})) for name in names}
    return f"Measured on: {', '.join(f'{name} {value}' for name, value in values.items())}."


def _table(rows: Sequence[Line]) -> str:
    """Return figures, with ratios for compared libraries."""
    if not any(row["times"] for row in rows):
        lines = [(row["what"], figure(row["value"]), _spread(row), row["unit"]) for row in rows]
        return table(("what", "median", "spread", "unit"), lines)
    lines = []
    for row in rows:
        name, measured = row["what"], f"{figure(row['value'])} {row['unit']}"
        if row["times"] is None:
            lines.append((f"**{name}**", measured, "", "", row["includes"]))
        else:
            median, low, high = map(figure, row["times"])
            lines.append((name, measured, f"{median} ×", f"{low} to {high}", row["includes"]))
    return table(("library and game", "measured", "ours is faster by", "spread", "included"), lines)


def _spread(row: Line) -> str:
    return "" if row["low"] == row["high"] else f"{figure(row['low'])} to {figure(row['high'])}"


SENTENCE = (
    "{Pgx: Kuhn, 4,096 tables} times the decisions per second of Pgx at Kuhn poker and "
    "{Pgx: Leduc, 4,096 tables} times at Leduc poker (4,096 tables);\none table "
    "{RLCard: Leduc, `Env`} times as fast as RLCard's Leduc and {OpenSpiel: Leduc, `State`} times "
    "as OpenSpiel's bare `State` of it; an AEC turn {PettingZoo: Leduc, AEC} times as fast\nas "
    "PettingZoo's Leduc; {OpenSpiel: Leduc, CFR in C++} times the iterations of OpenSpiel's CFR in "
    "C++, both at Leduc. [What each figure includes](docs/performance.md#beside-the-peers)"
)
"""The README's line; a row's name in braces, without its version, stands for our ratio to it."""


def sentence() -> str:
    """Return the README's line."""
    rows = json.loads((RESULTS / "peers.json").read_text(encoding="utf-8"))["rows"]
    times = {
        re.sub(r" [\d.]+:", ":", row["what"]): figure(row["times"][0])
        for row in rows
        if row["times"]
    }
    return re.sub(r"\{(.+?)\}", lambda match: times[match[1]], SENTENCE)


def gpu_results(part: str) -> Any:
    """Return the measurements of a part on a GPU as a DataFrame."""
    return pd.DataFrame([line for line in lines_of(GPU_RESULTS) if line["part"] == part])


def gpu_steps() -> str:
    """Return the rates of the games, and of Pgx's, by the number of tables."""
    own = gpu_results("steps")
    core = own.groupby("game").core_rate.first()
    both = pd.concat([own, gpu_results("pgx")])
    rates = both.pivot(index="game", columns="tables", values="rate").loc[both.game.unique()]
    rates["one CPU core, 4,096"] = core
    cells = (rates / 1e6).map(lambda rate: "" if pd.isna(rate) else figure(rate))
    sizes = [f"{size:,}" for size in rates.columns[:-1]]
    return table(("M decisions/s", *sizes, rates.columns[-1]), cells.itertuples())


def gpu_train() -> str:
    """Return the results of PPO on both devices."""
    head = ("device", "tables", "seconds", "decisions", "decisions/s", "NashConv, units")
    rows = [
        (
            *(f"`--device {run.device}`", f"{run.tables:,}", f"{run.seconds:.0f}"),
            *(f"{run.decisions / 1e6:.1f} M", f"{run.decisions / run.seconds / 1e6:.2f} M"),
            f"{run.nash_conv:.4f}",
        )
        for run in gpu_results("train").sort_values("device", kind="stable").itertuples()
    ]
    return table(head, rows)


def gpu_machine() -> str:
    """Return the memory of a table, the time of the first step, and the machine."""
    steps, start, pgx = map(gpu_results, ("steps", "start", "pgx"))
    sizes, cold, warm = steps.table_bytes, start.cold_seconds, start.warm_seconds
    first = steps.iloc[0]
    versions = ", ".join(f"{name} {first[name]}" for name in ("numba", "numba-cuda", "numpy"))
    return (
        f"A table takes {sizes.min():,} to {sizes.max():,} bytes. The first step takes "
        f"{cold.min():.0f} to {cold.max():.0f} s where nothing is compiled, later "
        f"{warm.min():.1f} to {warm.max():.1f} s.\nMeasured on one {first.gpu}: {versions}, "
        f"pgx {pgx.pgx.iloc[0]}."
    )


BLOCKS = {
    GPU_PAGE: {"steps": gpu_steps, "train": gpu_train, "machine": gpu_machine},
    PAGE: {
        "peers": partial(bench_table, RESULTS / "peers.json"),
        "games": partial(bench_table, RESULTS / "games.json"),
        "selected": selected_table,
    },
    README: {"peers": sentence},
}
