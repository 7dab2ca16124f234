"""MaskablePPO from settings, and its network as a policy that needs no torch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import CallbackList
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from kille_agents import load_policy
from kille_agents.catalog import baselines
from kille_agents.network import NetworkMetadata, NetworkPolicy
from kille_env import make_batch
from kille_env.core.spec import Rules, feature_scale
from kille_env.errors import ConfigError
from kille_env.playing import Players, play_out
from kille_env.registry import spec
from kille_training.learn.runs import versions
from kille_training.learn.settings import LearnerSettings, TrainSettings

ACTIVATIONS: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "relu": nn.ReLU}

SPREAD_MATCHES = 64
"""Matches that say how far apart the returns of one kind of table lie."""

LARGEST = 1e7
"""Output beyond which MaskablePPO's mask, -1e8 on illegal actions, no longer holds."""


def make_model(settings: TrainSettings, rules: Rules, env: VecEnv | None = None) -> MaskablePPO:
    """Returns a new learner, ready to begin.

    Sets torch's threads for the whole process.

    Args:
        settings: The settings.
        rules: The rules, resolved.
        env: Where it learns, with the library's own buffer, which takes consecutive decisions of a
            row for one stream; None is the environment of the settings' form.
    """
    from kille_env.adapters.sb3 import SeatStreamBuffer, SeatVecEnv

    learner, table = settings.learner, settings.table
    torch.set_num_threads(learner.torch_threads)
    rate = learner.learning_rate
    streams = learner.form == "streams" and env is None
    if streams:
        env = _all_seats(settings)
    elif env is None:
        size = (table.game, learner.num_tables, table.num_players)
        env = SeatVecEnv(*size, rules=rules, seed=settings.seed, opponents="self")
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=(lambda left: rate * left) if learner.anneal else rate,
        n_steps=learner.n_steps,
        batch_size=learner.batch_size,
        n_epochs=learner.n_epochs,
        gamma=learner.gamma,
        gae_lambda=learner.gae_lambda,
        clip_range=learner.clip_range,
        ent_coef=learner.ent_coef,
        vf_coef=learner.vf_coef,
        max_grad_norm=learner.max_grad_norm,
        rollout_buffer_class=SeatStreamBuffer if streams else None,
        rollout_buffer_kwargs={"env": env} if streams else None,
        policy_kwargs=_network(settings),
        seed=settings.seed,
        device="cpu",
    )
    model.set_logger(Logger(None, []))
    model._setup_learn(learner.decisions, None)
    if learner.begin_with:
        _begin_with(model, settings, rules)
    return model


def _begin_with(model: MaskablePPO, settings: TrainSettings, rules: Rules) -> None:
    """Gives a learner's policy the weights of a trained network.

    Raises:
        ConfigError: It is no network, or has another form than the learner's.
    """
    learner, table = settings.learner, settings.table
    network = load_policy(learner.begin_with, table.game, table.num_players, rules)
    if not isinstance(network, NetworkPolicy):
        raise ConfigError(
            f"learner.begin_with is {learner.begin_with!r}, which is no trained network; expected "
            "game/trained or the folder of a run"
        )
    theirs = network.weights
    if not learner.table_sizes:
        scale = feature_scale(spec(table.game).observation(table.num_players))
        theirs = network.plain_weights()
        theirs["weight.0"] /= scale
    mine = weights_of(model, 1.0)
    shapes, wanted = ({key: found[key].shape for key in sorted(found)} for found in (theirs, mine))
    if shapes != wanted or network.metadata.activation != learner.activation:
        raise ConfigError(
            f"{learner.begin_with} has layers {list(network.metadata.layers)} "
            f"({network.metadata.activation}, near_seats {network.metadata.near_seats}), and the "
            f"learner {list(learner.layers)} ({learner.activation}, near_seats "
            f"{learner.near_seats}); set learner.layers, learner.activation and learner.near_seats "
            "to those of the network"
        )
    with torch.no_grad():
        for number, layer in enumerate(_layers(model)):
            layer.weight.copy_(torch.from_numpy(theirs[f"weight.{number}"]))
            layer.bias.copy_(torch.from_numpy(theirs[f"bias.{number}"]))


def _all_seats(settings: TrainSettings) -> VecEnv:
    """Returns tables at which the learner plays all seats."""
    from kille_env.adapters.sb3 import SelfPlayVecEnv
    from kille_env.adapters.sb3_mixed import MixedSelfPlayVecEnv

    learner, game, kinds = settings.learner, settings.table.game, settings.tables()
    num_tables = learner.num_tables // len(kinds)
    if not learner.table_sizes:
        ((seats, rules),) = kinds
        return SelfPlayVecEnv(game, num_tables, seats, rules=rules, seed=settings.seed)
    seeds = np.random.SeedSequence(settings.seed).generate_state(len(kinds)).tolist()
    different = {(seats, rules["episode"]): rules for seats, rules in kinds}
    spreads = {kind: _spread(kind[0], rules) for kind, rules in different.items()}
    return MixedSelfPlayVecEnv(
        [
            SelfPlayVecEnv(game, num_tables, seats, rules=rules, seed=seed, observation="seats")
            for (seats, rules), seed in zip(kinds, seeds, strict=True)
        ],
        [spreads[seats, rules["episode"]] for seats, rules in kinds],
    )


