"""A run: its files, how it resumes, and what it refuses."""

import csv
import json
import re
import shutil
import signal
from dataclasses import replace

import numpy as np
import pytest
import yaml

pytest.importorskip("sb3_contrib")

import torch

import kille_training as kt
from kille_env.errors import ConfigError, PolicyError
from kille_env.registry import spec
from kille_training.learn.measuring import measurements_of
from kille_training.learn.runs import PROGRESS, GrowingCSV, Run, TensorBoard, read_checkpoint
from kille_training.learn.settings import MeasureSettings
from kille_training.learn.training import Training, interruptible, train_run


@pytest.fixture(scope="module")
def short(tiny, tmp_path_factory):
    """A finished run of one update; who changes it takes a copy."""
    run = Run(tmp_path_factory.mktemp("short") / "run")
    train_run(run, tiny(learner={"decisions": 128}))
    return run


def lines(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def stop_after(updates, how=lambda: signal.raise_signal(signal.SIGINT)):
    """Return a progress callback that ends a run after some updates, as Ctrl-C does."""
    left = iter([*[None] * updates, how])  # the call before the first one says what is done
    return lambda job, parts, total: (next(left, None) or (lambda: None))()


def decisions_of_rows(path):
    return [int(row["decisions"]) for row in lines(path)]


def test_measurements_that_wait_for_their_kernels_are_the_same(tmp_path, tiny, monkeypatch):
    """Training goes on while a child compiles."""
    found, settings = [], tiny(checkpoint_seconds=1e9)
    settings = replace(settings, measure=replace(settings.measure, exact=True))
    for name in ("ready", "late"):
        run = Run(tmp_path / name)
        train_run(run, settings)
        rows = [lines(path) for path in (run.measurements, run.exact)]
        found.append([[row | {"seconds": ""} for row in part] for part in rows])
        monkeypatch.setattr(
            "kille_training.learn.training.compile_measuring",
            lambda game: lambda timeout=None: timeout is None,
        )
    assert found[0] == found[1]
    assert [row["decisions"] for row in found[0][1]][::2] == ["0", "256", "512"]


@pytest.mark.parametrize("when", ["updated", "measured"])
def test_an_interruption_during_the_last_update_is_one_too(tmp_path, tiny, when):
    class Stop:
        done = 0

        def __call__(self, job, parts, total):
            self.done += parts
            if when == "updated" and parts and self.done == total:
                signal.raise_signal(signal.SIGINT)

        def say(self, line):
            if when == "measured" and "after        256 decisions" in line:
                signal.raise_signal(signal.SIGINT)

    run = Run(tmp_path / "run")
    settings = tiny(learner={"decisions": 256})
    with pytest.raises(KeyboardInterrupt):
        train_run(run, settings, progress=Stop())
    assert read_checkpoint(run.checkpoint)[0]["decisions"] == 256
    before = run.checkpoint.read_bytes()
    train_run(run)  # nothing is left to learn
    assert run.checkpoint.read_bytes() == before


@pytest.mark.parametrize(
    ("form", "table", "learner"),
    [
        ("streams", {}, {}),
        ("seats", {"episode": "match", "num_players": 4}, {}),
        ("streams", {}, {"table_sizes": (2, 3), "episodes": ("deal", "match")}),
    ],
)
def test_an_interrupted_run_makes_all_its_decisions(tmp_path, tiny, capsys, form, table, learner):
    run, settings, stops = Run(tmp_path / "run"), tiny(form, learner, table), 0
    while stops < 5:
        try:
            train_run(run, settings if stops == 0 else None, progress=stop_after(2))
            break
        except KeyboardInterrupt:
            stops += 1
            np.random.seed(stops)  # whatever else the process does must not matter
            torch.manual_seed(stops)
    assert stops == 2
    assert decisions_of_rows(run.progress) == [128, 256, 384, 512, 640]
    assert json.loads((run.folder / "policy.json").read_text())["made"]["decisions"] == 640
    said = capsys.readouterr().err
    assert said.count("matches begin anew") == 2
    assert f"kille: {run.folder} resumes after 256 decisions; matches begin anew" in said


def test_a_checkpoint_holds_no_table(short):
    _, arrays = read_checkpoint(short.checkpoint)
    kinds = {"/".join(name.split("/")[:2]) for name in arrays if name.startswith("learner/")}
    assert kinds == {f"learner/{part}" for part in ("policy", "optimizer", "left", "num_timesteps")}


def test_a_resumed_run_plays_other_deals(tmp_path, tiny):
    """From its seed alone it would begin with the deals that it has learned from already."""
    run = Run(tmp_path / "run")
    training = Training(run, tiny())
    first = training.learner.env.observe()
    training.update()
    training.save()
    again = Training(run, tiny())
    again.load()
    again.update()
    fresh = Training(run, tiny()).learner.env
    assert np.array_equal(fresh.observe(), first)
    again.learner.env.seed(None)
    assert not np.array_equal(again.learner.env.batch.tables["deck"], fresh.batch.tables["deck"])


class Killed(BaseException):
    """The end of a process at any moment, as far as one process can end many."""


def kill():
    raise Killed


@pytest.fixture
def learning(tiny, monkeypatch):
    """Settings of a run of 24 updates that learns something; a checkpoint follows every third."""
    seconds = iter(range(1_000_000))
    monkeypatch.setattr("kille_training.learn.training.time.monotonic", lambda: next(seconds))

    def make(seed):
        learner = {"num_tables": 64, "n_steps": 16, "batch_size": 512, "layers": (32,)}
        settings = tiny(
            learner={**learner, "decisions": 24 * 1024, "learning_rate": 5e-3},
            table={"rules": {"fraga": "off"}}, seed=seed, checkpoint_seconds=2.5,
        )  # fmt: skip
        return replace(settings, measure=replace(settings.measure, every=0))

    return make


def nash_conv(run):
    return float(kt.nash_conv(run.folder, play="sampled"))


def whole_runs(folder, learning, seeds):
    runs = [Run(folder / str(seed)) for seed in seeds]
    for run, seed in zip(runs, seeds, strict=True):
        train_run(run, learning(seed))
    return [nash_conv(run) for run in runs]


def killed(run, settings, moments):
    """Train a run that is killed at some moments; returns what each kill has lost."""
    lost = []
    for moment in moments:
        with pytest.raises(Killed):
            train_run(run, None if lost else settings, progress=stop_after(moment, kill))
        made = decisions_of_rows(run.progress)[-1]
        kept = read_checkpoint(run.checkpoint)[0]["decisions"] if run.checkpoint.exists() else 0
        lost.append(made - kept)
    train_run(run, None)
    return lost


def check_killed(run, lost, found):
    assert decisions_of_rows(run.progress) == [1024 * (n + 1) for n in range(24)]
    assert max(lost) <= 3 * 1024
    spread = max(found) - min(found)
    assert min(found) - spread <= nash_conv(run) <= max(found) + spread


def test_killed_at_any_moment_a_run_learns_as_much(tmp_path, learning):
    found = whole_runs(tmp_path, learning, (1, 2, 3))
    run = Run(tmp_path / "killed")
    check_killed(run, killed(run, learning(4), (2, 5, 7, 10)), found)


@pytest.mark.slow
def test_killed_at_each_of_20_moments_runs_learn_as_much(tmp_path, learning):
    """The same seeds, since some learn less than others whether they are killed or not."""
    seeds, found = range(10, 30), []
    whole = whole_runs(tmp_path, learning, seeds)
    for seed, moment in zip(seeds, np.random.default_rng(1).integers(1, 24, size=20), strict=True):
        run = Run(tmp_path / f"killed-{seed}")
        check_killed(run, killed(run, learning(seed), (int(moment),)), whole)
        found.append(nash_conv(run))
    assert abs(np.mean(found) - np.mean(whole)) < np.std(whole) / 2


def test_a_run_leaves_everything_behind(tmp_path, tiny):
    run = Run(tmp_path / "run")
    train_run(run, tiny())
    content = yaml.safe_load(run.config.read_text())
    assert content["seed"] == 1
    assert content["made_with"]["kille-env"]
    assert content["made_with"]["sources"]
    header, _ = read_checkpoint(run.checkpoint)
    assert header["game_version"] == spec("byteskille").version
    assert header["settings"]["learner"] == content["learner"]
    rows = lines(run.progress)
    assert [int(row["decisions"]) for row in rows] == [128, 256, 384, 512, 640]
    assert all(np.isfinite(float(value)) for row in rows for value in row.values())
    assert float(rows[-1]["learning_rate"]) == 0
    assert "Nothing was learned" not in run.speed()
    measured = lines(run.measurements)
    assert {row["decisions"] for row in measured} == {"0", "256", "512"}
    assert {row["against"] for row in measured} == {"uniform", "rule_of_thumb"}
    assert list(run.tensorboard.iterdir())
    assert json.loads((run.folder / "policy.json").read_text())["made"]["decisions"] == 640
    assert not [path for path in run.folder.iterdir() if path.name.startswith(".")]


def test_nash_conv_is_measured_on_the_way_where_a_tree_fits(tmp_path, tiny):
    run = Run(tmp_path / "exact")
    measure = MeasureSettings(every=256, deals=10, exact=True)
    train_run(run, replace(tiny(), measure=measure))
    found = lines(run.exact)
    assert [(row["decisions"], row["play"]) for row in found] == [
        (decisions, play) for decisions in ("0", "256", "512") for play in ("greedy", "sampled")
    ]
    assert all(0 < float(row["nash_conv"]) < 4 for row in found)
    without = Run(tmp_path / "match")
    table = {"episode": "match"}
    train_run(without, replace(tiny(table=table), measure=measure))
    assert not without.exact.exists()


def test_a_run_is_never_overwritten(short, tiny):
    with pytest.raises(ConfigError, match=r"other settings \(learner.decisions is 128, not 640"):
        train_run(short, tiny())
    before = short.checkpoint.read_bytes()
    for settings in (None, short.settings()):  # it is finished: nothing happens
        train_run(short, settings)
    assert short.checkpoint.read_bytes() == before


def test_a_run_that_is_measured_again_has_a_new_page(short, tmp_path):
    folder = shutil.copytree(short.folder, tmp_path / "run")
    run = kt.train(folder)
    before = run.report.read_bytes()
    config = run.config.read_text(encoding="utf-8")
    deals = run.settings().measure.final_deals
    run.config.write_text(config.replace(f"final_deals: {deals}", f"final_deals: {deals + 30}"))
    run.evaluation.unlink()
    assert kt.train(folder).report.read_bytes() != before


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"table": {"num_players": 4}}, "its num_players is 2, not 4"),
        ({"table": {"episode": "match"}}, "its rules.episode is 'deal', not 'match'"),
        ({"table": {"rules": {"gok_call": "off"}}}, "its rules.gok_call is 'any_time', not 'off'"),
        ({"seed": 2}, "its seed is 1, not 2"),
        ({"learner": {"gamma": 0.9}}, "its learner.gamma is 1.0, not 0.9"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, short, tiny, changes, difference):
    other = Run(tmp_path / "other")
    learner = {"decisions": 128, **changes.get("learner", {})}
    other.write_settings(tiny(**{**changes, "learner": learner}))
    other.checkpoint.write_bytes(short.checkpoint.read_bytes())
    with pytest.raises(ConfigError, match=difference):
        train_run(other)


