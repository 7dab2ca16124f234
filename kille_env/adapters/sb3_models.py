"""What the networks of Stable-Baselines3's models return."""

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
    """Returns what a model's network returns for each action.

    Raises:
        PolicyError: Neither logits nor values, or only with a memory of what it has seen.
    """
    policy, name = getattr(model, "policy", None), type(model).__name__
    if memory_size(model):
        raise PolicyError(
            f"{name} remembers what it has seen, but is asked about single decisions here. "
            "kille_agents.as_policy makes it a player with memory; to train it, use SeatVecEnv "
            'with illegal="lose" and nothing around it that chooses actions'
        )
    if hasattr(policy, "q_net") or hasattr(policy, "quantile_net"):
        return "values"
    if hasattr(policy, "action_net") and hasattr(policy, "get_distribution"):
        return "logits"
    raise PolicyError(
        f"{name} has neither a distribution over actions nor values of them; expected a model of "
        "PPO, A2C, TRPO, MaskablePPO, DQN or QR-DQN"
    )


def memory_size(model: Any) -> int:
    """Returns M, how many numbers a model remembers: the states of its actor's LSTM; 0 for none."""
    lstm = getattr(getattr(model, "policy", None), "lstm_actor", None)
    return 0 if lstm is None else 2 * lstm.num_layers * lstm.hidden_size


def scores_with_memory(model: Any, seen: Any, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the logits of a model that remembers, [N, A] float32, and its memory, [N, M].

    Args:
        model: A model whose `memory_size` is not 0.
        seen: See `scores`.
        memory: [N, M] float32: the hidden state of every layer, then the cell state of every layer.
    """
    policy = model.policy
    lstm = policy.lstm_actor
    states = memory.reshape(len(memory), 2, lstm.num_layers, lstm.hidden_size)
    with evaluating(policy), torch.no_grad():
        tensor, _ = policy.obs_to_tensor(seen)
        hidden, cell = (
            torch.as_tensor(states, device=policy.device).permute(1, 2, 0, 3).contiguous()
        )
        goes_on = torch.zeros(len(memory), device=policy.device)  # no row begins an episode
        found, after = policy.get_distribution(tensor, (hidden, cell), goes_on)
        kept = torch.stack(after).permute(2, 0, 1, 3).reshape(memory.shape)
    return found.distribution.logits.cpu().numpy(), kept.cpu().numpy()


def scores(model: Any, seen: Any) -> np.ndarray:
    """Returns what a model's network returns for each action, [N, A] float32.

    Args:
        model: A model that `meaning_of` knows.
        seen: What the outermost wrapper of its environment shows it, [N, F] or a mapping of arrays.
    """
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
    """Returns whether a policy's logits come from Stable-Baselines3's own layers, on the CPU."""
    return (
        type(policy) in PLAIN
        and type(policy.features_extractor) is FlattenExtractor
        and policy.action_net.weight.is_cpu
        and all(type(layer) in LAYERS for layer in _layers(policy))
    )


def _layers(policy: Any) -> list[nn.Module]:
    return [*policy.mlp_extractor.policy_net, policy.action_net]


def _logits(policy: Any, seen: np.ndarray) -> np.ndarray:
    """Returns the logits of a plain policy, [N, A] float32, by the same weights without torch.

    The seats of a table decide one after the other, so that many questions are about a few
    decisions, for which torch takes five times as long as their numbers do.
    """
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
