"""The solvers of the reference curves, against OpenSpiel on its own game."""

import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability
from open_spiel.python.algorithms.fictitious_play import XFPSolver

from kille_training.solving.trees.values import nash_conv, uniform
from reference.scripts import script
from reference.small_games import kuhn

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