def _spread(num_players: int, rules: Rules) -> float:
    """Returns the standard deviation of what a seat earns between baselines, in units."""
    game = rules.game
    name = "rule_of_thumb" if "rule_of_thumb" in baselines(game) else "uniform"
    batch = make_batch(game, SPREAD_MATCHES, num_players, rules=rules, seed=0, restart=False)
    batch.reset()
    seating = np.zeros((SPREAD_MATCHES, num_players), dtype=np.int64)
    earned = play_out(Players(batch, [load_policy(name, game, num_players, rules)], seating))
    return float(earned.std()) or 1.0


def _network(settings: TrainSettings) -> dict[str, Any]:
    """Returns the options of the policy's networks."""
    learner = settings.learner
    layers, activation = list(learner.layers), ACTIVATIONS[learner.activation]
    if not learner.table_sizes:
        return {"net_arch": layers, "activation_fn": activation}
    from kille_env.adapters.sb3_extractor import SeatExtractor

    return {
        "net_arch": layers[1:],
        "activation_fn": activation,
        "features_extractor_class": SeatExtractor,
        "features_extractor_kwargs": {
            "game": settings.table.game,
            "units": layers[0],
            "near_seats": learner.near_seats,
            "activation_fn": activation,
        },
        "share_features_extractor": False,
    }


def update(model: MaskablePPO, learner: LearnerSettings, left: Callable[[], float]) -> None:
    """Plays a rollout and learns from it, like one iteration of MaskablePPO's own `learn`.

    Args:
        model: The learner.
        learner: Its settings.
        left: Called after the rollout; returns the share of the run that remains, from 1 to 0.
    """
    callback = CallbackList([])
    callback.init_callback(model)
    assert model.env is not None
    model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    share = model._current_progress_remaining = left()
    model.ent_coef = learner.ent_coef_end + (learner.ent_coef - learner.ent_coef_end) * share
    model.train()


def diverged(model: MaskablePPO) -> bool:
    """Returns whether the network holds or returns numbers that make no policy."""
    policy: Any = model.policy
    with torch.no_grad():
        if not all(bool(torch.isfinite(values).all()) for values in policy.parameters()):
            return True
        seen, _ = policy.obs_to_tensor(model._last_obs)
        hidden = policy.mlp_extractor.forward_actor(policy.pi_features_extractor(seen))
        return not bool((policy.action_net(hidden).abs() < LARGEST).all())


def export(model: MaskablePPO, settings: TrainSettings, rules: Rules, name: str) -> NetworkPolicy:
    """Returns the current network as a policy that needs no torch."""
    table, learner = settings.table, settings.learner
    game = spec(table.game)
    scale = feature_scale(game.observation(table.num_players))
    metadata = NetworkMetadata(
        game=table.game,
        game_version=game.version,
        num_players=table.num_players,
        rules=rules.as_dict(),
        observation_width=len(scale),
        num_actions=game.num_actions,
        layers=tuple(learner.layers),
        activation=learner.activation,
        table_sizes=tuple(sorted(set(learner.table_sizes))),
        episodes=tuple(learner.episodes or (table.episode,)) if learner.table_sizes else (),
        near_seats=learner.near_seats if learner.table_sizes else 0,
        made={
            "by": "kille train, MaskablePPO",
            "form": learner.form,
            "seed": settings.seed,
            "decisions": model.num_timesteps,
            **({"began_with": learner.begin_with} if learner.begin_with else {}),
            "with": versions(),
        },
    )
    # A network for tables of several sizes is scaled where it is laid out for one of them.
    return NetworkPolicy(metadata, weights_of(model, 1.0 if learner.table_sizes else scale), name)


def weights_of(model: MaskablePPO, scale: np.ndarray | float) -> dict[str, np.ndarray]:
    """Returns the weights of a model's policy as `NetworkPolicy` has them.

    Args:
        model: It has learned from features in 0 to 1.
        scale: [F] float32, what has scaled them; the policy will be shown them as they are. 1.0 for
            a policy that is shown them scaled.
    """
    weights: dict[str, np.ndarray] = {}
    for number, layer in enumerate(_layers(model)):
        weights[f"weight.{number}"] = layer.weight.detach().cpu().numpy().copy()
        weights[f"bias.{number}"] = layer.bias.detach().cpu().numpy().copy()
    weights["weight.0"] *= scale
    return weights


def _layers(model: MaskablePPO) -> list[nn.Linear]:
    """Returns the layers of a model's policy, first to last."""
    policy: Any = model.policy
    layers = [layer for layer in policy.mlp_extractor.policy_net if isinstance(layer, nn.Linear)]
    first = getattr(policy.pi_features_extractor, "linear", None)  # that of a `SeatExtractor`
    return [*([] if first is None else [first]), *layers, policy.action_net]
