"""A trained network, without the library that trained it.

A policy is two files in one folder: `policy.safetensors`, its weights, and `policy.json`, what it
was made for. Reading them runs no code. The forward pass is in single precision, in chunks that fit
the processor's cache. `kille_agents.export` makes such policies of torch modules and models.

A network that plays at tables of several sizes has learned from the observation "seats"
(`kille_env.core.floats`), with weights of its own for the nearest seats and shared ones for those
farther away. At a table of P seats that is a perceptron over the plain observation like any other,
and it is laid out as one when the policy sits down.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from kille_agents.metadata import Metadata
from kille_agents.perceptron import ACTIVATIONS, Activation, forward
from kille_env.core.floats import seat_layout
from kille_env.core.spec import width
from kille_env.errors import KilleError, PolicyError, shortened
from kille_env.files import MOST_ARRAYS, make_folder, read_bytes, read_json, write_whole
from kille_env.play.policy import ObservationPolicy, check_shapes, masked_best, masked_softmax
from kille_env.registry import Table, spec
from kille_env.rule_spaces import SpaceTable, rule_space

WEIGHTS, SPECIFICATION = "policy.safetensors", "policy.json"
FORMAT = "kille-policy 2"
PLAYED = {"logits": masked_softmax, "values": masked_best}
"""Functions from outputs to probabilities, by the kind of outputs."""
CHUNK = 4096


@dataclass(frozen=True, kw_only=True)
class NetworkMetadata(Metadata):
    """Specification of a network and its tables: the content of `policy.json`."""

    observation_width: int  # F, features that it reads
    num_actions: int  # A, actions that it knows
    layers: tuple[int, ...]  # units of each hidden layer
    # name of `kille_agents.perceptron.ACTIVATIONS`, after each hidden layer; or one for each,
    # separated by commas
    activation: str
    # numbers of seats that it plays at; empty for `num_players` alone
    table_sizes: tuple[int, ...] = ()
    # of a network for tables of several sizes: "deal", "match" or both
    episodes: tuple[str, ...] = ()
    near_seats: int = 0  # of such a network, seats with weights of their own
    # "logits", of which the softmax is played, or "values", of which the best is
    returns: str = "logits"
    # name of the rule space whose rules it plays by; empty for those of `rules` alone
    space: str = ""
    space_digest: str = ""  # `RuleSpace.digest` of that space
    observe_rules: bool = False  # whether it reads the rules behind each observation

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The tables that it was made for; the first is that where it is measured."""
        (home,) = super().tables
        if self.space:
            space = rule_space(self.space)
            if space.digest != self.space_digest:
                raise PolicyError(
                    f"the rule space {self.space} is another than the policy was made for: its "
                    "rules or regions have changed; put them back, or make the policy again"
                )
            return (replace(home, rules=spec(self.game).resolve(space)),)
        others = [
            self._table(seats, {"episode": episode})
            for seats in self.table_sizes
            for episode in self.episodes
        ]
        return (home, *(table for table in others if table != home))

    @property
    def num_inputs(self) -> int:
        """Inputs of the first layer as it is saved."""
        if not self.table_sizes:
            return self.observation_width
        return seat_layout(spec(self.game)).pooled_size(self.near_seats)

    def at(self, num_players: int) -> Self:
        """Return it at another of its table sizes; the same at one that it was not made for."""
        if num_players not in self.table_sizes:
            return self
        width_there = width(spec(self.game).observation(num_players))
        return replace(self, num_players=num_players, observation_width=width_there)


