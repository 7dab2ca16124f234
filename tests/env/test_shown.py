"""What environments, batches, replays and facts print, and what a notebook shows of them."""

import gymnasium
import pytest

import kille_env
from kille_env.adapters.vector import SeatVectorEnv
from kille_env.records import replay

TABLE = "byteskille, 3 seats, single deals, preset svensk"


@pytest.fixture
def aec():
    env = kille_env.make("byteskille", 3, seed=1)
    env.reset()
    return env


@pytest.fixture
def vector():
    env = SeatVectorEnv("byteskille", 4, 3, seat=0)
    env.reset(seed=1)
    return env


def test_everything_says_its_table_in_a_line(aec, vector):
    one = gymnasium.make("kille_env/byteskille-v0", num_players=3, seat=0).unwrapped
    batch = kille_env.make_batch("byteskille", 4_096, 3)
    for thing in (aec, vector, one, batch):
        assert TABLE in repr(thing) and len(repr(thing)) < 100
    assert repr(batch) == f"<Batch of N = 4,096: {TABLE}>"


def test_facts_and_rules_print_as_a_few_lines():
    for game in kille_env.list_games():
        spec = kille_env.spec(game)
        assert len(str(spec)) < 700 and spec.title in str(spec) and "presets" in str(spec)
        assert str(spec.resolve()).startswith(f"<Rules of {game}: preset={spec.presets[0]}, ")


def test_a_notebook_draws_tables_as_soon_as_there_are_any(aec, vector):
    batch = kille_env.make_batch("byteskille", 2, 3, seed=1)
    assert "<img" not in batch._repr_html_() and "byteskille" in batch._repr_html_()
    batch.reset()
    for thing in (batch, aec, vector):
        assert thing._repr_html_().count("<img") == 1
    assert batch.picture(seat=1) != batch.picture() and batch.picture().startswith("<svg")


def test_a_replay_prints_its_result_and_draws_its_end(aec):
    while aec.agents:
        _, _, terminated, truncated, info = aec.last()
        aec.step(None if terminated or truncated else int(info["action_mask"].argmax()))
    record = aec.record()
    again = replay(record)
    first, last = str(again).splitlines()
    assert first.startswith("byteskille, 3 seats: 1 deal, 3 decisions, returns")
    assert last == "nothing differs" and repr(again) == str(again)
    assert str(record) == f"byteskille, 3 seats: 1 deal, returns {record['returns']}"
    assert "keeps the card" in again._repr_html_() and "<img" in again._repr_html_()
    record["returns"] = [9, 9, 9]
    assert "is recorded as" in str(replay(record))


def test_names_that_are_guessed(aec):
    assert aec.action_mask().tolist() == aec.last()[4]["action_mask"].tolist()
    assert not aec.action_mask("player_2").any()
