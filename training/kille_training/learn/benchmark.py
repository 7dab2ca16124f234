"""The benchmark: learning methods at the same tasks with the same budgets.

A task is a rule space, which measures a policy at its held-out tables, or a fixed table. Runs are a
grid, runs/NAME/TASK/METHOD/ARM/BUDGET/seed-1 and so on; fixed players are measured in
runs/NAME/TASK/PLAYER. `gather` reads them all as lines, `tables_of` prints them. A score is
NashConv as a share of that of uniform play at the same table, so 0 is an equilibrium.
"""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, reduce
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from kille_env.errors import ConfigError
from kille_env.files import make_folder, write_whole
from kille_env.play.policy import resolve
from kille_env.registry import Table
from kille_training.learn.grid import Item
from kille_training.learn.measuring import exact_of, held_out_tables, measure_held_out, shares_of
from kille_training.learn.method import DealSettings, method_named, settings_of
from kille_training.learn.runs import SEED_PREFIX, Run
from kille_training.learn.settings import TrainSettings
from kille_training.results import TextTable
from kille_training.settings import FolderName, List, Seed, TableSettings, build, plain, settings
from kille_training.statistics.aggregate import Interval, bootstrap, interquartile_mean

if TYPE_CHECKING:
    from kille_training.solving.stages import DealStages

ITSELF = "itself"
"""The arm of the reference, which learns at a held-out table itself."""
MAIN = "told"
"""The arm that is shown first."""
SCORE = "score.json"
"""File with the final score of a run or a player."""
DIGITS = 6
"""Decimals of results in files."""
Part = Mapping[str, Any]
"""Some of the settings of a run, as in a file for `kille train`."""

Line = dict[str, Any]
"""A run: `task`, `method`, `arm`, `budget`, `seed`, `settings` (its hyperparameters that differ
from the defaults), `points` (each with `decisions`, `seconds` and the score `share` so far) and
`tables`, the final scores by table. Of a player: `task`, `method` (its name) and `tables`.
"""


@settings
class Uniform:
    """A range of a hyperparameter, drawn from uniformly on a logarithmic scale."""

    low: Annotated[float, Field(gt=0.0)]
    high: Annotated[float, Field(gt=0.0)]


