"""Opponents that ask the learner's own network, in every form with one seat."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest

import kille_env
from adapters.spies import stable_baselines
from kille_env import LiveOpponent, SeatVectorEnv
from kille_env.adapters.gym import KilleEnv
from kille_env.core.spec import feature_scale
from kille_env.errors import PolicyError, RulesError
from kille_env.play.policy import UniformPolicy, resolve
from kille_env.registry import spec

MASK = np.array([[1, 0, 1, 1], [0, 1, 1, 0]], dtype=np.int8)
SEEN = np.zeros((2, 5), dtype=np.uint8)


class Linear:
    """A network of one layer, whose weights can be changed under way."""

    def __init__(self, game: str, num_players: int, seed: int = 1) -> None:
        table = spec(game)
        scale = feature_scale(table.observation(num_players))
        size = (len(scale), table.num_actions)
        self.weights = np.random.default_rng(seed).normal(size=size)
        self.calls: list[np.ndarray] = []

    def __call__(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        self.calls.append(observation)
        return observation @ self.weights


def asked(returned: Any, **options: Any) -> np.ndarray:
    options = {"observation": "box", "returns": "probabilities", **options}
    return LiveOpponent(lambda observation, mask: returned, **options).probabilities(SEEN, MASK)


def test_what_a_function_returns_becomes_probabilities() -> None:
    numbers = np.array([[0.0, 9.0, np.log(3.0), -np.inf], [9.0, 1.0, 1.0, 9.0]])
    assert asked(numbers, returns="logits") == pytest.approx(
        np.array([[0.25, 0, 0.75, 0], [0, 0.5, 0.5, 0]])
    )
    best = np.array([[0, 0, 1, 0], [0, 1, 0, 0]])
    assert np.array_equal(asked(numbers, returns="values"), best)
    uniform = UniformPolicy().probabilities(SEEN, MASK)
    assert np.array_equal(asked(uniform), uniform)


def test_values_that_are_nearly_equal_are_told_apart() -> None:
    values = np.array([[1e-18, 0.0, 2e-18, 0.0], [0.0, 1e-18, 2e-18, 0.0]])
    assert asked(values, returns="values").argmax(axis=1).tolist() == [2, 2]


def test_tensors_are_taken_with_gradients_and_in_any_float() -> None:
    torch = pytest.importorskip("torch")
    for kind in (torch.float32, torch.float64, torch.bfloat16):
        logits = torch.zeros(2, 4, dtype=kind, requires_grad=True)
        wanted = UniformPolicy().probabilities(SEEN, MASK)
        assert asked(logits, returns="logits") == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("returned", "options", "message"),
    [
        (np.zeros((2, 3)), {"returns": "logits"}, r"logits of shape \(2, 3\), expected \(2, 4\)"),
        (np.full((2, 4), np.nan), {"returns": "logits"}, "non-finite logits"),
        (np.full((2, 4), np.nan), {"returns": "values"}, "non-finite values"),
        ((np.zeros(2), np.zeros((2, 4))), {}, "a tuple that is no array"),
        (np.zeros((2, 4)), {"observation": "float"}, r"at_table\(game, num_players\)"),
    ],
)
def test_what_cannot_be_played_is_refused(returned: Any, options: Any, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        asked(returned, **options)


def test_impossible_options_are_refused() -> None:
    wrong: Any = 3
    with pytest.raises(PolicyError, match="asks a function"):
        LiveOpponent(wrong)
    with pytest.raises(PolicyError, match=r'LiveOpponent\(function, observation="float", returns'):
        LiveOpponent(print, returns="logits")
    with pytest.raises(RulesError, match=r"Did you mean 'logits'"):
        LiveOpponent(print, observation="box", returns="logit")
    with pytest.raises(RulesError, match="box, float"):
        LiveOpponent(print, observation="dict", returns="logits")


def forms(opponents: Any) -> list[Any]:
    """The tables of every form with one seat, against these opponents."""
    options: dict[str, Any] = {"opponents": opponents, "seed": 1, "episode": "deal"}
    single = KilleEnv("byteskille", 3, **options)
    vector = SeatVectorEnv("byteskille", 4, 3, **options)
    learning = stable_baselines().SeatVecEnv("byteskille", 4, 3, **options)
    for env in (single, vector, learning):
        env.reset()
    return [single, vector, learning]


@pytest.mark.parametrize("observation", ["box", "float"])
def test_every_form_shows_it_what_it_asks_for(observation: str) -> None:
    network = Linear("byteskille", 3)
    live = LiveOpponent(network, returns="logits", observation=observation)
    for env in forms(live):
        network.calls.clear()
        for _ in range(8):
            env.tables.step(env.tables.mask().argmax(axis=1))
            if env.tables.over.any():
                env.tables.begin(which=env.tables.over.copy())
        shown = np.concatenate(network.calls)
        assert shown.dtype == (np.float32 if observation == "float" else np.uint8)
        assert (shown.max() <= 1.0) == (observation == "float")


def test_it_follows_the_network_as_it_learns() -> None:
    network = Linear("byteskille", 3)
    batch = kille_env.make_batch("byteskille", 8, 3, seed=1)
    batch.reset()
    seen, mask = batch.observation.copy(), batch.mask.copy()
    live = LiveOpponent(network, returns="logits", observation="float")
    player: Any = resolve(live, "byteskille", 3, batch.rules)
    before = player.probabilities(seen, mask)
    network.weights *= -1.0
    after = player.probabilities(seen, mask)
    assert not np.allclose(before, after)
    assert np.array_equal(live.at_table("byteskille", 3).probabilities(seen, mask), after)


def test_a_copied_environment_plays_against_the_same_network() -> None:
    network = Linear("byteskille", 3)
    live = LiveOpponent(network, returns="logits", observation="float")
    for made in (
        gymnasium.make("kille_env/byteskille-v0", num_players=3, opponents=live),
        gymnasium.make_vec("kille_env/byteskille-v0", num_envs=4, num_players=3, opponents=live),
    ):
        env: Any = made.unwrapped
        for one in (env, copy.deepcopy(env)):
            (player,) = one.tables.players.players
            assert player.function is network
    assert copy.copy(live).function is copy.deepcopy(live).function is network


def test_another_process_cannot_follow() -> None:
    live = LiveOpponent(Linear("byteskille", 3), observation="box", returns="logits")
    env = KilleEnv("byteskille", 3, opponents=live)
    with pytest.raises(PolicyError, match="cannot be pickled"):
        pickle.dumps(env)


@pytest.mark.parametrize("function", [lambda: None, lambda observation: observation])
def test_a_function_of_other_arguments_is_refused_when_it_is_handed_over(function: Any) -> None:
    with pytest.raises(PolicyError, match="cannot be called with two arguments"):
        LiveOpponent(function, observation="box", returns="probabilities")
