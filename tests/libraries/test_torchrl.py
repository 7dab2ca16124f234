# pyright: reportMissingImports=false
"""TorchRL: the environment, and the recipe."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torchrl", reason='pip install ".[torchrl]"')

import torch
from torchrl.envs import GymWrapper
from torchrl.envs.utils import check_env_specs

import kille_env
from kille_env.adapters.torchrl import SeatEnv
from kille_env.errors import RulesError
from kille_env.play.policy import resolve
from reference.scripts import script

GAMES = kille_env.list_games()


def make(game: str, tables: int, players: int | None = None, **options: Any) -> Any:
    usual = {"episode": "deal", "seed": 1, "opponents": "uniform"}
    return SeatEnv(game, tables, players, **{**usual, **options})


@pytest.mark.parametrize("episode", ["deal", "match"])
@pytest.mark.parametrize("game", GAMES)
def test_specs_hold(game, episode):
    spec = kille_env.spec(game)
    for players in (spec.min_players, spec.max_players):
        check_env_specs(make(game, 3, players, episode=episode))


@pytest.mark.parametrize("observation", ["float", "box"])
def test_random_actions_are_legal_and_no_mask_is_empty(observation):
    env = make("byteskille", 16, 3, observation=observation)
    rollout = env.rollout(30, break_when_any_done=False)
    assert rollout["next"]["action_mask"].any(-1).all()
    assert rollout["action_mask"].gather(-1, rollout["action"][..., None]).all()
    assert rollout["next", "done"].any()
    floats = observation == "float"
    assert rollout["observation"].dtype == (torch.float32 if floats else torch.uint8)
    assert (rollout["observation"].max() <= 1) == floats


@pytest.mark.parametrize("game", GAMES)
def test_a_seat_is_paid_what_it_earns(game):
    env = make(game, 8)
    earned, ended, state = np.zeros(8), 0, env.reset()
    for _ in range(40):
        state = env.rand_step(state)["next"]
        earned += state["reward"][:, 0].numpy()
        over = state["done"][:, 0].numpy().copy()
        own = env.tables.returns[np.arange(8), env.tables.own]
        np.testing.assert_allclose(earned[over], own[over], atol=1e-5)
        earned[over] = 0.0
        ended += int(over.sum())
        playing = env.tables.batch.tables["match_key"].copy()
        if over.any():
            state = env.reset(state.set("_reset", torch.from_numpy(over)[:, None]))
        begun = env.tables.batch.tables["match_key"] != playing
        assert not (begun & ~over).any() and begun[over].all()
    assert ended > 8


def test_a_cap_leaves_nothing_to_estimate():
    env = make("byteskille", 8, 3, episode="match", rules={"max_deals": 1})
    after = env.rollout(60, break_when_any_done=False)["next"]
    assert after["truncated"].any()
    assert (after["terminated"] == after["done"]).all()


def test_an_option_that_does_not_exist_is_named():
    with pytest.raises(RulesError, match="SeatEnv has no option 'opponent'"):
        SeatEnv("byteskille", 4, opponent="uniform")  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", [("float", "SameStep"), ("dict", "Disabled")])
def test_its_wrapper_takes_the_vector_environment(kind):
    observation, mode = kind
    venv = kille_env.SeatVectorEnv(
        "byteskille", 4, 3, episode="deal", observation=observation, autoreset_mode=mode
    )
    rollout = GymWrapper(venv).rollout(12, break_when_any_done=False)
    assert rollout["next", "done"].any()
    assert rollout["next", "observation"].any(-1).all()
    assert rollout["action_mask"].any(-1)[:, 1:].all()


@pytest.mark.filterwarnings("ignore:Creating .*WeightUpdater:DeprecationWarning")  # its own
@pytest.mark.filterwarnings("ignore:total_frames:UserWarning")
@pytest.mark.parametrize("game", ["byteskille", "knack"])
def test_the_recipe_learns_a_player(game, monkeypatch):
    recipe = script("training/recipes/torchrl_ppo.py")
    monkeypatch.setattr(recipe, "TABLES", 32)
    player = recipe.train(game, 3, decisions=400, seed=3)
    batch = kille_env.make_batch(game, 4, 3, seed=1)
    batch.reset()
    found = resolve(player, game, 3, batch.rules).probabilities(batch.observation, batch.mask)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    again = resolve(recipe.train(game, 3, decisions=400, seed=3), game, 3, batch.rules)
    np.testing.assert_array_equal(found, again.probabilities(batch.observation, batch.mask))
