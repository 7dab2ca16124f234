"""Every game through every adapter. What an adapter does by itself, the other files test on one."""

import importlib
import io
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from pettingzoo.test import seed_test

import kille_env
from adapters.spies import (
    check_api,
    check_conversion,
    play_aec,
    random_legal,
    stable_baselines,
    standing,
    step,
)
from kille_env.adapters.aec import KilleAEC
from kille_env.adapters.gym import KilleEnv
from kille_env.adapters.registration import env_id
from kille_env.adapters.vector import SeatVectorEnv
from kille_env.core.spec import width
from kille_env.errors import IllegalActionError, RulesError, UnknownGameError
from kille_env.records import replay
from kille_env.registry import version_of

SAME_STEP = AutoresetMode.SAME_STEP

STARTS: dict[str, dict[str, Any]] = {
    "byteskille": {},
    "kungsholmskille": {"pot": 9, "owed": [0, 2, 0, 1]},
    "krypkille": {"scores": [12, 49, 0, 30]},
    "knack": {"bets": [3, 3, 6]},
    "femkortskille": {},
}
"""A match of four under way; empty where a game has one beginning."""

TOLD = {
    "kungsholmskille": "pot 12 chips",  # 9, and what the seats owe
    "krypkille": "49/50",
    "knack": "3, 3, 6",
}
"""What the words about a table then say."""


def seats_of(game: str) -> list[int]:
    """The fewest seats and the most."""
    spec = kille_env.spec(game)
    return [spec.min_players, spec.max_players]


def make_gym(game: str, **options: Any) -> Any:
    return gymnasium.make(env_id(game), **options)


# PettingZoo


@pytest.mark.parametrize("observation", ["dict", "box", "float"])
def test_pettingzoos_test(game: str, observation: str, scale: Callable[..., int]) -> None:
    for seats in seats_of(game):
        check_api(kille_env.make(game, seats, observation=observation), scale(200, 20))


def test_pettingzoos_test_of_its_conversion(game: str, scale: Callable[..., int]) -> None:
    check_conversion(kille_env.make(game), scale(200, 20))


@pytest.mark.parametrize("episode", ["deal", "match"])
def test_a_seed_fixes_pettingzoos_match_and_its_rewards_are_the_returns(
    game: str, episode: str, scale: Callable[..., int]
) -> None:
    first, second = (kille_env.make(game, episode=episode) for _ in range(2))
    played = []
    for seed in range(scale(10, 2 if episode == "deal" else 1)):
        first.reset(seed=seed)
        second.reset(seed=seed)
        seen = play_aec(first, seed)
        assert seen == play_aec(second, seed)
        played.append(seen)
        told = dict.fromkeys(first.possible_agents, 0.0)
        for agent, reward, *_ in seen:
            told[agent] += reward
        assert list(told.values()) == pytest.approx(first.record()["returns"])
        assert replay(first.record()).differences == []
    assert len(played) < 2 or played[0] != played[1]


# Gymnasium


@pytest.mark.parametrize(("episode", "shown", "most"), [("deal", "box", 0), ("match", "dict", 1)])
def test_gymnasiums_checker(game: str, episode: str, shown: str, most: int) -> None:
    pytest.importorskip("pygame", reason="the checker draws, which takes the extra render")
    seats = seats_of(game)[most]
    env = make_gym(game, num_players=seats, episode=episode, observation=shown)
    with redirect_stdout(io.StringIO()):
        check_env(env.unwrapped)


def play_gym(env: Any, episodes: int) -> list[Any]:
    """Play on with random legal actions; returns everything that was to be seen."""
    rng = np.random.default_rng(1)
    seen: list[Any] = []
    for number in range(episodes):
        observation, info = env.reset(seed=7 if number == 0 else None)
        total, over = 0.0, False
        while not over:
            seen.append(observation.tobytes())
            action = int(random_legal(info["action_mask"][None], rng)[0])
            observation, reward, terminated, truncated, info = env.step(action)
            total, over = total + reward, terminated or truncated
        assert total == pytest.approx(info["returns"][info["seat"]])
        seen.append((info["seat"], info["returns"].tolist()))
        assert replay(env.unwrapped.record()).differences == []
    return seen


def test_a_seed_fixes_gymnasiums_episodes(game: str, scale: Callable[..., int]) -> None:
    others = kille_env.spec(game).default_players - 1
    for opponents in ("rule_of_thumb", ["rule_of_thumb", *["uniform"] * (others - 1)]):
        options = {"episode": "deal", "opponents": opponents}
        played = [play_gym(make_gym(game, **options), scale(20, 2)) for _ in range(2)]
        assert played[0] == played[1]