@settings
class Benchmark:
    """A grid of tasks, methods, arms, budgets and seeds.

    Rewards are in spreads of the table (`scaled`), unless the settings of a method differ.

    Attributes:
        name: Name of the grid; its runs are in runs/NAME unless another folder is given.
        tasks: Tables and rule spaces: settings of a run by name of the task.
        methods: Names of methods, or names of entries of `settings` that have a `method`.
        arms: Ways to learn a task: settings of a run by name of the arm.
        budgets: Budgets: settings of a run by their names.
        settings: Hyperparameters that differ from the defaults, by method. An entry with the key
            `method` is a variant of that method.
        ranges: Ranges of hyperparameters, by method: a list of values, or `low` and `high`.
        random: Random settings of each method, drawn from `ranges`; 0 trains with `settings`.
        merge: Whether the methods compute equal observations once: all of them or none.
        seeds: Seeds of each method.
        reference: Settings of the method that learns at each held-out table itself; empty: none.
        players: Fixed players to measure at each task.
        run: Settings of all runs.
        executor: "local": processes of this machine; "ray": a Ray cluster.
        workers: Runs at a time; 0 is one for each core, or for each CPU of the cluster.
        address: Head of a Ray cluster, HOST:PORT or "auto"; empty starts one here.
    """

    name: FolderName
    tasks: dict[FolderName, dict[str, Any]]
    methods: List[str]
    arms: dict[FolderName, dict[str, Any]] = field(default_factory=lambda: {"learned": {}})
    budgets: dict[FolderName, dict[str, Any]] = field(default_factory=lambda: {"one": {}})
    settings: dict[FolderName, dict[str, Any]] = field(default_factory=dict)
    ranges: dict[str, dict[str, Any]] = field(default_factory=dict)
    random: Annotated[int, Field(ge=0)] = 0
    merge: bool = False
    seeds: List[Seed] = (1, 2, 3, 4, 5)
    reference: dict[str, Any] = field(default_factory=dict)
    players: List[str] = ()
    run: dict[str, Any] = field(default_factory=dict)
    executor: Literal["local", "ray"] = "local"
    workers: Annotated[int, Field(ge=0)] = 0
    address: str = ""

    def __post_init__(self) -> None:
        """Refuse tasks, methods and settings that do not exist."""
        for label in self.methods:
            method, _ = self.method(label)
            if self.merge and not issubclass(method_named(method).Settings, DealSettings):
                raise ConfigError(
                    f"merge is true, and {method} cannot merge equal observations: set merge to "
                    "false for all methods, or leave it out"
                )
            if self.random and label not in self.ranges:
                raise ConfigError(f"ranges.{label} is missing: random settings are drawn from it")
        for _ in self.items(Path()):  # builds the settings of all runs
            pass

    def method(self, label: str) -> tuple[str, dict[str, Any]]:
        """Return the method and the hyperparameters of an entry of `methods`."""
        given = dict(self.settings.get(label, {}))
        method = str(given.pop("method", label))
        settings_of(method, given, f"settings.{label}.")
        return method, given

    def learners(self) -> Iterator[tuple[str, Part]]:
        """Return the settings of all methods by name, "ppo-1" and so on if they are random."""
        for label in self.methods:
            method, given = self.method(label)
            given = {"scaled": True, **given}  # hyperparameters that fit several games
            if issubclass(method_named(method).Settings, DealSettings):
                given |= {"merge": self.merge}
            for number in range(1, self.random + 1):
                drawn = {**given, **self._drawn(label, number)}
                yield f"{label}-{number}", {"method": method, "learner": drawn}
            if not self.random:
                yield label, {"method": method, "learner": given}

    def _drawn(self, label: str, number: int) -> dict[str, Any]:
        """Return random hyperparameters, which follow from the method and a number alone."""
        rng, drawn = np.random.default_rng([zlib.crc32(label.encode()), number]), {}
        for key, values in sorted(self.ranges[label].items()):
            if isinstance(values, (list, tuple)):
                drawn[key] = values[rng.integers(len(values))]
                continue
            ends = build(Uniform, values, f"ranges.{label}.{key}: ")
            exact = np.exp(rng.uniform(np.log(ends.low), np.log(ends.high)))
            drawn[key] = float(f"{exact:.2g}")
        return drawn

    def items(self, folder: Path) -> Iterator[Item]:
        """Return all runs: players, then seed by seed, so that a prefix is a smaller grid."""
        for task, player in product(self.tasks, self.players):
            run = self._settings(task, {"name": player.replace("/", "_")})
            yield Item(folder / task / run.name, run, player, (SCORE,))
        for seed, task, (label, learner) in product(self.seeds, self.tasks, self.learners()):
            for (arm, rules), (budget, limit) in product(self.arms.items(), self.budgets.items()):
                run = self._settings(task, {"name": label, "seed": seed}, learner, rules, limit)
                place = folder / task / label / arm / budget / f"{SEED_PREFIX}{seed}"
                yield Item(place, run.resolved(), files=(SCORE,))
        for task in self.tasks if self.reference else ():
            yield from self._references(folder / task, self._settings(task, {}))

    def _references(self, folder: Path, run: TrainSettings) -> Iterator[Item]:
        """Return the runs at a fixed table, or at each held-out table of a space."""
        tables = [run.home()] if run.table.episode == "deal" else []
        if run.space.name:
            tables = held_out_tables(run)
        for number, table in enumerate(tables, start=1):
            there = plain(TableSettings.of(table.rules, table.num_players))
            here = {"space": {"name": ""}, "table": there, "name": self.reference["method"]}
            found = build(TrainSettings, _joined(plain(run), self.reference, here), "reference.")
            place = folder / found.method / ITSELF / f"table-{number:03}"
            yield Item(place, found.resolved(), files=(SCORE,))

    def _settings(self, task: str, *parts: Part) -> TrainSettings:
        content = _joined({"name": task}, self.run, self.tasks[task], *parts)
        return build(TrainSettings, content, f"tasks.{task}: ")


