"""Makes the tables and pictures of docs/benchmark.md from the results in docs/data/benchmark.

    python docs/benchmark.py            write them
    python docs/benchmark.py --check    exit with 1 if the page's tables are stale

The results are what `kille benchmark report` and `kille benchmark tune` have written; to publish
others, copy `results.jsonl` of a grid to `NAME.jsonl`, and `tuning.jsonl` beside it.
"""

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

from blocks import filled, table, write

from kille_agents.greedy import PLAYS
from kille_training.benchmark.results import Results, read_results
from kille_training.reports.benchmark import (
    overall_rows,
    reached_rows,
    seed_rows,
    write_pictures,
)

DOCS = Path(__file__).parent
PAGE, DATA = DOCS / "benchmark.md", DOCS / "data" / "benchmark"
GRID = "small"
"""The grid of all methods whose results the page shows."""


def results(grid: str = GRID) -> Results:
    """Returns the published runs of a grid."""
    return read_results(DATA / f"{grid}.jsonl")


def tuning() -> list[dict[str, Any]]:
    """Returns what candidates reached, method by method, the best first."""
    return [json.loads(line) for line in (DATA / "tuning.jsonl").read_text().splitlines()]


def overall_table() -> str:
    """Returns the interquartile mean over all tables, the lowest sampled play first."""
    rows = sorted(overall_rows(results()), key=lambda row: float(row[2].split()[0]))
    return table(("method", *PLAYS), rows)


def reached_table() -> str:
    """Returns what was reached at each table."""
    head = ("table", "method", *PLAYS, "rule of thumb", "held-out population", "million decisions")
    rows = [(*row[:6], *row[7:]) for row in reached_rows(results())]  # no response is learnt here
    return table(head, rows)


def seeds_table() -> str:
    """Returns every run."""
    return table(("table", "method", "greedy / sampled, seed by seed"), seed_rows(results()))


def reach_table() -> str:
    """Returns every run of the longer grid of one method."""
    head = ("table", "greedy / sampled, seed by seed")
    return table(head, [(row[0], row[2]) for row in seed_rows(results("reach"))])


def tuning_table() -> str:
    """Returns every candidate, method by method, the best first."""
    rows = []
    for method, lines in groupby(tuning(), key=lambda line: str(line["method"])):
        cells = (f"{_numbers(line['settings'])} {line['nash_conv']:.4f}" for line in lines)
        rows.append((method, *cells))
    others = [f"{number}." for number in range(2, len(rows[0]))]
    return table(("method", "best", *others), rows)


def _numbers(settings: dict[str, Any]) -> str:
    return ", ".join(f"`{key}: {value}`" for key, value in settings.items()) or "defaults"


BLOCKS = {
    "overall": overall_table,
    "reach": reach_table,
    "reached": reached_table,
    "seeds": seeds_table,
    "tuning": tuning_table,
}
"""The blocks of the page."""


def built() -> dict[Path, str]:
    """Returns what the page should hold."""
    return {PAGE: filled(PAGE, BLOCKS)}


def main(check: bool) -> int:
    """Writes or checks; returns the exit status."""
    if not check:
        write_pictures(results(), DOCS)
    return write(built(), check)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
