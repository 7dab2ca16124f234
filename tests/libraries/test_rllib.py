# pyright: reportMissingImports=false
"""RLlib: a module that keeps to the mask, a runner that plays batches, nodes of a cluster."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason='pip install ".[rllib]"')

import ray
from ray.cluster_utils import Cluster
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.tune.registry import register_env

import kille_env
from kille_env.adapters.rllib import MaskedModule, SelfPlayRunner, self_play
from kille_env.errors import KilleError
from kille_env.play.experience import Collector
from kille_env.play.policy import check_probabilities
from reference.scripts import script

pytestmark = pytest.mark.filterwarnings("ignore")  # RLlib and Ray warn of their own insides

RECIPE = "training/recipes/rllib_ppo.py"
TABLES = 32


@pytest.fixture
def alone():
    """Ray on this machine alone."""
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def two_nodes():
    """A cluster with a head that computes nothing and two nodes of one processor each."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    yield
    ray.shutdown()
    cluster.shutdown()


def configured(game: str = "byteskille", players: int = 3, **options: Any) -> PPOConfig:
    config = self_play(PPOConfig(), game, players, num_tables=TABLES, layers=(8,), **options)
    config.env_runners(num_env_runners=0).debugging(seed=3)
    return config.training(
        train_batch_size_per_learner=TABLES * 16, minibatch_size=128, num_epochs=1, lr=1e-3
    )


@pytest.mark.parametrize("game", kille_env.list_games())
def test_a_sample_is_what_the_collector_plays_with_the_module(game):
    config = configured(game, kille_env.spec(game).max_players).training(gamma=0.9, lambda_=0.8)
    runner = SelfPlayRunner(config=config, worker_index=0)
    batch = kille_env.make_batch(game, TABLES, kille_env.spec(game).max_players, seed=3)
    collector = Collector(batch, runner.module, observation="box", seed=3)
    for _ in range(2):  # the second one completes what the first one left open
        (episode,) = runner.sample()
        expected = collector.collect(16)
        seen = episode.get_observations(slice(0, len(episode)))
        np.testing.assert_array_equal(seen["observation"], expected.observation)
        np.testing.assert_array_equal(seen["action_mask"], expected.mask)
        np.testing.assert_array_equal(episode.get_actions(), expected.action)
        np.testing.assert_allclose(episode.get_rewards(), expected.reward)
        values = runner.module.values(expected.observation)
        gains = expected.advantages(
            values, runner.module.values(expected.next_observation), gamma=0.9, gae_lambda=0.8
        )
        targets = episode.get_extra_model_outputs(Postprocessing.VALUE_TARGETS)
        np.testing.assert_allclose(targets, gains + values, rtol=1e-4, atol=1e-4)
        standardized = episode.get_extra_model_outputs(Postprocessing.ADVANTAGES)
        assert np.corrcoef(standardized, gains)[0, 1] > 0.9999


def test_the_module_is_a_player_that_keeps_to_the_mask():
    module = SelfPlayRunner(config=configured("knack", 4), worker_index=0).module
    batch = kille_env.make_batch("knack", 64, 4, seed=1)
    batch.reset()
    odds = module.probabilities(batch.observation, batch.mask)
    check_probabilities("module", odds, batch.mask)
    assert (odds[batch.mask != 0] > 0).all()


def test_a_runner_refuses_what_it_cannot_sample():
    runner = SelfPlayRunner(config=configured(), worker_index=0)
    with pytest.raises(KilleError, match=r"num_episodes.*nash_conv"):
        runner.sample(num_episodes=3)
    few = configured().env_runners(num_envs_per_env_runner=1, rollout_fragment_length=1)
    with pytest.raises(KilleError, match=r"0 decisions are complete.*rollout_fragment_length"):
        SelfPlayRunner(config=few, worker_index=0).sample()


def test_an_iteration_trains_and_weights_come_back(alone):
    algorithm = configured(episode="deal").build_algo()
    module = algorithm.get_module()
    before = {name: weights.clone() for name, weights in module.state_dict().items()}
    result = algorithm.train()
    assert result["num_env_steps_sampled_lifetime"] == TABLES * 16
    assert result["learners"][DEFAULT_MODULE_ID]["entropy"] > 0
    learned = algorithm.learner_group.get_state()["learner"]["rl_module"][DEFAULT_MODULE_ID]
    for name, weights in module.state_dict().items():
        np.testing.assert_array_equal(weights, learned[name])
        assert not np.array_equal(weights, before[name])
    algorithm.stop()


def test_equal_seeds_train_equal_modules(alone):
    first, second = (
        script(RECIPE).train("knack", 2, decisions=1_000, seed=5).state_dict() for _ in range(2)
    )
    for name, weights in first.items():
        np.testing.assert_array_equal(weights, second[name])


def test_runners_play_on_several_nodes(two_nodes):
    algorithm = configured(episode="deal").env_runners(num_env_runners=2).build_algo()
    nodes = algorithm.env_runner_group.foreach_env_runner(
        lambda _: ray.get_runtime_context().get_node_id(), local_env_runner=False
    )
    assert len(set(nodes)) == 2 and ray.get_runtime_context().get_node_id() not in nodes
    algorithm.train()
    result = algorithm.train()
    assert result["num_env_steps_sampled_lifetime"] == 2 * TABLES * 16
    algorithm.stop()


def test_the_module_plays_in_the_one_table_form(alone):
    register_env("kille", lambda _: PettingZooEnv(kille_env.make("byteskille", 3, episode="deal")))
    config = (
        PPOConfig()
        .environment("kille")
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"all"}, policy_mapping_fn=lambda *_, **__: "all")
        .rl_module(rl_module_spec=RLModuleSpec(MaskedModule, model_config={"layers": [8]}))
        .training(train_batch_size_per_learner=60, minibatch_size=30, num_epochs=1, lr=1e-3)
    )
    algorithm = config.build_algo()
    assert algorithm.train()["num_env_steps_sampled_lifetime"] >= 60
    algorithm.stop()
