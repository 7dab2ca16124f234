"""One policy, one number: every way of handing a policy over, by every way of measuring it.

The reference asks a model exactly as its environment did, written here from the model's own raw
distribution, and goes through the tree by itself.
"""

import copy
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from gymnasium.wrappers import TimeAwareObservation, TimeLimit, TransformReward
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnvWrapper, VecNormalize

import kille_env
import kille_training as kt
from kille_agents import as_policy, save_policy
from kille_agents.metadata import Metadata
from kille_agents.network import NetworkMetadata, NetworkPolicy, save_network
from kille_env import LiveOpponent, SeatVectorEnv
from kille_env.adapters.gym import KilleEnv
from kille_env.core.floats import READINGS
from kille_env.core.keys import deal_seeds
from kille_env.core.spec import feature_scale
from kille_env.errors import KilleError
from kille_env.play.experience import collect
from kille_env.play.functions import Network
from kille_env.registry import Table, spec
from kille_env.sb3 import SeatPPO, SeatVecEnv, SelfPlayVecEnv, save
from kille_training.solving.policies import policy_of, strategies_of
from kille_training.solving.trees.values import best_response, expected_values
from reference.trees import build_deal

GAME = spec("byteskille")
TABLE = Table.of("byteskille", 2, {"fraga": "off"}, "deal")
HERE: dict[str, Any] = {"num_players": 2, "rules": TABLE.rules}
SCALE = feature_scale(GAME.observation(2)).astype(np.float32)
F, A = len(SCALE), GAME.num_actions


class Reference:
    """A policy asked as its environment asked it, and nothing in between."""

    name = "reference"

    def __init__(self, ask: Any) -> None:
        self.ask = ask

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.asarray(self.ask(observation, mask), dtype=np.float64)


def softmax(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True)) * mask
    return weights / weights.sum(axis=1, keepdims=True)


