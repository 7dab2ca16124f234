"""Policies as users have them: functions, torch modules, models of Stable-Baselines3."""

import functools
import subprocess
import sys

import numpy as np
import pytest

import kille_env
from env.players import decisions as shown
from kille_agents import as_policy
from kille_agents.catalog import load_policy
from kille_env.core.spec import width
from kille_env.errors import PolicyError
from kille_env.policy import check_probabilities, resolve

GAME = kille_env.spec("knack")
RULES = GAME.resolve(episode="deal")
FEATURES = width(GAME.observation(3))


def first_legal(observation, mask):
    """Does the first thing that is legal."""
    return np.eye(mask.shape[1])[mask.argmax(axis=1)]


@pytest.fixture(scope="module")
def decisions():
    return shown("knack", 3, RULES, 20, 1)


class Callable:
    def __call__(self, observation, mask):
        return first_legal(observation, mask).tolist()


class MadeForATable:
    def __init__(self, num_players, rules):
        self.name = f"made for {num_players} of {rules.game}"

    def probabilities(self, observation, mask):
        return first_legal(observation, mask)


class Nameless:
    def probabilities(self, observation, mask):
        return first_legal(observation, mask)


@pytest.mark.parametrize("take", [as_policy, resolve])
@pytest.mark.parametrize(
    ("policy", "name"),
    [
        (first_legal, "first_legal"),
        (lambda observation, mask: first_legal(observation, mask), "lambda"),
        (functools.partial(first_legal), "partial"),
        (Callable(), "Callable"),
        (Callable, "Callable"),
        (Nameless, "Nameless"),
        (MadeForATable, "made for 3 of knack"),
    ],
)
def test_what_can_be_called_is_a_policy(take, policy, name, decisions):
    player = take(policy, "knack", 3, RULES)
    assert player.name == name
    assert np.array_equal(player.probabilities(*decisions), first_legal(*decisions))


def test_objects_and_names_are_players():
    assert as_policy(Nameless(), "knack", 3, RULES).name == "Nameless"
    player = load_policy("rule_of_thumb", "knack", 3, RULES)
    assert as_policy(player, "knack", 3, RULES) is resolve(player, "knack", 3, RULES) is player
    assert as_policy("uniform", "knack", 3, RULES).name == "uniform"


@pytest.mark.parametrize("take", [as_policy, resolve])
@pytest.mark.parametrize(
    ("thing", "says"),
    [(7, "got 7; pass a name"), (None, "got None"), (int, "'int' could not be made for 3 seats")],
)
def test_what_cannot_play_is_refused_with_what_can(take, thing, says):
    with pytest.raises(PolicyError, match=says):
        take(thing, "knack", 3, RULES)


def test_a_function_that_returns_no_numbers_is_named(decisions):
    player = as_policy(lambda observation, mask: "stand", "knack", 3, RULES)
    with pytest.raises(PolicyError, match="'lambda' returned a str"):
        player.probabilities(*decisions)


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("as_policy(lambda observation, mask: mask, 'knack', 3, rules)", []),
        ("import torch; as_policy(torch.nn.LazyLinear(A), 'knack', 3, rules)", ["torch"]),
    ],
)
def test_only_the_libraries_that_an_object_needs_are_imported(code, loaded):
    if loaded:
        pytest.importorskip("torch")
    before = (
        "import sys; from kille_agents import as_policy; from kille_env import spec; "
        "A = spec('knack').num_actions; rules = spec('knack').resolve(); "
    )
    after = (
        "; print([n for n in ('torch', 'stable_baselines3', 'sb3_contrib') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", before + code + after], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(loaded)


class TestTorchModules:
    @pytest.fixture(autouse=True)
    def torch(self):
        return pytest.importorskip("torch")

    def test_logits_become_probabilities_of_legal_actions(self, torch, decisions):
        observation, mask = decisions
        module = torch.nn.Sequential(
            torch.nn.Linear(FEATURES, 8, dtype=torch.float64),
            torch.nn.Dropout(),
            torch.nn.Linear(8, GAME.num_actions, dtype=torch.float64),
        )
        player = as_policy(module, "knack", 3, RULES)
        assert player.name == "Sequential"
        chances = player.probabilities(observation, mask)
        check_probabilities("module", chances, mask)
        logits = module.eval()(torch.from_numpy(observation.astype(np.float64))).detach().numpy()
        weights = np.exp(logits) * mask
        assert np.allclose(chances, weights / weights.sum(axis=1, keepdims=True))

    @pytest.mark.parametrize("kind", ["float64", "bfloat16"])
    def test_a_function_may_return_tensors_with_gradients(self, torch, decisions, kind):
        observation, mask = decisions

        def policy(observation, mask):
            first = np.eye(GAME.num_actions)[mask.argmax(axis=1)]
            return torch.tensor(first, dtype=getattr(torch, kind), requires_grad=True)

        chances = as_policy(policy, "knack", 3, RULES).probabilities(observation, mask)
        check_probabilities("function", chances, mask)

    def test_a_module_stays_in_its_mode(self, torch, decisions):
        module = torch.nn.Sequential(
            torch.nn.Linear(FEATURES, GAME.num_actions), torch.nn.Dropout()
        )
        module[1].eval()
        as_policy(module, "knack", 3, RULES).probabilities(*decisions)
        assert module.training and not module[1].training

    def test_a_module_for_another_table_is_refused_at_once(self, torch):
        with pytest.raises(PolicyError, match="'Linear' fails for observations"):
            as_policy(torch.nn.Linear(7, GAME.num_actions), "knack", 3, RULES)
        with pytest.raises(PolicyError, match=r"returned logits \[2, 3\], expected"):
            as_policy(torch.nn.Linear(FEATURES, 3), "knack", 3, RULES)

    def test_a_module_that_returns_no_tensor_is_refused(self, torch):
        with pytest.raises(PolicyError, match="returned a tuple"):
            as_policy(torch.nn.LSTM(FEATURES, GAME.num_actions), "knack", 3, RULES)


def test_models_of_stable_baselines3_are_policies(decisions):
    sb3 = pytest.importorskip("stable_baselines3")
    venv = pytest.importorskip("kille_env.adapters.sb3").SeatVecEnv
    model = sb3.PPO("MlpPolicy", venv("knack", 2, num_players=3, episode="deal"), device="cpu")
    player = resolve(model, "knack", 3, RULES)
    assert player.name == "PPO"
    check_probabilities("PPO", player.probabilities(*decisions), decisions[1])
    with pytest.raises(PolicyError, match="the model PPO reads"):
        resolve(model, "knack", 4, RULES)
