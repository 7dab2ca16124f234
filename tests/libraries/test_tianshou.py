# pyright: reportMissingImports=false
"""Tianshou: the collector of all seats, and the recipe."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("tianshou", reason='pip install ".[tianshou]"')

import torch
from gymnasium.spaces import Discrete
from tianshou.algorithm.algorithm_base import Algorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.data import ReplayBuffer, VectorReplayBuffer

import kille_env
from kille_env.adapters.tianshou import SeatCollector
from kille_env.errors import KilleError
from kille_env.play.policy import resolve
from reference.scripts import script


class Ramp(torch.nn.Module):
    """Values actions by their numbers."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.actions = actions

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> Any:
        return torch.arange(float(self.actions)).repeat(len(obs), 1), state


def make(game: str, tables: int, size: int = 5_000, **options: Any) -> SeatCollector:
    batch = kille_env.make_batch(game, tables, seed=4, **options)
    actions = batch.spec.num_actions
    policy = DiscreteQLearningPolicy(model=Ramp(actions), action_space=Discrete(actions))
    policy.set_eps_inference(0.3)
    return SeatCollector(policy, batch, ReplayBuffer(size))


@pytest.mark.parametrize("episode", ["deal", "match"])
@pytest.mark.parametrize("game", kille_env.list_games())
def test_the_buffer_holds_streams_of_seats(game, episode):
    collector = make(game, 6, episode=episode)
    returns, steps = [], 0
    for _ in range(3):
        found = collector.collect(n_step=6 * 12)
        returns.append(found.returns)
        steps += found.n_collected_steps
        assert found.n_collected_episodes == len(found.returns) == len(found.lens)
    buffer = collector.buffer
    assert len(buffer) == steps
    rows = buffer[np.arange(steps)]
    assert rows.obs.mask[np.arange(steps), rows.act].all()
    assert (rows.done == rows.terminated | rows.truncated).all()
    inner = np.flatnonzero(~rows.done)
    assert (rows.obs_next.obs[inner] == rows.obs.obs[inner + 1]).all()
    assert (rows.obs_next.mask[inner] == rows.obs.mask[inner + 1]).all()
    assert rows.obs_next.mask[rows.truncated].any(axis=1).all()  # those go on in a later call
    assert not rows.obs_next.mask[rows.terminated].any()
    unfinished = collector._so_far[0].sum()
    assert np.concatenate(returns).sum() + unfinished == pytest.approx(rows.rew.sum())


def test_returns_over_many_steps_run_along_a_seats_own_stream():
    collector = make("knack", 4, episode="deal")
    collector.collect(n_step=200)
    buffer = collector.buffer
    rows = np.arange(len(buffer))
    nothing = lambda buffer, indices: torch.zeros(len(indices))  # noqa: E731
    found = Algorithm.compute_nstep_return(buffer[rows], buffer, rows, nothing, 1.0, 50).returns
    ahead, expected = 0.0, np.zeros(len(rows))
    for row in rows[::-1]:
        ahead = buffer.rew[row] + ahead * (not buffer.done[row])
        expected[row] = ahead
    np.testing.assert_allclose(found.numpy().ravel(), expected, atol=1e-5)


def test_episodes_are_matches_of_a_seat():
    collector = make("byteskille", 8, num_players=2, episode="deal")
    found = collector.collect(n_episode=30, random=True)
    assert found.n_collected_episodes >= 30
    assert found.returns_stat is not None
    assert collector.collect_episode == found.n_collected_episodes
    assert found.lens.min() >= 1


def test_a_reset_forgets_open_decisions():
    collector = make("knack", 4, episode="match")
    collector.collect(n_step=40)
    collector.reset()
    assert len(collector.buffer) == 0
    assert not collector._so_far.any()


def test_buffers_that_do_not_fit_are_refused():
    batch = kille_env.make_batch("knack", 4)
    policy = make("knack", 4).policy
    with pytest.raises(KilleError, match="give a ReplayBuffer"):
        SeatCollector(policy, batch, VectorReplayBuffer(100, 4))
    with pytest.raises(KilleError, match="do not fit into a buffer for 10"):
        make("knack", 4, size=10, episode="deal").collect(n_step=400)


@pytest.mark.parametrize("game", ["byteskille", "knack"])
def test_the_recipe_learns_a_player(game, monkeypatch):
    recipe = script("training/recipes/tianshou_ppo.py")
    monkeypatch.setattr(recipe, "TABLES", 32)
    batch = kille_env.make_batch(game, 4, 3, seed=1)
    batch.reset()
    found = [
        resolve(recipe.train(game, 3, decisions=400, seed=3), game, 3, batch.rules).probabilities(
            batch.observation, batch.mask
        )
        for _ in range(2)
    ]
    np.testing.assert_allclose(found[0].sum(axis=1), 1.0)
    np.testing.assert_array_equal(found[0], found[1])
