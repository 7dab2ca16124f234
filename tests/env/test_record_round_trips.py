"""Every game's records: what was played is written, read, replayed and written again the same."""

import random

import numpy as np
import pytest

import kille_env
from env.test_twins import random_rules, random_start
from kille_env.records import Recorder, read_records, replay, write_records


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
