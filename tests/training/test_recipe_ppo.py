"""The recipes in one file: they learn, and are repeatable."""

from typing import Any

import numpy as np
import pytest

import kille_training as kt
from kille_env import make_batch
from kille_env.play.policy import resolve
from reference.scripts import script


@pytest.fixture
def ppo() -> Any:
    return script("training/recipes/ppo.py")


def test_it_learns(ppo: Any) -> None:
    player = ppo.train(num_players=2, decisions=40_000, tables=128)
    assert kt.nash_conv(player, "byteskille", 2).stakes < 0.15


def test_with_a_central_critic_it_learns_too() -> None:
    player = script("training/recipes/mappo.py").train(num_players=2, decisions=40_000, tables=128)
    assert kt.nash_conv(player, "byteskille", 2).stakes < 0.15


def test_same_seed_same_player_in_every_game(ppo: Any, game: str) -> None:
    batch = make_batch(game, 16, 3, seed=1)
    batch.reset()
    seen = batch.observation.copy(), batch.mask.copy()
    players = [ppo.train(game, 3, 800, seed, tables=128) for seed in (1, 1, 2)]
    found = [resolve(each, game, 3, batch.rules).probabilities(*seen) for each in players]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
