"""Own networks as policy folders: torch modules and models of Stable-Baselines3, without torch.

The scale of the inputs ("float", "seats") is folded into the first layer, so that the policy reads
plain features. A module's layers are taken in the order in which it holds them, though its
`forward` may call them otherwise. Therefore the policy is compared with the original at decisions
of its table, and refused unless both answer alike.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kille_agents.network import NetworkPolicy, save_network
from kille_agents.objects import player_of
from kille_agents.perceptron import Layer
from kille_env.core.floats import Reading, reading_of, seat_layout
from kille_env.core.spec import RulesLike, width
from kille_env.errors import PolicyError, shortened
from kille_env.play.functions import FunctionPolicy, is_from
from kille_env.play.policy import at_table
from kille_env.registry import Table, make_batch, spec

NAMES = {
    "Tanh": "tanh",
    "ReLU": "relu",
    "Sigmoid": "sigmoid",
    "SiLU": "silu",
    "GELU": "gelu",
    "ELU": "elu",
    "LeakyReLU": "leaky_relu",
    "Softplus": "softplus",
}
"""Activations of torch, by the names of their modules."""
NOTHING = ("Identity", "Dropout", "Flatten")
"""Modules that leave rows as they are where a network is measured."""
AT_THE_END = ("Softmax", "LogSoftmax")
"""Modules at the end of a network that the softmax over the legal actions makes up for."""
CHECKED, STEPS = 64, 8  # tables and steps at which the policy is compared with the original
APART = 1e-4  # largest difference of the two, as a share of their largest output


def save_policy(
    policy: Any,
    folder: str | Path,
    game: str | None = None,
    num_players: int | None = None,
    rules: RulesLike = None,
    *,
    episode: str | None = None,
    observation: str | None = None,
    returns: str | None = None,
) -> Path:
    """Write a network into a folder that loads without torch, wherever a player is named by a path.

    Example:
        >>> import torch
        >>> from kille_agents import save_policy
        >>> from kille_env import make_batch
        >>> batch = make_batch("knack", num_players=3)
        >>> net = torch.nn.Sequential(
        ...     torch.nn.Linear(batch.observation.shape[1], 64),
        ...     torch.nn.ReLU(),
        ...     torch.nn.Linear(64, batch.mask.shape[1]),
        ... )
        >>> save_policy(net, "mine", "knack", 3, observation="float", returns="logits").name
        'mine'

    Args:
        policy: A torch module of linear layers with activations between them, or
            what `as_policy` makes of one; a model of Stable-Baselines3 or sb3-contrib without
            memory; or what `as_policy` has made of these or of a policy folder.
        folder: Where to write `policy.json` and `policy.safetensors`.
        game: The game that a module was trained for, or that is meant of the tables of a model.
        num_players: Seats; the game's default for None.
        rules: A preset, switches, resolved rules, or the `RuleSpace` that it learned over.
        episode: "deal" or "match"; None is what `rules` say, or else "deal".
        observation: Input of a module: "box", "float" or "seats".
        returns: Its output: "logits", "probabilities" or "values".

    Returns:
        The folder.

    Raises:
        PolicyError: It is no perceptron, has another size than the table, or answers otherwise
            than its layers do; the message says what to hand over.
    """
    network = policy
    if not isinstance(policy, NetworkPolicy):
        if is_from("stable_baselines3.common.base_class", "BaseAlgorithm", policy):
            policy = player_of(policy)
        if observation is not None or returns is not None:
            policy = FunctionPolicy(policy, observation=observation, returns=returns)
        given = None if game is None else Table.of(game, num_players, rules, episode)
        network = _exported(policy, given, Path(folder).resolve().name)
    return save_network(network, Path(folder)).parent


def _exported(policy: Any, table: Table | None, name: str) -> NetworkPolicy:
    """Return a torch module or a model of Stable-Baselines3 as a policy of a table."""
    inputs = getattr(policy, "inputs", None)
    is_module = is_from("torch.nn", "Module", getattr(policy, "function", None))
    if inputs is None and not is_module:
        raise PolicyError(
            f"{shortened(policy)} is no network; expected a torch module with observation= and "
            "returns=, what as_policy makes of one, or a model of Stable-Baselines3. A function "
            "or class of yours is a player by its name, module:object"
        )
    if policy.features is not None:
        raise PolicyError(
            f"{name} reads features of your own, which are code and no part of a policy folder: "
            "name the player as module:object, or save a model of Stable-Baselines3 with "
            "kille_env.sb3.save"
        )
    if table is None:
        homes: set[Table] = set(policy.tables)
        if len(homes) != 1:
            raise PolicyError(
                f"nothing says at which table the network plays, of {len(homes)}: name it, "
                "save_policy(network, folder, game, num_players, rules)"
            )
        table = homes.pop()
    settled: Any = at_table(policy, table.game, table.num_players, table.rules)
    returns = "values" if policy.returns == "values" else "logits"
    if inputs is None:
        layers, activations = perceptron_of(policy.function)
        kind, near_seats = policy.observation, None
        made = {"by": f"torch module {type(policy.function).__name__}"}
    else:
        model = policy.model
        layers, activations, near_seats = _of_model(model)
        kind = inputs.observation
        if inputs.normalization is not None:
            raise PolicyError(
                f"{policy.name} learned in a VecNormalize, which no policy folder keeps: save the "
                "model with kille_env.sb3.save"
            )
        made = {"by": type(model).__name__, "decisions": int(model.num_timesteps)}
    told = policy.observe_rules
    network = _network(table, layers, activations, kind, near_seats, returns, made, name, told)
    return _checked(network, settled.policy if told else settled)


def perceptron_of(*modules: Any) -> tuple[list[Layer], list[str]]:
    """Return the layers of torch modules and the activations between them, in order."""
    layers, activations = list[Layer](), list[str]()
    leaves = [
        leaf
        for module in modules
        for leaf in module.modules()
        if not list(leaf.children()) and type(leaf).__name__ not in NOTHING
    ]
    if leaves and type(leaves[-1]).__name__ in AT_THE_END:
        del leaves[-1]
    for leaf in leaves:
        kind = type(leaf).__name__
        if kind == "Linear":
            # Two linear layers in a row: nothing comes between.
            if len(activations) < len(layers):
                activations.append("identity")
            weight = leaf.weight.detach().cpu().float().numpy()
            bias = np.zeros(len(weight), np.float32)
            if leaf.bias is not None:
                bias = leaf.bias.detach().cpu().float().numpy()
            layers.append((weight.copy(), bias.copy()))
        elif kind in NAMES and len(activations) < len(layers) and _as_usual(leaf):
            activations.append(NAMES[kind])
        else:
            raise PolicyError(
                f"{leaf} is no layer of a perceptron; a policy folder keeps Linear layers with one "
                f"activation between two of them ({', '.join(NAMES)}, with torch's own numbers)"
            )
    if not layers or len(activations) >= len(layers):
        raise PolicyError(
            "a policy folder keeps networks that begin and end with a Linear layer; hand over the "
            "part of your module that returns the logits"
        )
    return layers, activations


def _of_model(model: Any) -> tuple[list[Layer], list[str], int | None]:
    """Return the layers of a model, and the number of seats its extractor does not sum."""
    from kille_env.adapters.sb3_models import meaning_of  # needs torch

    meaning_of(model)  # refuses what remembers
    policy = model.policy
    if hasattr(policy, "q_net"):
        extractor, parts = policy.q_net.features_extractor, (policy.q_net.q_net,)
    elif hasattr(policy, "quantile_net"):
        extractor = policy.quantile_net.features_extractor
        parts = (policy.quantile_net.quantile_net,)
    else:
        extractor = policy.pi_features_extractor
        parts = policy.mlp_extractor.policy_net, policy.action_net
    layers, activations = perceptron_of(extractor, *parts)
    if hasattr(policy, "quantile_net"):  # the value of an action is the mean of its quantiles
        shape = policy.quantile_net.n_quantiles, int(policy.action_space.n), -1
        weight, bias = layers[-1]
        layers[-1] = weight.reshape(shape).mean(axis=0), bias.reshape(shape[:2]).mean(axis=0)
    return layers, activations, getattr(extractor, "near_seats", None)


def _as_usual(layer: Any) -> bool:
    """Return whether an activation has the numbers that torch gives it by default."""
    told = layer.extra_repr().replace("inplace=True", "").strip(", ")
    return told == type(layer)().extra_repr()


def _network(
    table: Table,
    layers: Sequence[Layer],
    activations: Sequence[str],
    kind: str,
    near_seats: int | None,
    returns: str,
    made: Mapping[str, Any],
    name: str,
    told: bool,
) -> NetworkPolicy:
    """Return a perceptron as a policy, which is `told` the rules or not."""
    game, seats = spec(table.game), table.num_players
    if kind == "dict":
        raise PolicyError(
            f'{name} reads observation={kind!r}, a mapping; make it for "box" or "float"'
        )
    reading = reading_of(kind, game, seats, told)
    size = width(game.layout("observation", told)(seats)) if reading is None else reading.size
    if near_seats is not None:
        size = seat_layout(game, told).pooled_size(near_seats)
    (weight, bias), actions = layers[0], len(layers[-1][1])
    if weight.shape[1] != size or actions != game.num_actions:
        raise PolicyError(
            f"{name} reads {weight.shape[1]} numbers and returns {actions}; at {table} "
            f"observation={kind!r} has {size}, and there are {game.num_actions} actions"
        )
    if near_seats is not None:
        weight, added = seat_layout(game, told).unpooled(weight, seats)
        bias = bias + added
    elif reading is not None:
        weight, bias = _on_features(weight, bias, reading)
    weights: dict[str, np.ndarray] = {}
    layers = [(weight, bias), *layers[1:]]
    for number, layer in enumerate(layers):
        weights |= {f"weight.{number}": layer[0], f"bias.{number}": layer[1]}
    alike = len(set(activations)) == 1
    activation = activations[0] if alike else ",".join(activations) or "identity"
    units = [len(bias) for _, bias in layers[:-1]]
    more = {"returns": returns, "observe_rules": told}
    return NetworkPolicy.of(table, weights, units, activation, made, name, **more)


def _on_features(
    weight: np.ndarray, bias: np.ndarray, reading: Reading
) -> tuple[np.ndarray, np.ndarray]:
    """Return a first layer as it is on the features themselves."""
    read, scale = reading.source >= 0, reading.scale.astype(np.float64)
    made = np.zeros((len(weight), reading.features))
    made[:, reading.source[read]] = weight[:, read] * scale[read]
    added = weight[:, ~read].astype(np.float64) @ scale[~read]
    return made.astype(np.float32), (bias + added).astype(np.float32)


def _checked(network: NetworkPolicy, original: FunctionPolicy) -> NetworkPolicy:
    """Return a policy if it answers as its original does."""
    seen, mask = _decisions(network)
    returned = original.returned(seen, mask)
    returned = np.log(returned) if original.returns == "probabilities" else returned
    both = network.logits(seen).astype(np.float64), returned
    ours, theirs = (rows - rows.mean(axis=1, keepdims=True) for rows in both)
    # Without the mean of a row, which no softmax and no choice depends on; probabilities give
    # logits only up to it.
    apart, most = np.abs(ours - theirs).max(), np.abs(theirs).max()
    chances = (one.probabilities(seen, mask) for one in (network, original))
    if not apart <= APART * most or not np.allclose(*chances, atol=10 * APART):
        raise PolicyError(
            f"{network.name} does not return what its layers do, one after the other: they differ "
            f"by {apart:.2g}, of outputs up to {most:.2g}. Its forward does something besides; "
            "hand over the torch.nn.Sequential that returns the logits"
        )
    return network


def _decisions(network: NetworkPolicy) -> tuple[np.ndarray, np.ndarray]:
    """Return observations [N, F] and masks [N, A] of uniform play at the table of a network."""
    table, options = network.tables[0], {"observe_rules": network.observe_rules, "seed": 0}
    batch = make_batch(table.game, CHECKED, table.num_players, rules=table.rules, **options)
    batch.reset()
    rng, seen, masks = np.random.default_rng(0), [], []
    for _ in range(STEPS):
        seen.append(batch.observation.copy())
        masks.append(batch.mask.copy())
        batch.step((rng.random(batch.mask.shape) * batch.mask).argmax(axis=1))
    return np.concatenate(seen), np.concatenate(masks)
