"""Scripts of docs and benchmarks: files of runs, the leaderboard, peers, reference curves."""

import json
import sys
from dataclasses import replace

import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability
from open_spiel.python.algorithms.fictitious_play import XFPSolver

import kille_training as kt
from kille_env.errors import ConfigError
from kille_training.solving.trees.values import nash_conv, uniform
from reference.scripts import script
from reference.small_games import kuhn
from speed.libraries import BATCH, Work
from speed.peers import compared

pytest.importorskip("sb3_contrib")


@pytest.fixture(scope="module")
def journal():
    return script("benchmarks/journal.py")


def test_a_journal_resumes_after_it_was_cut_off(journal, tiny, tmp_path, monkeypatch, capsys):
    path, settings = tmp_path / "runs" / "some.jsonl", tiny()
    cases = lambda seeds: [({"seed": seed}, settings) for seed in range(1, seeds + 1)]  # noqa: E731
    measure = lambda key, settings: {"found": key["seed"] ** 2}  # noqa: E731
    monkeypatch.setattr(sys, "argv", ["x", "--seeds", "2", "--out", str(path)])
    journal.make_runs("", "some", cases, measure)
    assert '{"found": 4}' in capsys.readouterr().out
    path.write_text(path.read_text() + '{"seed": 3, "sett')
    monkeypatch.setattr(sys, "argv", ["x", "--seeds", "3", "--out", str(path)])
    journal.make_runs("", "some", cases, measure)
    assert [line["found"] for line in journal.Journal(path).lines] == [1, 4, 9]
    assert capsys.readouterr().out.count("found") == 1
    with pytest.raises(ConfigError, match=r"holds the run .'seed': 2. with other settings"):
        journal.Journal(path).has({"seed": 2}, replace(settings, seed=3))


def test_a_small_table_is_a_run_with_exact_points(tiny, tmp_path):
    import kille_training as kt
    from kille_training.learn.grid import Item

    curves = script("benchmarks/small_curves.py")
    assert len(curves.items()) == 40 and len({item.folder for item in curves.items()}) == 40
    measure = replace(curves.MEASURE, every=256, final_deals=2)
    settings = replace(tiny(table={"rules": {"preset": "svensk", "fraga": "off"}}), measure=measure)
    kt.train(settings, out=tmp_path / "run")
    line = curves.line_of(Item(tmp_path / "run", settings))
    assert [point["decisions"] for point in line["points"]] == [256, 512]
    assert all(0 < point["sampled"][0] < 4 for point in line["points"])
    assert line["baselines"]["uniform"] > line["baselines"]["rule_of_thumb"]


def test_the_figures_come_from_the_results():
    page = script("docs/learning.py")
    lines = page.results("calibration")
    drawn = page.calibration_figure(lines)
    assert drawn.startswith("<svg") and drawn == page.calibration_figure(lines)
    assert drawn != page.calibration_figure(lines[:-1])


BOARD = script("docs/leaderboard.py")
TRACK, EXACT = "knack", "byteskille-nashconv-2"


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    path = tmp_path / "leaderboard.jsonl"
    path.touch()
    monkeypatch.setattr(BOARD, "DATA", path)
    monkeypatch.setattr(BOARD, "DEALS", 10)
    return path


def test_a_score_is_the_mean_of_what_kille_evaluate_measures():
    BOARD.add("rule_of_thumb", "rule", "us", [TRACK])
    (line,) = BOARD.read()
    against = list(BOARD.tracks()[TRACK].against)
    found = kt.evaluate(
        "rule_of_thumb", "knack", 4, baselines=against, deals=10, seed=BOARD.SEED, play="sampled"
    )
    means = [row.estimate.mean for row in found.rows]
    assert line["score"]["mean"] == pytest.approx(sum(means) / len(means), abs=1e-5)
    assert line["parts"]["rule_of_thumb"]["mean"] == 0  # against itself
    assert line["score"]["low"] < line["score"]["mean"] < line["score"]["high"]


def test_a_measured_line_stays_and_its_name_and_conditions_too(data, monkeypatch):
    BOARD.add("byteskille/solved", "solved", "us", [EXACT])
    before = data.read_bytes()
    assert 0 <= BOARD.read()[0]["score"]["mean"] < 1e-5
    monkeypatch.setattr(BOARD, "measure", None)
    BOARD.add("byteskille/solved", "solved", "us", [EXACT])
    assert data.read_bytes() == before
    with pytest.raises(ConfigError, match="choose another --name"):
        BOARD.add("uniform", "solved", "us", [EXACT])
    monkeypatch.setattr(BOARD, "VERSION", BOARD.VERSION + 1)
    with pytest.raises(ConfigError, match="under other conditions"):
        BOARD.read()


