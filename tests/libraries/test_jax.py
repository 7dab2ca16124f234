"""The recipe for JAX: it learns, and equal seeds give equal players."""

from typing import Any

import numpy as np
import pytest

import kille_training as kt
from kille_env import make_batch
from reference.scripts import script

pytest.importorskip("jax")


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = script("training/recipes/jax_ppo.py")
    monkeypatch.setattr(module, "TABLES", 128)
    monkeypatch.setattr(module, "PART", 512)
    return module


def test_it_learns(recipe: Any) -> None:
    player = recipe.train("byteskille", 2, 150_000)
    assert kt.nash_conv(player, "byteskille", num_players=2).stakes < 0.15


@pytest.mark.parametrize("game", ["byteskille", "knack"])
def test_same_seed_same_player(recipe: Any, game: str) -> None:
    batch = make_batch(game, 16, 3, seed=1)
    batch.reset()
    seen = batch.observation.copy(), batch.mask.copy()
    found = [recipe.train(game, 3, 3_000, seed)(*seen) for seed in (1, 1, 2)]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
    assert found[0].sum(axis=1) == pytest.approx(1.0)
    assert not found[0][seen[1] == 0].any()
