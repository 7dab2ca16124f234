"""Gymnasium: one seat of a table, and many tables."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from kille_env.adapters.gym import KilleEnv
from kille_env.adapters.vector import SeatVectorEnv
from kille_env.errors import KilleError, RulesError
from reference.scripts import ROOT, printed

ID = "kille_env:kille_env/byteskille-v0"


def make(**options: Any) -> KilleEnv:
    return KilleEnv("byteskille", **{"episode": "match", **options})


REGISTERED = """
assert "kille_env/knack-v0" in gymnasium.registry
env = gymnasium.make("kille_env:kille_env/byteskille-v0")
assert env.spec.id == "kille_env/byteskille-v0"
if hasattr(pettingzoo, "make"):
    assert pettingzoo.make("aec", "kille_env/knack-v0").metadata["name"] == "knack_v0"
kille_env.registry.register("other", "kille_env.games.knack")
assert "kille_env/other-v0" in gymnasium.registry
"""


@pytest.mark.parametrize(
    "order",
    [
        "kille_env, gymnasium, pettingzoo",
        "pettingzoo, kille_env, gymnasium",
        "gymnasium, kille_env, pettingzoo",
    ],
)
def test_importing_registers_before_or_after_the_other_library(order: str) -> None:
    printed(f"import {order}\n{REGISTERED}", cwd=ROOT)


def test_gymnasium_imports_the_games_by_the_name_of_a_module() -> None:
    for module in ("kille_env", "kille_env.gym"):
        code = f"import gymnasium; gymnasium.make('{module}:kille_env/byteskille-v0').reset()"
        printed(code, cwd=ROOT)


def test_an_illegal_action_loses_by_default() -> None:
    plain = {"fraga": "off", "gok_call": "off"}
    env = make(num_players=3, rules=plain, illegal_reward=-3.0)
    with pytest.raises(KilleError, match="reset"):
        env.step(0)
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(9)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-3.0, True, False, True)
    with pytest.raises(KilleError, match="reset"):
        env.step(0)


def test_reset_options() -> None:
    env = make(num_players=3)
    options = {"deck": ["L5", "L6", "KI"], "dealer": 2, "seat": 2}
    observation, info = env.reset(seed=1, options=options)
    card = env.tables.batch.spec.observation(3)[1].slice
    assert info["seat"] == 2
    assert observation[card].any()
    with pytest.raises(RulesError, match="deck"):
        env.reset(options={"decks": []})


# Many tables.


def make_vec(mode: AutoresetMode | str = "SameStep", **options: Any) -> SeatVectorEnv:
    table = {"num_players": 3, "episode": "match"}
    options = {"num_envs": 6, "autoreset_mode": mode, **table, **options}
    venv = gymnasium.make_vec(ID, **options)
    assert isinstance(venv, SeatVectorEnv)
    return venv


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_statistics_of_episodes(mode: AutoresetMode, scale: Callable[..., int]) -> None:
    version = tuple(map(int, gymnasium.__version__.split(".")[:2]))
    if mode == AutoresetMode.SAME_STEP and version < (1, 4):
        pytest.skip("before 1.4 Gymnasium's wrapper counts wrongly in this mode")
    venv = RecordEpisodeStatistics(make_vec(mode))
    _, infos = venv.reset(seed=1)
    venv.action_space.seed(1)
    results = []
    for _ in range(scale(120, 30)):
        _, _, terminated, truncated, infos = venv.step(
            venv.action_space.sample(tuple(infos["action_mask"]))
        )
        done = terminated | truncated
        told = infos["final_info"] if mode == AutoresetMode.SAME_STEP and done.any() else infos
        for i in np.flatnonzero(done):
            results.append(told["returns"][i][told["seat"][i]])
        if mode == AutoresetMode.DISABLED and done.any():
            _, infos = venv.reset(options={"reset_mask": done})
    assert list(venv.return_queue)[-len(results) :] == pytest.approx(results[-100:])


def test_a_table_that_is_over_takes_no_action_unless_it_is_reset() -> None:
    venv = make_vec("Disabled", episode="deal")
    _, infos = venv.reset(seed=1)
    with pytest.raises(KilleError, match="over"):
        for _ in range(50):
            *_, infos = venv.step(infos["action_mask"].argmax(axis=1))
    with pytest.raises(RulesError, match="reset_mask"):
        venv.reset(options={"reset_mask": np.zeros(6, dtype=bool)})


def test_seeds_of_the_tables() -> None:
    venv = make_vec()
    first, _ = venv.reset(seed=[4, None, 4, 7, 8, 9])
    assert np.array_equal(first[0], first[2])
    assert np.array_equal(venv.reset(seed=4)[0][0], first[0])
    before = venv.reset(seed=1)[0]
    assert not np.array_equal(venv.reset()[0], before)
    with pytest.raises(RulesError, match="2 seeds"):
        venv.reset(seed=[1, 2])


def test_masks_stand_under_the_name_that_sb3_contrib_asks_for() -> None:
    env = make()
    _, info = env.reset(seed=1)
    assert env.action_masks().tolist() == info["action_mask"].astype(bool).tolist()


def test_a_central_critic_gets_the_full_state_and_nobody_else() -> None:
    env = KilleEnv("byteskille", 3, episode="deal", full_state=True)
    plain = KilleEnv("byteskille", 3, episode="deal")
    venv = SeatVectorEnv("byteskille", 2, 3, episode="deal", full_state=True)
    _, info = env.reset(seed=3)
    assert "full_state" not in plain.reset(seed=3)[1]
    _, infos = venv.reset(seed=3)
    over = False
    while not over:
        expected = env.tables.batch.full_state(info["seat"])[0]
        assert np.array_equal(info["full_state"], expected)
        assert np.array_equal(infos["full_state"][0], expected)
        action = int(info["action_mask"].argmax())
        _, _, terminated, truncated, info = env.step(action)
        infos = venv.step(infos["action_mask"].argmax(axis=1))[-1]
        over = terminated or truncated
    assert np.array_equal(info["full_state"], infos["full_state"][0])
