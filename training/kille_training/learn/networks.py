"""The network that methods share: a multilayer perceptron over the observation."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from kille_agents.network import NetworkMetadata, NetworkPolicy
from kille_env.core.spec import feature_scale
from kille_env.play.experience import PolicyFunction
from kille_env.play.policy import masked_softmax
from kille_env.registry import Table, spec
from kille_training.learn.distinct import distinct
from kille_training.settings import versions


class Network(nn.Module):
    """Outputs from observations as batches hold them: one for each action, or as many as wanted."""

    def __init__(self, table: Table, layers: Sequence[int], outputs: int | None = None) -> None:
        """Begins with PyTorch's random weights.

        Args:
            table: Where it plays.
            layers: Units of each hidden layer.
            outputs: A, how many; None is one for each action.
        """
        super().__init__()
        self.table, self.units, self.spec = table, tuple(layers), spec(table.game)
        scale = feature_scale(self.spec.observation(table.num_players))
        self.scale = torch.as_tensor(scale)
        sizes = [len(scale), *layers, outputs or self.spec.num_actions]
        self.layers = nn.ModuleList(nn.Linear(*size) for size in pairwise(sizes))

    def forward(self, observation: np.ndarray) -> Tensor:
        """Returns the outputs [N, A] for observations [N, F] uint8.

        Equal rows are computed once; the gradient is that of all of them.
        """
        alike = distinct(observation)
        return self.outputs(self.inputs(observation[alike.first]))[torch.as_tensor(alike.kind)]

    def inputs(self, observation: np.ndarray) -> Tensor:
        """Returns observations [N, F] uint8 as the first layer takes them, from 0 to 1."""
        return torch.as_tensor(observation) * self.scale

    def outputs(self, inputs: Tensor) -> Tensor:
        """Returns the outputs [N, A] for inputs [N, F], each row computed."""
        for layer in self.layers[:-1]:
            inputs = layer(inputs).relu()
        return self.layers[-1](inputs)

    def player(self, temperature: float = 1.0, epsilon: float = 0.0) -> PolicyFunction:
        """Returns the softmax of the outputs as a function for `kille_env.collect`.

        It always plays by the weights of the moment.

        Args:
            temperature: What the outputs are divided by; near 0 the largest output is played.
            epsilon: How often it plays uniformly instead.
        """

        @torch.no_grad()
        def play(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
            outputs = self(observation).double().numpy() / temperature
            best = masked_softmax("network", outputs, mask)
            return (1.0 - epsilon) * best + epsilon * mask / mask.sum(axis=1, keepdims=True)

        return play

    def policy(
        self, name: str, temperature: float = 1.0, *, made: Mapping[str, Any]
    ) -> NetworkPolicy:
        """Returns what it plays now, the softmax of the outputs, as a policy that needs no torch.

        Args:
            name: The policy's name.
            temperature: What the outputs are divided by; near 0 the largest output is played.
            made: How it came about.
        """
        weights = {}
        for place, values in self.layers.named_parameters():  # "0.weight" and so on
            number, _, kind = place.partition(".")
            weights[f"{kind}.{number}"] = values.detach().numpy().copy()
        weights["weight.0"] *= self.scale.numpy()
        for kind in ("weight", "bias"):
            weights[f"{kind}.{len(self.units)}"] /= temperature
        return as_policy(self.table, weights, self.units, "relu", name, made)


def as_policy(
    table: Table,
    weights: Mapping[str, np.ndarray],
    layers: Sequence[int],
    activation: str,
    name: str,
    made: Mapping[str, Any],
    **metadata: Any,
) -> NetworkPolicy:
    """Returns a method's network as a policy that needs no torch.

    Args:
        table: Where it has learnt.
        weights: Of features as batches hold them; see `NetworkPolicy`.
        layers: Units of each hidden layer.
        activation: "tanh" or "relu".
        name: The policy's name.
        made: How it came about.
        **metadata: What else its metadata says, see `NetworkMetadata`.
    """
    game = spec(table.game)
    about = NetworkMetadata(
        game=table.game,
        game_version=game.version,
        num_players=table.num_players,
        rules=table.rules.as_dict(),
        observation_width=len(feature_scale(game.observation(table.num_players))),
        num_actions=game.num_actions,
        layers=tuple(layers),
        activation=activation,
        made={**made, "with": versions()},
        **metadata,
    )
    return NetworkPolicy(about, weights, name)
