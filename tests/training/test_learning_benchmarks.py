"""The benchmarks of learning: whose reward goes where, files of runs, and the page made of them."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sb3_contrib")

import kille_env
from kille_env.cards.pack import KILLE_CODES
from kille_env.errors import ConfigError
from kille_training.learn.methods.maskable_ppo import Learner
from reference.scripts import script

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def curves():
    return script("benchmarks/curves.py")


@pytest.fixture(scope="module")
def credit():
    return script("benchmarks/credit.py")


@pytest.fixture(scope="module")
def page():
    return script("docs/learning.py")


RULES = {"fraga": "off"}


def tables(credit, num_players, decks, dealer):
    """The tutorial's pattern at tables with given cards, at the first decision."""
    venv = credit.NextSeatVecEnv(
        "byteskille",
        len(decks),
        num_players,
        observation="box",
        rules=RULES,
        episode="deal",
        seed=1,
    )
    venv.set_options([{"deck": deck, "dealer": dealer} for deck in decks])
    return venv, venv.reset()


def test_it_is_the_wrapper_of_the_tutorials(credit):
    """Beside PettingZoo's own environment, stepped as the tutorials for SB3 step it."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        deck = rng.permutation(np.repeat(KILLE_CODES, 2)).tolist()
        dealer = int(rng.integers(3))
        venv, seen = tables(credit, 3, [deck], dealer)
        env = kille_env.make("byteskille", num_players=3, rules=RULES, episode="deal")
        env.reset(seed=1, options={"deck": deck, "dealer": dealer})
        done = False
        while not done:
            acting = env.agent_selection
            mask = env.infos[acting]["action_mask"]
            assert (venv.action_masks()[0] == mask).all()
            assert (seen[0] == env.observe(acting)["observation"]).all()
            action = rng.choice(np.flatnonzero(mask))
            seen, rewards, dones, _ = venv.step(np.array([action]))
            env.step(action)
            done = env.terminations[acting] or env.truncations[acting]
            assert rewards[0] == env._cumulative_rewards[acting]
            assert dones[0] == done


def test_a_plain_buffer_may_collect_there_and_only_there(credit, tiny):
    settings = tiny(form="seats")
    table, env = settings.table.table(), credit.next_seat(settings)
    model = Learner(table, 1, settings.hyperparameters(), env).model
    assert type(model.rollout_buffer).__name__ == "MaskableRolloutBuffer"
    model.learn(16 * 8)
    model = Learner(table, 1, tiny().hyperparameters()).model
    assert type(model).__name__ == "SeatPPO"


def test_points_of_a_run_are_exact(curves, tiny):
    settings = tiny(table={"rules": RULES})
    points = list(curves.learn(settings))
    assert [point["decisions"] for point in points] == [256, 512, 640]
    assert points == sorted(points, key=lambda point: point["seconds"])
    for point in points:
        for gains in (point["greedy"], point["sampled"]):
            assert len(gains) == 2
            assert min(gains) >= 0.0
            assert 0.0 < sum(gains) < 4.0
    assert json.loads(json.dumps(points)) == points


def test_a_journal_goes_on_after_it_was_cut_off(curves, tiny, tmp_path):
    path, settings = tmp_path / "runs" / "some.jsonl", tiny()
    journal = curves.Journal(path)
    assert not journal.has({"seed": 1}, settings)
    for seed in (1, 2):
        journal.add({"seed": seed}, settings)
    path.write_text(path.read_text() + '{"seed": 3, "sett')
    journal = curves.Journal(path)
    assert journal.has({"seed": 2}, settings)
    assert not journal.has({"seed": 3}, settings)
    journal.add({"seed": 3}, settings)
    assert [line["seed"] for line in curves.Journal(path).lines] == [1, 2, 3]
    with pytest.raises(ConfigError, match=r"holds the run .'seed': 2. with other settings"):
        journal.has({"seed": 2}, replace(settings, seed=3))


def test_a_run_of_the_benchmark(curves, credit, tmp_path, monkeypatch, capsys):
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(
        "learner: {decisions: 128, num_tables: 16, n_steps: 8, batch_size: 64, layers: [8]}\n"
        "measure: {every: 64}\ntable: {rules: {fraga: 'off'}}\n"
    )
    monkeypatch.setattr(credit, "RECIPE", recipe)
    monkeypatch.setattr(credit, "SEATS", (2,))
    words = ["credit.py", "--seeds", "1", "--out", str(tmp_path / "credit.jsonl")]
    monkeypatch.setattr(sys, "argv", words)
    run = credit.cases, credit.measure
    credit.make_runs("", "credit", *run)
    lines = curves.Journal(tmp_path / "credit.jsonl").lines
    assert [line["variant"] for line in lines] == list(credit.FORMS)
    assert capsys.readouterr().out.count("sampled") == 3
    credit.make_runs("", "credit", *run)  # all of it is there
    assert capsys.readouterr().out == ""
    assert len(curves.Journal(tmp_path / "credit.jsonl").lines) == 3


def test_the_figures_come_from_the_results(page):
    for name, make in (("credit", page.credit_figure), ("calibration", page.calibration_figure)):
        lines = page.results(name)
        drawn = make(lines)
        assert drawn.startswith("<svg")
        assert drawn == make(lines)
        assert drawn != make(lines[:-1])


def test_what_the_summary_of_the_calibration_says(page):
    gain = {"mean": 0.45, "low": 0.4, "high": 0.5, "groups": 9}
    found = {"num_players": 2, "player": "x", "stake": 2, "exact": [0.5, 0.5], "seconds": 9.0}
    found["found"] = [gain, gain]
    for exact, share, above in (([0.5, 0.5], "90%", 0), ([0.3, 0.5], "112%", 1)):
        said = page.calibration_summary(pd.DataFrame([{**found, "exact": exact}]))
        assert f"a median of {share} of it was found" in said
        assert f"above the exact gain in {above} of 2" in said
