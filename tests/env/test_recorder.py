"""A recorder writes what a batch has stepped."""

import pickle
import random

import numpy as np
import pytest

import kille_env
from env.test_twins import random_rules, random_start
from kille_env.errors import RecordError
from kille_env.records import Recorder, read_records, replay, write_records


def random_actions(batch, rng):
    return (rng.random(batch.mask.shape) * batch.mask).argmax(axis=1)


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


def test_a_recorder_needs_tables_that_wait_and_a_reset():
    with pytest.raises(RecordError, match="reset first"):
        Recorder(kille_env.make_batch("byteskille", 1, 4, restart=False)).record()
    with pytest.raises(RecordError, match="restart=False"):
        Recorder(kille_env.make_batch("byteskille", 1, 4))


def test_seeds_of_any_size_stand_in_the_records():
    seeds = [3, 2**63 + 5, 2**64 - 1]
    recorder = Recorder(kille_env.make_batch("byteskille", 3, 3, episode="deal", restart=False))
    for given in (seeds, np.array(seeds, dtype=np.uint64)):
        recorder.reset(seed=given)
        assert [recorder.record(table)["seed"] for table in range(3)] == seeds


@pytest.mark.parametrize("seats", [2, 3, "most"])
def test_what_was_played_is_read_back_and_replays_without_a_difference(
    game, seats, scale, tmp_path
):
    spec = kille_env.spec(game)
    num_players = spec.max_players if seats == "most" else seats
    rng = random.Random(num_players)
    chances = np.random.default_rng(num_players)
    for number in range(scale(20, least=2)):
        rules = random_rules(spec, rng, num_players)
        start = random_start(game, num_players, rules, rng)
        batch = kille_env.make_batch(game, 3, num_players, rules=rules, restart=False)
        recorder = Recorder(batch, names=[f"name {seat}" for seat in range(num_players)])
        recorder.reset(seed=number, start=start)
        for _ in range(150):
            if batch.over.all():
                break
            recorder.step((chances.random(batch.mask.shape) * batch.mask).argmax(axis=1))
        records = [recorder.record(table) for table in range(3)]
        file, again = tmp_path / f"{number}.jsonl", tmp_path / f"{number}_again.jsonl"
        assert write_records(records, file) == 3
        read = read_records(file)
        assert read == records
        for record in read:
            match = replay(record)
            assert match.differences == []
            assert (match.returns, match.truncated) == (
                record["returns"],
                bool(record["truncated"]),
            )
            done = [deal["result"] for deal in record["deals"] if "result" in deal]
            assert match.results == done
            taken = [[step.seat, step.action] for step in match.steps if step.action]
            assert taken == [action for deal in record["deals"] for action in deal["actions"]]
        write_records(read, again)
        assert again.read_bytes() == file.read_bytes()
