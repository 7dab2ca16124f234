"""Models of Stable-Baselines3 and sb3-contrib as players, loaded on the user's word only."""

import json
import zipfile

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from sb3_contrib import QRDQN, MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv

from env.players import decisions as shown
from kille_agents import as_policy
from kille_agents.catalog import load_policy
from kille_env.adapters.gym import KilleEnv
from kille_env.adapters.sb3_policy import RECORD, ModelInputs
from kille_env.errors import PolicyError
from kille_env.play.policy import check_probabilities
from kille_env.registry import spec
from kille_env.sb3 import save

GAME = spec("byteskille")
RULES = GAME.resolve(episode="deal")


def table(num_players=3, **options):
    return DummyVecEnv([lambda: KilleEnv("byteskille", num_players, episode="deal", **options)])


@pytest.fixture
def decisions():
    return shown("byteskille", 3, RULES, 50, 1)


def at_three(model):
    return as_policy(model, "byteskille", 3, RULES)


@pytest.mark.parametrize("algorithm", [MaskablePPO, PPO, A2C, DQN, QRDQN])
def test_every_kind_plays_and_is_the_same_when_loaded(tmp_path, decisions, algorithm):
    more = {"buffer_size": 10} if algorithm in (DQN, QRDQN) else {}
    model = algorithm("MlpPolicy", table(), seed=1, device="cpu", **more)
    chances = at_three(model).probabilities(*decisions)
    check_probabilities("sb3", chances, decisions[1])
    save(model, tmp_path / "model")
    again = load_policy(tmp_path / "model.zip", "byteskille", 3, RULES, trust=True)
    assert again.name == "model"
    assert np.array_equal(again.probabilities(*decisions), chances)


def test_dictionaries_of_observation_and_mask_are_understood(decisions):
    model = PPO("MultiInputPolicy", table(observation="dict"), seed=1, device="cpu")
    check_probabilities("sb3", at_three(model).probabilities(*decisions), decisions[1])


def test_a_model_is_loaded_on_an_explicit_word_only(tmp_path):
    save(MaskablePPO("MlpPolicy", table(), device="cpu"), tmp_path / "model.zip")
    with pytest.raises(PolicyError, match="--trust"):
        load_policy(tmp_path / "model.zip", "byteskille", 3, RULES)


def test_what_is_no_model_is_refused(tmp_path):
    (tmp_path / "model.zip").write_bytes(b"PK not a model")
    with pytest.raises(PolicyError, match="no model of Stable-Baselines3"):
        load_policy(tmp_path / "model.zip", "byteskille", 3, RULES, trust=True)
    with pytest.raises(PolicyError, match=r"RecurrentPPO is recurrent.*decide\(decisions\)"):
        at_three(RecurrentPPO("MlpLstmPolicy", table(), device="cpu"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "holds a policy of an unknown kind"),
        ([], "no model of Stable-Baselines3"),
        ({"policy_class": 3}, "holds a policy of an unknown kind"),
        (
            {"policy_class": {"__module__": "stable_baselines3.common.policies"}},
            "cannot be loaded as a model of A2C",
        ),
    ],
)
def test_an_archive_that_is_only_half_a_model_is_refused(tmp_path, data, message):
    if isinstance(data, dict):
        data = {RECORD: ModelInputs("box", ()).as_dict(), **data}
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.writestr("data", json.dumps(data))
    with pytest.raises(PolicyError, match=message):
        as_policy(tmp_path / "model.zip", "byteskille", 3, RULES, trust=True)


def test_broken_weights_are_noticed(decisions):
    model = PPO("MlpPolicy", table(), device="cpu")
    model.policy.action_net.bias.data[:] = np.nan
    with pytest.raises((PolicyError, ValueError)):
        at_three(model).probabilities(*decisions)
