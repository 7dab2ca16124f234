"""The benchmark: its settings, its grid of runs, and the published results."""

import dataclasses
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("torch")

from kille_env.errors import ConfigError, KilleError
from kille_training.learn.benchmark import (
    TABLES,
    Benchmark,
    gather,
    overall_rows,
    reached_rows,
    read_results,
)
from kille_training.learn.grid import Item, run_grid
from kille_training.learn.grid_plots import PICTURES
from kille_training.learn.method import method_named, method_names, settings_of
from kille_training.learn.runs import Run
from kille_training.learn.training import finish
from kille_training.settings import load
from reference.scripts import script

FOLDER = Path(__file__).parents[2] / "configs" / "benchmark"
SMALL = {"tables": 16, "layers": [8]}
TABLE = "byteskille-2-noquestion"


def small(**other: object) -> Benchmark:
    """A grid of one method at one table that learns for a moment."""
    values: dict[str, object] = {
        "name": "small", "methods": ["mmd"], "tables": [TABLE], "seeds": [1],
        "settings": {"mmd": SMALL},
        "run": {
            "learner": {"decisions": 200},
            "measure": {
                "every": 0.5, "exact": True, "deals": 0, "final_deals": 2,
                "baselines": ["rule_of_thumb", "uniform"],
            },
        },
    }  # fmt: skip
    return Benchmark(**{**values, **other})  # type: ignore[arg-type]


def test_committed_grids_are_valid_and_candidates_have_seeds_of_their_own(tmp_path: Path) -> None:
    grids = {path.stem: load(Benchmark, path) for path in FOLDER.glob("*.yaml")}
    assert all(grid.items(tmp_path) for grid in grids.values())
    tune = grids.pop("tune")
    assert {tune.method(name)[0] for name in tune.methods} == {*method_names()}
    assert not any(set(tune.seeds) & set(grid.seeds) for grid in grids.values())


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"methods": ["mdm"]}, "no method 'mdm'. Did you mean 'mmd'"),
        ({"tables": ["byteskille-9"]}, "no table 'byteskille-9'"),
        ({"settings": {"mmd": {"eta_zero": 1.0}}}, "settings.mmd.eta_zero is an unknown key"),
        ({"settings": {"mmd": {"alpha": "much"}}}, "settings.mmd.alpha is 'much'"),
        ({"settings": {"fast": {"alpha": 1.0}}}, "no method 'fast'"),
        ({"run": {"cpu_secs": 3}}, "run.cpu_secs is an unknown key. Did you mean 'cpu_seconds'"),
        ({"run": {"table": {}}}, "run.table is set by the benchmark"),
        ({"settings": {"../x": {"method": "mmd"}}}, "expected the name of a folder"),
    ],
)
def test_what_a_grid_gets_wrong_is_named(other: dict[str, object], message: str) -> None:
    with pytest.raises(KilleError, match=message):
        small(**other)


def test_some_of_the_methods_may_be_chosen(tmp_path: Path) -> None:
    grid = load(Benchmark, FOLDER / "exact.yaml", ["methods=[maskable_ppo]", "players=[]"])
    assert {item.settings.method for item in grid.items(tmp_path)} == {"maskable_ppo"}
    assert grid.items(tmp_path)[0].settings.learner["learning_rate"] == 0.005


def test_a_run_is_a_training_run_that_is_done_once(tmp_path: Path) -> None:
    grid, told = small(players=["uniform"]), Told()
    player, item = grid.items(tmp_path)
    run_grid([player, item], tmp_path, finish, workers=1, progress=told)
    assert player.finished and item.finished and item.done() == item.size == 200
    assert told.lines[0] == f"Training 2 runs in {tmp_path}; log: {tmp_path}/output.log"
    assert told.done == [200, 200]
    assert Run(item.folder).settings().method == "mmd"
    results = gather(tmp_path)
    assert read_results(results.write(tmp_path / "results.jsonl")) == results
    uniform, line = sorted(results.lines, key=lambda line: line["seed"] or 0)
    assert (uniform["name"], uniform["seed"]) == ("uniform", None)
    assert uniform["points"][0]["sampled"] > 0.1
    assert line["settings"].keys() == {"tables", "layers"} and line["units"].keys() == {
        "rule_of_thumb", "uniform"
    }  # fmt: skip
    first, last = line["points"][0], line["points"][-1]
    assert first["decisions"] == 0 and last["decisions"] >= 200
    shown = f"{last['sampled']:.4f}"
    assert [row[3] for row in reached_rows(results)][1] == overall_rows(results)[0][2] == shown
    before = Run(item.folder).evaluation.stat().st_mtime_ns
    run_grid([player, item], tmp_path, finish, progress=told)
    assert Run(item.folder).evaluation.stat().st_mtime_ns == before
    with pytest.raises(ConfigError, match=r"learner\.alpha is .*, not 0\.5"):
        run_grid(small(settings={"mmd": {**SMALL, "alpha": 0.5}}).items(tmp_path), tmp_path, finish)
    with pytest.raises(ConfigError, match="measured over 2 deals"):
        measure = dataclasses.replace(player.settings.measure, final_deals=4)
        other = dataclasses.replace(player.settings, measure=measure)
        run_grid([dataclasses.replace(player, settings=other)], tmp_path, finish)


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
    grid = small(run={"cpu_seconds": 0.2, "measure": {"every": 0, "final_deals": 2}}, settings={})
    (item,) = grid.items(tmp_path)
    assert item.settings.decisions > 10**12 and "decisions" not in item.settings.learner
    from kille_training.learn.training import Training

    training = Training(Run(tmp_path / "run"), item.settings)
    while not training.done:
        training.update()
    assert 0.2 <= training.seconds < 60 and training.left() == 0.0


