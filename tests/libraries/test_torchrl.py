# pyright: reportMissingImports=false
"""TorchRL: both forms of the environment, decisions as a TensorDict, the recipe."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torchrl", reason='pip install ".[torchrl]"')

import torch
from torchrl.envs import GymWrapper
from torchrl.envs.utils import check_env_specs
from torchrl.objectives.value.functional import generalized_advantage_estimate

import kille_env
from kille_env.adapters.torchrl import SeatEnv, SelfPlayEnv, to_tensordict
from kille_env.errors import RulesError
from kille_env.play.policy import UniformPolicy, resolve
from reference.scripts import script

GAMES = kille_env.list_games()
FORMS = (SeatEnv, SelfPlayEnv)


def make(form: Any, game: str, tables: int, players: int | None = None, **options: Any) -> Any:
    others = {"opponents": "uniform"} if form is SeatEnv else {}
    return form(game, tables, players, **{"episode": "deal", "seed": 1, **others, **options})


def rows_of(env: Any, tensordict: Any) -> Any:
    return tensordict if env.group is None else tensordict[env.group]


@pytest.mark.parametrize("episode", ["deal", "match"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("game", GAMES)
def test_specs_hold(game, form, episode):
    spec = kille_env.spec(game)
    for players in (spec.min_players, spec.max_players):
        check_env_specs(make(form, game, 3, players, episode=episode))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("observation", ["float", "box"])
def test_random_actions_are_legal_and_no_mask_is_empty(form, observation):
    env = make(form, "byteskille", 16, 3, observation=observation)
    rollout = env.rollout(30, break_when_any_done=False)
    here = rows_of(env, rollout)
    assert rows_of(env, rollout["next"])["action_mask"].any(-1).all()
    assert here["action_mask"].gather(-1, here["action"][..., None]).all()
    assert rollout["next", "done"].any()
    floats = observation == "float"
    assert here["observation"].dtype == (torch.float32 if floats else torch.uint8)
    assert (here["observation"].max() <= 1) == floats


@pytest.mark.parametrize("game", GAMES)
def test_a_seat_is_paid_what_it_earns(game):
    env = make(SeatEnv, game, 8)
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


def test_every_seat_is_paid_what_the_batch_pays():
    env = make(SelfPlayEnv, "knack", 6, 4, seed=4)
    batch = kille_env.make_batch("knack", 6, 4, episode="deal", seed=4, restart=False)
    batch.reset()
    state = env.reset()
    while not batch.over.all():
        assert (state["agents", "mask"].numpy() == (batch.seat[:, None] == np.arange(4))).all()
        actions = batch.mask.argmax(axis=1).astype(np.int64)
        wanted = torch.full((6, 4), 99)  # what seats say that do not act is ignored
        wanted[torch.arange(6), np.maximum(batch.seat, 0)] = torch.from_numpy(actions)
        batch.step(actions, ~batch.over)
        state = env.step(state.set(("agents", "action"), wanted))["next"]
        np.testing.assert_array_equal(state["agents", "reward"][..., 0], batch.reward)
        np.testing.assert_array_equal(state["done"][:, 0], batch.over)


def test_advantages_along_time_are_each_seats_own_returns():
    env = make(SelfPlayEnv, "byteskille", 4, 3)
    rollout = env.rollout(24, break_when_any_done=False)
    reward = rollout["next", "agents", "reward"]
    done = rollout["next", "done"][..., None].expand(reward.shape)
    nothing = torch.zeros_like(reward)
    found, _ = generalized_advantage_estimate(
        1.0, 1.0, nothing, nothing, reward, done, done, time_dim=1
    )
    ahead = torch.zeros(4, 3, 1)
    for time in reversed(range(24)):
        ahead = reward[:, time] + ahead * ~done[:, time]
        torch.testing.assert_close(found[:, time], ahead)
    assert rollout["agents", "mask"].sum() == 4 * 24  # one seat acts per step


@pytest.mark.parametrize("form", FORMS)
def test_a_cap_leaves_nothing_to_estimate(form):
    env = make(form, "byteskille", 8, 3, episode="match", rules={"max_deals": 1})
    after = env.rollout(60, break_when_any_done=False)["next"]
    assert after["truncated"].any()
    assert (after["terminated"] == after["done"]).all()


def test_matches_that_the_cards_decide_are_counted():
    rules = {"preset": "wikipedia"}
    env = SelfPlayEnv("byteskille", 200, 2, episode="deal", rules=rules, seed=1)
    env.reset()
    batch = kille_env.make_batch(
        "byteskille", 200, 2, episode="deal", rules=rules, seed=1, restart=False
    )
    batch.reset()
    assert batch.over.any()
    assert ((env.skipped > 0) == batch.over).all()


def test_an_option_that_does_not_exist_is_named():
    with pytest.raises(RulesError, match="SeatEnv has no option 'opponent'"):
        SeatEnv("byteskille", 4, opponent="uniform")  # type: ignore[call-arg]


def test_decisions_become_transitions():
    batch = kille_env.make_batch("knack", 5, 3, episode="deal", seed=2)
    decisions = kille_env.collect(batch, UniformPolicy())
    rows = to_tensordict(decisions)
    assert rows.batch_size == (len(decisions.action),)
    goes_on = decisions.following >= 0
    after, later = rows["next"][goes_on], rows[decisions.following[goes_on]]
    assert (after["observation"] == later["observation"]).all()
    assert (after["action_mask"] == later["action_mask"]).all()
    assert (rows["next", "done"][:, 0].numpy() == ~goes_on).all()
    assert rows["next", "action_mask"].any(-1).all()
    np.testing.assert_allclose(rows["next", "reward"][:, 0], decisions.reward, atol=1e-6)


@pytest.mark.parametrize("kind", [("float", "SameStep"), ("float_dict", "Disabled")])
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
