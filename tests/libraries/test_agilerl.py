# pyright: reportMissingImports=false
"""AgileRL: the recipe, and the credit in AgileRL's own loop that it goes around."""

import numpy as np
import pytest

pytest.importorskip("agilerl.algorithms", reason="pip install agilerl peft")

from agilerl.algorithms import PPO
from agilerl.rollouts.on_policy import collect_rollouts
from gymnasium import spaces

import kille_env
from kille_env.play.policy import check_probabilities, resolve
from reference.scripts import script

pytestmark = pytest.mark.filterwarnings("ignore")  # AgileRL and its libraries warn of their insides

RECIPE = "training/recipes/agilerl_ppo.py"


@pytest.mark.parametrize(("game", "players"), [("byteskille", 2), ("knack", 3)])
def test_the_recipe_trains_a_player(game, players):
    player = script(RECIPE).train(game, players, decisions=1_000, seed=1)
    batch = kille_env.make_batch(game, 64, players, episode="deal", seed=2)
    batch.reset()
    seated = resolve(player, game, players, batch.rules)
    odds = seated.probabilities(batch.observation, batch.mask)
    check_probabilities("agilerl", odds, batch.mask)


def test_the_librarys_own_loop_runs_across_the_ends_of_deals():
    """The trap that the recipe goes around; once this fails, `SeatVectorEnv` alone will do."""
    env = kille_env.SeatVectorEnv(
        "byteskille", 64, 3, episode="deal", observation="float", opponents="uniform",
        autoreset_mode="SameStep", seed=1,
    )  # fmt: skip
    actions = spaces.Discrete(kille_env.spec("byteskille").num_actions)
    agent = PPO(
        env.single_observation_space, actions, learn_step=64 * 8, num_envs=64, gamma=1.0,
        gae_lambda=1.0,
    )  # fmt: skip
    collect_rollouts(agent, env)
    stored = {name: agent.rollout_buffer.buffer[name].numpy() for name in ("dones", "returns")}
    rewards = agent.rollout_buffer.buffer["rewards"].numpy()
    ended = stored["dones"][:-1] != 0
    assert ended.any()
    assert not np.allclose(stored["returns"][:-1][ended], rewards[:-1][ended], atol=1e-3)
