"""The benchmark: its settings, its runs, and what is made from their results."""

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from kille_env.errors import ConfigError, KilleError
from kille_env.play.policy import resolve
from kille_training.benchmark.grid import Grid
from kille_training.benchmark.page import (
    PICTURES,
    overall_rows,
    reached_rows,
    write_pictures,
)
from kille_training.benchmark.results import gather, read_results
from kille_training.benchmark.runs import do_run, is_finished, path_of, read_run
from kille_training.benchmark.tables import table_named
from kille_training.benchmark.tuning import tried, write_tried
from kille_training.benchmark.workers import do_grid
from kille_training.learn.method import method_named, method_names, settings_of
from kille_training.pool.jobs import Here
from kille_training.settings import load
from reference.scripts import script

FOLDER = Path(__file__).parents[2] / "configs" / "benchmark"
TUNING = FOLDER / "tune.yaml"
CONFIGS = sorted(set(FOLDER.glob("*.yaml")) - {TUNING})
SMALL = {"tables": 16, "layers": [8]}
TRIED = {"methods": [], "settings": {}, "candidates": {"mmd": {"a": {}}}}


def small(**other: object) -> Grid:
    """A grid of one method at one table that learns for a moment."""
    values: dict[str, object] = {
        "name": "small", "methods": ["mmd"], "tables": ["byteskille-2-noquestion"], "seeds": [1],
        "decisions": 100, "checkpoints": [0.5, 1.0], "deals": 2, "settings": {"mmd": SMALL},
    }  # fmt: skip
    return Grid(**{**values, **other})  # type: ignore[arg-type]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_committed_settings_are_valid(path: Path) -> None:
    assert load(Grid, path).runs()


def test_committed_candidates_learn_with_seeds_of_their_own() -> None:
    tuning = load(Grid, TUNING)
    assert sorted(tuning.candidates) == method_names()
    for path in CONFIGS:
        assert not set(tuning.seeds) & set(load(Grid, path).seeds)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"methods": ["mdm"], "settings": {}}, "no method 'mdm'. Did you mean 'mmd'"),
        ({"tables": ["byteskille-9"]}, "no table 'byteskille-9'"),
        ({"settings": {"mmd": {"eta_zero": 1.0}}}, "settings.mmd.eta_zero is an unknown key"),
        ({"settings": {"mmd": {"alpha": "much"}}}, "settings.mmd.alpha is 'much'"),
        ({"settings": {"ppo": {}}}, "settings.ppo"),
        ({"decisions": None}, "at least one budget"),
        ({"checkpoints": [0.5]}, "the last one 1"),
        ({**TRIED, "candidates": {"mmd": {"a": {}}, "ppo": {}}}, "expected as many of each"),
        (
            {**TRIED, "candidates": {"mmd": {"a": {"alfa": 1.0}}}},
            "candidates.mmd.a.alfa is",
        ),
        ({**TRIED, "tables": ["knack-4"]}, "knack-4, where NashConv cannot be computed exactly"),
        ({"candidates": {"mmd": {"a": {}}}}, "methods and candidates are given"),
    ],
)
def test_what_a_grid_gets_wrong_is_named(other: dict[str, object], message: str) -> None:
    with pytest.raises(KilleError, match=message):
        small(**other)


def test_a_run_is_done_once_and_its_results_are_gathered(tmp_path: Path) -> None:
    (run,) = small().runs()
    assert not is_finished(tmp_path, run)
    path = do_run(tmp_path, run)
    assert path == path_of(tmp_path, run) and is_finished(tmp_path, run)
    header, first, last = map(json.loads, path.read_text().splitlines())
    assert header["run"]["method"] == "mmd" and (first["share"], last["share"]) == (0.5, 1.0)
    assert 0 < first["decisions"] < last["decisions"] and last["decisions"] >= 100
    table = table_named(run.table)
    saved = resolve(path.with_suffix(""), table.game, table.num_players, table.rules)
    assert saved.name == "1"
    results = gather(tmp_path)
    assert read_results(results.write(tmp_path / "results.jsonl")) == results
    assert "units" not in first and "rule_of_thumb" in last["units"]
    shown = f"{last['sampled']['nash_conv']:.4f}"
    assert shown in reached_rows(results)[0][3]
    assert overall_rows(results)[0][2] == shown
    write_pictures(results, tmp_path)
    assert (tmp_path / "benchmark_curves.svg").read_text().startswith("<svg")


def test_equal_seeds_learn_the_same_within_a_budget_of_decisions(tmp_path: Path) -> None:
    (run,) = small().runs()
    ends = [json.loads(do_run(tmp_path / name, run).read_text().splitlines()[-1]) for name in "ab"]
    for end in ends:
        del end["seconds"], end["wall_seconds"]
    assert ends[0] == ends[1]


def test_a_folder_with_another_grid_is_refused(tmp_path: Path) -> None:
    (run,) = small().runs()
    do_run(tmp_path, run)
    with pytest.raises(ConfigError, match="a run with other settings"):
        is_finished(tmp_path, dataclasses.replace(run, decisions=50))


