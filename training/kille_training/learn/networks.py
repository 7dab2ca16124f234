"""A multilayer perceptron over the observation, and a buffer of rows, for all methods.

Thousands of tables meet the same few observations: evaluating each distinct one once, and learning
from counts, gives the same result in a fraction of the time.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from kille_agents.network import NetworkPolicy
from kille_env.core.jit import kernel
from kille_env.core.rng import mix
from kille_env.core.spec import feature_scale
from kille_env.play.experience import PolicyFunction
from kille_env.play.policy import masked_softmax
from kille_env.registry import Table, spec
from kille_training.settings import versions


class Network(nn.Module):
    """Outputs from batches of observations: one per action, or a given number."""

    def __init__(
        self,
        table: Table,
        layers: Sequence[int],
        outputs: int | None = None,
        *,
        merge: bool = True,
    ) -> None:
        """Begin with PyTorch's random weights; `merge` computes equal observations once."""
        super().__init__()
        self.table, self.widths, self.spec = table, tuple(layers), spec(table.game)
        self.merge = merge
        scale = feature_scale(table.observation())
        self.scale = torch.as_tensor(scale)
        sizes = [len(scale), *layers, outputs or self.spec.num_actions]
        self.layers = nn.ModuleList(nn.Linear(*size) for size in pairwise(sizes))

    def forward(self, observation: np.ndarray) -> Tensor:
        """Return the outputs [N, A] for observations [N, F] uint8."""
        if not self.merge:
            return self.outputs(self.inputs(observation))
        alike = distinct(observation)
        return self.outputs(self.inputs(observation[alike.first]))[torch.as_tensor(alike.kind)]

    def alike(self, observation: np.ndarray) -> "Distinct":
        """Group equal observations; each is alone in its group if the network does not merge."""
        each = np.arange(len(observation))
        return distinct(observation) if self.merge else Distinct(each, each)

    def inputs(self, observation: np.ndarray) -> Tensor:
        """Scale observations [N, F] uint8 to 0 to 1."""
        return torch.as_tensor(observation) * self.scale

    def outputs(self, inputs: Tensor) -> Tensor:
        """Return the outputs [N, A] for inputs [N, F], computed row by row."""
        for layer in self.layers[:-1]:
            inputs = layer(inputs).relu()
        return self.layers[-1](inputs)

    def player(self, temperature: float = 1.0, epsilon: float = 0.0) -> PolicyFunction:
        """Return the softmax of the current outputs as a function for `kille_env.collect`."""

        @torch.no_grad()
        def play(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
            outputs = self(observation).double().numpy() / temperature
            best = masked_softmax("network", outputs, mask)
            return (1.0 - epsilon) * best + epsilon * mask / mask.sum(axis=1, keepdims=True)

        return play

    def policy(
        self, name: str, temperature: float = 1.0, *, made: Mapping[str, Any]
    ) -> NetworkPolicy:
        """Return the softmax policy of the outputs, independent of torch."""
        weights = {}
        for place, values in self.layers.named_parameters():  # "0.weight" and so on
            number, _, kind = place.partition(".")
            weights[f"{kind}.{number}"] = values.detach().numpy().copy()
        weights["weight.0"] *= self.scale.numpy()
        for kind in ("weight", "bias"):
            weights[f"{kind}.{len(self.widths)}"] /= temperature
        made = {**made, "with": versions()}
        return NetworkPolicy.of(self.table, weights, self.widths, "relu", made, name)


class Distinct(NamedTuple):
    """Groups of equal observations among N decisions."""

    first: np.ndarray  # [K] int64, the first decision of each kind
    kind: np.ndarray  # [N] int64, the kind of each decision, from 0 to K - 1

    def total(self, action: np.ndarray, num_actions: int, worth: np.ndarray | None) -> np.ndarray:
        """Return the sum over the decisions of each kind and action, [K, A] float64."""
        size = len(self.first) * num_actions
        place = self.kind * num_actions + action
        return np.bincount(place, worth, size).reshape(-1, num_actions).astype(np.float64)


def distinct(observation: np.ndarray) -> Distinct:
    """Group decisions with equal observations.

    Rows are compared by 64-bit digests: 100,000 kinds collide about once in billions of calls.
    """
    digest = np.empty(len(observation), dtype=np.uint64)
    _digest(observation, digest)
    _, first, kind = np.unique(digest, return_index=True, return_inverse=True)
    return Distinct(first, kind)


@kernel
def _digest(observation, digest):
    """Fill in a digest of each row, eight features at a time."""
    eight = np.uint64(8)
    for row in range(len(digest)):
        key, word = np.uint64(0), np.uint64(0)
        for feature in range(observation.shape[1]):
            word = (word << eight) | np.uint64(observation[row, feature])
            if feature & 7 == 7:
                key, word = mix(key ^ word), np.uint64(0)
        digest[row] = mix(key ^ word)


class Rows:
    """A buffer of at most N rows, stored as columns."""

    def __init__(self, size: int) -> None:
        """Begin empty."""
        self.size, self.count = size, 0
        self._columns: list[np.ndarray] = []

    def add(self, *columns: np.ndarray) -> None:
        """Add rows in place of the oldest ones."""
        self._put((self.count + np.arange(len(columns[0]))) % self.size, columns)

    def add_sampled(self, rng: np.random.Generator, *columns: np.ndarray) -> None:
        """Add rows by reservoir sampling: all rows ever added are equally likely to stay."""
        number = self.count + np.arange(len(columns[0]))
        drawn = rng.integers(number + 1)
        self._put(np.where(number < self.size, number, drawn), columns)

    def sample(self, size: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Draw rows, as columns."""
        drawn = rng.integers(min(self.count, self.size), size=size)
        return [column[drawn] for column in self._columns]

    def _put(self, place: np.ndarray, columns: tuple[np.ndarray, ...] | list[np.ndarray]) -> None:
        if not self._columns:
            self._columns = [np.zeros((self.size, *new.shape[1:]), new.dtype) for new in columns]
        kept = place < self.size
        for column, new in zip(self._columns, columns, strict=True):
            column[place[kept]] = new[kept]
        self.count += len(place)
