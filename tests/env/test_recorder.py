"""A recorder writes what a batch has stepped."""

import pickle
import random

import numpy as np
import pytest

import kille_env
from env.test_twins import random_rules
from kille_env.errors import RecordError
from kille_env.records import Recorder, replay


def random_actions(batch, rng):
    return (rng.random(batch.mask.shape) * batch.mask).argmax(axis=1)


@pytest.mark.parametrize("number", range(4))
def test_a_recorder_writes_what_a_batch_has_stepped(game, number):
    spec, turns = kille_env.spec(game), random.Random(number)
    num_players = turns.randint(spec.min_players, spec.max_players)
    rules = random_rules(spec, turns, num_players)
    batch = kille_env.make_batch(game, 1, num_players, rules=rules, restart=False)
    log, rng = Recorder(batch), np.random.default_rng(1)
    with pytest.raises(RecordError, match="reset first"):
        log.record()
    for seed in range(3):
        log.reset(seed=seed)
        batch.begin_next(reset=log.reset)
        total = np.zeros(num_players)
        steps = 0
        while batch.seat[0] >= 0:
            steps += 1
            assert steps > 20 or replay(log.record()).returns is None
            log.step(random_actions(batch, rng))
            total += batch.reward[0]
        again = replay(log.record())
        assert again.differences == []
        assert again.returns == log.record()["returns"] == pytest.approx(total)


def test_tables_that_begin_and_wait_at_other_times_are_recorded_as_if_each_was_alone():
    batch = kille_env.make_batch("byteskille", 3, 3, restart=False)
    recorder, rng = Recorder(batch), np.random.default_rng(2)
    recorder.reset(seed=[5, 6, 7])
    played = [[] for _ in range(3)]
    for turn in range(40):
        if turn == 15:
            recorder.reset(seed=[8, 9, 10], which=np.array([False, True, False]))
            played[1] = []
        which = rng.random(3) < 0.7
        actions = random_actions(batch, rng)
        for table in np.flatnonzero(which & (batch.seat >= 0)):
            played[table].append(int(actions[table]))
        recorder.step(actions, which)
    for table, seed in enumerate([5, 9, 7]):
        alone = Recorder(kille_env.make_batch("byteskille", 1, 3, restart=False))
        alone.reset(seed=seed)
        alone.note(np.array(played[table]))
        assert recorder.record(table) == alone.record()


def test_a_recorder_is_pickled_with_its_batch():
    batch = kille_env.make_batch("byteskille", 1, 3, restart=False)
    log = Recorder(batch)
    log.reset(deck=["L1", "L2", "L3"], dealer=2)
    log.step(np.array([0]))
    log = pickle.loads(pickle.dumps(log))
    log.step(np.array([1]))
    assert log.record()["deals"][0]["actions"] == [[0, "stand"], [1, "swap"]]


def test_a_recorder_needs_tables_that_wait():
    with pytest.raises(RecordError, match="restart=False"):
        Recorder(kille_env.make_batch("byteskille", 1, 4))


def test_seeds_of_any_size_stand_in_the_records():
    seeds = [3, 2**63 + 5, 2**64 - 1]
    recorder = Recorder(kille_env.make_batch("byteskille", 3, 3, episode="deal", restart=False))
    for given in (seeds, np.array(seeds, dtype=np.uint64)):
        recorder.reset(seed=given)
        assert [recorder.record(table)["seed"] for table in range(3)] == seeds