# Many tables


def _assert_same(mine: Any, its: Any) -> None:
    if isinstance(mine, dict):
        assert mine.keys() == its.keys()
        mine, its = mine["observation"], its["observation"]
    assert np.array_equal(mine, its)
    assert mine.dtype == its.dtype


@pytest.mark.parametrize(
    ("mode", "observation"),
    [(mode, "box") for mode in AutoresetMode] + [(SAME_STEP, "dict"), (SAME_STEP, "float")],
)
def test_tables_play_as_gymnasiums_own_vector_environment(
    game: str, mode: AutoresetMode, observation: str, scale: Callable[..., int]
) -> None:
    # The single environment in Gymnasium's vector environment says what each mode means.
    options = {"episode": "deal", "observation": observation}
    ours = gymnasium.make_vec(env_id(game), num_envs=3, autoreset_mode=mode, **options)
    single = [lambda: KilleEnv(game, **options)] * 3
    theirs = gymnasium.vector.SyncVectorEnv(single, autoreset_mode=mode)
    assert isinstance(ours, SeatVectorEnv)
    assert ours.observation_space == theirs.observation_space
    assert ours.single_action_space == theirs.single_action_space
    mine, infos = ours.reset(seed=3)
    its, expected = theirs.reset(seed=3)
    rng, ended = np.random.default_rng(1), 0
    for _ in range(scale(100, 12)):
        _assert_same(mine, its)
        for key in ("action_mask", "seat"):
            told = infos[f"_{key}"] & expected[f"_{key}"]
            assert np.array_equal(infos[key][told], expected[key][told])
        actions = random_legal(infos["action_mask"], rng)
        mine, *ours_told, infos = ours.step(actions)
        its, *its_told, expected = theirs.step(actions)
        for a, b in zip(ours_told, its_told, strict=True):
            assert np.array_equal(a, b)
            assert a.dtype == b.dtype
        done = ours_told[1] | ours_told[2]
        ended += done.sum()
        assert ("final_obs" in infos) == ("final_obs" in expected)
        if "final_obs" in infos:
            assert np.array_equal(infos["_final_obs"], done)
            for i in np.flatnonzero(done):
                _assert_same(infos["final_obs"][i], expected["final_obs"][i])
            final = expected["final_info"]["returns"][done]
            assert np.array_equal(infos["final_info"]["returns"][done], final)
        if mode == AutoresetMode.DISABLED and done.any():
            mine, infos = ours.reset(options={"reset_mask": done})
            its, expected = theirs.reset(options={"reset_mask": done})
    assert ended


# Stable-Baselines3


@pytest.mark.parametrize("form", ["SelfPlayVecEnv", "SeatVecEnv"])
def test_forms_for_stable_baselines(game: str, form: str, scale: Callable[..., int]) -> None:
    forms = stable_baselines()
    from stable_baselines3.common.vec_env import VecCheckNan, VecMonitor

    more = {} if form == "SelfPlayVecEnv" else {"opponents": "uniform"}
    tables = [getattr(forms, form)(game, 6, seed=4, episode="deal", **more) for _ in range(2)]
    checked = VecMonitor(VecCheckNan(tables[0], raise_exception=True))
    if form == "SelfPlayVecEnv":  # its step is refused: SeatPPO plays it
        checked = tables[0]
    spec, ended = kille_env.spec(game), 0
    features = width(spec.observation(spec.default_players))
    seen, its = np.asarray(checked.reset()), tables[1].reset()
    rng = np.random.default_rng(1)
    for _ in range(scale(80, 15)):
        (mask,) = checked.env_method("action_masks")
        assert mask.shape == (6, spec.num_actions)
        assert mask.any(axis=1).all()
        assert np.array_equal(seen, its)  # the same seed
        actions = random_legal(mask, rng)
        following, rewards, dones, infos = step(checked, actions)
        seen = np.asarray(following)
        its, *_ = step(tables[1], actions)
        assert seen.dtype == np.float32
        assert seen.shape == (6, features)
        assert np.isfinite(rewards).all()
        for i in np.flatnonzero(dones):
            assert len(infos[i]["returns"]) == spec.default_players
            assert infos[i]["terminal_observation"].shape == (features,)
            ended += 1
    assert ended


