"""Exact NashConv in a model's log while it learns."""

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from stable_baselines3 import DQN
from stable_baselines3.common.logger import configure

import kille_training as kt
from kille_env.errors import ConfigError, KilleError, RulesError
from kille_env.sb3 import SeatPPO, SeatVecEnv, SelfPlayVecEnv

RULES = {"fraga": "off", "stake": 4}


def learner():
    venv = SelfPlayVecEnv("byteskille", 16, 2, episode="deal", rules=RULES)
    return SeatPPO(
        "MlpPolicy",
        venv,
        n_steps=8,
        batch_size=64,
        n_epochs=1,
        policy_kwargs={"net_arch": [16]},
        seed=1,
        device="cpu",
    )


def test_it_logs_what_nash_conv_says_and_changes_nothing(tmp_path):
    watched = learner()
    watched.set_logger(configure(str(tmp_path), ["csv"]))
    callback = kt.NashConvCallback("byteskille", 2, rules=RULES, every=128)
    watched.learn(128 * 3, callback=callback)
    watched.logger.close()
    alone = learner()
    alone.learn(128 * 3)
    theirs = alone.policy.state_dict()
    assert all(theirs[name].equal(value) for name, value in watched.policy.state_dict().items())
    assert [decisions for decisions, _ in callback.found] == [0, 128, 256, 384]
    for row, play in zip(callback.found[-1][1], ("greedy", "sampled"), strict=True):
        wanted = kt.nash_conv(watched, "byteskille", 2, rules=RULES, play=play)
        assert row.nash_conv == pytest.approx(wanted.nash_conv, abs=1e-12)
    sampled = callback.found[-1][1][1]
    logged = np.genfromtxt(tmp_path / "progress.csv", delimiter=",", names=True)
    assert logged["exactsampledstakes"][-1] == pytest.approx(sampled.nash_conv / 4)
    assert logged["exactsamplednash_conv"][-1] == pytest.approx(sampled.nash_conv)


def test_a_model_of_values_has_one_way_to_play():
    venv = SeatVecEnv("byteskille", 16, 2, episode="deal", opponents="self", illegal="lose")
    model = DQN("MlpPolicy", venv, learning_starts=16, train_freq=1, seed=1, device="cpu")
    venv.follow(model)
    callback = kt.NashConvCallback(num_players=2, every=1_000)
    model.learn(64, callback=callback)
    assert [decisions for decisions, _ in callback.found] == [0, 64]
    assert [row.play for row in callback.found[0][1]] == ["deterministic"]


def test_a_table_without_a_tree_is_refused_when_learning_begins():
    venv = SelfPlayVecEnv("byteskille", 16, 6, episode="deal")
    with pytest.raises(KilleError, match="6 seats has about"):
        SeatPPO("MlpPolicy", venv, n_steps=8).learn(128, callback=kt.NashConvCallback())


def test_what_cannot_be_measured_is_refused_before_anything_is_learned():
    with pytest.raises(KilleError, match="tree of a deal of knack"):
        kt.NashConvCallback("knack", 3)
    with pytest.raises(KilleError, match="5 seats has about"):
        kt.NashConvCallback("byteskille", 5)
    with pytest.raises(ConfigError, match="every is 0"):
        kt.NashConvCallback(every=0)
    with pytest.raises(RulesError, match="Did you mean 'sampled'"):
        kt.NashConvCallback(play="sample")
