"""The networks of Stable-Baselines3's models: their scores of actions."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from torch import nn

from kille_env.errors import PolicyError
from kille_env.play.functions import evaluating


def meaning_of(model: Any) -> Literal["logits", "values"]:
    """Return the kind of scores of a model's network."""
    policy, name = getattr(model, "policy", None), type(model).__name__
    if hasattr(policy, "lstm_actor"):
        raise PolicyError(
            f"{name} is recurrent, and its state is not kept here: hand it over as an object with "
            "decide(decisions), which reads decisions.history()"
        )
    if hasattr(policy, "q_net") or hasattr(policy, "quantile_net"):
        return "values"
    if hasattr(policy, "action_net") and hasattr(policy, "get_distribution"):
        return "logits"
    raise PolicyError(
        f"{name} has neither a distribution over actions nor values of them; expected a model of "
        "PPO, A2C, TRPO, MaskablePPO, DQN or QR-DQN"
    )


def scores(model: Any, seen: Any) -> np.ndarray:
    """Return a network's scores of the actions, [N, A] float32, for its observations."""
    policy = model.policy
    if _is_plain(policy):
        return _logits(policy, seen)
    with evaluating(policy), torch.no_grad():
        tensor, _ = policy.obs_to_tensor(seen)
        if hasattr(policy, "q_net"):
            found = policy.q_net(tensor)
        elif hasattr(policy, "quantile_net"):
            found = policy.quantile_net(tensor).mean(1)
        else:
            found = policy.get_distribution(tensor).distribution.logits
    return found.cpu().numpy()


def _is_plain(policy: Any) -> bool:
    """Return whether a policy's logits come from Stable-Baselines3's own layers, on the CPU."""
    return (
        type(policy) in PLAIN
        and type(policy.features_extractor) is FlattenExtractor
        and policy.action_net.weight.is_cpu
        and all(type(layer) in LAYERS for layer in _layers(policy))
    )


def _layers(policy: Any) -> list[nn.Module]:
    return [*policy.mlp_extractor.policy_net, policy.action_net]


def _logits(policy: Any, seen: np.ndarray) -> np.ndarray:
    """Return the logits of a plain policy, [N, A] float32, by the same weights without torch."""
    # The seats of a table decide one after the other, so that many questions are about a few
    # decisions, for which torch takes five times as long as their numbers do.
    values = seen.astype(np.float32).reshape(len(seen), -1)
    for layer in _layers(policy):
        values = LAYERS[type(layer)](layer, values)
    return values


def _linear(layer: Any, values: np.ndarray) -> np.ndarray:
    values = values @ layer.weight.detach().numpy().T  # shares the memory of the tensor
    values += layer.bias.detach().numpy()
    return values


PLAIN = (ActorCriticPolicy, MaskableActorCriticPolicy)
LAYERS: dict[type[nn.Module], Callable[[Any, np.ndarray], np.ndarray]] = {
    nn.Linear: _linear,
    nn.Tanh: lambda _, values: np.tanh(values, out=values),
    nn.ReLU: lambda _, values: np.maximum(values, np.float32(0.0), out=values),
}
