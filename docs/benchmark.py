"""Tables and pictures of docs/benchmark.md, from the results in docs/data/benchmark.

`make benchmark` copies `results.jsonl` of each grid of `kille benchmark` there.
"""

from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
from blocks import table
from scipy.stats import spearmanr

from kille_agents.greedy import PLAYS
from kille_training.learn.benchmark import (
    Line,
    Results,
    held_out_units,
    overall_rows,
    reached_rows,
    read_results,
    rule_of_thumb_units,
    sampled_nash_conv,
)
from kille_training.learn.grid_plots import PICTURES
from kille_training.statistics.aggregate import interquartile_mean

DOCS = Path(__file__).parent
PAGE, DATA = DOCS / "benchmark.md", DOCS / "data" / "benchmark"
TABULAR = "mccfr"
NEAR = 0.02
"""NashConv in stakes below which a run counts as near an equilibrium."""


@cache
def results(grid: str = "exact") -> Results:
    """Return the published runs of a grid: "exact", "games" or "tune"."""
    return read_results(DATA / f"{grid}.jsonl")


def overall_table() -> str:
    """Return the interquartile means over all tables, the lowest sampled play first."""
    rows = sorted(overall_rows(results()), key=lambda row: float(row[2].split()[0]))
    return table(("method", *PLAYS), rows)


def reached_table() -> str:
    """Return NashConv of sampled play by method and table."""
    return _by_table(reached_rows(results()), [3])


def _by_table(rows: list[tuple[str, ...]], columns: list[int]) -> str:
    """Return columns of `reached_rows` by method and table, without intervals."""
    tables, methods = (list(dict.fromkeys(row[at] for row in rows)) for at in (0, 1))
    found = {
        (row[0], row[1]): " / ".join(row[column].partition(" (")[0] for column in columns)
        for row in rows
    }
    lines = [(name, *(found.get((at, name), "") for at in tables)) for name in methods]
    return table(("player or method", *tables), lines)


def agreement_table() -> str:
    """Return rank correlations between tables and measures; the tabular method is left out."""
    found = results()
    orders, rows = [], []
    for name in found.tables:
        runs = [found.of_method(method, name) for method in found.methods if method != TABULAR]
        middles = [np.array([[sampled_nash_conv(run)] for run in lines]) for lines in runs]
        orders.append([float(interquartile_mean(each)) for each in middles])
        lines = [*chain(*runs)]
        near = [run for run in lines if sampled_nash_conv(run) < NEAR]
        cells = (_correlation(orders[0], orders[-1]), *_payoff(lines), str(len(near)))
        rows.append((name, *cells, *_payoff(near)))
    head = ("table", f"order of methods, beside {found.tables[0]}", "rule of thumb", "held-out")
    return table((*head, f"runs within {NEAR}", "rule of thumb", "held-out"), rows)


def _payoff(lines: list[Line]) -> tuple[str, str]:
    """Return rank correlations of NashConv with units against others."""
    near = [-sampled_nash_conv(run) for run in lines]
    return (
        _correlation(near, [rule_of_thumb_units(run) for run in lines]),
        _correlation(near, [held_out_units(run) for run in lines]),
    )


def _correlation(first: list[float], second: list[float]) -> str:
    return f"{spearmanr(first, second)[0]:+.2f}"


def games_table() -> str:
    """Return units against the rule of thumb, and the gain of a learned response."""
    return _by_table(reached_rows(results("games")), [4, 6])


BLOCKS = {
    PAGE: {
        "agreement": agreement_table,
        "games": games_table,
        "overall": overall_table,
        "reached": reached_table,
    }
}
FIGURES = {
    DOCS / f"{name}.svg": lambda make=make: make(results()) for name, make in PICTURES.items()
}