class NetworkPolicy(ObservationPolicy):
    """Play a multilayer perceptron over the observation."""

    def __init__(
        self, metadata: NetworkMetadata, weights: Mapping[str, np.ndarray], name: str = "network"
    ) -> None:
        """Check the weights."""
        self.metadata, self.name = metadata, name
        self._activations = _activations(metadata)
        if metadata.returns not in PLAYED:
            raise PolicyError(
                f"returns is {shortened(metadata.returns)}, expected {' or '.join(PLAYED)}"
            )
        sizes = (metadata.num_inputs, *metadata.layers, metadata.num_actions)
        shapes: dict[str, tuple[int, ...]] = {}
        for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
            shapes[f"weight.{layer}"] = (outputs, inputs)
            shapes[f"bias.{layer}"] = (outputs,)
        if set(weights) != set(shapes):
            raise PolicyError(
                f"the weights of {name} are {shortened(sorted(weights))}, "
                f"its specification needs {shortened(sorted(shapes))}"
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
        # At a table of P seats, a network with shared weights is a plain one: they are laid out
        # here, once.
        if metadata.table_sizes:
            layout = seat_layout(spec(metadata.game))
            weight, bias = layout.unpooled(self.weights["weight.0"], metadata.num_players)
            self._layers[0] = np.ascontiguousarray(weight.T), self.weights["bias.0"] + bias

    @classmethod
    def of(
        cls,
        table: Table,
        weights: Mapping[str, np.ndarray],
        layers: Sequence[int],
        activation: str,
        made: Mapping[str, Any],
        name: str,
        **metadata: Any,
    ) -> Self:
        """Return a network as a policy of a table."""
        game = spec(table.game)
        if isinstance(table, SpaceTable):
            space = table.space
            metadata |= {
                "space": space.name,
                "space_digest": space.digest,
                "observe_rules": table.told,
            }
        seen = game.layout("observation", metadata.get("observe_rules", False))
        if not isinstance(rules := table.as_dict()["rules"], dict):
            raise PolicyError(
                f"{name} was made for {table}, and a policy folder keeps one rule set or a space: "
                "name the rules of one table, or make it over a kille_env.RuleSpace"
            )
        about = NetworkMetadata(
            game=table.game,
            game_version=table.version,
            num_players=table.num_players,
            rules=rules,
            observation_width=width(seen(table.num_players)),
            num_actions=game.num_actions,
            layers=tuple(layers),
            activation=activation,
            made=made,
            **metadata,
        )
        return cls(about, weights, name)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that it was made for."""
        return self.metadata.tables

    @property
    def observe_rules(self) -> bool:
        """Whether it reads the rules behind each observation."""
        return self.metadata.observe_rules

    def at_table(self, game: str, num_players: int) -> "NetworkPolicy":
        """Return the policy as it plays at a table; itself if it was made for one size alone."""
        metadata, table = self.metadata, spec(game)
        if game == metadata.game and num_players != metadata.num_players:
            metadata = metadata.at(num_players)
        reads = metadata.observation_width, metadata.num_actions
        shown = table.layout("observation", metadata.observe_rules)
        needed = width(shown(num_players)), table.num_actions
        if reads != needed:
            raise PolicyError(
                f"{self.name} reads {reads[0]} features and knows {reads[1]} actions; "
                f"{game} with {num_players} seats has {needed[0]} and {needed[1]}"
            )
        return (
            self if metadata is self.metadata else NetworkPolicy(metadata, self.weights, self.name)
        )

    def plain_weights(self) -> dict[str, np.ndarray]:
        """Return its weights at its table as a perceptron over the plain observation [F] has them.

        The keys are those of `weights`, which a network for one table size has already.
        """
        return {
            f"{kind}.{number}": array.copy()
            for number, (weight, bias) in enumerate(self._layers)
            for kind, array in (("weight", weight.T), ("bias", bias))
        }

    def logits(self, observation: np.ndarray) -> np.ndarray:
        """Return the raw output, [N, A] float32, for observations [N, F].

        Each row is computed by itself: the others do not change it, to the last bit.
        """
        features = self.metadata.observation_width
        if np.ndim(observation) != 2 or observation.shape[1] != features:
            raise PolicyError(
                f"policy {self.name!r} reads observations [N, {features}], got "
                f"{list(np.shape(observation))}; it was made for another table"
            )
        return forward(observation.astype(np.float32), self._layers, self._activations)

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Return the distribution over the legal actions, [N, A] float64; see `Policy`."""
        check_shapes(
            self.name, observation, mask, self.metadata.observation_width, self.metadata.num_actions
        )
        out, play = np.empty(mask.shape, dtype=np.float64), PLAYED[self.metadata.returns]
        # Larger chunks do not fit in the processor's cache.
        for start in range(0, len(mask), CHUNK):
            part = slice(start, start + CHUNK)
            out[part] = play(self.name, self.logits(observation[part]), mask[part])
        return out


def _activations(metadata: NetworkMetadata) -> list[Activation]:
    """Return the activation after each hidden layer."""
    names, hidden = metadata.activation.split(","), len(metadata.layers)
    names = names * hidden if len(names) == 1 else names
    if len(names) != hidden or not set(names) <= ACTIVATIONS.keys():
        raise PolicyError(
            f"activation {shortened(metadata.activation)} is not known, expected one of "
            f"{', '.join(ACTIVATIONS)}, or one for each of {hidden} hidden layers"
        )
    return [ACTIVATIONS[name] for name in names]


def save_network(policy: NetworkPolicy, folder: Path) -> Path:
    """Write a policy into a folder, each file whole or not at all; return the specification."""
    make_folder(folder)
    weights = save(policy.weights)
    digest = hashlib.sha256(weights).hexdigest()
    content = {"format": FORMAT, "weights_sha256": digest, **asdict(policy.metadata)}
    text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    # The specification last: it has the digest of weights that are there by then.
    write_whole(folder / WEIGHTS, weights)
    write_whole(folder / SPECIFICATION, text.encode())
    return folder / SPECIFICATION


def load_network(path: Path, name: str = "") -> NetworkPolicy:
    """Read a policy of any table; `kille_env.play.policy.at_table` seats it."""
    metadata, weights, folder = read_network(path)
    return NetworkPolicy(metadata, weights, name or folder)


def read_network(path: Path) -> tuple[NetworkMetadata, dict[str, np.ndarray], str]:
    """Read the two files of a policy of any table: metadata, weights and name."""
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
    try:
        data = read_bytes(folder / WEIGHTS, MOST_ARRAYS)
    except KilleError as error:
        raise PolicyError(f"{folder / WEIGHTS} cannot be read: {error}") from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise PolicyError(
            f"{folder / WEIGHTS} is not the file that {SPECIFICATION} describes: one of them was "
            "replaced or cut off"
        )
    try:
        weights = load(data)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:  # NumPy lacks bfloat16
        raise PolicyError(
            f"{folder / WEIGHTS} cannot be read as arrays of NumPy: {shortened(str(error))}"
        ) from None
    return metadata, weights, folder.resolve().name


def policy_folder(path: str | Path) -> Path | None:
    """Return the folder of the policy that a path means; None for a file of any other name."""
    path = Path(path)
    if path.is_dir():
        return path
    return path.parent if path.name in (WEIGHTS, SPECIFICATION) else None


def _read_metadata(file: Path) -> tuple[NetworkMetadata, str]:
    try:
        content = read_json(file)
        if content.pop("format") != FORMAT:
            raise KilleError("another format")
        digest = content.pop("weights_sha256")
        # The networks that come with the suite are older than these.
        content = {
            "returns": "logits",
            "space": "",
            "space_digest": "",
            "observe_rules": False,
            **content,
        }
        content |= {name: tuple(content[name]) for name in ("layers", "table_sizes", "episodes")}
        for name in ("layers", "table_sizes"):
            if not all(type(number) is int and number > 0 for number in content[name]):
                raise KilleError(f"{name} is {shortened(list(content[name]))}")
        if not all(episode in ("deal", "match") for episode in content["episodes"]):
            raise KilleError(f"episodes is {shortened(list(content['episodes']))}")
        return NetworkMetadata.read(content), digest
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PolicyError(f"{file} is no policy's specification ({FORMAT}): {error}") from None
