"""The results of a grid: all its runs, gathered from its folder or read from one file."""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_training.benchmark.runs import read_run

Line = dict[str, Any]
"""A run: its settings as `run`, its checkpoints as `points`."""


def sampled_nash_conv(run: Line) -> float:
    """Returns the NashConv of sampled play at the end of a run, in stakes."""
    return float(run["points"][-1]["sampled"]["nash_conv"])


def rule_of_thumb_units(run: Line) -> float:
    """Returns what a run earns from the rule of thumb at its end, in units per deal."""
    return float(run["points"][-1]["units"]["rule_of_thumb"][0])


def held_out_units(run: Line) -> float:
    """Returns what a run earns from the held-out population, in units per deal, in the mean."""
    units = run["points"][-1]["units"]
    return fmean(mean for name, (mean, *_) in units.items() if name != "rule_of_thumb")


@dataclass(frozen=True)
class Results:
    """All runs of a grid that are finished.

    Attributes:
        runs: Their lines, sorted by table, method and seed.
    """

    runs: tuple[Line, ...]

    @property
    def methods(self) -> list[str]:
        """Names of the methods, sorted."""
        return sorted({line["run"]["method"] for line in self._learnt()})

    @property
    def tables(self) -> list[str]:
        """Names of the tables, sorted."""
        return sorted({line["run"]["table"] for line in self.runs})

    @property
    def players(self) -> list[Line]:
        """Players that were measured and did not learn."""
        return [line for line in self.runs if line["run"]["seed"] is None]

    def of(self, method: str, table: str) -> list[Line]:
        """Returns the runs of a method at a table, by seed."""
        return [
            line
            for line in self._learnt()
            if (line["run"]["method"], line["run"]["table"]) == (method, table)
        ]

    def scores(self, method: str, tables: list[str], play: str) -> np.ndarray | None:
        """Returns NashConv at the end by seed and table, [R, T]; None where runs are missing."""
        columns = [
            [line["points"][-1][play]["nash_conv"] for line in self.of(method, table)]
            for table in tables
        ]
        if not columns or len({len(column) for column in columns}) != 1 or not columns[0]:
            return None
        return np.array(columns).T

    def write(self, path: Path) -> Path:
        """Writes one line per run."""
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(line, sort_keys=True) + "\n" for line in self.runs)
        write_whole(path, "".join(lines).encode())
        return path

    def _learnt(self) -> list[Line]:
        return [line for line in self.runs if line["run"]["seed"] is not None]


def gather(folder: Path) -> Results:
    """Returns the finished runs in a grid's folder.

    Raises:
        ConfigError: There is none, or a file is broken.
    """
    found = []
    for path in sorted(folder.glob("*/*/*.jsonl")):
        lines = read_run(path)
        if not all(isinstance(line, dict) for line in lines):
            continue  # another file of lines, which is no run
        if len(lines) > 1 and "run" in lines[0] and lines[-1].get("share") == 1:
            found.append({**lines[0], "points": lines[1:]})
    if not found:
        raise ConfigError(f"{folder} holds no finished run; see kille benchmark --help")
    return Results(tuple(sorted(found, key=_place)))


def read_results(*paths: Path) -> Results:
    """Returns the results in files that `Results.write` has written."""
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    return Results(tuple(sorted(lines, key=_place)))


def _place(line: Line) -> tuple[str, str, int]:
    run = line["run"]
    return run["table"], run["method"], -1 if run["seed"] is None else run["seed"]
