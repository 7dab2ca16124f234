# pyright: reportMissingImports=false
"""SuperSuit's wrappers, with the observation that they need."""

import pytest

pytest.importorskip("supersuit", reason="pip install supersuit")

import gymnasium
import numpy as np
import supersuit
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import kille_env

GAMES = kille_env.list_games()
pytestmark = pytest.mark.filterwarnings("ignore")  # it warns of what it does not know

WRAPPERS = {
    "dtype_v0": lambda env: supersuit.dtype_v0(env, np.float32),
    "frame_stack_v1": lambda env: supersuit.frame_stack_v1(env, 3),
    "frame_stack_v2": lambda env: supersuit.frame_stack_v2(env, 3),
    "normalize_obs_v0": lambda env: supersuit.normalize_obs_v0(supersuit.dtype_v0(env, np.float32)),
    "flatten_v0": supersuit.flatten_v0,
    "clip_reward_v0": lambda env: supersuit.clip_reward_v0(env, -1, 1),
    "black_death_v3": lambda env: supersuit.black_death_v3(turn_based_aec_to_parallel(env)),
    "agent_indicator_v0": supersuit.agent_indicator_v0,
    "pad_observations_v0": supersuit.pad_observations_v0,
    "pad_action_space_v0": supersuit.pad_action_space_v0,
}


@pytest.mark.parametrize("observation", ["box", "float"])
@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers_of_pettingzoo(name: str, observation: str) -> None:
    if (name, observation) == ("agent_indicator_v0", "box"):
        pytest.skip("it marks the agent by a number beyond its own upper bound of uint8")
    env = WRAPPERS[name](kille_env.make("byteskille", 3, episode="deal", observation=observation))
    env.reset(seed=1)
    if name == "black_death_v3":
        observations, _ = env.reset(seed=1)
        assert all(
            env.observation_space(agent).contains(observations[agent]) for agent in env.agents
        )
        return
    for agent in env.agent_iter(200):
        seen, _, terminated, truncated, info = env.last()
        assert env.observation_space(agent).contains(seen)
        env.step(None if terminated or truncated else int(info["action_mask"].argmax()))
    assert not env.agents


@pytest.mark.parametrize(
    "name", ["dtype_v0", "frame_stack_v1", "normalize_obs_v0", "clip_reward_v0"]
)
def test_wrappers_of_gymnasium(name: str) -> None:
    env = WRAPPERS[name](gymnasium.make("kille_env/byteskille-v0", observation="float"))
    seen, info = env.reset(seed=1)
    over = False
    while not over:
        assert env.observation_space.contains(seen)
        seen, _, over, _, info = env.step(int(info["action_mask"].argmax()))