def test_a_checkpoint_of_another_version_of_the_game_is_refused(short, monkeypatch):
    newer = replace(spec("byteskille"), version=99)
    monkeypatch.setattr("kille_training.learn.training.spec", lambda name: newer)
    with pytest.raises(ConfigError, match="its version of the game is 0, not 99"):
        Training(short, short.settings()).load()


def test_broken_checkpoints_are_refused(short, tmp_path):
    run = Run(shutil.copytree(short.folder, tmp_path / "run"))
    whole = run.checkpoint.read_bytes()
    flipped = []
    for at in np.random.default_rng(1).integers(len(whole), size=40).tolist():
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        flipped.append(bytes(changed))
    other = (run.folder / "policy.safetensors").read_bytes()
    for broken in (whole[:1000], whole[:-1], whole + b"0", b"", other, *flipped):
        run.checkpoint.write_bytes(broken)
        with pytest.raises(PolicyError, match=r"checkpoint.*delete it, and kille train restarts"):
            read_checkpoint(run.checkpoint)
    with pytest.raises(PolicyError, match="checkpoint"):
        train_run(run)


@pytest.mark.parametrize("name", ["progress.csv", "measurements.csv", "evaluation.json"])
@pytest.mark.parametrize(
    "content",
    [b"", b"\x80\x00\xff" * 50, b"{}\n", b"[1]\n", b"a,b\n1,2\n", b"[" * 100_000],
    ids=range(6),
)
def test_a_damaged_table_is_named_with_what_to_do(tmp_path, name, content):
    run = Run(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        if name == "evaluation.json":
            run.read_evaluation()
        elif name == "progress.csv":
            GrowingCSV(run.progress, PROGRESS).read()
        else:
            measurements_of(run).read()
    assert str(tmp_path / name) in str(refused.value)
    assert re.search("Delete it|Move it away", str(refused.value))


def test_words_of_older_versions_are_refused(tmp_path):
    run = Run(tmp_path)
    measurements_of(run).begin(0)
    with run.measurements.open("a") as file:
        file.write("128,1.0,uniform,argmax,0.1,0.0,0.2,10\n")
    with pytest.raises(ConfigError, match="play is 'argmax', expected one of greedy"):
        measurements_of(run).read()


def test_a_line_that_is_cut_off_is_dropped(tmp_path):
    table = GrowingCSV(tmp_path / "progress.csv", ("decisions", "seconds"))
    table.begin(0)
    table.add({"decisions": 128, "seconds": 1.5})
    text = table.path.read_text()
    table.path.write_text(text + "256,2")
    assert [row["decisions"] for row in table.read()] == ["128"]
    table.path.write_text(text + "x,2\n")
    with pytest.raises(ConfigError, match="line 3 has no number under decisions"):
        table.read()


def test_a_run_of_one_rollout_says_that_nothing_came_of_it(short):
    assert "Nothing was learned" in short.speed()


def test_a_table_without_a_tree_says_that_nothing_is_exact(tmp_path, tiny, capsys):
    settings = tiny(learner={"decisions": 128})
    settings = replace(settings, table=replace(settings.table, num_players=6))
    settings = replace(settings, measure=replace(settings.measure, exact=True))
    train_run(Run(tmp_path / "run"), settings)
    said = "kille: exact NashConv is not measured: no tree of this table fits into memory\n"
    assert said in capsys.readouterr().err


def test_two_processes_do_not_train_one_run(tmp_path, tiny):
    run, refused = Run(tmp_path / "run"), []

    def again(job, parts, total):
        if not refused:
            with pytest.raises(ConfigError, match="another process trains the run") as error:
                train_run(run)
            refused.append(error)

    train_run(run, tiny(), progress=again)
    assert refused


def test_a_diverged_run_says_so_and_keeps_its_checkpoint(tmp_path, tiny):
    run = Run(tmp_path / "run")
    with pytest.raises(ConfigError, match=r"diverged after \d+ decisions; lower learner.learning"):
        train_run(run, tiny(learner={"learning_rate": 1e30, "anneal": False}))

    for number, value in enumerate((np.nan, 1e12)):
        other = Run(tmp_path / f"other{number}")
        settings = tiny()
        settings = replace(settings, measure=replace(settings.measure, every=0))
        training = Training(other, settings)
        for _ in range(2):
            training.update()
        training.save()
        kept = other.checkpoint.read_bytes()
        training.learner.model.policy.action_net.bias.data[0] = value
        with pytest.raises(ConfigError, match="diverged after"):
            training.update()
        assert other.checkpoint.read_bytes() == kept


def test_the_second_interruption_hits_at_once():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interruptible() as interrupted:
        assert not interrupted()
        signal.raise_signal(signal.SIGINT)
        assert interrupted()
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_tensorboard_reads_what_a_resumed_run_wrote(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for up_to, steps in ((0, (5, 9)), (5, (7,))):
        board = TensorBoard(tmp_path, up_to)
        for decisions in steps:
            board.add("loss", {"decisions": decisions, "value": decisions / 2}, ["value"])
        board.close()
    reader = EventAccumulator(str(tmp_path))
    reader.Reload()
    scalars = [(event.step, event.value) for event in reader.Scalars("loss/value")]
    assert scalars == [(5, 2.5), (7, 3.5)]