def best(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.eye(A)[np.where(mask != 0, values, -np.inf).argmax(axis=1)]


def raw(model: Any, seen: np.ndarray) -> np.ndarray:
    """What a model's own network says, in evaluation mode."""
    model.policy.set_training_mode(False)
    with torch.no_grad():
        tensor, _ = model.policy.obs_to_tensor(seen)
        if hasattr(model, "q_net"):
            return model.q_net(tensor).double().numpy()
        return model.policy.get_distribution(tensor).distribution.logits.double().numpy()


def with_preferences(model: Any) -> Any:
    """A network begins with next to none: these are what is to be measured."""
    if hasattr(model.policy, "action_net"):
        with torch.no_grad():
            model.policy.action_net.weight *= 300.0
    return model


def on_streams(kind: str, around: Any = lambda venv: venv, features: Any = None) -> Any:
    options: Any = {"observation": kind, "features": features, "rules": TABLE.rules}
    inner = SelfPlayVecEnv("byteskille", 8, 2, **options, seed=1)
    venv = around(inner)
    return with_preferences(
        SeatPPO("MlpPolicy", venv, n_steps=8, batch_size=32, seed=1, device="cpu")
    )


def normalizing(venv: Any) -> VecNormalize:
    """VecNormalize that has seen some play."""
    made = VecNormalize(venv, norm_reward=False)
    made.reset()
    for _ in range(20):
        with venv.unwrapped.crediting():
            made.step(made.env_method("action_masks")[0].argmax(axis=1))
    return made


def one_seat(around: Any, algorithm: Any, wrapper: Any, **options: Any) -> Any:
    def make() -> Any:
        return wrapper(KilleEnv("byteskille", 2, observation="float", rules=TABLE.rules))

    return with_preferences(algorithm("MlpPolicy", around([make]), seed=1, device="cpu", **options))


class Layers(torch.nn.Module):
    """A network with parts that behave otherwise in training."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.first, self.last = torch.nn.Linear(F, 16), torch.nn.Linear(16, A)
        self.norm, self.drop = torch.nn.BatchNorm1d(16), torch.nn.Dropout(0.5)
        self.norm.running_mean += 0.3

    def forward(self, seen: Any) -> Any:
        return 5.0 * self.last(self.drop(torch.tanh(self.norm(self.first(seen)))))


def module_logits(module: torch.nn.Module, seen: np.ndarray) -> np.ndarray:
    module.eval()
    with torch.no_grad():
        found = module(torch.as_tensor(seen, dtype=torch.float32)).double().numpy()
    module.train()
    return found


WEIGHTS = np.random.default_rng(5).normal(size=(F, A)) * 3.0


def scaled_logits(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return (observation * SCALE) @ WEIGHTS


def made_function() -> tuple[Any, Any]:
    def even(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return softmax(scaled_logits(observation, mask), mask)

    return even, even


def made_function_on_floats() -> tuple[Any, Any]:
    def logits(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return observation @ WEIGHTS

    handed = Network(logits, observation="float", returns="logits")
    return handed, lambda seen, mask: softmax(scaled_logits(seen, mask), mask)


def made_live() -> tuple[Any, Any]:
    values = LiveOpponent(lambda seen, mask: seen @ WEIGHTS, observation="float", returns="values")
    return values, lambda seen, mask: best(scaled_logits(seen, mask), mask)


def made_module() -> tuple[Any, Any]:
    layers = Layers()
    handed = Network(layers, observation="float", returns="logits")
    return handed, lambda seen, mask: softmax(module_logits(layers, seen * SCALE), mask)


def made_softmax() -> tuple[Any, Any]:
    layers = Layers()
    ends = torch.nn.Sequential(layers, torch.nn.Softmax(dim=1))
    handed = Network(ends, observation="box", returns="probabilities")
    return handed, lambda seen, mask: softmax(module_logits(layers, seen), mask)


def made_model(kind: str) -> tuple[Any, Any]:
    model = on_streams(kind)
    reading = READINGS[kind](GAME, 2) if kind in READINGS else lambda seen: seen
    return model, lambda seen, mask: softmax(raw(model, reading(seen)), mask)


def made_normalized() -> tuple[Any, Any]:
    model = on_streams("float", normalizing)

    def ask(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return softmax(raw(model, model.get_env().normalize_obs(seen * SCALE)), mask)

    return model, ask


def made_dqn() -> tuple[Any, Any]:
    tables = SeatVecEnv("byteskille", 8, 2, rules=TABLE.rules, opponents="self", seed=1)
    model = DQN("MlpPolicy", tables, seed=1, device="cpu", buffer_size=10)
    model.exploration_rate = 0.7
    return model, lambda seen, mask: best(raw(model, seen * SCALE), mask)


def every_other(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Features of one's own: every other one of the table's, and the mask."""
    return np.concatenate([seen[:, ::2], 2.0 * mask], axis=1)


def every_second(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Others of the same size."""
    return 1.0 - every_other(seen, mask)


def made_model_on_features() -> tuple[Any, Any]:
    model = on_streams("float", normalizing, every_other)

    def ask(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        own = every_other(seen * SCALE, mask).astype(np.float32)
        return softmax(raw(model, model.get_env().normalize_obs(own)), mask)

    return model, ask


def made_module_on_features() -> tuple[Any, Any]:
    torch.manual_seed(6)
    module = torch.nn.Linear((F + 1) // 2 + A, A)
    handed = Network(module, observation="box", returns="logits", features=every_other)
    return handed, lambda seen, mask: softmax(module_logits(module, every_other(seen, mask)), mask)


def made_zip_on_features(folder: Path) -> tuple[Any, Any]:
    (folder / "features_of_mine.py").write_text(
        "def squares(seen, mask):\n    return seen[:, 3:] ** 2 - 0.5\n"
    )
    sys.modules.pop("features_of_mine", None)
    squares = importlib.import_module("features_of_mine").squares
    model = on_streams("float", features=squares)
    path = save(model, folder / "model")
    again = as_policy(path, "byteskille", 2, TABLE.rules, trust=True)
    return again, lambda seen, mask: softmax(
        raw(model, squares(seen * SCALE, mask).astype(np.float32)), mask
    )


def made_network() -> tuple[Any, Any]:
    about = Metadata("byteskille", GAME.version, 2, TABLE.rules.as_dict())
    metadata = NetworkMetadata(
        **vars(about), observation_width=F, num_actions=A, layers=(8,), activation="tanh"
    )
    rng = np.random.default_rng(2)
    shapes = {"weight.0": (8, F), "bias.0": (8,), "weight.1": (A, 8), "bias.1": (A,)}
    weights = {key: rng.normal(size=shape).astype(np.float32) for key, shape in shapes.items()}

    def ask(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        hidden = np.tanh(seen @ weights["weight.0"].T + weights["bias.0"])
        return softmax(hidden @ weights["weight.1"].T + weights["bias.1"], mask)

    return NetworkPolicy(metadata, weights, "folder"), ask


def made_folder(folder: Path) -> tuple[Any, Any]:
    network, ask = made_network()
    return save_network(network, folder / "network").parent, ask


def made_zip(folder: Path) -> tuple[Any, Any]:
    model, ask = made_model("float")
    path = save(model, folder / "model")
    return as_policy(path, "byteskille", 2, TABLE.rules, trust=True), ask


def made_kept_module(folder: Path) -> tuple[Any, Any]:
    torch.manual_seed(4)
    module = torch.nn.Sequential(torch.nn.Linear(F, 16), torch.nn.GELU(), torch.nn.Linear(16, A))
    kept = save_policy(
        module, folder / "module", "byteskille", 2, TABLE.rules, observation="float",
        returns="logits",
    )  # fmt: skip
    return kept, lambda seen, mask: softmax(module_logits(module, seen * SCALE), mask)


def made_kept_model(folder: Path) -> tuple[Any, Any]:
    model, ask = made_model("float")
    return save_policy(model, folder / "model"), ask


def made_entry_point(folder: Path) -> tuple[Any, Any]:
    np.savez(folder / "linear.npz", weights=SCALE[:, None] * WEIGHTS)
    (folder / "linear_player.py").write_text(
        "import numpy as np\n"
        f"WEIGHTS = np.load({str(folder / 'linear.npz')!r})['weights']\n"
        "def linear(observation, mask):\n"
        "    logits = np.where(mask != 0, observation @ WEIGHTS, -np.inf)\n"
        "    weights = np.exp(logits - logits.max(axis=1, keepdims=True))\n"
        "    return weights / weights.sum(axis=1, keepdims=True)\n"
    )
    sys.modules.pop("linear_player", None)
    return "linear_player:linear", made_function()[1]


class Reading:
    """Is given what the seat to act knows, as a language model is, and reads what it sees."""

    name, keyless = "reading", True

    def decide(self, known: Any) -> np.ndarray:
        return softmax(scaled_logits(known.observation, known.mask), known.mask)


def made_tabular() -> tuple[Any, Any]:
    _, ask = made_function()
    deal = build_deal(2, TABLE.rules)
    return policy_of(strategies_of(Reference(ask), deal), deal, "table"), ask


def made_open_spiel() -> tuple[Any, Any]:
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.policy import Policy

    from kille_env.adapters.open_spiel import load

    class Linear(Policy):
        """Reads OpenSpiel's own observations of the game."""

        def __init__(self, game: Any) -> None:
            super().__init__(game, [0, 1])
            kind = pyspiel.IIGObservationType(perfect_recall=False)
            self._observer = game.make_py_observer(kind)

        def action_probabilities(self, state: Any, player_id: Any = None) -> dict[int, float]:
            self._observer.set_from(state, state.current_player())
            mask = np.array([state.legal_actions_mask()])
            (chances,) = softmax(self._observer.tensor[None] @ WEIGHTS, mask)
            return {action: chances[action] for action in state.legal_actions()}

    linear = Linear(load("byteskille", 2, rules=TABLE.rules))
    return linear, lambda seen, mask: softmax(scaled_logits(seen, mask), mask)


WAYS: dict[str, Any] = {
    "function": made_function,
    "function on floats": made_function_on_floats,
    "live opponent": made_live,
    "module": made_module,
    "module that ends in softmax": made_softmax,
    "model on floats": lambda: made_model("float"),
    "model on counts": lambda: made_model("box"),
    "model on seats": lambda: made_model("seats"),
    "model under VecNormalize": made_normalized,
    "DQN": made_dqn,
    "model on own features": made_model_on_features,
    "module on own features": made_module_on_features,
    "saved model on own features": made_zip_on_features,
    "network": made_network,
    "policy folder": made_folder,
    "saved model": made_zip,
    "module as a folder": made_kept_module,
    "model as a folder": made_kept_model,
    "entry point": made_entry_point,
    "searcher": lambda: (Reading(), made_function()[1]),
    "tabular": made_tabular,
    "policy of OpenSpiel": made_open_spiel,
}


def nash_conv_of(ask: Any) -> float:
    """Exact NashConv from the tree, without anything that measures."""
    (stage,) = build_deal(2, TABLE.rules).stages
    (strategy,) = strategies_of(Reference(ask), build_deal(2, TABLE.rules))
    tree = stage.worth(np.zeros(2))
    values = expected_values(tree, strategy)
    return sum(best_response(tree, strategy, seat).value - values[seat] for seat in range(2))


FROM_FILES = (
    *("policy folder", "saved model", "entry point", "saved model on own features"),
    *("module as a folder", "model as a folder"),
)


@pytest.fixture(params=WAYS)
def both(request: Any, tmp_path: Path, monkeypatch: Any) -> tuple[Any, Any]:
    monkeypatch.syspath_prepend(tmp_path)
    return WAYS[request.param](*[tmp_path] if request.param in FROM_FILES else [])


def earned_in_an_own_loop(ask: Any, deals: int, seed: int) -> float:
    """Units per deal of greedy play against the rule of thumb, played with PettingZoo alone."""
    env = kille_env.make("byteskille", 2, rules=TABLE.rules)
    other = as_policy("rule_of_thumb", "byteskille", 2, TABLE.rules)
    total = 0.0
    for first in deal_seeds(seed, 2, np.arange(deals)).tolist():
        for hero in env.possible_agents:
            env.reset(seed=first)
            for agent in env.agent_iter():
                seen, reward, terminated, truncated, _ = env.last()
                total += reward if agent == hero else 0.0
                if terminated or truncated:
                    env.step(None)
                    continue
                how = ask if agent == hero else other.probabilities
                chances = how(seen["observation"][None], seen["action_mask"][None])
                env.step(int(np.argmax(chances[0])))
    return total / (2 * deals)


def plain(ask: Any, game: str = "byteskille") -> Any:
    return as_policy(Reference(ask), game, 2, TABLE.rules)


def test_every_measure_gives_the_same_number(both: tuple[Any, Any]) -> None:
    player, ask = both
    weights = getattr(player, "policy", getattr(player, "function", None))
    state = getattr(weights, "state_dict", dict)()
    before = {name: value.clone() for name, value in state.items()}
    exact = nash_conv_of(ask)
    assert float(kt.nash_conv(player, "byteskille", **HERE)) == pytest.approx(exact, abs=2e-5)

    measures = {"baselines": ["rule_of_thumb"], "deals": 60, "play": "sampled", **HERE}
    found = kt.evaluate(player, "byteskille", **measures)
    wanted = kt.evaluate(plain(ask), "byteskille", **measures)
    assert found.exact is not None
    assert found.exact[0].nash_conv == pytest.approx(exact, abs=2e-5)
    assert found.rows[0].estimate == wanted.rows[0].estimate

    greedy = kt.evaluate(player, "byteskille", **{**measures, "play": "greedy", "deals": 20})
    own = earned_in_an_own_loop(ask, 20, greedy.seed)
    assert greedy.rows[0].estimate.mean == pytest.approx(own, abs=1e-6)

    tournament: dict[str, Any] = {"num_players": 2, "rules": {"fraga": "off"}, "deals": 30}
    cells = [
        kt.play_tournament({"mine": one, "chance": "uniform"}, "byteskille", **tournament).frame()
        for one in (player, plain(ask))
    ]
    assert cells[0].equals(cells[1])

    batches = [kille_env.make_batch("byteskille", 16, 2, rules=TABLE.rules) for _ in range(2)]
    mine, theirs = (
        collect(batch, one, observation="box", seed=3)
        for batch, one in zip(batches, (player, plain(ask)), strict=True)
    )
    assert np.array_equal(mine.action, theirs.action)
    assert mine.log_probability == pytest.approx(theirs.log_probability, abs=1e-4)
    rewards = []
    for one in (player, plain(ask)):
        venv = SeatVectorEnv("byteskille", 16, 2, rules=TABLE.rules, opponents=one)
        _, infos = venv.reset(seed=4)
        for _ in range(6):
            _, reward, *_, infos = venv.step(infos["action_mask"].argmax(axis=1))
            rewards.append(reward.tolist())
    assert rewards[:6] == rewards[6:]
    after = getattr(weights, "state_dict", dict)()
    assert all(before[name].equal(value) for name, value in after.items())


SAVED = ["model on floats", "model on seats", "model under VecNormalize", "DQN"]


@pytest.mark.parametrize("way", SAVED)
def test_a_saved_model_is_measured_as_it_was_trained_and_where(way: str, tmp_path: Any) -> None:
    model, ask = WAYS[way]()
    path = save(model, tmp_path / "model")
    found = kt.nash_conv(path, trust=True)  # the file says where
    assert float(found) == pytest.approx(nash_conv_of(ask), abs=2e-5)
    assert float(kt.nash_conv(model)) == float(found)
    again = type(model).load(path, device="cpu")
    assert again.policy.state_dict().keys() == model.policy.state_dict().keys()


@pytest.mark.slow
def test_another_process_measures_the_same(tmp_path: Any) -> None:
    model, ask = made_normalized()
    path = save(model, tmp_path / "model")
    folder = save_network(made_network()[0], tmp_path / "network").parent
    code = (
        "import kille_training as kt\n"
        f"print(float(kt.nash_conv({str(path)!r}, trust=True)))\n"
        f"print(float(kt.nash_conv({str(folder)!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    of_model, of_network = map(float, done.stdout.split())
    assert of_model == pytest.approx(nash_conv_of(ask), abs=2e-5)
    assert of_network == pytest.approx(nash_conv_of(made_network()[1]), abs=2e-5)


def test_a_model_whose_statistics_change_is_another_entrant(tmp_path: Any) -> None:
    """Asked here or in another process: nothing but the file says what it reads."""
    model, _ = made_normalized()

    def play(deals: int, workers: int) -> Any:
        path = save(model, tmp_path / "model")
        entrants = {"mine": str(path), "rule": "rule_of_thumb"}
        return kt.play_tournament(
            entrants, "byteskille", deals=deals, workers=workers, out=tmp_path / "runs", trust=True,
            **HERE,
        )  # fmt: skip

    play(5, 0)
    statistics = model.get_env().obs_rms
    statistics.mean = statistics.mean + np.sqrt(statistics.var)
    with pytest.raises(KilleError, match=r"'mine' has changed: it entered as .*model\.zip"):
        play(6, 0)
    statistics.mean = statistics.mean - np.sqrt(statistics.var)
    assert play(6, 1).tally.observations == 6


class Doubled(VecEnvWrapper):
    """Shows other observations, in a way that nobody knows."""

    def reset(self) -> Any:
        return self.venv.reset() * 2.0

    def step_wait(self) -> Any:
        seen, *others = self.venv.step_wait()
        return seen * 2.0, *others


def refused_wrapper() -> Any:
    return kt.nash_conv(on_streams("float", Doubled))


def refused_time() -> Any:
    return kt.nash_conv(
        one_seat(DummyVecEnv, PPO, lambda env: TimeAwareObservation(TimeLimit(env, 99)))
    )


def refused_bare(tmp_path: Any) -> Any:
    model = on_streams("float")
    model.save(tmp_path / "bare")
    return kt.nash_conv(tmp_path / "bare.zip", trust=True)


def refused_features(tmp_path: Any) -> Any:
    save(on_streams("float", features=lambda seen, mask: seen), tmp_path / "model")


def refused_folder(tmp_path: Any) -> Any:
    save_policy(on_streams("float", features=every_other), tmp_path / "model")


def refused_normalized(tmp_path: Any) -> Any:
    save_policy(on_streams("float", normalizing), tmp_path / "model")


def refused_without_environment(tmp_path: Any) -> Any:
    on_streams("float").save(tmp_path / "bare")
    return kt.nash_conv(MaskablePPO.load(tmp_path / "bare", device="cpu"))


def refused_statistics(tmp_path: Any) -> Any:
    path = save(on_streams("float", normalizing), tmp_path / "model")
    venv = SelfPlayVecEnv("byteskille", 8, 2, rules=TABLE.rules)
    return kt.nash_conv(SeatPPO.load(path, env=venv, device="cpu"))


def refused_other_statistics(tmp_path: Any) -> Any:
    path = save(on_streams("float", normalizing), tmp_path / "model")
    venv = SelfPlayVecEnv("byteskille", 8, 2, rules=TABLE.rules)
    fresh = VecNormalize(venv, norm_reward=False)
    return kt.nash_conv(SeatPPO.load(path, env=fresh, device="cpu"))


def refused_traces(tmp_path: Any) -> Any:
    model = on_streams("float", normalizing).learn(64)
    model.save(tmp_path / "plain")
    venv = SelfPlayVecEnv("byteskille", 8, 2, rules=TABLE.rules)
    return kt.nash_conv(SeatPPO.load(tmp_path / "plain", env=venv, device="cpu"))


def refused_other_features(tmp_path: Any) -> Any:
    path = save(on_streams("float", features=every_other), tmp_path / "model")
    options: Any = {"rules": TABLE.rules, "features": every_second}
    venv = SelfPlayVecEnv("byteskille", 8, 2, **options)
    return kt.nash_conv(SeatPPO.load(path, env=venv, device="cpu"))


def refused_vector(*makes: Any) -> Any:
    return kt.nash_conv(MaskablePPO("MlpPolicy", DummyVecEnv([*makes]), device="cpu"))


def env_of(**options: Any) -> Any:
    options = {"observation": "float", "rules": TABLE.rules, **options}
    return lambda: KilleEnv("byteskille", 2, **options)


class Centred(KilleEnv):
    """Shows other observations than it says, from within."""

    def reset(self, **options: Any) -> Any:
        seen, info = super().reset(**options)
        return seen * 2 - 1, info


class CentredSeat(SeatVecEnv):
    """The same of one seat."""

    def observe(self) -> np.ndarray:
        return super().observe() * 2 - 1


class CentredTables(SelfPlayVecEnv):
    """The same of all seats."""

    def observe(self) -> np.ndarray:
        return super().observe() * 2 - 1


def refused_subclass(kind: Any) -> Any:
    return kt.nash_conv(MaskablePPO("MlpPolicy", kind("byteskille", 8, **HERE), device="cpu"))


def refused_subclass_file(tmp_path: Any) -> Any:
    """The library's own file: nothing but what the model saw last tells."""
    venv = CentredSeat("byteskille", 8, **HERE)
    MaskablePPO("MlpPolicy", venv, n_steps=8, device="cpu").learn(64).save(tmp_path / "centred")
    return kt.nash_conv(tmp_path / "centred.zip", "byteskille", trust=True, **HERE)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda _: refused_wrapper(), "nothing says what Doubled"),
        (lambda _: refused_time(), "nothing says what TimeAwareObservation"),
        (refused_bare, r"bare\.zip is unknown: give the game"),
        (refused_statistics, r"learned behind a VecNormalize, whose statistics"),
        (refused_other_statistics, r"learned behind a VecNormalize, whose statistics"),
        (refused_traces, r"learned behind a VecNormalize, whose statistics"),
        (refused_other_features, "learned with features=.*every_other, and its environment here"),
        (
            lambda _: refused_vector(env_of(), lambda: TransformReward(env_of()(), abs)),
            "nothing says what TransformReward",
        ),
        (
            lambda _: refused_vector(env_of(features=every_other), env_of(features=every_second)),
            "show different observations or features",
        ),
        (lambda _: refused_vector(lambda: Centred("byteskille", 2)), "Centred, where nothing says"),
        (lambda _: refused_subclass(CentredSeat), "CentredSeat, where nothing says how"),
        (lambda _: refused_subclass(CentredTables), "CentredTables, where nothing says how"),
        (refused_subclass_file, "does not show that its MaskablePPO saw the observations of"),
        (refused_features, "features '<lambda>' are code of this program"),
        (refused_folder, "reads features of your own, which are code"),
        (refused_normalized, r"learned in a VecNormalize.*kille_env\.sb3\.save"),
        (refused_without_environment, r"MaskablePPO\.load\(path, env=venv\)"),
        (
            lambda _: kt.nash_conv(on_streams("float"), rules="wikipedia"),
            r"does not fit this table: .*transfer=True",
        ),
        (
            lambda _: kt.nash_conv(made_network()[0], rules="wikipedia"),
            r"does not fit this table: .*transfer=True",
        ),
    ],
)
def test_what_cannot_be_measured_as_it_was_trained_is_refused(
    call: Any, words: str, tmp_path: Any
) -> None:
    with pytest.raises(KilleError, match=words):
        call(tmp_path)


