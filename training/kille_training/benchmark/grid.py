"""The settings of a benchmark: which methods learn at which tables, with which budget.

Where numbers of methods are to be chosen, candidates of each take the place of the methods.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from kille_env.errors import ConfigError, did_you_mean
from kille_training.benchmark.tables import measured_exactly
from kille_training.learn.method import settings_of
from kille_training.settings import FolderName, List, settings


@settings
class Grid:
    """Runs of methods at tables.

    Attributes:
        name: Name of the grid; its runs are in runs/NAME unless another folder is given.
        methods: Names of methods.
        tables: Names of tables.
        seeds: Each method learns once per table with each of them.
        players: Players that are measured at each table beside the methods, once.
        seconds: Processor seconds of a run; None is no limit.
        decisions: Decisions of a run, those of all seats; None is no limit.
        checkpoints: Shares of the budget after which a run is measured; the last one is 1.
        deals: Duplicate deals against each opponent, at the end of a run.
        response: Decisions from which a best response to the final policy is learnt, at tables
            without exact NashConv; 0 has none learnt.
        settings: Numbers of methods that differ from their defaults, by method.
        candidates: In place of `methods` and `settings`: numbers that differ from the defaults, by
            method and by name of the candidate, as many of each method. Each learns like a method,
            at tables with exact NashConv, and is measured at its end.
        executor: "local": processes of this machine; "ray": a Ray cluster.
        workers: Runs that are done at a time, each by a process; 0 on this machine: in the process
            of the command itself; 0 on a Ray cluster: as many as it has processors.
        address: Of the head of a Ray cluster, HOST:PORT or "auto"; empty starts one here.
    """

    name: FolderName
    tables: List[str]
    methods: List[str] = ()
    seeds: List[Annotated[int, Field(ge=0)]] = (1, 2, 3, 4, 5)
    players: List[str] = ()
    seconds: Annotated[float, Field(gt=0)] | None = None
    decisions: Annotated[int, Field(gt=0)] | None = None
    checkpoints: List[Annotated[float, Field(gt=0, le=1)]] = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    deals: Annotated[int, Field(ge=2)] = 1000
    response: Annotated[int, Field(ge=0)] = 0
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    candidates: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    executor: Literal["local", "ray"] = "local"
    workers: Annotated[int, Field(ge=0)] = 0
    address: str = ""

    def __post_init__(self) -> None:
        """Checks what the values mean.

        Raises:
            KilleError: The message names the key.
        """
        if self.seconds is None and self.decisions is None:
            raise ConfigError("seconds and decisions are missing, expected at least one budget")
        if list(self.checkpoints) != sorted(set(self.checkpoints)) or self.checkpoints[-1:] != (1,):
            raise ConfigError(
                f"checkpoints is {list(self.checkpoints)}, expected rising shares, the last one 1"
            )
        for name in self.methods:
            settings_of(name, self.settings.get(name, {}), f"settings.{name}.")
        for name in self.settings:
            if name not in self.methods:
                raise ConfigError(f"settings.{name}: {did_you_mean(name, self.methods)}")
        counts = {method: len(tried) for method, tried in self.candidates.items()}
        if len(set(counts.values())) > 1:
            raise ConfigError(f"candidates by method are {counts}, expected as many of each")
        if self.candidates and self.methods:
            raise ConfigError("methods and candidates are given, expected one of them")
        for method, tried in self.candidates.items():
            for name, numbers in tried.items():
                settings_of(method, numbers, f"candidates.{method}.{name}.")
        for name in self.tables:
            if not measured_exactly(name) and self.candidates:
                raise ConfigError(f"tables has {name}, where NashConv cannot be computed exactly")

    def tasks(self, folder: Path) -> "list[tuple[Path, RunSettings]]":
        """Returns all runs, each with its folder: that of the grid, or of the candidate."""
        return [(folder, run) for run in self.runs()] + [
            (folder / name, run)
            for method, tried in self.candidates.items()
            for name in tried
            for run in self.runs_of(method, name)
        ]

    def runs_of(self, method: str, name: str) -> "list[RunSettings]":
        """Returns the runs of a candidate, seed by seed."""
        numbers = self.candidates[method][name]
        return [
            RunSettings(
                method, table, seed, numbers, self.seconds, self.decisions, (1.0,), 0, 0
            )
            for seed in self.seeds
            for table in self.tables
        ]  # fmt: skip

    def runs(self) -> list["RunSettings"]:
        """Returns all runs, players first, then seed by seed, so that a part is a small grid."""
        players = [
            RunSettings(name, table, None, {}, None, None, (1.0,), self.deals, self.response)
            for name in self.players
            for table in self.tables
        ]
        learners = [
            RunSettings(
                method, table, seed, self.settings.get(method, {}),
                self.seconds, self.decisions, self.checkpoints, self.deals, self.response,
            )
            for seed in self.seeds
            for table in self.tables
            for method in self.methods
        ]  # fmt: skip
        return players + learners


@dataclass(frozen=True)
class RunSettings:
    """Everything that a run depends on.

    Attributes:
        method: A method; without a seed, a player.
        table: The table.
        seed: What it learns with; None where nothing is learnt.
        settings: Numbers of the method that differ from its defaults.
        seconds: Processor seconds, or None.
        decisions: Decisions, or None.
        checkpoints: Shares of the budget.
        deals: Duplicate deals against each opponent; 0 has none played.
        response: Decisions of the learner of a best response; 0 has none learnt.
    """

    method: str
    table: str
    seed: int | None
    settings: Mapping[str, Any]
    seconds: float | None
    decisions: int | None
    checkpoints: Sequence[float]
    deals: int
    response: int
