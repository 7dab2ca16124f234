"""What players are shown and do at the tables of the tests."""

from itertools import pairwise
from typing import Any

import numpy as np

import kille_env
from kille_agents.catalog import load_policy
from kille_agents.network import NetworkMetadata
from kille_env.core.jit import kernel
from kille_env.core.spec import Rules, width
from kille_env.play.kernels import PolicyKernel
from kille_env.play.policy import UniformPolicy, sample_actions


def does(table: Any, habit: str = "") -> str:
    """What a bot, or the rule of thumb, does at a table; of cards to play the codes."""
    batch, game = table.batch, table.batch.spec.name
    name = f"{game}/{habit}" if habit else "rule_of_thumb"
    player = load_policy(name, game, table.players, table.rules)
    chances = player.probabilities(batch.observation, batch.mask)
    return batch.action_text(int(chances[0].argmax())).removeprefix("play ")


def decisions(
    game: str, seats: int, rules: Rules, tables: int = 24, steps: int = 30
) -> tuple[np.ndarray, np.ndarray]:
    """Observations [N, F] and masks [N, A] of play, half uniform, half by the rule of thumb."""
    batch = kille_env.make_batch(game, tables, seats, rules=rules, seed=7)
    batch.reset()
    rule = load_policy("rule_of_thumb", game, seats, rules)
    rng, seen, masks = np.random.default_rng(3), [], []
    for _ in range(steps):
        shown = batch.observation.copy(), batch.mask.copy()
        seen.append(shown[0])
        masks.append(shown[1])
        chances = 0.5 * (UniformPolicy().probabilities(*shown) + rule.probabilities(*shown))
        batch.step(sample_actions(chances, rng))
    return np.concatenate(seen), np.concatenate(masks)


def network_metadata(game: str, seats: int, rules: Rules, /, **changes: Any) -> NetworkMetadata:
    """What a network for a table says of itself."""
    spec = kille_env.spec(game)
    values = {
        "game": game,
        "game_version": spec.version,
        "num_players": seats,
        "rules": rules.as_dict(),
        "observation_width": width(spec.observation(seats)),
        "num_actions": spec.num_actions,
        "layers": (16, 8),
        "activation": "tanh",
    }
    return NetworkMetadata(**{**values, **changes})


def network_weights(made_for: NetworkMetadata) -> dict[str, np.ndarray]:
    """Random weights of a network."""
    rng = np.random.default_rng(0)
    sizes = (made_for.observation_width, *made_for.layers, made_for.num_actions)
    found = {}
    for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
        found[f"weight.{layer}"] = rng.normal(size=(outputs, inputs)).astype(np.float32) * 0.3
        found[f"bias.{layer}"] = rng.normal(size=outputs).astype(np.float32)
    return found


def even(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return mask / mask.sum(axis=1, keepdims=True)


def first_legal(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.eye(mask.shape[1])[mask.argmax(axis=1)]


@kernel
def below(_seen, _mask, _numbers, _uniform):
    return -1


@kernel
def beyond(_seen, mask, _numbers, _uniform):
    return mask.shape[0] + 1000


class Wrong(UniformPolicy):
    """A policy with a kernel that nobody has compared with its probabilities."""

    name = "wrong"

    def __init__(self, choose: Any, *numbers: Any) -> None:
        self.kernel = PolicyKernel(choose, *numbers, deterministic=True)


class Own:
    """A policy of somebody else, with a kernel."""

    name = "own"

    def __init__(self, choose: Any, probabilities: Any, **kernel: Any) -> None:
        self.kernel = PolicyKernel(choose, **kernel)
        self.probabilities = probabilities
