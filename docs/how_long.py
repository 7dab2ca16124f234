"""Makes the tables of docs/how_long.md from the results in docs/data.

    python docs/how_long.py            write them
    python docs/how_long.py --check    exit with 1 if the page is stale

They come from the benchmark (docs/benchmark.py) and from the curves of the trained players
(docs/trained.py); to change them, publish other results there.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from blocks import filled, table, write

from kille_env.registry import list_games
from kille_training.benchmark.results import Line, read_results
from kille_training.statistics.aggregate import interquartile_mean

DOCS = Path(__file__).parent
PAGE = DOCS / "how_long.md"
TABLES = ("byteskille-2", "byteskille-3", "byteskille-4")
SECONDS = (3, 12, 30)
MILLIONS = (0, 1, 2, 4, 6, 12, 24)


def methods() -> str:
    """Returns NashConv of sampled play after some seconds, method by method."""
    results = read_results(DOCS / "data" / "benchmark" / "exact.jsonl")
    found = {
        name: {
            (each, seconds): _middle(results.of(name, each), seconds)
            for each in TABLES
            for seconds in SECONDS
        }
        for name in results.methods
    }
    last = SECONDS[-1]
    order = sorted(found, key=lambda name: sum(found[name][each, last] or 9.0 for each in TABLES))
    columns = [(each, seconds) for each in TABLES for seconds in SECONDS]
    rows = [(f"`{name}`", *(_stakes(found[name][column]) for column in columns)) for name in order]
    heads = [f"{each.split('-')[1]} seats, {seconds} s" for each, seconds in columns]
    return table(("method", *heads), rows)


def _middle(runs: list[Line], seconds: float) -> float | None:
    """Returns the interquartile mean over the seeds of the last measurement within some seconds."""
    within = [
        [point for point in run["points"] if point["seconds"] <= seconds * 1.05] for run in runs
    ]
    if not runs or not all(within):
        return None
    ends = np.array([points[-1]["sampled"]["nash_conv"] for points in within])
    return float(interquartile_mean(ends[:, None]))


def _stakes(found: float | None) -> str:
    return "" if found is None else f"{found:.4f}"


def games() -> str:
    """Returns what the trained players earned against the rule of thumb while they learned."""
    text = (DOCS / "data" / "trained.jsonl").read_text(encoding="utf-8")
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    rows = []
    for game in list_games():
        curve = {
            line["decisions"]: line
            for line in lines
            if (line["game"], line["against"], line["play"]) == (game, "rule_of_thumb", "sampled")
        }
        cells = []
        for millions in MILLIONS:
            made = [count for count in curve if count >= millions * 1_000_000]
            near = curve[min(made)] if made else None
            cells.append("" if near is None else f"{near['mean']:+.3f}")
        ends = list(curve.values())[-1:]
        wide = f"{(ends[0]['high'] - ends[0]['low']) / 2:.3f}" if ends else ""
        rows.append((f"`{game}`", *cells, f"± {wide}"))
    return table(("game", *(f"{millions} M" for millions in MILLIONS), "interval"), rows)


def built() -> dict[Path, str]:
    """Returns what the page should hold."""
    return {PAGE: filled(PAGE, {"methods": methods, "games": games})}


if __name__ == "__main__":
    sys.exit(write(built(), "--check" in sys.argv[1:]))
