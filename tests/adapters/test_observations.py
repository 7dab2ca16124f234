"""The option `observation`: what every form shows of what a seat sees."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from adapters.spies import random_legal, stable_baselines, step
from kille_env.adapters.aec import KilleAEC
from kille_env.adapters.gym import KilleEnv
from kille_env.adapters.vector import SeatVectorEnv
from kille_env.core.floats import OBSERVATION, seat_layout
from kille_env.core.spec import feature_scale
from kille_env.errors import RulesError
from kille_env.registry import spec


def first_look(env: Any) -> tuple[Any, Any]:
    """What a form shows after a reset with seed 7, and the space that it lies in."""
    if isinstance(env, KilleAEC):
        env.reset(seed=7)
        agent = env.agent_selection
        return env.observe(agent), env.observation_space(agent)
    return env.reset(seed=7)[0], env.observation_space


@pytest.mark.parametrize("form", [KilleAEC, KilleEnv, SeatVectorEnv])
def test_kinds_show_the_same_features(game: str, form: Any) -> None:
    shown = {kind: first_look(form(game, observation=kind)) for kind in OBSERVATION}
    assert all(space.contains(seen) for seen, space in shown.values())
    raw, scaled = shown["box"][0], shown["float"][0]
    assert (raw.dtype, scaled.dtype) == (np.uint8, np.float32)
    high = shown["box"][1].high
    assert scaled == pytest.approx(raw / high, abs=1e-6)
    assert raw.any() and scaled.max() <= 1.0
    assert shown["seats"][0].shape[-1] == seat_layout(spec(game)).size
    seen, space = shown["dict"]
    assert seen.keys() == space.keys() == {"observation", "action_mask"}
    assert np.array_equal(seen["observation"], raw)
    assert (seen["observation"].dtype, seen["action_mask"].dtype) == (np.uint8, np.int8)
    assert seen["action_mask"].any()


def test_scaled_features_reach_one_and_no_more(game: str) -> None:
    table = spec(game)
    for seats in (table.min_players, table.max_players):
        layout = table.observation(seats)
        scale = feature_scale(layout)
        high = np.concatenate([np.full(part.size, part.high, dtype=np.uint8) for part in layout])
        reached = high * scale
        assert scale.dtype == reached.dtype == np.float32
        assert reached.max() <= 1.0
        assert reached == pytest.approx(1.0)


@pytest.mark.parametrize("form", ["SelfPlayVecEnv", "SeatVecEnv"])
def test_stable_baselines_learns_from_scaled_features_unless_told_otherwise(form: str) -> None:
    make = getattr(stable_baselines(), form)
    default, raw = make("knack", 4, seed=1), make("knack", 4, seed=1, observation="box")
    assert default.observation_space == spaces.Box(0.0, 1.0, default.observation_space.shape)
    scale = feature_scale(spec("knack").observation(default.num_players))
    mine, its = default.reset(), raw.reset()
    rng, ended = np.random.default_rng(1), 0
    for _ in range(60):
        assert np.array_equal(mine, its * scale)
        actions = random_legal(default.action_masks(), rng)
        mine, *_, infos = step(default, actions)
        its, *_, others = step(raw, actions)
        for told, same in zip(infos, others, strict=True):
            if told:
                ended += 1
                last = told["terminal_observation"]
                assert last.dtype == np.float32
                assert np.array_equal(last, same["terminal_observation"] * scale)
    assert ended
    with pytest.raises(RulesError, match=r"Choose one of: box, float, seats"):
        make("knack", 4, observation="dict")


def test_a_model_of_scaled_features_is_told_the_table_first() -> None:
    stable_baselines()
    from stable_baselines3 import PPO

    from kille_env.adapters.sb3_policy import SB3Policy
    from kille_env.errors import PolicyError

    env = KilleEnv("byteskille", 3, observation="float")
    policy = SB3Policy(PPO("MlpPolicy", env, seed=1, device="cpu"))
    seen, mask = env.tables.batch.observation, np.ones((1, 10), dtype=np.int8)
    with pytest.raises(PolicyError, match=r"at_table\(game, num_players\)"):
        policy.probabilities(seen, mask)
    assert policy.at_table("byteskille", 3).probabilities(seen, mask).sum() == pytest.approx(1.0)