def test_players_are_measured_once_per_table(tmp_path: Path) -> None:
    run, learner = small(players=["uniform"]).runs()
    assert (run.method, run.seed, learner.seed) == ("uniform", None, 1)
    do_run(tmp_path, run)
    results = gather(tmp_path)
    assert results.methods == [] and reached_rows(results)[0][1] == "uniform"
    assert float(reached_rows(results)[0][2]) > 0.1


@pytest.mark.compiled
def test_a_response_is_learnt_where_nothing_exact_is_known(tmp_path: Path) -> None:
    grid = {"methods": [], "settings": {}, "players": ["uniform"], "deals": 500, "response": 3000}
    match, exact = (
        small(**grid, tables=[table]).runs()[0] for table in ("byteskille-2-match", "byteskille-2")
    )
    end = read_run(do_run(tmp_path, match))[-1]
    mean, low, high = end["response"]["total"]
    assert 0.0 < low < mean < high and len(end["response"]["gain"]) == 2
    assert reached_rows(gather(tmp_path))[0][6] == f"{mean:.3f}"
    assert "response" not in read_run(do_run(tmp_path, exact))[-1]


def tuning(**other: object) -> Grid:
    """Two candidates of one method that learn for a moment."""
    values: dict[str, object] = {
        "name": "tune", "tables": ["byteskille-2-noquestion"], "seeds": [101], "seconds": 1e-6,
        "candidates": {"mmd": {"still": {**SMALL, "learning_rate": 0.0}, "moves": SMALL}},
    }  # fmt: skip
    return Grid(**{**values, **other})  # type: ignore[arg-type]


def test_the_best_candidate_is_chosen_and_the_others_are_kept(tmp_path: Path) -> None:
    settings = tuning()
    do_grid(settings, tmp_path)
    lines = tried(settings, tmp_path)
    assert [line.best for line in lines] == [True, False]
    assert sorted(line.candidate for line in lines) == ["moves", "still"]
    for line in lines:
        run = tmp_path / line.candidate / "mmd" / "byteskille-2-noquestion" / "101.jsonl"
        reached = read_run(run)[-1]["sampled"]["nash_conv"]
        assert [line.nash_conv, *line.by_table.values()] == [reached, reached]
    assert lines[0].nash_conv < lines[1].nash_conv
    written = write_tried(lines, tmp_path / "tuning.jsonl").read_text().splitlines()
    assert [json.loads(line)["candidate"] for line in written] == [x.candidate for x in lines]
    told: list[str] = []
    assert do_grid(settings, tmp_path, told=told.append) == []
    assert told == ["0 of 2 runs are to be done"]


@pytest.mark.slow
@pytest.mark.compiled
def test_a_cluster_does_the_runs_that_this_machine_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # of the nodes
    grid = small()
    ends = {}
    from kille_training.pool.cluster import Ray
    from kille_training.pool.processes import Processes

    for where in (Here(), Processes(2), Ray()):
        folder = tmp_path / type(where).__name__
        with where:
            (path,) = do_grid(grid, folder, where, lambda text: None)
        assert path == path_of(folder, grid.runs()[0])
        weights = (path.with_suffix("") / "policy.safetensors").read_bytes()
        ends[folder.name] = read_run(path)[-1]["sampled"], weights
    assert ends["Here"] == ends["Processes"] == ends["Ray"]


@pytest.mark.parametrize("name", ["mmd", pytest.param("ppo", marks=pytest.mark.slow)])
def test_policy_gradients_learn_the_deal_without_the_question(name: str) -> None:
    from kille_training.evaluation.exact import nash_conv

    table = table_named("byteskille-2-noquestion")
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


def _key(run: dict[str, Any]) -> str:
    return json.dumps(run, sort_keys=True)


@pytest.fixture(scope="module")
def page() -> Any:
    return script("docs/benchmark.py")


def test_the_pictures_show_every_method(page: Any) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    for name in PICTURES:
        assert f"({name}.svg)" in text
        drawn = (page.DOCS / f"{name}.svg").read_text(encoding="utf-8")
        assert all(f">{method}</text>" in drawn for method in page.results().methods)


@pytest.mark.parametrize("name", ["exact", "games"])
def test_published_runs_are_those_of_their_settings(page: Any, name: str) -> None:
    wanted = [dataclasses.asdict(run) for run in load(Grid, FOLDER / f"{name}.yaml").runs()]
    found = [line["run"] for line in page.results(name).runs]
    assert sorted(map(_key, found)) == sorted(map(_key, wanted))


def test_the_settings_of_the_published_runs_are_the_best_candidates(page: Any) -> None:
    grid = load(Grid, FOLDER / "exact.yaml")
    best = {line["method"]: line["settings"] for line in page.tuning() if line["best"]}
    assert grid.settings == {method: numbers for method, numbers in best.items() if numbers}
    candidates = load(Grid, TUNING).candidates
    assert all(candidates[x["method"]][x["candidate"]] == x["settings"] for x in page.tuning())
