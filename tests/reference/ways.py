"""Every way of handing a policy over, each with how its own environment asks it.

The references are written from the raw distribution of a model, and go through the tree by
themselves: nothing here measures.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.vec_env import VecNormalize

from kille_agents import as_policy, save_policy
from kille_agents.metadata import Metadata
from kille_agents.network import NetworkMetadata, NetworkPolicy, save_network
from kille_env import LiveOpponent
from kille_env.core.floats import reading
from kille_env.core.spec import feature_scale
from kille_env.play.functions import FunctionPolicy
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
    inner = SelfPlayVecEnv(
        "byteskille", 8, 2, observation=kind, features=features, rules=TABLE.rules, seed=1
    )
    model = SeatPPO("MlpPolicy", around(inner), n_steps=8, batch_size=32, seed=1, device="cpu")
    return with_preferences(model)


def normalizing(venv: Any) -> VecNormalize:
    """VecNormalize that has seen some play."""
    made = VecNormalize(venv, norm_reward=False)
    made.reset()
    for _ in range(20):
        with venv.unwrapped.crediting():
            made.step(made.env_method("action_masks")[0].argmax(axis=1))
    return made


def asked_as_it_learned(kind: str, around: Any = lambda venv: venv, features: Any = None) -> Any:
    """Return a model that plays all seats, and how it is asked."""
    model = on_streams(kind, around, features)
    read = reading("seats", GAME, 2) if kind == "seats" else lambda seen: seen

    def ask(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
        shown = seen * SCALE if kind == "float" else read(seen)
        shown = features(shown, mask).astype(np.float32) if features else shown
        norm = getattr(model.get_env(), "normalize_obs", lambda shown: shown)
        return softmax(raw(model, norm(shown)), mask)

    return model, ask


def linear_layer() -> torch.nn.Module:
    torch.manual_seed(6)
    return torch.nn.Linear((F + 1) // 2 + A, A)


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


def even(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return softmax(scaled_logits(observation, mask), mask)


def linear(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return observation @ WEIGHTS


def every_other(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Features of one's own: every other one of the table's, and the mask."""
    return np.concatenate([seen[:, ::2], 2.0 * mask], axis=1)


def every_second(seen: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Others of the same size."""
    return 1.0 - every_other(seen, mask)


def made_module(
    module: Any, read: Any = lambda seen, mask: seen, ends: Any = None, **options: Any
) -> tuple[Any, Any]:
    """Return a network of PyTorch; `ends` is a layer after its logits."""
    handed = FunctionPolicy(torch.nn.Sequential(module, ends) if ends else module, **options)
    return handed, lambda seen, mask: softmax(module_logits(module, read(seen, mask)), mask)


def made_dqn() -> tuple[Any, Any]:
    tables = SeatVecEnv("byteskille", 8, 2, rules=TABLE.rules, opponents="self", seed=1)
    model = DQN("MlpPolicy", tables, seed=1, device="cpu", buffer_size=10)
    model.exploration_rate = 0.7
    return model, lambda seen, mask: best(raw(model, seen * SCALE), mask)


def squares(folder: Path) -> Any:
    """Features in a module that another process can import."""
    (folder / "features_of_mine.py").write_text(
        "def squares(seen, mask):\n    return seen[:, 3:] ** 2 - 0.5\n"
    )
    sys.modules.pop("features_of_mine", None)
    return importlib.import_module("features_of_mine").squares


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


def made_zip(folder: Path, made: tuple[Any, Any]) -> tuple[Any, Any]:
    path = save(made[0], folder / "model")
    return as_policy(path, "byteskille", 2, TABLE.rules, trust=True), made[1]


def made_kept_module(folder: Path) -> tuple[Any, Any]:
    torch.manual_seed(4)
    module = torch.nn.Sequential(torch.nn.Linear(F, 16), torch.nn.GELU(), torch.nn.Linear(16, A))
    kept = save_policy(
        module, folder / "module", "byteskille", 2, TABLE.rules, observation="float",
        returns="logits",
    )  # fmt: skip
    return kept, lambda seen, mask: softmax(module_logits(module, seen * SCALE), mask)


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
    return "linear_player:linear", even


class Reading:
    """Is given what the seat to act knows, as a language model is, and reads what it sees."""

    name, keyless = "reading", True

    def decide(self, known: Any) -> np.ndarray:
        return softmax(scaled_logits(known.observation, known.mask), known.mask)


def made_tabular() -> tuple[Any, Any]:
    deal = build_deal(2, TABLE.rules)
    return policy_of(strategies_of(Reference(even), deal), deal, "table"), even


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

    return Linear(load("byteskille", 2, rules=TABLE.rules)), even


SCALED: dict[str, Any] = {"observation": "float", "read": lambda seen, mask: seen * SCALE}
LOGITS: dict[str, Any] = {"returns": "logits"}
WAYS: dict[str, Any] = {
    "function": lambda _: (even, even),
    "function on floats": lambda _: (FunctionPolicy(linear, observation="float", **LOGITS), even),
    "live opponent": lambda _: (
        LiveOpponent(linear, observation="float", returns="values"),
        lambda seen, mask: best(scaled_logits(seen, mask), mask),
    ),
    "module": lambda _: made_module(Layers(), **SCALED, **LOGITS),
    "module that ends in softmax": lambda _: made_module(
        Layers(), ends=torch.nn.Softmax(dim=1), observation="box", returns="probabilities"
    ),
    "model on floats": lambda _: asked_as_it_learned("float"),
    "model on counts": lambda _: asked_as_it_learned("box"),
    "model on seats": lambda _: asked_as_it_learned("seats"),
    "model under VecNormalize": lambda _: asked_as_it_learned("float", normalizing),
    "DQN": lambda _: made_dqn(),
    "model on own features": lambda _: asked_as_it_learned("float", normalizing, every_other),
    "module on own features": lambda _: made_module(
        linear_layer(), every_other, observation="box", features=every_other, **LOGITS
    ),
    "saved model on own features": lambda folder: made_zip(
        folder, asked_as_it_learned("float", features=squares(folder))
    ),
    "network": lambda _: made_network(),
    "policy folder": lambda folder: (
        save_network(made_network()[0], folder / "network").parent,
        made_network()[1],
    ),
    "saved model": lambda folder: made_zip(folder, asked_as_it_learned("float")),
    "module as a folder": made_kept_module,
    "model as a folder": lambda folder: (
        save_policy((made := asked_as_it_learned("float"))[0], folder / "model"),
        made[1],
    ),
    "entry point": made_entry_point,
    "searcher": lambda _: (Reading(), even),
    "tabular": lambda _: made_tabular(),
    "policy of OpenSpiel": lambda _: made_open_spiel(),
}


def nash_conv_of(ask: Any) -> float:
    """Exact NashConv from the tree, without anything that measures."""
    (stage,) = build_deal(2, TABLE.rules).stages
    (strategy,) = strategies_of(Reference(ask), build_deal(2, TABLE.rules))
    tree = stage.worth(np.zeros(2))
    values = expected_values(tree, strategy)
    return sum(best_response(tree, strategy, seat).value - values[seat] for seat in range(2))
