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
@pytest.mark.parametrize("restart", [False, True])
def test_a_logbook_writes_what_a_batch_has_stepped(num_players, rules, restart):
    batch = kille_env.make_batch("byteskille", 3, num_players, rules=rules, restart=restart)
    log = Logbook(batch)
    log.reset(seed=5)
    rng = np.random.default_rng(1)
    totals, ended = np.zeros((3, num_players)), []
    for _ in range(60):
        was_over = batch.seat < 0
        log.step(random_actions(batch, rng))
        totals += batch.reward
        for table in np.flatnonzero((batch.terminated | batch.truncated) & ~was_over):
            ended.append(totals[table].tolist())
            totals[table] = 0
    records = log.records()
    done = [record for record in records if record["returns"] is not None]
    assert [record["returns"] for record in done] == ended
    assert len(records) - len(done) == (3 if restart else (batch.seat >= 0).sum())
    for record in records:
        game = replay(record)
        assert game.differences == []
        assert (game.returns is None) == (record["returns"] is None)


def test_a_logbook_follows_stacked_decks_and_partial_resets():
    batch = kille_env.make_batch("byteskille", 2, 3, restart=False)
    log = Logbook(batch)
    with pytest.raises(RecordError, match="reset first"):
        log.records()
    log.reset(seed=1, deck=["L1", "L2", "L3"], dealer=2)
    log.step(np.array([0, 0]))
    log.reset(which=np.array([False, True]), deck=["BL", "BP", "KR"], dealer=0)
    first, second = log.records(["a", "b", "c"])
    assert first["deals"][0]["deck"] == ["L1", "L2", "L3"]
    assert first["deals"][0]["actions"] == [[0, "stand"]]
    assert second["deals"][0] == {"deck": ["BL", "BP", "KR"], "actions": []}
    assert (second["first_dealer"], second["names"]) == (0, ["a", "b", "c"])


def test_a_logbook_goes_back_to_a_mark_and_is_pickled_with_its_batch():
    batch = kille_env.make_batch("byteskille", 1, 3, restart=False)
    log = Logbook(batch)
    log.reset(deck=["L1", "L2", "L3"], dealer=2)
    log.step(np.array([0]))
    mark, tables = log.mark(), batch.save()
    log.step(np.array([0]))
    log.return_to(mark)
    batch.restore(tables)
    log = pickle.loads(pickle.dumps(log))
    log.step(np.array([1]))
    assert log.records()[0]["deals"][0]["actions"] == [[0, "stand"], [1, "swap"]]


def test_a_recorder_needs_tables_that_wait():
    with pytest.raises(RecordError, match="restart=False"):
        Recorder(kille_env.make_batch("byteskille", 1, 4))


def test_a_recorder_goes_back_to_a_mark():
    batch = kille_env.make_batch("byteskille", 1, 4, restart=False)
    recorder = Recorder(batch)
    recorder.reset(deck=["L2", "L9", "L5", "L7"], dealer=3)
    recorder.step(np.array([0]))
    mark, before = recorder.mark(), recorder.record()
    for _ in range(2):  # a mark can be used more than once
        recorder.step(np.array([1]))
        recorder.return_to(mark)
        assert recorder.record() == before
        assert (batch.seat[0], batch.legal_texts(0)) == (1, ["stand", "swap"])


def test_seeds_of_any_size_stand_in_the_records():
    seeds = [3, 2**63 + 5, 2**64 - 1]
    recorder = Recorder(kille_env.make_batch("byteskille", 3, 3, episode="deal", restart=False))
    for given in (seeds, np.array(seeds, dtype=np.uint64)):
        recorder.reset(seed=given)
        assert [recorder.record(table)["seed"] for table in range(3)] == seeds