@pytest.mark.slow
def test_the_command_does_a_grid_and_prints_what_it_reached(tmp_path: Path) -> None:
    from kille_training.cli.main import kille

    path = tmp_path / "grid.yaml"
    path.write_text(
        "name: x\ntables: [byteskille-2-match]\nplayers: [uniform]\nresponse: 3000\n"
        "run: {measure: {final_deals: 100, baselines: [rule_of_thumb, byteskille/stone]}}\n",
        encoding="utf-8",
    )
    found = CliRunner().invoke(kille, ["benchmark", str(path), "--out", str(tmp_path / "x")])
    assert found.exit_code == 0 and "a response gains" in found.output
    mean, low, high = gather(tmp_path / "x").lines[0]["response"]
    assert 0.0 < low < mean < high


@pytest.mark.slow
@pytest.mark.compiled
def test_a_cluster_does_the_runs_that_this_machine_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # of the nodes
    weights = []
    for executor in ("local", "ray"):
        item: Item
        (item,) = small().items(tmp_path / executor)
        run_grid([item], tmp_path / executor, finish, executor=executor)
        assert item.finished
        weights.append((item.folder / "policy.safetensors").read_bytes())
    assert weights[0] == weights[1]


@pytest.mark.parametrize("name", ["mmd", pytest.param("ppo", marks=pytest.mark.slow)])
def test_policy_gradients_learn_the_deal_without_the_question(name: str) -> None:
    from kille_training.evaluation.exact import nash_conv

    table = TABLES[TABLE]
    learner = method_named(name).Learner(table, 1, settings_of(name, {"tables": 256}))
    found = []
    for update in range(12):
        learner.update(lambda: 1.0 - update / 12)  # noqa: B023
        if update in (0, 11):
            policy = learner.policy(name)
            found.append(nash_conv(policy, "byteskille", 2, rules=table.rules).stakes)
    assert found[1] < 0.75 * found[0]


def test_every_method_has_settings_and_a_source() -> None:
    for name in method_names():
        method = method_named(name)
        assert dataclasses.is_dataclass(method.Settings)
        assert any(str(year) in (method.__doc__ or "") for year in range(2009, 2026))


def test_published_results_are_those_of_the_committed_settings(tmp_path: Path) -> None:
    page = script("docs/benchmark.py")
    text = page.PAGE.read_text(encoding="utf-8")
    for name in PICTURES:
        assert f"({name}.svg)" in text
        drawn = (page.DOCS / f"{name}.svg").read_text(encoding="utf-8")
        assert all(f">{method}</text>" in drawn for method in page.results().methods)
    for name in ("exact", "games", "tune"):
        grid = load(Benchmark, FOLDER / f"{name}.yaml")
        wanted = {
            (table, method, seed): grid.method(method)[1]
            for table in grid.tables
            for method in grid.methods
            for seed in grid.seeds
        } | {(table, player, None): {} for table in grid.tables for player in grid.players}
        found = {
            (line["table"], line["name"], line["seed"]): line["settings"]
            for line in page.results(name).lines
        }
        assert found == wanted
    exact, tune = load(Benchmark, FOLDER / "exact.yaml"), load(Benchmark, FOLDER / "tune.yaml")
    best: dict[str, tuple[float, dict[str, object]]] = {}
    for line in page.results("tune").lines:
        reached = line["points"][-1]["sampled"], line["settings"]
        method = tune.method(line["name"])[0]
        best[method] = min(best.get(method, reached), reached, key=lambda each: each[0])
    assert exact.settings == {method: given for method, (_, given) in best.items() if given}
