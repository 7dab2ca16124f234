"""Several seeds of one configuration: side by side, resumed, and compared."""

import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")

import kille_training as kt
from kille_env.errors import ConfigError
from kille_training.learn.runs import Run, decisions_of, seed_runs
from kille_training.learn.seeds import SeedRuns, figures_of, open_seeds, seeds_in

MEASURE = "against uniform, sampled"


@pytest.fixture(scope="module")
def short(tiny):
    """Settings of a run of two updates."""
    return replace(tiny(learner={"decisions": 256}), name="short")


@pytest.fixture(scope="module")
def pair(short, tmp_path_factory):
    """Two seeds, finished, and what the call returned."""
    return kt.train(short, seeds=2, out=tmp_path_factory.mktemp("seeds") / "a")


@pytest.fixture(scope="module")
def other(short, tmp_path_factory):
    """Two seeds of another configuration, trained one after the other in this process."""
    changed = replace(short, learner={**short.learner, "ent_coef": 0.0})
    runs = open_seeds(changed, 2, out=tmp_path_factory.mktemp("seeds") / "b")
    return SeedRuns.of({seed: kt.train(run.folder) for seed, run in runs.items()})


def without_seconds(run: Run) -> list[str]:
    return [line.split(",")[0] for line in run.progress.read_text().splitlines()]


def test_each_seed_is_the_run_that_a_call_with_that_seed_makes(pair, short, tmp_path):
    assert pair.seeds == (1, 2) and [*seed_runs(pair.folder)] == [1, 2]
    alone = kt.train(replace(short, seed=2), out=tmp_path / "alone")
    beside = pair.runs[1]
    weights = [(run.folder / "policy.safetensors").read_bytes() for run in (alone, beside)]
    assert weights[0] == weights[1]
    assert weights[0] != (pair.runs[0].folder / "policy.safetensors").read_bytes()
    assert without_seconds(alone) == without_seconds(beside)


def test_what_they_earn_together_has_an_interval_over_seeds(pair):
    rows = {row["measure"]: row for row in pair.rows()}
    row = rows[MEASURE]
    earned = [found.rows[1].estimate.mean for found in pair.evaluations]
    assert row["values"] == earned and row["low"] <= row["mean"] <= row["high"]
    assert row["mean"] == pytest.approx(sum(earned) / 2)
    assert "Interquartile mean over 2 seeds, 20 deals each" in str(pair)
    assert all(len(line) <= 80 for line in str(pair).splitlines()[1:])  # after the path
    assert json.loads(json.dumps(pair.as_dict()))["runs"][1]["seed"] == 2


@pytest.mark.slow
def test_a_folder_takes_more_seeds_and_no_other_configuration(pair, short, tmp_path):
    folder = shutil.copytree(pair.folder, tmp_path / "moved")
    before = (folder / "seed-1/policy.safetensors").stat().st_mtime_ns
    more = kt.train(folder, seeds=3)
    assert more.seeds == (1, 2, 3)
    assert (folder / "seed-1/policy.safetensors").stat().st_mtime_ns == before
    other = replace(short, learner={**short.learner, "gamma": 0.9})
    for config, words, said in (
        (other, {"out": folder}, "learner.gamma is 1.0, not 0.9"),
        (short, {"out": folder / "seed-1"}, "is one run; name another folder"),
        (folder, {"seed": 7}, "runs with their own settings"),
        (short, {"seeds": 0}, "seeds is 0, expected 1 or more"),
    ):
        with pytest.raises(ConfigError, match=said):
            open_seeds(config, **{"seeds": 2, **words})
    with pytest.raises(ConfigError, match="holds 3 runs by seed; name one of them, such as"):
        kt.train(folder)


def test_a_folder_resumes_the_seeds_that_it_has(short, tmp_path):
    for seed, count in ((1, 2), (5, 1)):
        open_seeds(replace(short, seed=seed), count, out=tmp_path / "a")
    assert list(open_seeds(tmp_path / "a", 3)) == [1, 2, 5]
    assert list(open_seeds(tmp_path / "a", 4)) == [1, 2, 3, 4]


