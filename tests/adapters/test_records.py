"""Environments write down what was played at them."""

import copy

import gymnasium
import numpy as np
import pytest

import kille_env
from kille_env.errors import RecordError
from kille_env.records import replay


def play_on(env, rng):
    """Plays random legal actions to the end; returns what each agent got."""
    returns = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, info = env.last()
        returns[agent] += reward
        over = terminated or truncated
        env.step(None if over else int(rng.choice(np.flatnonzero(info["action_mask"]))))
    return list(returns.values())


@pytest.mark.parametrize("rules", ("svensk", "wikipedia"))
@pytest.mark.parametrize("num_players", (2, 3, 6))
def test_a_pettingzoo_match_replays_without_a_difference(num_players, rules):
    env = kille_env.make("byteskille", num_players, rules=rules)
    rng = np.random.default_rng(num_players)
    for seed in (1, 2, None):
        env.reset(seed=seed)
        returns = play_on(env, rng)
        record = env.record([f"p{seat}" for seat in range(num_players)])
        assert replay(record).differences == []
        assert record["returns"] == returns


def test_a_record_goes_back_with_the_state_and_along_with_a_copy():
    env = kille_env.make("byteskille", 4)
    rng = np.random.default_rng(0)
    env.reset(seed=3)
    for _ in range(3):
        env.step(int(rng.choice(np.flatnonzero(env.last()[4]["action_mask"]))))
    early, state, twin = env.record(), env.clone_state(), copy.deepcopy(env)
    play_on(env, rng)
    assert replay(env.record()).differences == []
    env.restore_state(state)
    assert env.record() == early == twin.record()
    assert replay(early).returns is None


@pytest.mark.parametrize("rules", ("svensk", "wikipedia"))
def test_a_gymnasium_match_replays_without_a_difference(rules):
    env = gymnasium.make("kille_env/Byteskille-v0", num_players=3, rules=rules)
    for seed in (4, 5, None):
        env.reset(seed=seed)
        over = False
        while not over:
            *_, terminated, truncated, _ = env.step(env.action_space.sample())
            over = terminated or truncated
        assert replay(env.unwrapped.record()).differences == []


def test_there_is_nothing_to_write_down_before_the_first_reset():
    with pytest.raises(RecordError, match="reset first"):
        kille_env.make("byteskille").record()