@pytest.fixture(scope="module")
def page():
    return script("docs/performance.py")


def test_ratios_are_within_each_turn_and_not_of_the_medians() -> None:
    work = Work(BATCH, "Kuhn", "all", lambda: None)
    row = compared("Other", "1.0", work, [2e-6, 8e-6, 9e-6], [1e-6, 1e-6, 3e-6])
    assert row.what == "Other 1.0: Kuhn" and row.unit == "M decisions/s"
    assert row.value == pytest.approx(0.125) and row.high == pytest.approx(0.5)
    assert row.times == pytest.approx((3.0, 2.0, 8.0))


def _line(what: str, value: float, unit: str, times: list[float] | None) -> dict[str, object]:
    spread = {"low": value / 2, "high": value * 2}
    more = {"unit": unit, "target": "", "times": times, "includes": "everything"}
    return {"what": what, "value": value, **spread, **more}


def test_the_table_of_peers(page, tmp_path) -> None:
    rows = [
        _line("kille-env 1: byteskille", 12.5, "M decisions/s", None),
        _line("Other 2: `Kuhn`", 0.25, "M decisions/s", [50, 45, 1234]),
    ]
    file = tmp_path / "peers.json"
    file.write_text(json.dumps({"machine": {"cpu": "one"}, "rows": rows}))
    made = page.bench_table(file)
    assert "| **kille-env 1: byteskille** | 12.5 M decisions/s |  |  |" in made
    assert "| Other 2: `Kuhn` | 0.250 M decisions/s | 50.0 × | 45.0 to 1,234 |" in made
    assert made.endswith("Measured on: cpu one.")


def test_a_table_without_peers(page, tmp_path) -> None:
    row = _line("a step", 9.0, "µs", None)
    file = tmp_path / "step.json"
    file.write_text(json.dumps({"machine": dict.fromkeys(page.MACHINE, "one"), "rows": [row]}))
    assert "| a step | 9.00 | 4.50 to 18.0 | µs |" in page.bench_table(file)


pytestmark = pytest.mark.compiled
CURVES = script("benchmarks/reference_curves.py")


def native():
    return pyspiel.load_game(CURVES.OUTSIDE[CURVES.QUICK])


def ours(method: str, iterations: int) -> float:
    solver = CURVES.METHODS[method](CURVES.grown(CURVES.QUICK), 1)
    solver.run(iterations)
    return nash_conv(solver.tree, solver.strategy()).total


@pytest.mark.parametrize("name", ["CFR", "CFR+"])
def test_nash_conv_of_openspiels_averages_is_openspiels(name: str) -> None:
    game = native()
    solver = {"CFR": pyspiel.CFRSolver, "CFR+": pyspiel.CFRPlusSolver}[name](game)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    theirs = exploitability.nash_conv(game, solver.average_policy())
    assert 0.01 < theirs < 0.5
    assert ours(f"OpenSpiel {name}", 20) == pytest.approx(theirs, abs=1e-9)


def test_fictitious_play_is_openspiels() -> None:
    game, found = native(), []
    solver = XFPSolver(game)
    for _ in range(5):
        solver.iteration()
        found.append(exploitability.nash_conv(game, solver.average_policy().to_tabular()))
    assert [ours("fictitious play", turn + 1) for turn in range(5)] == pytest.approx(found)


def test_descent_finds_the_equilibrium_of_two_seats() -> None:
    tree = kuhn(2).tree
    solver = CURVES.Descent(tree, burn=0)
    for _ in range(1000):
        solver.step()
    found = nash_conv(tree, solver.strategy)
    assert found.total < 1e-3
    assert found.values[0] == pytest.approx(-1 / 18, abs=1e-3)


def test_a_curve_has_rising_points(tmp_path, monkeypatch, capsys) -> None:
    out = tmp_path / "curves.jsonl"
    monkeypatch.setattr("sys.argv", ["x", "--quick", "--seconds", "0.05", "--out", str(out)])
    CURVES.main()
    lines = CURVES.Journal(out).lines
    assert {line["method"] for line in lines} == CURVES.METHODS.keys() - {"MCCFR"}
    tree = CURVES.grown(CURVES.QUICK).merged
    for line in lines:
        iterations, seconds, found = zip(*line["points"], strict=True)
        assert [*iterations] == sorted({*iterations}) and [*seconds] == sorted(seconds)
        assert found[-1] < nash_conv(tree, uniform(tree)).total
