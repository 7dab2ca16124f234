"""The benchmark: its settings, its grid of runs, and the published results."""

import dataclasses
from pathlib import Path

import pytest

pytest.importorskip("torch")

from kille_env.errors import ConfigError, KilleError
from kille_training.learn.benchmark import (
    Benchmark,
    finish,
    gather,
    read_results,
    rows_of,
    tables_of,
)
from kille_training.learn.grid import run_grid
from kille_training.learn.method import method_named, method_names
from kille_training.learn.runs import Run
from kille_training.settings import load
from reference.scripts import script

FOLDER = Path(__file__).parents[2] / "configs" / "benchmark"
TABLE = {"table": {"game": "byteskille", "num_players": 2, "rules": {"fraga": "off"}}}


def small(**other: object) -> Benchmark:
    """A grid of one method at one table that learns for a moment."""
    values: dict[str, object] = {
        "name": "small", "methods": ["mmd"], "tasks": {"byteskille": TABLE}, "seeds": [1],
        "settings": {"mmd": {"tables": 16, "layers": [8]}},
        "run": {
            "learner": {"decisions": 200}, "measure": {"every": 0.5, "exact": True, "deals": 0},
        },
    }  # fmt: skip
    return Benchmark(**{**values, **other})  # type: ignore[arg-type]


def test_committed_grids_are_valid_and_tuning_shares_nothing_with_the_reports() -> None:
    grids = {path.stem: load(Benchmark, path) for path in FOLDER.glob("*.yaml")}
    tune = grids.pop("tune")
    learned = {"dqn", "maskable_ppo", "mmd", "monte_carlo", "nfsp", "population", "ppo"}
    assert learned == set(tune.methods) <= set(method_names())
    for name in ("rules", "spaces", "fixed"):
        assert set(grids[name].methods) == learned
    where = {(task["space"]["name"], task["space"]["measured"]) for task in tune.tasks.values()}
    for grid in grids.values():
        assert not set(tune.seeds) & set(grid.seeds) and not (grid.merge or tune.merge)
        for item in grid.items(Path()):
            assert (item.settings.space.name, item.settings.space.measured) not in where


def test_random_settings_follow_from_the_method_and_a_number(tmp_path: Path) -> None:
    ranges = {"mmd": {"alpha": {"low": 0.01, "high": 1.0}, "steps": [2, 4]}}
    few, more = (
        [x.settings.learner for x in small(random=n, ranges=ranges).items(tmp_path)] for n in (2, 4)
    )
    assert more[:2] == few and len({str(x) for x in more}) == 4
    assert all(0.01 <= x["alpha"] <= 1.0 and x["steps"] in (2, 4) for x in more)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"methods": ["mdm"]}, "no method 'mdm'. Did you mean 'mmd'"),
        ({"tasks": {"x": {"table": {"game": "whist"}}}}, "tasks.x: .*'whist'"),
        ({"tasks": {"x": {"spaces": {}}}}, "spaces is an unknown key. Did you mean 'space'"),
        ({"settings": {"mmd": {"eta_zero": 1.0}}}, "settings.mmd.eta_zero is an unknown key"),
        ({"settings": {"mmd": {"alpha": "much"}}}, "settings.mmd.alpha is 'much'"),
        ({"run": {"cpu_secs": 3}}, "cpu_secs is an unknown key. Did you mean 'cpu_seconds'"),
        ({"tasks": {"../x": TABLE}}, "expected the name of a folder"),
        ({"random": 2}, r"ranges\.mmd is missing"),
        ({"methods": ["maskable_ppo"], "settings": {}, "merge": True}, "cannot merge equal"),
    ],
)
def test_what_a_grid_gets_wrong_is_named(other: dict[str, object], message: str) -> None:
    with pytest.raises(KilleError, match=message):
        small(**other)