def _joined(*parts: Part) -> dict[str, Any]:
    """Return settings with those of later parts on top, key by key."""

    def join(below: Part, above: Part) -> dict[str, Any]:
        both = {key: join(below[key], above[key]) for key in below.keys() & above.keys()
                if isinstance(below[key], Mapping) and isinstance(above[key], Mapping)}  # fmt: skip
        return {**below, **above, **both}

    return reduce(join, parts, {})


def finish(item: Item) -> None:
    """Train a run of the benchmark and write its score, or that of a player."""
    from kille_training.learn.training import train_run

    run, table = Run(item.folder), item.settings.home()
    if item.player is None:
        train_run(run, item.settings)
    player = item.player or item.folder
    if item.settings.space.name:
        shares = measure_held_out(player, item.settings).share
        found = {"tables": dict(enumerate(shares.tolist(), start=1))}
    else:
        uniform = _uniform(table)
        found = {"tables": {"": _nash_conv(player, table) / uniform}, "uniform": uniform}
    make_folder(item.folder)
    write_whole(item.folder / SCORE, (json.dumps(found, indent=1) + "\n").encode())


def _nash_conv(player: str | Path, table: Table) -> float:
    from kille_training.evaluation.exact import exact_rows, match_row  # loads solvers

    where = table.num_players, table.rules
    policy = resolve(player, table.game, *where)
    if table.rules["episode"] == "match":
        return match_row(policy, *where).nash_conv
    return exact_rows(policy, *where, ("sampled",), deal=_deal(table))[0].nash_conv


@lru_cache(maxsize=1)
def _deal(table: Table) -> "DealStages":
    """Return the tree of a table, which successive runs share."""
    from kille_training.solving.grow import build_deal

    return build_deal(table.num_players, table.rules)


@cache
def _uniform(table: Table) -> float:
    """Return NashConv of uniform play."""
    return _nash_conv("uniform", table)


@dataclass(frozen=True)
class Results:
    """Finished runs of a grid.

    Attributes:
        lines: The runs and the measured players, in the order of their names and seeds.
    """

    lines: tuple[Line, ...]

    @classmethod
    def of(cls, lines: Sequence[Line]) -> "Results":
        """Return results in their order."""
        keys = ("task", "method", "arm", "budget")
        order = sorted(lines, key=lambda x: ([x.get(key, "") for key in keys], x.get("seed", 0)))
        return cls(tuple(order))

    def values(self, key: str) -> list[str]:
        """Return the different values of a key of lines, such as "arm", of all runs."""
        found = dict.fromkeys(line[key] for line in self.lines if "arm" in line)
        return sorted(found, key=lambda value: value != MAIN)

    def runs(self, task: str, method: str, arm: str, budget: str) -> list[Line]:
        """Return the runs of a method at a task, by seed."""
        key = (task, method, arm, budget)
        names = ("task", "method", "arm", "budget")
        return [x for x in self.lines if tuple(map(x.get, names)) == key]

    def players(self, task: str) -> list[Line]:
        """Return the measured players of a task, references among them."""
        return [line for line in self.lines if line["task"] == task and "arm" not in line]

    def write(self, path: Path) -> Path:
        """Write one line per run."""
        make_folder(path.parent)
        lines = (json.dumps(line, sort_keys=True) + "\n" for line in self.lines)
        write_whole(path, "".join(lines).encode())
        return path


def score_of(runs: Sequence[Line]) -> Interval:
    """Return the interquartile mean over all seeds and tables, with its interval over seeds."""
    scores = np.array([[*run["tables"].values()] for run in runs])
    if len(scores) < 2:
        value = interquartile_mean(scores)
        return Interval(value, np.array(np.nan), np.array(np.nan))
    found = bootstrap(scores, interquartile_mean)
    return Interval(found.value, np.maximum(found.low, 0.0), found.high)


