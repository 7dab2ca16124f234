"""Choosing the numbers of methods: each tries as many candidates, each with the same budget.

A candidate is a run of the benchmark like any other, at the same tables, with seeds that no
published run uses. The best is the one whose sampled play ends nearest to an equilibrium, in the
mean over tables and seeds. What was tried is written down whole, the losers too.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal

from pydantic import Field

from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_training.benchmark.grid import RunSettings
from kille_training.benchmark.runs import path_of, read_run
from kille_training.benchmark.tables import table_named
from kille_training.learn.method import settings_of
from kille_training.settings import FolderName, List, settings

PLAY = "sampled"
"""The way to play by which candidates are compared."""


@settings
class Tuning:
    """Candidates of methods.

    Attributes:
        name: Name of the tuning; its runs are in runs/NAME unless another folder is given.
        candidates: Numbers that differ from the defaults, by method and by name of the candidate.
        tables: Names of tables, all of them with exact NashConv.
        seeds: Each candidate learns once per table with each of them.
        seconds: Processor seconds of a run.
        executor: "local": processes of this machine; "ray": a Ray cluster.
        workers: Runs that are done at a time, each by a process; 0 on this machine: in the process
            of the command itself; 0 on a Ray cluster: as many as it has processors.
        address: Of the head of a Ray cluster, HOST:PORT or "auto"; empty starts one here.
    """

    name: FolderName
    candidates: dict[str, dict[str, dict[str, Any]]]
    tables: List[str]
    seeds: List[Annotated[int, Field(ge=0)]]
    seconds: Annotated[float, Field(gt=0)]
    executor: Literal["local", "ray"] = "local"
    workers: Annotated[int, Field(ge=0)] = 0
    address: str = ""

    def __post_init__(self) -> None:
        """Checks what the values mean.

        Raises:
            KilleError: The message names the key.
        """
        counts = {method: len(tried) for method, tried in self.candidates.items()}
        if len(set(counts.values())) != 1:
            raise ConfigError(f"candidates by method are {counts}, expected as many of each")
        for method, tried in self.candidates.items():
            for numbers in tried.values():
                settings_of(method, numbers)
        for name in self.tables:
            if not table_named(name).is_exact:
                raise ConfigError(f"tables has {name}, where NashConv cannot be computed exactly")

    def runs(self) -> list["Candidate"]:
        """Returns all candidates."""
        return [
            Candidate(self, method, name)
            for method, tried in self.candidates.items()
            for name in tried
        ]


@dataclass(frozen=True)
class Candidate:
    """A method with some numbers.

    Attributes:
        tuning: What it is a part of.
        method: The method.
        name: What the settings call it.
    """

    tuning: Tuning
    method: str
    name: str

    @property
    def numbers(self) -> Mapping[str, Any]:
        """Those of the method that differ from its defaults."""
        return self.tuning.candidates[self.method][self.name]

    @cached_property
    def runs(self) -> list[RunSettings]:
        """Its runs, seed by seed."""
        tuning = self.tuning
        return [
            RunSettings(self.method, table, seed, self.numbers, tuning.seconds, None, (1.0,), 0, 0)
            for seed in tuning.seeds
            for table in tuning.tables
        ]

    def folder(self, out: Path) -> Path:
        """Returns where its runs are, below the folder of the tuning."""
        return out / self.name


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


def tried(tuning: Tuning, out: Path) -> list[Tried]:
    """Returns what all candidates reached, method by method, the best first.

    Args:
        tuning: The candidates, all of whose runs are finished.
        out: Where the runs are.
    """
    found: dict[str, list[Tried]] = {}
    for candidate in tuning.runs():
        ends = [read_run(path_of(candidate.folder(out), run))[-1] for run in candidate.runs]
        reached = [end[PLAY]["nash_conv"] for end in ends]
        by_table = {
            table: round(fmean(reached[number :: len(tuning.tables)]), 6)
            for number, table in enumerate(tuning.tables)
        }
        found.setdefault(candidate.method, []).append(
            Tried(
                candidate.method, candidate.name, candidate.numbers, round(fmean(reached), 6),
                by_table, round(sum(end["seconds"] for end in ends), 1),
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
