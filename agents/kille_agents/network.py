"""A trained network, without the library that trained it.

A policy is two files in one folder: `policy.safetensors`, its weights, and `policy.json`, what it
was made for. Reading them runs no code. The forward pass is in single precision, in chunks that fit
the processor's cache.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from kille_agents.metadata import Metadata, check_size
from kille_agents.perceptron import forward
from kille_env.core.spec import Rules
from kille_env.errors import KilleError, PolicyError
from kille_env.files import write_whole
from kille_env.policy import check_shapes, masked_softmax

WEIGHTS, SPECIFICATION = "policy.safetensors", "policy.json"
FORMAT = "kille-policy 1"
ACTIVATIONS = {"tanh": np.tanh, "relu": partial(np.maximum, np.float32(0.0))}
CHUNK = 4096


@dataclass(frozen=True, kw_only=True)
class NetworkMetadata(Metadata):
    """What a network was made for: the content of `policy.json`.

    Attributes:
        observation_width: F, features that it reads.
        num_actions: A, actions that it knows.
        layers: Units of each hidden layer.
        activation: "tanh" or "relu", after each hidden layer.
    """

    KINDS: ClassVar[dict[str, type]] = {
        **Metadata.KINDS,
        "observation_width": int,
        "num_actions": int,
        "layers": tuple,
        "activation": str,
    }

    observation_width: int
    num_actions: int
    layers: tuple[int, ...]
    activation: str


class NetworkPolicy:
    """Plays a multilayer perceptron over the observation."""

    def __init__(
        self, metadata: NetworkMetadata, weights: Mapping[str, np.ndarray], name: str = "network"
    ) -> None:
        """Checks the weights.

        Args:
            metadata: What it was made for.
            weights: "weight.i" [out, in] and "bias.i" [out] of each layer i, the last one to the
                actions; float32.
            name: What tables and reports call it.

        Raises:
            PolicyError: A weight is missing, has another shape, or is no number.
        """
        self.metadata, self.name = metadata, name
        if metadata.activation not in ACTIVATIONS:
            raise PolicyError(
                f"activation {metadata.activation!r} is not known, expected tanh or relu"
            )
        sizes = (metadata.observation_width, *metadata.layers, metadata.num_actions)
        shapes: dict[str, tuple[int, ...]] = {}
        for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
            shapes[f"weight.{layer}"] = (outputs, inputs)
            shapes[f"bias.{layer}"] = (outputs,)
        if set(weights) != set(shapes):
            raise PolicyError(
                f"the weights of {name} are {sorted(weights)}, "
                f"its specification needs {sorted(shapes)}"
            )
        for key, shape in shapes.items():
            array = weights[key]
            if array.shape != shape or array.dtype != np.float32:
                raise PolicyError(
                    f"{key} of {name} is {array.dtype} {array.shape}, "
                    f"its specification needs float32 {shape}"
                )
            if not np.isfinite(array).all():
                raise PolicyError(
                    f"{key} of {name} holds a value that is not a number; train it again"
                )
        self.weights = {key: np.ascontiguousarray(weights[key]) for key in shapes}
        self._layers = [
            (np.ascontiguousarray(self.weights[f"weight.{layer}"].T), self.weights[f"bias.{layer}"])
            for layer in range(len(sizes) - 1)
        ]

    def logits(self, observation: np.ndarray) -> np.ndarray:
        """Returns the raw output, [N, A] float32, for observations [N, F].

        What a row gets does not depend on the others, to the last bit.
        """
        activation = ACTIVATIONS[self.metadata.activation]
        return forward(observation.astype(np.float32), self._layers, activation)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the distribution over the legal actions, [N, A] float64; see `Policy`."""
        check_shapes(
            self.name, observation, mask, self.metadata.observation_width, self.metadata.num_actions
        )
        out = np.empty(mask.shape, dtype=np.float64)
        for start in range(0, len(mask), CHUNK):
            part = slice(start, start + CHUNK)
            out[part] = masked_softmax(self.name, self.logits(observation[part]), mask[part])
        return out


def save_network(policy: NetworkPolicy, folder: Path) -> Path:
    """Writes a policy into a folder, each file whole or not at all; returns the specification."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = save(policy.weights)
    content = {"format": FORMAT, "weights_sha256": hashlib.sha256(weights).hexdigest()}
    content |= asdict(policy.metadata)
    text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    write_whole(folder / WEIGHTS, weights)
    write_whole(folder / SPECIFICATION, text.encode())
    return folder / SPECIFICATION


def load_network(path: Path, game: str, num_players: int, rules: Rules) -> NetworkPolicy:
    """Reads a policy and checks that it fits the table.

    Args:
        path: A folder with the two files, or one of them by its own name.
        game: The game to be played.
        num_players: Seats of the table.
        rules: Its rules.

    Raises:
        PolicyError: The files are missing, broken, do not belong together, or are for another
            table; the message names every difference.
    """
    metadata, weights, name = read_network(path)
    what, reads, knows = f"the policy in {path}", metadata.observation_width, metadata.num_actions
    metadata.check(what, game, num_players, rules)
    check_size(what, reads, knows, game, num_players)
    return NetworkPolicy(metadata, weights, name)


def read_network(path: Path) -> tuple[NetworkMetadata, dict[str, np.ndarray], str]:
    """Reads the two files of a policy, whatever table it is for: metadata, weights and name."""
    folder = policy_folder(path)
    if folder is None:
        raise PolicyError(
            f"{path} is no policy; name a folder with {WEIGHTS} and {SPECIFICATION}, or one of them"
        )
    for file in (folder / SPECIFICATION, folder / WEIGHTS):
        if not file.is_file():
            raise PolicyError(
                f"{folder} holds no {file.name}; "
                f"a policy is {WEIGHTS} with {SPECIFICATION} beside it"
            )
    metadata, digest = _read_metadata(folder / SPECIFICATION)
    data = (folder / WEIGHTS).read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise PolicyError(
            f"{folder / WEIGHTS} is not the file that {SPECIFICATION} describes: one of them was "
            "replaced or cut off"
        )
    try:
        weights = load(data)
    except SafetensorError as error:
        raise PolicyError(f"{folder / WEIGHTS} cannot be read: {error}") from None
    return metadata, weights, folder.resolve().name


def policy_folder(path: str | Path) -> Path | None:
    """Returns the folder of the policy that a path means; None for a file of any other name."""
    path = Path(path)
    if path.is_dir():
        return path
    return path.parent if path.name in (WEIGHTS, SPECIFICATION) else None


def _read_metadata(file: Path) -> tuple[NetworkMetadata, str]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content.pop("format") != FORMAT:
            raise KilleError("another format")
        digest = content.pop("weights_sha256")
        content["layers"] = tuple(content["layers"])
        if not all(type(units) is int and units > 0 for units in content["layers"]):
            raise KilleError(f"layers is {list(content['layers'])!r}")
        return NetworkMetadata.read(content), digest
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PolicyError(f"{file} is no policy's specification ({FORMAT}): {error}") from None