def test_a_player_measured_elsewhere_says_so() -> None:
    for player in (on_streams("float"), made_network()[0]):
        found = kt.nash_conv(player, rules="wikipedia", transfer=True)
        assert found.transferred is not None


def test_a_function_that_draws_is_no_deterministic_player() -> None:
    rng = np.random.default_rng(1)

    def draws(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return np.eye(A)[(mask * rng.random(mask.shape)).argmax(axis=1)]

    found = kt.evaluate(draws, "byteskille", baselines="uniform", deals=20, **HERE)
    assert found.exact is None
    assert [row.play for row in found.rows] == ["sampled"]
    assert found.rows[0].policy == "draws (draws at random or keeps state)"
    for measure in (kt.nash_conv, lambda *a, **k: kt.evaluate(*a, exact=True, **k)):
        with pytest.raises(KilleError, match="'draws' cannot be measured exactly"):
            measure(draws, "byteskille", **HERE)


def test_self_play_meets_the_policy_that_learns() -> None:
    tables = SeatVecEnv(
        "byteskille", 8, 2, rules=TABLE.rules, opponents="self", seed=1, illegal="lose"
    )
    venv = VecNormalize(tables, norm_reward=False)
    model = with_preferences(PPO("MlpPolicy", venv, n_steps=8, batch_size=32, device="cpu"))
    tables.follow(model)
    model.learn(64)
    player = as_policy(model, "byteskille", 2, TABLE.rules)
    batch = kille_env.make_batch("byteskille", 8, 2, rules=TABLE.rules, seed=2)
    batch.reset()
    seen, mask = batch.observation, batch.mask
    assert np.array_equal(tables.live.probabilities(seen, mask), player.probabilities(seen, mask))
    logits = raw(model, venv.normalize_obs(seen * SCALE))
    wanted = softmax(logits, mask)
    assert player.probabilities(seen, mask) == pytest.approx(wanted, abs=1e-5)


def test_the_callback_measures_where_and_as_the_model_learns() -> None:
    model = on_streams("float", normalizing)
    callback = kt.NashConvCallback(every=1_000, play="sampled")
    model.learn(64, callback=callback)

    def ask(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return softmax(raw(model, model.get_env().normalize_obs(seen * SCALE)), mask)

    assert callback.rules == TABLE.rules and callback.num_players == 2
    assert callback.found[-1][1][0].nash_conv == pytest.approx(nash_conv_of(ask), abs=2e-5)
    elsewhere = kt.NashConvCallback("byteskille", 2, rules="wikipedia")
    with pytest.raises(KilleError, match="does not fit this table"):
        model.learn(64, callback=elsewhere)


def test_a_player_follows_the_wrapper_of_its_model() -> None:
    model, ask = made_normalized()
    venv, player = model.get_env(), as_policy(model, "byteskille", 2, TABLE.rules)
    batch = kille_env.make_batch("byteskille", 8, 2, rules=TABLE.rules, seed=2)
    batch.reset()
    seen, mask = batch.observation, batch.mask
    found = [player.probabilities(seen, mask)]
    other = copy.deepcopy(venv.obs_rms)
    other.mean = other.mean + 0.5
    for name, value in (("obs_rms", other), ("norm_obs", False)):
        setattr(venv, name, value)
        found.append(player.probabilities(seen, mask))
        assert found[-1] == pytest.approx(ask(seen, mask), abs=1e-5)
        assert np.abs(found[-1] - found[-2]).max() > 1e-3


def test_a_model_of_several_sizes_is_measured_where_it_is_asked_to_be() -> None:
    rules = {"fraga": "off"}
    venv = SelfPlayVecEnv("byteskille", 8, (2, 3), observation="seats", rules=rules, seed=1)
    model, here = SeatPPO("MlpPolicy", venv, n_steps=8, batch_size=32), kt.NashConvCallback(**HERE)
    model.learn(64, callback=here)
    assert [decisions for decisions, _ in here.found] == [0, 64]


@pytest.mark.parametrize("kind", ["float", "box", "seats"])
def test_a_plain_file_is_measured_at_the_table_that_is_named_with_it(
    kind: str, tmp_path: Any
) -> None:
    model = on_streams(kind).learn(64)
    model.save(tmp_path / "plain")
    file, named = tmp_path / "plain.zip", {"game": "byteskille", "trust": True, **HERE}
    assert float(kt.nash_conv(file, **named)) == float(kt.nash_conv(model))
    words = "does not show" if kind == "seats" else "reads other observations than byteskille, 3"
    with pytest.raises(KilleError, match=words):
        kt.nash_conv(file, "byteskille", 3, trust=True)


def test_a_model_without_an_environment_is_asked_as_its_file_says(tmp_path: Any) -> None:
    model, _ = made_normalized()
    path = save(model, tmp_path / "model")
    again = type(model).load(path, device="cpu")
    assert float(kt.nash_conv(again)) == float(kt.nash_conv(model))
    again.num_timesteps += 1  # it has learned on, so the record is of an earlier time
    with pytest.raises(KilleError, match="has no environment that says how it is asked"):
        kt.nash_conv(again)


def test_all_environments_of_a_vector_are_homes_of_a_model() -> None:
    other = lambda: KilleEnv("byteskille", 2, observation="float", episode="match")  # noqa: E731
    model = MaskablePPO("MlpPolicy", DummyVecEnv([env_of(), other]), device="cpu")
    tables = as_policy(model).tables
    assert [table.rules["episode"] for table in tables] == ["deal", "match"]


@pytest.mark.parametrize("way", ["module", "model under VecNormalize", SAVED[-1]])
def test_a_comparison_says_the_same_number(way: str) -> None:
    player, ask = WAYS[way]()
    asked: dict[str, Any] = {"num_players": 2, "rules": {"fraga": "off"}, "by": 0.05, "most": 500}
    found, wanted = (kt.compare(one, "uniform", **asked) for one in (player, plain(ask)))
    assert (found.played, found.mean) == (wanted.played, wanted.mean)


def test_losses_are_those_of_the_play_that_is_measured() -> None:
    player = made_function()[0]
    shown: dict[str, Any] = {"baselines": "uniform", "deals": 2, "losses": 10_000, **HERE}
    found = kt.evaluate(player, "byteskille", play="greedy", **shown)
    assert found.exact is not None
    lost = sum(loss.loss for loss in found.losses)
    assert lost == pytest.approx(found.exact[0].nash_conv, abs=1e-6)
    assert {chance for loss in found.losses for chance in loss.plays.values()} == {0.0, 1.0}
