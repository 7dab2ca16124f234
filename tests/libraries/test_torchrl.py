# pyright: reportMissingImports=false
"""TorchRL: its wrappers of Gymnasium and PettingZoo, and the recipe."""

import gymnasium
import pytest

pytest.importorskip("torchrl", reason="pip install torchrl")

import torch
from torchrl.envs import GymEnv, GymWrapper, PettingZooWrapper
from torchrl.envs.utils import check_env_specs

import kille_env
from kille_env.adapters.registration import env_id
from reference.recipes import check_recipe

GAMES = kille_env.list_games()
pytestmark = pytest.mark.filterwarnings("ignore")  # it warns of its own insides


@pytest.mark.parametrize("observation", ["dict", "float"])
@pytest.mark.parametrize("game", GAMES)
def test_its_wrapper_of_pettingzoo_holds_its_specs(game, observation):
    env = PettingZooWrapper(
        kille_env.make(game, 3, episode="deal", observation=observation), use_mask=True
    )
    for seed in range(8):
        torch.manual_seed(seed)
        check_env_specs(env)
    assert env.rollout(200, break_when_any_done=False)["next", "done"].any()


@pytest.mark.parametrize("game", GAMES)
def test_its_wrapper_of_gymnasium_holds_its_specs(game):
    for seed in range(8):
        torch.manual_seed(seed)
        check_env_specs(GymEnv(env_id(game), num_players=3))


@pytest.mark.parametrize("kind", [("float", "SameStep"), ("dict", "Disabled")])
def test_its_wrapper_takes_the_vector_environment(kind):
    observation, mode = kind
    venv = gymnasium.make_vec(
        "kille_env/byteskille-v0", num_envs=4, num_players=3, observation=observation,
        autoreset_mode=mode,
    )  # fmt: skip
    env = GymWrapper(venv)
    check_env_specs(env)
    rollout = env.rollout(12, break_when_any_done=False)
    assert rollout["next", "done"].any()
    assert rollout["next", "observation"].any(-1).all()


@pytest.mark.parametrize("game", ["byteskille", "knack"])
def test_the_recipe_learns_a_player(game, monkeypatch):
    check_recipe("torchrl_ppo", game, monkeypatch, TABLES=32)
