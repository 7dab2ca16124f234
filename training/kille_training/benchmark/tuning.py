"""Choosing the numbers of methods: each tries as many candidates, each with the same budget.

A candidate is a run of the benchmark like any other, at the same tables, with seeds that no
published run uses. The best is the one whose sampled play ends nearest to an equilibrium, in the
mean over tables and seeds. What was tried is written down whole, the losers too.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from kille_env.files import write_whole
from kille_training.benchmark.grid import Grid
from kille_training.benchmark.runs import path_of, read_run

PLAY = "sampled"
"""The way to play by which candidates are compared."""


@dataclass(frozen=True)
class Tried:
    """What a candidate reached.

    Attributes:
        method: The method.
        candidate: Its name.
        settings: Numbers of the method that differ from its defaults.
        nash_conv: In stakes, of sampled play, the mean over all runs.
        by_table: The same, table by table.
        seconds: Processor seconds of all its runs.
        best: Whether no other candidate of the method reached less.
    """

    method: str
    candidate: str
    settings: Mapping[str, Any]
    nash_conv: float
    by_table: Mapping[str, float]
    seconds: float
    best: bool = False


def tried(grid: Grid, out: Path) -> list[Tried]:
    """Returns what all candidates reached, method by method, the best first.

    Args:
        grid: The candidates, all of whose runs are finished.
        out: Where the runs are.
    """
    found: dict[str, list[Tried]] = {}
    for method, name in (
        (method, name) for method, each in grid.candidates.items() for name in each
    ):
        runs = grid.runs_of(method, name)
        ends = [read_run(path_of(out / name, run))[-1] for run in runs]
        reached = [end[PLAY]["nash_conv"] for end in ends]
        by_table = {
            table: round(fmean(reached[number :: len(grid.tables)]), 6)
            for number, table in enumerate(grid.tables)
        }
        found.setdefault(method, []).append(
            Tried(
                method, name, grid.candidates[method][name], round(fmean(reached), 6), by_table,
                round(sum(end["seconds"] for end in ends), 1),
            )
        )  # fmt: skip
    lines = []
    for each in found.values():
        first, *others = sorted(each, key=lambda line: line.nash_conv)
        lines += [Tried(**{**vars(first), "best": True}), *others]
    return lines


def write_tried(lines: list[Tried], path: Path) -> Path:
    """Writes one line per candidate."""
    text = "".join(json.dumps(vars(line), sort_keys=True) + "\n" for line in lines)
    write_whole(path, text.encode())
    return path
