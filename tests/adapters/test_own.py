"""Own rewards and own features, in every form of the environments."""

from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from stable_baselines3 import PPO

import kille_env
from kille_agents import as_policy
from kille_env.core.spec import width
from kille_env.errors import KilleError
from kille_env.registry import spec
from kille_env.sb3 import SeatPPO, SeatVecEnv, SelfPlayVecEnv

SEATS = 3


def afraid(units: np.ndarray) -> np.ndarray:
    """A concave utility of what an episode brought, which also looks at the others."""
    return -np.exp(-0.5 * units) - 0.1 * units.max(axis=1, keepdims=True)


def pairs(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.concatenate([seen[:, :4] * 2.0, mask[:, ::-1]], axis=1)


def drawn(rng: np.random.Generator, mask: np.ndarray) -> np.ndarray:
    return (rng.random(mask.shape) * mask).argmax(axis=-1)


@pytest.mark.parametrize("game", ["byteskille", "knack"])
@pytest.mark.parametrize("episode", ["deal", "match"])
def test_every_agent_is_paid_at_the_end(game: str, episode: str) -> None:
    env, plain = (
        kille_env.make(game, SEATS, episode=episode, seed=3, reward=reward)
        for reward in (afraid, None)
    )
    rng = np.random.default_rng(0)
    for _ in range(5):
        env.reset()
        plain.reset()
        total, units = np.zeros(SEATS), np.zeros(SEATS)
        while env.agents:
            *_, terminated, truncated, info = env.last()
            over = terminated or truncated
            action = None if over else int(drawn(rng, info["action_mask"]))
            env.step(action)
            plain.step(action)
            if over or not env.agents:
                continue
            paid = np.array([env.rewards[name] for name in env.possible_agents])
            ended = any(env.terminations.values()) or any(env.truncations.values())
            assert ended or not paid.any()
            total += paid
            units += [plain.rewards[name] for name in env.possible_agents]
        assert total == pytest.approx(afraid(units[None])[0])


@pytest.mark.parametrize("form", ["gym", "sb3"])
def test_one_seat_is_paid_at_the_end(form: str) -> None:
    rng, ended = np.random.default_rng(0), 0
    options: Any = {"num_players": SEATS, "reward": afraid, "seed": 1}
    if form == "gym":
        env = gymnasium.make("kille_env:kille_env/byteskille-v0", **options)
        _, info = env.reset(seed=4)
        while ended < 20:
            _, reward, over, cut, info = env.step(int(drawn(rng, info["action_mask"])))
            wanted = 0.0
            if over or cut:
                wanted = afraid(info["returns"][None])[0, info["seat"]]
                ended += 1
                info = env.reset()[1]
            assert reward == pytest.approx(wanted)
        return
    tables = SeatVecEnv("byteskille", 8, **options)
    tables.reset()
    for _ in range(20):
        _, reward, done, told = tables.step(drawn(rng, tables.action_masks()))
        assert not reward[~done].any()
        for i in np.flatnonzero(done).tolist():
            ended += 1
            wanted = afraid(told[i]["returns"][None])[0, told[i]["seat"]]
            assert reward[i] == pytest.approx(wanted, abs=1e-6)
            assert told[i]["episode"]["r"] == pytest.approx(told[i]["returns"][told[i]["seat"]])
    assert ended > 20


def test_self_play_credits_every_seat_at_the_end() -> None:
    both: Any = {"observation": "seats", "reward": afraid, "seed": 1}
    mixed = SelfPlayVecEnv("byteskille", 16, (2, 3), **both)
    for venv in (SelfPlayVecEnv("knack", 8, SEATS, reward=afraid, seed=1), mixed):
        venv.reset()
        rng, ends = np.random.default_rng(0), 0
        for _ in range(40):
            _, rewards, done, told = venv.play(drawn(rng, venv.action_masks()))
            assert not rewards[~done].any()
            for i in np.flatnonzero(done).tolist():
                seats = len(told[i]["returns"])
                wanted = afraid(told[i]["returns"][None])[0]
                assert rewards[i][:seats] == pytest.approx(wanted)
                ends += 1
        assert ends > 10
    model = SeatPPO("MlpPolicy", mixed, n_steps=16, batch_size=32, device="cpu").learn(16 * 16)
    buffer: Any = model.rollout_buffer
    assert buffer.rewards.max() <= 0.0 and (buffer.rewards < -0.1).sum() > 50


def test_an_illegal_action_counts_as_units() -> None:
    options: Any = {"illegal": "lose", "illegal_reward": -9.0, "reward": afraid, "seed": 2}
    env = kille_env.make("byteskille", 2, **options)
    env.reset()
    wrong = int(env.action_mask().argmin())
    env.step(wrong)
    wanted = -np.exp(4.5) - 0.1 * 0.0
    assert env.rewards["player_0"] == pytest.approx(wanted) or env.rewards[
        "player_1"
    ] == pytest.approx(wanted)
    seat = gymnasium.make("kille_env:kille_env/byteskille-v0", num_players=2, **options)
    _, info = seat.reset(seed=2)
    _, reward, terminated, _, info = seat.step(int(info["action_mask"].argmin()))
    assert terminated and info["illegal_action"] and reward == pytest.approx(wanted)


@pytest.mark.parametrize("kind", ["box", "float", "dict"])
def test_features_stand_where_the_observation_stood(kind: str) -> None:
    asked: Any = {"observation": kind, "seed": 5}
    own, plain = (kille_env.make("knack", SEATS, features=made, **asked) for made in (pairs, None))
    own.reset()
    plain.reset()
    for name in own.possible_agents:
        seen, before = own.observe(name), plain.observe(name)
        assert own.observation_space(name).contains(seen)
        mask = plain.action_mask(name)
        if kind == "dict":
            assert np.array_equal(seen["action_mask"], mask)
            seen, before = seen["observation"], before["observation"]
        assert seen == pytest.approx(pairs(before[None], mask[None])[0])

    options: Any = {"num_players": SEATS, "observation": kind}
    env, bare = (
        gymnasium.make("kille_env:kille_env/knack-v0", features=made, **options)
        for made in (pairs, None)
    )
    (seen, info), (before, _) = env.reset(seed=1), bare.reset(seed=1)
    venv = gymnasium.make_vec("kille_env:kille_env/knack-v0", num_envs=2, features=pairs, **options)
    rows, _ = venv.reset(seed=1)
    assert venv.observation_space.contains(rows) and env.observation_space.contains(seen)
    if kind == "dict":
        seen, before, rows = seen["observation"], before["observation"], rows["observation"]
    assert seen == pytest.approx(pairs(before[None], info["action_mask"][None])[0])
    assert np.array_equal(rows[0], seen)


def test_models_learn_on_features_and_opponents_read_them() -> None:
    table: Any = {"num_players": 2, "features": pairs, "seed": 1}
    venv = SeatVecEnv("byteskille", 8, opponents="self", illegal="lose", **table)
    assert venv.observation_space.shape == (4 + spec("byteskille").num_actions,)
    model: Any = PPO("MlpPolicy", venv, n_steps=8, batch_size=32, device="cpu")
    venv.follow(model)
    model.learn(128)
    venv = SelfPlayVecEnv("byteskille", 8, **table)
    SeatPPO("MlpPolicy", venv, n_steps=8, batch_size=32, device="cpu").learn(128)


def test_one_seat_goes_on_at_tables_of_other_sizes_rules_and_rewards() -> None:
    def make(seats: int, rules: str = "svensk", reward: Any = None) -> SeatVecEnv:
        options: Any = {"observation": "seats", "rules": rules, "reward": reward}
        return SeatVecEnv("byteskille", 8, seats, opponents="self", illegal="lose", **options)

    model: Any = PPO("MlpPolicy", make(2), n_steps=8, batch_size=32, device="cpu")
    model.get_env().follow(model)
    model.learn(64)
    for seats, rules, reward in (
        (3, "svensk", None), (4, "wikipedia", afraid), (3, "svensk", afraid), (2, "svensk", None),
    ):  # fmt: skip
        model.set_env(make(seats, rules, reward))
        model.get_env().follow(model)
        model.learn(64, reset_num_timesteps=False)
        player = as_policy(model, "byteskille", seats, model.get_env().unwrapped.rules)
        assert model.get_env().unwrapped.table in player.tables
    assert model.num_timesteps == 5 * 64


def wrong(shape: Any) -> Any:
    return lambda seen, mask: np.full(shape, np.nan)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: kille_env.make("knack", features="float"), "features is 'float', expected a func"),
        (
            lambda: kille_env.make("knack", features=lambda o: o),
            r"a function \(observation, mask\)",
        ),
        (lambda: kille_env.make("knack", features=wrong((7, 2))), r"returned the shape \(7, 2\)"),
        (lambda: kille_env.make("knack", features=wrong((1, 2))), "a number that is not finite"),
        (lambda: kille_env.make("knack", features=lambda *_: "x"), "no array of numbers"),
        (lambda: kille_env.make("knack", reward=2.0), "reward is 2.0, expected a function"),
    ],
)
def test_what_is_no_reward_and_no_features_is_refused(call: Any, words: str) -> None:
    with pytest.raises(KilleError, match=words):
        call()


def test_a_reward_of_another_shape_is_refused_when_it_is_paid() -> None:
    env = kille_env.make("byteskille", 2, reward=lambda units: units[:, 0])
    env.reset(seed=1)
    with pytest.raises(KilleError, match=r"reward returned \(1,\) for the units of 1 episodes"):
        while env.agents:
            env.step(int(env.action_mask().argmax()))


def test_features_leave_the_table_as_it_is() -> None:
    def greedy(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        seen[:], mask[:] = 0, 0
        return np.ones((len(seen), 1))

    env = kille_env.make("byteskille", 2, features=greedy)
    env.reset(seed=1)
    env.observe("player_0")
    assert env.action_mask().any()
    assert env._batch.observation.shape == (1, width(spec("byteskille").observation(2)))
    assert env._batch.observation.any()
