"""Settings that learn each game, as arguments of Stable-Baselines3."""

import pytest
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor

from kille_env import list_games
from kille_env.adapters.sb3_extractor import SeatExtractor
from kille_env.errors import KilleError
from kille_env.sb3 import Anneal, SeatPPO, SeatVecEnv, SelfPlayVecEnv, settings


@pytest.mark.parametrize("game", list_games())
def test_a_model_takes_them_as_they_are_in_every_game(game):
    venv = SelfPlayVecEnv(game, num_tables=512)
    model = SeatPPO(**settings(venv), seed=0)
    assert model.gamma == 1.0
    decisions = model.n_steps * venv.num_envs
    assert 8_000 < decisions < 17_000
    if game == "krypkille":  # every game learns in test_every_game.py
        learned = model.learn(decisions, callback=Anneal(learning_rate=1e-5))
        assert learned.num_timesteps == decisions


def test_few_tables_take_longer_rollouts():
    env = SeatVecEnv("krypkille", 4, opponents="rule_of_thumb", illegal="lose")
    found = settings(env)
    assert found["n_steps"] * 4 == 16_384
    assert PPO(**found).learning_rate == found["learning_rate"]


def test_tables_of_several_sizes_share_a_first_layer():
    venv = SelfPlayVecEnv("knack", 8, (2, 5), observation="seats")
    model = SeatPPO(**settings(venv) | {"n_steps": 4, "batch_size": 32})
    policy = model.policy
    first = policy.pi_features_extractor
    assert isinstance(first, SeatExtractor) and first is not policy.vf_features_extractor
    assert first.linear.out_features == policy.action_net.in_features == 128
    assert model.learn(32).num_timesteps == 32


def test_what_is_returned_is_the_callers():
    venv = SelfPlayVecEnv("knack", num_tables=2)
    settings(venv)["policy_kwargs"]["net_arch"].append(8)
    assert settings(venv)["policy_kwargs"]["net_arch"] == [128, 128]


def test_a_wrapper_is_refused_with_what_to_do():
    with pytest.raises(KilleError, match="before it is wrapped"):
        settings(VecMonitor(SeatVecEnv("knack", 2)))


def test_no_minibatch_has_a_single_decision():
    """MaskablePPO would divide the advantage of one by a spread that is no number."""
    venv = SeatVecEnv("byteskille", 8_193, 2, opponents="uniform")
    found = settings(venv)
    assert found["n_steps"] == 1 and 8_193 % 2048 == 1 and 8_193 % found["batch_size"] != 1
    model = MaskablePPO(**found | {"n_epochs": 1}).learn(1)
    assert all(bool(values.isfinite().all()) for values in model.policy.parameters())