def gather(folder: Path) -> Results:
    """Return the finished runs in the folder of a grid."""
    players: dict[tuple[str, str], Line] = {}
    for path in sorted(folder.glob(f"*/*/{SCORE}")):
        players[path.parts[-3], path.parts[-2]] = _scores(path)
    for path in sorted(folder.glob(f"*/*/{ITSELF}/*/{SCORE}")):
        task, method, _, table = path.parts[-5:-1]
        here = players.setdefault((task, f"{method} at the table itself"), {"tables": {}})
        here["tables"][table] = _scores(path)["tables"][""]
    lines = [{"task": task, "method": name, **line} for (task, name), line in players.items()]
    lines += [_run_line(path) for path in folder.glob(f"*/*/*/*/{SEED_PREFIX}*/{SCORE}")]
    if not lines:
        raise ConfigError(f"{folder} holds no finished run; see kille benchmark --help")
    return Results.of(lines)


def _scores(path: Path) -> Line:
    scores = json.loads(path.read_text(encoding="utf-8"))["tables"]
    return {"tables": {name: round(scores[name], DIGITS) for name in sorted(scores)}}


def _run_line(path: Path) -> Line:
    run, (task, method, arm, budget) = Run(path.parent), path.parts[-6:-2]
    given, end = run.settings(), _scores(path)
    points = [_point(row, float(row["value"])) for row in shares_of(run).read()]
    uniform = json.loads(path.read_text(encoding="utf-8")).get("uniform", 1.0)
    points += [
        _point(row, float(row["nash_conv"]) / uniform)
        for row in exact_of(run).read()
        if row["play"] != "greedy"
    ]
    last = run.progress.read_text(encoding="utf-8").splitlines()[-1].split(",")
    final = float(interquartile_mean(np.array([[*end["tables"].values()]])))
    points.append(_point({"decisions": last[0], "seconds": last[2]}, final))
    defaults = plain(settings_of(given.method, {}))
    return {
        "task": task,
        "method": method,
        "arm": arm,
        "budget": budget,
        "seed": given.seed,
        "settings": {k: v for k, v in given.learner.items() if v != defaults.get(k, v)},
        "points": list({point["decisions"]: point for point in points}.values()),
        **end,
    }


def _point(row: Mapping[str, str], share: float) -> Line:
    at = {"decisions": int(row["decisions"]), "seconds": round(float(row["seconds"]), 3)}
    return {**at, "share": round(share, DIGITS)}


def read_results(*paths: Path) -> Results:
    """Return the results in files of `Results.write`."""
    lines = (line for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    return Results.of([json.loads(line) for line in lines])


def rows_of(results: Results, task: str) -> list[tuple[str, ...]]:
    """Return the final scores at a task: method, arm, and a cell for each budget."""
    budgets, rows = results.values("budget"), []
    for method, arm in product(results.values("method"), results.values("arm")):
        found = [results.runs(task, method, arm, budget) for budget in budgets]
        if any(found):
            rows.append((method, arm, *map(_shown, found)))
    for line in results.players(task):
        rows.append((line["method"], "", _shown([line]), *[""] * (len(budgets) - 1)))
    return rows


def tables_of(results: Results) -> list[TextTable]:
    """Return the final scores as text, task by task."""
    columns = ("method", "arm", *(f">{name}" for name in results.values("budget") or [""]))
    tasks = dict.fromkeys(line["task"] for line in results.lines)
    title = "{}: NashConv as a share of uniform play's, interquartile mean"
    return [TextTable(title.format(task), columns, rows_of(results, task)) for task in tasks]


def _shown(runs: Sequence[Line]) -> str:
    """Return "0.123 (0.101 to 0.145)", the interval only of several seeds."""
    if not runs:
        return ""
    found = score_of(runs)
    ends = f" ({found.low:.3f} to {found.high:.3f})" if np.isfinite(found.low) else ""
    return f"{found.value:.3f}{ends}"