def test_a_run_is_a_training_run_that_is_done_once(tmp_path: Path) -> None:
    grid, told = small(players=["uniform"], reference={"method": "mccfr"}), Told()
    items = _, item, reference = list(grid.items(tmp_path))
    run_grid(items, tmp_path, finish, workers=1, progress=told)
    assert all(each.finished for each in items) and item.done() == item.size == 200
    assert told.lines[0] == f"Training 3 runs in {tmp_path}; log: {tmp_path}/output.log"
    assert Run(item.folder).settings().method == "mmd"
    assert reference.settings.method == "mccfr"
    results = gather(tmp_path)
    assert read_results(results.write(tmp_path / "results.jsonl")) == results
    (line,) = results.runs("byteskille", "mmd", "learned", "one")
    first, last = line["points"][0], line["points"][-1]
    assert first["decisions"] == 0 and last["decisions"] >= 200
    assert line["tables"] == {"": last["share"]} and 0.0 < last["share"] < first["share"] < 2.0
    assert line["settings"] == {"tables": 16, "layers": [8], "merge": False, "scaled": True}
    shown = {row[0]: row[2] for row in rows_of(results, "byteskille")}
    assert shown["uniform"] == "1.000" and shown["mmd"] == f"{last['share']:.3f}"
    assert float(shown["mccfr at the table itself"]) < 1.0
    assert "byteskille: NashConv" in str(tables_of(results)[0])
    before = item.folder.joinpath("score.json").stat().st_mtime_ns
    run_grid(items, tmp_path, finish, progress=told)
    assert item.folder.joinpath("score.json").stat().st_mtime_ns == before
    with pytest.raises(ConfigError, match=r"learner\.alpha is .*, not 0\.5"):
        run_grid(small(settings={"mmd": {"alpha": 0.5}}).items(tmp_path), tmp_path, finish)


class Told:
    """A progress callback that keeps what it is called with."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.done: list[int] = []

    def __call__(self, job: str, parts: int, total: int) -> None:
        self.done = [(self.done or [0])[0] + parts, total]

    def say(self, line: str) -> None:
        self.lines.append(line)


def test_progress_moves_within_a_run(tmp_path: Path) -> None:
    (item,) = small().items(tmp_path)
    assert item.done() == 0
    item.folder.mkdir(parents=True)
    Run(item.folder).progress.write_text("decisions,updates,seconds\n96,1,0.5\n", encoding="utf-8")
    assert item.done() == 96
    timed = dataclasses.replace(item.settings, cpu_seconds=2.0)
    assert (dataclasses.replace(item, settings=timed).size, item.size) == (2, 200)


def test_a_budget_of_cpu_seconds_ends_a_run(tmp_path: Path) -> None:
    (item,) = small(run={"cpu_seconds": 0.2, "measure": {"every": 0}}, settings={}).items(tmp_path)
    assert item.settings.decisions > 10**12 and "decisions" not in item.settings.learner
    from kille_training.learn.training import Training

    training = Training(Run(tmp_path / "run"), item.settings)
    while not training.done:
        training.update()
    assert 0.2 <= training.seconds < 60 and training.left() == 0.0


def test_every_method_has_settings_and_a_source() -> None:
    for name in method_names():
        method = method_named(name)
        assert dataclasses.is_dataclass(method.Settings)
        assert any(str(year) in (method.__doc__ or "") for year in range(2009, 2026))


def test_published_runs_are_those_of_the_committed_settings() -> None:
    page = script("docs/benchmark.py")
    assert ("(benchmark.svg)" in page.PAGE.read_text(encoding="utf-8")) == bool(page.FIGURES)
    for path in FOLDER.glob("*.yaml"):
        planned = {}
        for item in load(Benchmark, path).items(Path()):
            planned[tuple(item.folder.parts)] = item.settings.learner
        for line in page.results(path.stem).lines:
            if "arm" in line:
                keys = (line["task"], line["method"], line["arm"], line["budget"])
                settings = planned[*keys, f"seed-{line['seed']}"]
                assert settings.items() >= line["settings"].items()
