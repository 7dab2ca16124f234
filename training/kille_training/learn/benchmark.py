"""The benchmark: learning methods at the same tables with the same budget.

Its runs are a grid, runs/NAME/TABLE/METHOD/seed-1 and so on; fixed players are measured in
runs/NAME/TABLE/PLAYER. `gather` reads them all as lines, `tables_of` prints them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from kille_agents.greedy import PLAYS
from kille_agents.population import population
from kille_env.errors import ConfigError, KilleError, did_you_mean
from kille_env.files import make_folder, write_whole
from kille_env.registry import Table
from kille_training.evaluation.duplicate import DETERMINISTIC
from kille_training.evaluation.results import Evaluation
from kille_training.learn.grid import RESPONSE, Item
from kille_training.learn.measuring import exact_of
from kille_training.learn.method import settings_of
from kille_training.learn.runs import SEED_PREFIX, Run
from kille_training.learn.settings import TrainSettings
from kille_training.results import TextTable
from kille_training.settings import FolderName, List, Seed, TableSettings, build, plain, settings
from kille_training.solving.size import has_exact_tree
from kille_training.statistics.aggregate import bootstrap, interquartile_mean

_WITHOUT = {"fraga": "off"}
TABLES: Mapping[str, Table] = {
    "byteskille-2": Table.of("byteskille", 2),
    "byteskille-3": Table.of("byteskille", 3),
    "byteskille-4": Table.of("byteskille", 4),
    "byteskille-2-noquestion": Table.of("byteskille", 2, _WITHOUT),
    "byteskille-3-noquestion": Table.of("byteskille", 3, _WITHOUT),
    "byteskille-2-match": Table.of("byteskille", 2, episode="match"),
    "kungsholmskille-4": Table.of("kungsholmskille", 4),
    "krypkille-4": Table.of("krypkille", 4),
    "knack-4": Table.of("knack", 4),
    "femkortskille-4": Table.of("femkortskille", 4),
}
"""The tables of the benchmark. At four seats the rules have no question for better cards."""
THUMB = "rule_of_thumb"
DIGITS = 6
"""Decimals of results in files."""
COLUMNS = {
    "NashConv in stakes, interquartile mean, 95% interval": (">greedy", ">sampled"),
    "units per deal against others, mean over the seeds": (
        ">rule of thumb",
        ">held-out population",
        ">a response gains",
    ),
    "used by a run, mean over the seeds": (">million decisions", ">CPU seconds"),
}
"""Columns of `reached_rows`, by printed table."""

Line = dict[str, Any]
"""A run or a measured player: `table`, `name`, `seed` (None for a player), `settings`, `points`
(`decisions`, `seconds` and NashConv in stakes by way to play), `units` and `response`.
"""


def table_named(name: str) -> Table:
    """Return a table of the benchmark."""
    if name not in TABLES:
        raise KilleError(f"the benchmark has no table {name!r}. {did_you_mean(name, TABLES)}")
    return TABLES[name]


def measured_exactly(name: str) -> bool:
    """Return whether NashConv can be computed exactly at a table."""
    table = table_named(name)
    return has_exact_tree(table.num_players, table.rules)


@settings
class Benchmark:
    """A grid of methods, tables and seeds.

    Attributes:
        name: Name of the grid; its runs are in runs/NAME unless another folder is given.
        tables: Names of tables.
        methods: Names of methods, or names of entries of `settings` that have a `method`.
        settings: Hyperparameters that differ from the defaults, by method. An entry with the key
            `method` is a variant of that method.
        seeds: Seeds of each method at each table.
        players: Fixed players to measure at each table.
        run: Settings of all runs, as in a file for `kille train`.
        response: Decisions of a best response to the final policy, at tables without exact
            NashConv; 0 learns none.
        executor: "local": processes of this machine; "ray": a Ray cluster.
        workers: Runs at a time; 0 is one for each core, or for each CPU of the cluster.
        address: Head of a Ray cluster, HOST:PORT or "auto"; empty starts one here.
    """

    name: FolderName
    tables: List[str]
    methods: List[str] = ()
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    seeds: List[Seed] = (1, 2, 3, 4, 5)
    players: List[str] = ()
    run: Mapping[str, Any] = field(default_factory=dict)
    response: Annotated[int, Field(ge=0)] = 0
    executor: Literal["local", "ray"] = "local"
    workers: Annotated[int, Field(ge=0)] = 0
    address: str = ""

    def __post_init__(self) -> None:
        """Refuse tables, methods and settings that do not exist."""
        for name in self.tables:
            table_named(name)
        for key in ("name", "seed", "table", "method"):
            if key in self.run:
                raise ConfigError(f"run.{key} is set by the benchmark; leave it out")
        for name in (*self.methods, *self.settings):
            method, given = self.method(name)
            settings_of(method, given, f"settings.{name}.")
            self._settings("byteskille-2", name, {})

    def method(self, name: str) -> tuple[str, dict[str, Any]]:
        """Return the method and the hyperparameters of an entry of `methods`."""
        given = dict(self.settings.get(name, {}))
        return str(given.pop("method", name)), given

    def items(self, folder: Path) -> list[Item]:
        """Return all runs: players first, then seed by seed, so that a prefix is a smaller grid."""
        items = []
        for name in self.tables:
            response = 0 if not self.response or measured_exactly(name) else self.response
            for player in self.players:
                run = self._settings(name, player.replace("/", "_"), {})
                items.append(Item(folder / name / run.name, run, player, response))
        for seed in self.seeds:
            for name in self.tables:
                response = 0 if not self.response or measured_exactly(name) else self.response
                for label in self.methods:
                    method, given = self.method(label)
                    more = {"method": method, "seed": seed, "learner": given}
                    run = self._settings(name, label, more).resolved()
                    place = folder / name / label / f"{SEED_PREFIX}{seed}"
                    items.append(Item(place, run, response=response))
        return items

    def _settings(self, table: str, name: str, more: Mapping[str, Any]) -> TrainSettings:
        found = TABLES[table]
        against = (THUMB, *population(found.game, "held_out"))
        content = {
            **self.run,
            **more,
            "name": name,
            "table": plain(TableSettings.of(found.rules, found.num_players)),
            "measure": {"baselines": list(against), **self.run.get("measure", {})},
            "learner": {**self.run.get("learner", {}), **more.get("learner", {})},
        }
        return build(TrainSettings, content, "run.")


def sampled_nash_conv(run: Line) -> float:
    """Return NashConv of sampled play at the end of a run, in stakes."""
    return float(run["points"][-1]["sampled"])


def held_out_units(run: Line) -> float:
    """Return the mean units per deal against the held-out population."""
    return fmean(found[0] for name, found in run["units"].items() if name != THUMB)


def rule_of_thumb_units(run: Line) -> float:
    """Return the units per deal against the rule of thumb."""
    return float(run["units"][THUMB][0])


@dataclass(frozen=True)
class Results:
    """Finished runs of a grid.

    Attributes:
        lines: The runs and the measured players, by table, name and seed.
    """

    lines: tuple[Line, ...]

    @classmethod
    def of(cls, lines: Sequence[Line]) -> "Results":
        """Return results in their order."""
        order = sorted(lines, key=lambda x: (x["table"], x["name"], x["seed"] or 0))
        return cls(tuple(order))

    @property
    def methods(self) -> list[str]:
        """Names of the methods."""
        return sorted({line["name"] for line in self.lines if line["seed"] is not None})

    @property
    def tables(self) -> list[str]:
        """Names of the tables."""
        return sorted({line["table"] for line in self.lines})

    @property
    def exact(self) -> list[str]:
        """Names of the tables where NashConv is exact."""
        return [name for name in self.tables if measured_exactly(name)]

    @property
    def players(self) -> list[Line]:
        """Names of the fixed players."""
        return [line for line in self.lines if line["seed"] is None]

    def of_method(self, method: str, table: str) -> list[Line]:
        """Return the runs of a method at a table, by seed."""
        found = (x for x in self.lines if (x["name"], x["table"]) == (method, table))
        return [line for line in found if line["seed"] is not None]

    def scores(self, method: str, play: str) -> np.ndarray | None:
        """Return final NashConv by seed and exact table, [R, T]; None where runs are missing."""
        columns = [
            [line["points"][-1].get(play, np.nan) for line in self.of_method(method, table)]
            for table in self.exact
        ]
        if not columns or len({len(column) for column in columns}) != 1 or not columns[0]:
            return None
        scores = np.array(columns).T
        return None if np.isnan(scores).any() else scores

    def write(self, path: Path) -> Path:
        """Write one line per run."""
        make_folder(path.parent)
        lines = (json.dumps(line, sort_keys=True) + "\n" for line in self.lines)
        write_whole(path, "".join(lines).encode())
        return path


def gather(folder: Path) -> Results:
    """Return the finished runs in the folder of a grid."""
    players = [_player_line(path) for path in folder.glob("*/*/evaluation.json")]
    runs = [_run_line(path) for path in folder.glob(f"*/*/{SEED_PREFIX}*/evaluation.json")]
    if not players and not runs:
        raise ConfigError(f"{folder} holds no finished run; see kille benchmark --help")
    return Results.of([*players, *runs])


def _player_line(path: Path) -> Line:
    measured = _measured(path)
    about = {"table": path.parts[-3], "name": measured.pop("player"), "seed": None, "settings": {}}
    return {**about, "points": [measured.pop("end")], **measured}


def _run_line(path: Path) -> Line:
    run, measured = Run(path.parent), _measured(path)
    given = run.settings()
    stake = measured.pop("stake")
    points: dict[int, Line] = {}
    for row in exact_of(run).read():
        point = {"decisions": int(row["decisions"]), "seconds": round(float(row["seconds"]), 3)}
        gains = _by_play(row["play"], float(row["nash_conv"]) / stake)
        points.setdefault(point["decisions"], point).update(gains)
    last = run.progress.read_text(encoding="utf-8").splitlines()[-1].split(",")
    end = {"decisions": int(last[0]), "seconds": float(last[2]), **measured.pop("end")}
    points[end["decisions"]] = end
    defaults = plain(settings_of(given.method, {}))
    return {
        "table": path.parts[-4],
        "name": path.parts[-3],
        "seed": given.seed,
        "settings": {k: v for k, v in given.learner.items() if v != defaults.get(k, v)},
        "points": list(points.values()),
        **{key: value for key, value in measured.items() if key != "player"},
    }


def _measured(path: Path) -> Line:
    """Return the final measurement in an evaluation.json and the response beside it."""
    found = Evaluation.read(path)
    sampled = [row for row in found.rows if row.play in ("sampled", DETERMINISTIC)]
    units = {
        row.against: [
            round(x, DIGITS) for x in (row.estimate.mean, row.estimate.low, row.estimate.high)
        ]
        for row in sampled
    }
    end: Line = {}
    for row in found.exact or ():
        end |= _by_play(row.play, row.stakes)
    line = {"player": sampled[0].policy, "units": units, "end": end}
    line["stake"] = found.exact[0].stake if found.exact else 1
    if (response := path.with_name(RESPONSE)).is_file():
        total = json.loads(response.read_text(encoding="utf-8"))["total"]
        line["response"] = [round(total[name], DIGITS) for name in ("mean", "low", "high")]
    return line


def _by_play(play: str, stakes: float) -> dict[str, float]:
    return dict.fromkeys((play,) if play in PLAYS else PLAYS, round(stakes, DIGITS))


def read_results(*paths: Path) -> Results:
    """Return the results in files of `Results.write`."""
    lines = (line for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    return Results.of([json.loads(line) for line in lines])


def reached_rows(results: Results) -> list[tuple[str, ...]]:
    """Return the final results, one row per table and method; the columns are those of `COLUMNS`.

    NashConv in stakes is the interquartile mean over the seeds with its interval; units per deal,
    decisions and seconds are means over the seeds.
    """
    rows = []
    for name in results.tables:
        for line in results.players:
            if line["table"] == name:
                rows.append((name, line["name"], *_cells([line])))
        for method in results.methods:
            if runs := results.of_method(method, name):
                rows.append((name, method, *_cells(runs)))
    return rows


def overall_rows(results: Results) -> list[tuple[str, ...]]:
    """Return the interquartile mean of NashConv over all exact tables, by method."""
    rows = []
    for method in results.methods:
        found = [results.scores(method, play) for play in PLAYS]
        rows.append((method, *("" if scores is None else _mean(scores) for scores in found)))
    return rows


def tables_of(results: Results) -> list[TextTable]:
    """Return the final results as text, table by table, and over all exact tables."""
    rows, shown = reached_rows(results), []
    for name in results.tables:
        begin = 2
        for about, columns in COLUMNS.items():
            part = slice(begin, begin := begin + len(columns))
            if found := [(row[1], *row[part]) for row in rows if row[0] == name and any(row[part])]:
                shown.append(TextTable(f"{name}: {about}", ("method", *columns), found))
    if len(results.exact) > 1 and (
        overall := [row for row in overall_rows(results) if any(row[1:])]
    ):
        shown.append(
            TextTable("Over these tables: NashConv", ("method", ">greedy", ">sampled"), overall)
        )
    return shown


def _cells(runs: Sequence[Line]) -> list[str]:
    ends = [run["points"][-1] for run in runs]
    cells = []
    for play in PLAYS:
        found = [end[play] for end in ends if play in end]
        cells.append(_mean(np.array(found)[:, None]) if found else "")
    if all("units" in run for run in runs):
        cells += [
            f"{fmean(map(units, runs)):+.3f}" for units in (rule_of_thumb_units, held_out_units)
        ]
    else:
        cells += ["", ""]
    gains = [run["response"][0] for run in runs if "response" in run]
    cells.append(f"{fmean(gains):.3f}" if gains else "")
    if "decisions" not in ends[0]:
        return [*cells, "", ""]
    return [
        *cells,
        f"{fmean(end['decisions'] for end in ends) / 1e6:.1f}",
        f"{fmean(end['seconds'] for end in ends):.0f}",
    ]


def _mean(scores: np.ndarray) -> str:
    """Return the interquartile mean of NashConv, [R, T], with its interval, clipped at 0."""
    if len(scores) < 2:
        return _stakes(interquartile_mean(scores))
    found = bootstrap(scores, interquartile_mean)
    return f"{_stakes(found.value)} ({_stakes(max(0.0, found.low))} to {_stakes(found.high)})"


def _stakes(nash_conv: Any) -> str:
    return f"{round(nash_conv, 4) + 0.0:.4f}"  # adding 0.0 turns -0.0000 into 0.0000