@pytest.mark.slow
def test_a_seed_that_fails_stops_no_other(short, tmp_path):
    runs = open_seeds(short, 2, out=tmp_path / "a")
    runs[1].progress.mkdir()  # it cannot be written there
    with pytest.raises(ConfigError, match=r"1 of 2 seeds failed \(seed-1: .*retry"):
        kt.train(tmp_path / "a", seeds=2)
    assert runs[2].evaluation.is_file() and not runs[1].evaluation.is_file()


def test_one_seed_says_that_it_has_no_interval(pair):
    found = SeedRuns.of({1: pair.runs[0]})
    assert "One seed has no interval over seeds" in str(found)
    assert found.rows()[0]["low"] is None


def test_two_configurations_are_compared_over_seeds_and_deals(pair, other, kille, tmp_path):
    found = pair.compare(other)
    row = {each.measure: each for each in found.differences}[MEASURE]
    earned = [
        tuple(figures_of(side.evaluations)[MEASURE])  # the same deals as at the end of the runs
        for side in (SeedRuns.of(dict(zip((1, 2), pair.runs, strict=True))), other)
    ]
    assert [row.first, row.second] == [pytest.approx(each) for each in earned]
    assert all(each.low <= each.mean <= each.high for each in found.differences)
    assert any(each.low < each.mean < each.high for each in found.differences)
    back = other.compare(pair)
    assert [each.mean for each in back.differences] == pytest.approx(
        [-each.mean for each in found.differences]
    )
    assert all(len(line) <= 80 for line in str(found).splitlines()[1:])
    printed = kille("compare", pair.folder, other.folder, "--out", "c", "--set", "deals=30").out
    assert "over seeds of both and over deals" in " ".join(printed.split())
    assert "30 deals" in printed and (tmp_path / "c/differences.svg").read_text().startswith("<svg")


def test_what_cannot_be_compared_is_refused(pair, other, refused, short, tmp_path):
    assert "one run has no interval over seeds" in refused("compare", pair.folder, "uniform")
    said = refused("evaluate", pair.folder)
    assert f"({pair.folder}/seed-1 or {pair.folder}/seed-2)" in said
    assert f"kille compare {pair.folder} OTHER" in said
    assert "by: not for folders of runs by seed" in " ".join(
        refused("compare", pair.folder, other.folder, "--by", "0.1").split()
    )
    with pytest.raises(ConfigError, match=r"SeedRuns\.compare compares two such folders"):
        kt.compare(pair.folder, "uniform")
    with pytest.raises(ConfigError, match="holds one seed, which has no interval over seeds"):
        pair.compare(SeedRuns.of({1: pair.runs[0]}))
    words = {"out": tmp_path / "two", "seed": 5, "set": {"learner.gamma": 0.9}}
    runs = open_seeds(short, 2, **words)
    assert [*runs] == [5, 6] and runs[6].settings().learner["gamma"] == 0.9
    with pytest.raises(ConfigError, match="has made 0 of 256 decisions; finish it first"):
        seeds_in(tmp_path / "two")


@pytest.mark.slow
def test_ctrl_c_ends_all_children_and_the_same_command_resumes(tiny, tmp_path):
    long = replace(tiny(learner={"decisions": 60 * 128}), name="long")
    open_seeds(long, 2, out=tmp_path / "pieces")
    words = [sys.executable, "-m", "kille_training.cli.main", "train", str(tmp_path / "pieces")]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    checkpoints = [run.checkpoint for run in seed_runs(tmp_path / "pieces").values()]
    deadline = time.monotonic() + 120
    while not all(map(Path.exists, checkpoints)) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and said.count("resume with: kille train") == 1
    before = [path.read_bytes() for path in checkpoints]
    time.sleep(1)
    assert before == [path.read_bytes() for path in checkpoints]  # nobody learns on
    again = kt.train(tmp_path / "pieces", seeds=2)
    assert [decisions_of(run.checkpoint) for run in again.runs] == [long.decisions] * 2