@pytest.mark.compiled  # learning is slow enough as it is
@pytest.mark.parametrize("form", ["SelfPlayVecEnv", "SeatVecEnv"])
@pytest.mark.filterwarnings("ignore:You have specified a mini-batch size")
def test_maskable_ppo_learns(game: str, form: str) -> None:
    forms = stable_baselines()
    from sb3_contrib import MaskablePPO

    venv = getattr(forms, form)(game, 8, seed=4, episode="deal")
    algorithm = forms.SeatPPO if form == "SelfPlayVecEnv" else MaskablePPO
    model = algorithm(
        "MlpPolicy",
        venv,
        policy_kwargs={"net_arch": [16]},
        n_steps=16, batch_size=64, n_epochs=1, gamma=1.0, seed=1, device="cpu",
    )  # fmt: skip
    model.learn(8 * 16)
    assert np.isfinite(model.logger.name_to_value["train/loss"])


# Names


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has a registry since 1.27")
def test_pettingzoos_registry(game: str) -> None:
    made = pettingzoo.make("aec", env_id(game), num_players=4, episode="deal")
    assert isinstance(made, KilleAEC)
    assert made.game.spec.name == game
    assert made.possible_agents == ["player_0", "player_1", "player_2", "player_3"]
    assert made.illegal == "lose"


def module_of(game: str) -> Any:
    """The game's module under PettingZoo's name."""
    return importlib.import_module(f"kille_env.{game}_v{kille_env.spec(game).version}")


def test_names_follow_the_versions_of_the_games() -> None:
    named = {game: kille_env.spec(game).version for game in kille_env.list_games()}
    assert named == {game: version_of(game) for game in named}
    files = Path(kille_env.__file__).parent.glob("*_v[0-9]*.py")
    assert {file.stem for file in files} == {f"{game}_v{named[game]}" for game in named}
    for game, version in named.items():
        name = f"{game}_v{version}"
        assert module_of(game).env().metadata["name"] == name and name in dir(kille_env)
        assert getattr(kille_env, name) is module_of(game)
    with pytest.raises(AttributeError, match="no attribute 'bridge_v0'"):
        _ = kille_env.bridge_v0
    with pytest.raises(UnknownGameError, match=r"Did you mean 'knack'"):
        version_of("knak")


def test_modules_of_pettingzoos_kind(game: str, scale: Callable[..., int]) -> None:
    module = module_of(game)
    for make in (module.env, module.raw_env):
        check_api(make(num_players=4), scale(60, 10))
        seed_test(partial(make, episode="deal"), num_cycles=scale(60, 10))
    env, raw = module.env(3, render_mode="ansi"), module.raw_env(3)
    for each in (env, raw):
        each.reset(seed=7)
    illegal = int(env.infos[env.agent_selection]["action_mask"].argmin())
    env.step(illegal)
    assert all(env.terminations.values())
    with pytest.raises(IllegalActionError):
        raw.step(illegal)
    assert not any(raw.terminations.values())


# Where a match starts


def test_a_match_under_way(game: str) -> None:
    start, words = STARTS[game], TOLD.get(game, "")
    aec = kille_env.make(game, 4, render_mode="ansi")
    aec.reset(seed=1, options={"start": start})
    assert words in str(aec.render())
    play_aec(aec, 1)
    assert aec.record().get("start", {}) == start
    assert replay(aec.record()).differences == []
    gym = make_gym(game, num_players=4, render_mode="ansi")
    gym.reset(seed=1, options={"start": start})
    assert words in str(gym.render())
    vec: Any = gymnasium.make_vec(env_id(game), num_envs=2, num_players=4, render_mode="ansi")
    vec.reset(seed=1, options={"start": start})
    assert all(words in text for text in vec.render())
    before = standing(aec)
    for env in (aec, gym, vec):
        with pytest.raises(RulesError, match="start"):
            env.reset(options={"start": {"nonsense": 3}})
    assert standing(aec) == before
    if not start:
        return
    for env in (aec, gym, vec):
        env.reset(seed=1)  # the next match begins as the game does
        shown = env.render()
        assert words not in (shown if isinstance(shown, str) else shown[0])


@pytest.mark.parametrize("form", ["SelfPlayVecEnv", "SeatVecEnv"])
def test_sb3_tables_start_alike_under_way(game: str, form: str) -> None:
    if form == "SelfPlayVecEnv":
        venv: Any = kille_env.sb3.SelfPlayVecEnv(game, num_tables=3, num_players=4)
        batch = venv.batch
    else:
        venv = kille_env.sb3.SeatVecEnv(game, num_tables=3, num_players=4, seat=0)
        batch = venv.tables.batch
    start, words = STARTS[game], TOLD.get(game, "")
    venv.seed(1)
    venv.set_options({"start": start, "dealer": 3})  # seat 0 acts first
    venv.reset()
    assert all(words in batch.describe(table) for table in range(3))
    if start:
        venv.set_options([{"start": start}, {"start": {}}, {"start": start}])
        with pytest.raises(RulesError, match="all tables begin alike"):
            venv.reset()
