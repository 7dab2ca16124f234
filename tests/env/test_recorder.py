"""Writing down what is played: recorders, and the logbooks of environments."""

import pickle

import numpy as np
import pytest

import kille_env
from kille_env.errors import RecordError
from kille_env.records import Logbook, Recorder, replay

SETTINGS = [
    (2, "svensk"),
    (2, "wikipedia"),
    (3, "svensk"),
    (4, "svensk"),
    (4, {"preset": "wikipedia", "pots": 2}),
    (5, {"preset": "svensk", "episode": "deal"}),
    (6, {"preset": "wikipedia", "reentry": "wiki2", "gok_call": "any_time", "max_deals": 7}),
    (20, {"preset": "svensk", "pig_scope": "all", "dealer_after_inn": True}),
]


def random_actions(batch, rng):
    return (rng.random(batch.mask.shape) * batch.mask).argmax(axis=1)


@pytest.mark.parametrize(("num_players", "rules"), SETTINGS)
def test_a_logbook_writes_what_a_batch_has_stepped(num_players, rules):
    batch = kille_env.make_batch("byteskille", 1, num_players, rules=rules, restart=False)
    log, rng = Logbook(batch), np.random.default_rng(1)
    with pytest.raises(RecordError, match="reset first"):
        log.record()
    for seed in range(3):
        log.reset(seed=seed)
        batch.begin_next(reset=log.reset)
        total = np.zeros(num_players)
        while batch.seat[0] >= 0:
            assert replay(log.record()).returns is None
            log.step(random_actions(batch, rng))
            total += batch.reward[0]
        game = replay(log.record())
        assert game.differences == []
        assert game.returns == log.record()["returns"] == total.tolist()


def test_a_logbook_is_of_one_table_that_waits():
    for number, restart in ((2, False), (1, True)):
        with pytest.raises(RecordError, match="one table and restart=False"):
            Logbook(kille_env.make_batch("byteskille", number, 3, restart=restart))


def test_a_logbook_is_pickled_with_its_batch():
    batch = kille_env.make_batch("byteskille", 1, 3, restart=False)
    log = Logbook(batch)
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
