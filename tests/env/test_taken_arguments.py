"""A caller's arrays are copied at the door: another thread may write to them in a kernel."""

import numpy as np
import pytest

import kille_env
from env.batches import FIELDS, batch
from kille_env.play import seats
from kille_env.play.policy import UniformPolicy
from kille_env.play.seating import SeatedPolicies


def _begun(**options):
    tables = batch(4, 3, **options)
    tables.reset()
    return tables


def _seat_vector_env():
    env = kille_env.SeatVectorEnv("byteskille", 4, 3, observation="dict")
    shown, _ = env.reset(seed=1)
    return env, shown["action_mask"].argmax(axis=1)


def _seated_policies():
    tables = _begun()
    return SeatedPolicies(tables, [UniformPolicy()], np.array([-1, 0, 0])), tables.mask.argmax(
        axis=1
    )


def _spoil_before(monkeypatch, where, name, given):
    """Let another thread, so to speak, write to the caller's array just before a kernel runs."""
    kernel = getattr(where, name)

    def spoiled(*parameters):
        given[:] = 10**9 if given.dtype != np.bool_ else ~given
        return kernel(*parameters)

    monkeypatch.setattr(where, name, spoiled)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("name", ["step", "apply"])
def test_a_batch_plays_the_actions_that_were_given(monkeypatch, name, dtype):
    tables = _begun()
    expected, given = tables.clone(), tables.mask.argmax(axis=1).astype(dtype)
    getattr(expected, name)(given.copy())
    _spoil_before(monkeypatch, tables.game, name, given)
    getattr(tables, name)(given)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(tables, field), getattr(expected, field))


def test_a_batch_steps_the_tables_that_were_chosen(monkeypatch):
    tables = _begun()
    given, which = tables.mask.argmax(axis=1), np.array([True, False, True, False])
    expected = tables.clone()
    expected.step(given, which.copy())
    _spoil_before(monkeypatch, tables.game, "step", which)
    tables.step(given, which)
    np.testing.assert_array_equal(tables.tables, expected.tables)


def test_one_seat_plays_the_actions_that_were_given(monkeypatch):
    env, given = _seat_vector_env()
    twin, _ = _seat_vector_env()
    expected, *_ = twin.step(given.copy())
    _spoil_before(monkeypatch, seats, "judge", given)
    shown, *_ = env.step(given)
    np.testing.assert_array_equal(shown["observation"], expected["observation"])


def test_seated_policies_play_the_actions_that_were_given(monkeypatch):
    players, given = _seated_policies()
    twin, _ = _seated_policies()
    twin.step(given.copy())
    _spoil_before(monkeypatch, players.batch.game, "step", given)
    players.step(given)
    np.testing.assert_array_equal(players.batch.observation, twin.batch.observation)
