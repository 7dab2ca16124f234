"""A run of two processes: one learner, the same bytes again, and what happens when one fails."""

import csv
import signal
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from torch import distributed

from kille_env.errors import ConfigError
from kille_training.learning.best_response import Search
from kille_training.learning.checkpoints import read_checkpoint
from kille_training.learning.data_parallel import WorkerError
from kille_training.learning.runs import Run
from kille_training.learning.settings import LearnerSettings
from kille_training.learning.training import Training, train


class StopAfter:
    """Interrupts a run after some updates, as Ctrl-C does."""

    def __init__(self, updates):
        self.left = updates

    def updated(self, row, total):
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)

    def measured(self, decisions, rows):
        pass


@pytest.fixture(scope="module")
def shared(tiny):
    """Makes the settings of a run of two processes that measures nothing while it learns."""

    def make(form="streams", **learner):
        settings = tiny(form, learner={"processes": 2, "decisions": 384, **learner})
        return replace(settings, measure=replace(settings.measure, every=0))

    return make


@pytest.fixture(scope="module")
def whole(shared, tmp_path_factory):
    """A finished run of three updates."""
    run = Run(tmp_path_factory.mktemp("processes") / "whole")
    train(run, shared())
    return run


def test_interrupted_and_resumed_is_the_same_to_the_bit(whole, tmp_path, shared):
    pieces = Run(tmp_path / "pieces")
    with pytest.raises(KeyboardInterrupt):
        train(pieces, shared(), StopAfter(2))
    assert not distributed.is_initialized()
    np.random.seed(5)  # whatever else the process does must not matter
    torch.manual_seed(5)
    train(pieces)
    for name in ("policy.safetensors", "policy.json"):
        assert (whole.folder / name).read_bytes() == (pieces.folder / name).read_bytes()
    theirs, mine = (read_checkpoint(run.checkpoint)[1] for run in (whole, pieces))
    assert theirs.keys() == mine.keys()
    for name, array in theirs.items():
        assert np.array_equal(array, mine[name]), name


def test_a_run_counts_and_keeps_what_all_processes_play(whole):
    header, arrays = read_checkpoint(whole.checkpoint)
    assert header["counters"]["num_timesteps"] == 384
    with whole.progress.open(newline="") as file:
        assert [row["decisions"] for row in csv.DictReader(file)] == ["128", "256", "384"]
    mine, theirs = arrays["last_observation"], arrays["worker/0/last_observation"]
    assert mine.shape == theirs.shape == (8, mine.shape[1])
    assert (mine != theirs).any()  # each process has deals of its own


def test_one_process_that_fails_ends_the_run(tmp_path, shared):
    run = Run(tmp_path / "run")
    settings = shared("seats", batch_size=16)
    with closing(Training(run, settings)) as training:
        training.update()
        training.save()  # which refuses if the processes hold different networks
        kept = run.checkpoint.read_bytes()
        with torch.no_grad():
            next(training.model.policy.parameters()).add_(1.0)
        with pytest.raises(WorkerError, match="hold different networks"):
            training.save()
        training.workers._children[0]._process.kill()
        with pytest.raises(WorkerError, match=r"process 2 of 2 of the run failed: .*SIGKILL"):
            training.update()
    assert run.checkpoint.read_bytes() == kept
    assert not distributed.is_initialized()


@pytest.mark.parametrize(
    ("learner", "why"),
    [
        ({"processes": 3}, "num_tables is 512, which 3 processes cannot share evenly"),
        ({"processes": 2, "batch_size": 1023}, "batch_size is 1023"),
        ({"processes": 2, "num_tables": 6, "n_steps": 3, "batch_size": 8}, "one decision"),
    ],
)
def test_what_processes_cannot_share_is_refused(learner, why):
    with pytest.raises(ConfigError, match=why):
        LearnerSettings(**learner)


def test_a_response_learns_in_one_process():
    with pytest.raises(ConfigError, match="a response learns in one process"):
        Search(learner=LearnerSettings(form="seats", processes=2))
