"""MaskablePPO of sb3-contrib on per-seat trajectories.

Huang and Ontañón, "A closer look at invalid action masking in policy gradient algorithms", FLAIRS
2022; Raffin et al., "Stable-Baselines3", JMLR 22, 2021. The environments and `SeatPPO`, which
credits each decision with the earnings of its own seat, are those of `kille_env.sb3`. An update is
one rollout of the library's `learn`, so that the learning rate and the entropy bonus can be
annealed and a run can stop between two updates.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import numpy as np
import torch
from pydantic import Field
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from kille_agents.catalog import baselines, load_policy
from kille_agents.network import NetworkPolicy
from kille_env.adapters.sb3 import SeatVecEnv, SelfPlayVecEnv
from kille_env.adapters.sb3_rollouts import SeatPPO
from kille_env.core.floats import NEAR_SEATS
from kille_env.core.spec import feature_scale
from kille_env.errors import ConfigError
from kille_env.registry import Table, spec
from kille_env.rule_spaces import SpaceTable
from kille_training.learn.method import (
    Left,
    is_scaled,
    loaded,
    rules_of,
    seed_after,
    spread,
    spreads_of,
    state_of,
)
from kille_training.settings import Count, List, NotNegative, Positive, Share, settings, versions

ACTIVATIONS: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "relu": nn.ReLU}
LARGEST = 1e7  # logits beyond this defeat MaskablePPO's mask, -1e8 on illegal actions


@settings
class Settings:
    """Hyperparameters. The defaults are the recipe for one-card games.

    Attributes:
        form: Environment class. "streams": all seats learn, each from its own trajectory; "seats":
            one seat per table learns, and the live policy plays the others.
        num_tables: Tables played side by side.
        n_steps: Decisions of each table between two updates.
        batch_size: Decisions per minibatch.
        n_epochs: Passes over the decisions of an update.
        learning_rate: Adam's initial learning rate.
        anneal: Whether the learning rate falls linearly to zero over the run.
        gamma: Discount per decision; 1 because rewards are money.
        gae_lambda: Lambda of GAE; 1 uses the return minus the value estimate.
        clip_range: Clip range of the ratio of new to old probability.
        ent_coef: Initial weight of the entropy bonus. With a small weight the policy drops an
            action that is wrong in some states before it can distinguish them, and never tries it
            again.
        ent_coef_end: Final weight, reached linearly: 0.01 if nearly pure play is optimal, 0.05 and
            more if bluffing pays.
        vf_coef: Weight of the value loss.
        max_grad_norm: Maximum norm of the gradient.
        layers: Units of each hidden layer, of the policy and of the value network.
        activation: "tanh" or "relu".
        table_sizes: Numbers of seats of the training tables, for one policy that plays at all of
            them; each has equally many tables, a repeated one twice as many. Empty:
            `table.num_players` only.
        episodes: Episodes at these tables, "deal", "match" or both; empty: `table.episode`.
        near_seats: Number of nearest seats with weights of their own at these tables.
        begin_with: Name or path of a trained network with the initial weights of the policy, such
            as "knack/trained", with the same layers and, with `table_sizes`, the same `near_seats`.
            Without one they are random, as those of the value network always are.
        scaled: Whether rewards are divided by the spread of earnings at the table, see
            `learn.method.spreads_of`; None: over a rule space alone, with form "streams".
            `table_sizes` always are, between rules of thumb.
        torch_threads: Threads of torch; two are slower than one for networks of this size.
    """

    form: Literal["streams", "seats"] = "streams"
    num_tables: Count = 512
    n_steps: Count = 16
    batch_size: Count = 1024
    n_epochs: Count = 4
    learning_rate: Positive = 1e-3
    anneal: bool = True
    gamma: Share = 1.0
    gae_lambda: Share = 1.0
    clip_range: Positive = 0.2
    ent_coef: NotNegative = 0.1
    ent_coef_end: NotNegative = 0.01
    vf_coef: NotNegative = 0.5
    max_grad_norm: Positive = 0.5
    layers: Annotated[List[Count], Field(min_length=1)] = (64, 64)
    activation: Literal["tanh", "relu"] = "tanh"
    table_sizes: List[Count] = ()
    episodes: List[Literal["deal", "match"]] = ()
    near_seats: Count = NEAR_SEATS
    begin_with: str = ""
    scaled: bool | None = None
    torch_threads: Count = 1

    def __post_init__(self) -> None:
        """Refuse inconsistent settings."""
        kinds = len(self.table_sizes) * max(1, len(self.episodes))
        if kinds and self.num_tables % kinds:
            raise ConfigError(
                f"num_tables is {self.num_tables}, expected a multiple of {kinds}, the number of "
                "kinds of tables"
            )
        if self.scaled and (self.table_sizes or self.form != "streams"):
            raise ConfigError(
                "scaled is true, and form: seats plays for units, table_sizes for spreads of their "
                "own: leave it out"
            )
        if self.episodes and not self.table_sizes:
            raise ConfigError("episodes needs table_sizes; set table.episode for one table")
        if self.table_sizes and self.form != "streams":
            raise ConfigError("table_sizes needs form: streams")
        if self.batch_size < 2:
            raise ConfigError(
                "batch_size is 1, and one decision has no spread to normalize by; expected 2 or "
                "more"
            )
        if self.num_tables * self.n_steps % self.batch_size == 1:
            raise ConfigError(
                "batch_size leaves a last minibatch of one decision, which has no spread to "
                "normalize by; choose a divisor of num_tables * n_steps"
            )


class _AfterRollout(BaseCallback):
    """Call a function between a rollout and its update."""

    def __init__(self, function: Callable[[], None]) -> None:
        super().__init__()
        self._function = function

    def _on_rollout_end(self) -> None:
        self._function()

    def _on_step(self) -> bool:
        return True


class Learner:
    """MaskablePPO at a table, or at tables of several kinds."""

    figures = (
        "learning_rate",
        "ent_coef",
        "entropy",
        "policy_loss",
        "value_loss",
        "approx_kl",
        "clip_fraction",
        "explained_variance",
    )

    def __init__(
        self, table: Table, seed: int, settings: Settings, env: VecEnv | None = None
    ) -> None:
        """Set up an untrained model, by default in the environment of `settings.form`."""
        _check_measured(table, settings)
        self.table, self.seed, self.settings, self.left = table, seed, settings, 1.0
        torch.set_num_threads(settings.torch_threads)
        rate, algorithm = settings.learning_rate, MaskablePPO
        live: SeatVecEnv | None = None
        if env is None and settings.form == "streams":
            env, algorithm = self._all_seats(), SeatPPO
        elif env is None:
            size = (table.game, settings.num_tables, table.num_players)
            env = live = SeatVecEnv(*size, **rules_of(table), seed=seed, opponents="self")
        self.env: Any = env
        self.model = algorithm(
            "MlpPolicy",
            env,
            learning_rate=(lambda _: rate * self.left) if settings.anneal else rate,
            n_steps=settings.n_steps,
            batch_size=settings.batch_size,
            n_epochs=settings.n_epochs,
            gamma=settings.gamma,
            gae_lambda=settings.gae_lambda,
            clip_range=settings.clip_range,
            ent_coef=settings.ent_coef,
            vf_coef=settings.vf_coef,
            max_grad_norm=settings.max_grad_norm,
            policy_kwargs=self._networks(),
            # The library seeds tables with seed, seed + 1, ...: runs 1 and 2 would share deals.
            seed=int(np.random.SeedSequence(seed).generate_state(1)[0]),
            device="cpu",
        )
        self.model.set_logger(Logger(None, []))
        self.model.learn(0)  # begins the matches; the budget is the caller's
        if live is not None:
            live.follow(self.model)
        if settings.begin_with:
            self._begin_with(settings.begin_with)

    @property
    def decisions(self) -> int:
        """Decisions so far."""
        return self.model.num_timesteps

    @property
    def decisions_per_update(self) -> int:
        """Decisions of a rollout."""
        return self.settings.num_tables * self.settings.n_steps

    def update(self, left: Left) -> dict[str, float]:
        """Play a rollout and learn from it; `left` is asked after the rollout."""
        model = self.model
        callback = _AfterRollout(lambda: self._anneal(left()))
        try:  # `learn(1)` makes one rollout, its minimum
            # The log is read below, so do not dump and empty it.
            model.learn(1, callback, log_interval=None, reset_num_timesteps=False)  # type: ignore[arg-type]
        except ValueError as error:  # a diverged network
            if self._diverged():
                raise self._refusal() from error
            raise
        if self._diverged():
            raise self._refusal()
        said: dict[str, Any] = model.logger.name_to_value
        return {
            "learning_rate": said["train/learning_rate"],
            "ent_coef": model.ent_coef,
            "entropy": -said["train/entropy_loss"],
            "policy_loss": said["train/policy_gradient_loss"],
            "value_loss": said["train/value_loss"],
            "approx_kl": said["train/approx_kl"],
            "clip_fraction": said["train/clip_fraction"],
            "explained_variance": said["train/explained_variance"],
        }

    def _anneal(self, left: float) -> None:
        settings, self.left = self.settings, left
        fallen = settings.ent_coef - settings.ent_coef_end
        self.model.ent_coef = settings.ent_coef_end + fallen * left

    def policy(self, name: str) -> NetworkPolicy:
        """Return the current network as a policy, independent of torch."""
        table, settings = self.table, self.settings
        made = {
            "by": "MaskablePPO",
            "form": settings.form,
            "seed": self.seed,
            "decisions": self.decisions,
            **({"began_with": settings.begin_with} if settings.begin_with else {}),
            "with": versions(),
        }
        more: dict[str, Any] = {}
        if settings.table_sizes:
            more = {
                "table_sizes": tuple(sorted(set(settings.table_sizes))),
                "episodes": tuple(settings.episodes or (table.rules["episode"],)),
                "near_seats": settings.near_seats,
            }
        layers, activation = settings.layers, settings.activation
        return NetworkPolicy.of(table, self._weights(), layers, activation, made, name, **more)

    def state(self) -> dict[str, np.ndarray]:
        """See `learn.method.Learner`."""
        return state_of(self._parts())

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """See `learn.method.Learner`."""
        model, parts = self.model, loaded(self._parts(), state)
        self.left, model.num_timesteps = parts["left"], parts["num_timesteps"]
        self.env.seed(seed_after(self.seed, self.decisions))
        model.set_env(self.env)  # the next rollout begins new matches

    def _parts(self) -> dict[str, Any]:
        """Return the parts of the state by name."""
        model = self.model
        return {
            "policy": model.policy,
            "optimizer": model.policy.optimizer,
            "left": self.left,
            "num_timesteps": model.num_timesteps,
        }

    def _all_seats(self) -> VecEnv:
        """Return tables at which the learner plays all seats."""
        settings, table = self.settings, self.table
        if not settings.table_sizes:
            return SelfPlayVecEnv(
                table.game,
                settings.num_tables,
                table.num_players,
                spreads=[spreads_of(table)] if is_scaled(settings, table) else None,
                **rules_of(table),
                seed=self.seed,
            )
        name = "rule_of_thumb" if "rule_of_thumb" in baselines(table.game) else "uniform"
        episodes = list[str](settings.episodes) or [str(table.rules["episode"])]
        kinds = [(seats, episode) for seats in settings.table_sizes for episode in episodes]
        spreads = {
            (seats, episode): spread(Table.of(table.game, seats, table.rules, episode), name)
            for seats, episode in dict.fromkeys(kinds)
        }
        return SelfPlayVecEnv(
            table.game,
            settings.num_tables,
            settings.table_sizes,
            observation="seats",
            spreads=[spreads[kind] for kind in kinds],
            rules=table.rules,
            episode=episodes,
            seed=self.seed,
        )

    def _networks(self) -> dict[str, Any]:
        """Return the options of the library's networks."""
        settings = self.settings
        layers, activation = list(settings.layers), ACTIVATIONS[settings.activation]
        if not settings.table_sizes:
            return {"net_arch": layers, "activation_fn": activation}
        from kille_env.adapters.sb3_extractor import SeatExtractor

        return {
            "net_arch": layers[1:],
            "activation_fn": activation,
            "features_extractor_class": SeatExtractor,
            "features_extractor_kwargs": {
                "game": self.table.game,
                "units": layers[0],
                "near_seats": settings.near_seats,
                "activation_fn": activation,
            },
            "share_features_extractor": False,
        }

    def _begin_with(self, name: str) -> None:
        """Give the policy the weights of a trained network."""
        settings, table = self.settings, self.table
        network = load_policy(name, table.game, table.num_players, table.rules)
        if not isinstance(network, NetworkPolicy):
            raise ConfigError(
                f"learner.begin_with is {name!r}, expected a trained network: game/trained or the "
                "folder of a run"
            )
        theirs = network.weights if settings.table_sizes else network.plain_weights()
        shapes, expected = (
            {key: weights[key].shape for key in sorted(weights)}
            for weights in (theirs, self._weights())
        )
        if shapes != expected or network.metadata.activation != settings.activation:
            raise ConfigError(
                f"{name} has layers {list(network.metadata.layers)} "
                f"({network.metadata.activation}, near_seats {network.metadata.near_seats}), and "
                f"the learner {list(settings.layers)} ({settings.activation}, near_seats "
                f"{settings.near_seats}); set learner.layers, learner.activation and "
                "learner.near_seats to those of the network"
            )
        self._take(theirs)

    def _layers(self) -> list[nn.Linear]:
        """Return the layers of the policy, first to last."""
        policy: Any = self.model.policy
        layers = [each for each in policy.mlp_extractor.policy_net if isinstance(each, nn.Linear)]
        first = getattr(policy.pi_features_extractor, "linear", None)  # that of a `SeatExtractor`
        return [*([] if first is None else [first]), *layers, policy.action_net]

    def _scale(self) -> np.ndarray:
        """Return the factor from a policy's features to the inputs of the first layer."""
        # A network for several table sizes is scaled later, when it is laid out for one of them.
        if self.settings.table_sizes:
            return np.ones(1, np.float32)
        return feature_scale(self.table.observation())

    def _weights(self) -> dict[str, np.ndarray]:
        """Return copies of the policy's weights in the layout of `NetworkPolicy`."""
        weights: dict[str, np.ndarray] = {}
        for number, layer in enumerate(self._layers()):
            weights[f"weight.{number}"] = layer.weight.detach().cpu().numpy().copy()
            weights[f"bias.{number}"] = layer.bias.detach().cpu().numpy().copy()
        weights["weight.0"] *= self._scale()
        return weights

    def _take(self, weights: Mapping[str, np.ndarray]) -> None:
        """Set the policy's weights, in the layout of `_weights`."""
        weights = {**weights, "weight.0": weights["weight.0"] / self._scale()}
        with torch.no_grad():
            for number, layer in enumerate(self._layers()):
                layer.weight.copy_(torch.from_numpy(weights[f"weight.{number}"]))
                layer.bias.copy_(torch.from_numpy(weights[f"bias.{number}"]))

    def _diverged(self) -> bool:
        """Return whether weights or outputs are not finite or too large."""
        policy: Any = self.model.policy
        with torch.no_grad():
            if not all(bool(torch.isfinite(values).all()) for values in policy.parameters()):
                return True
            seen, _ = policy.obs_to_tensor(self.env.observe())
            hidden = policy.mlp_extractor.forward_actor(policy.pi_features_extractor(seen))
            return not bool((policy.action_net(hidden).abs() < LARGEST).all())

    def _refusal(self) -> ConfigError:
        return ConfigError(
            f"training diverged after {self.decisions:,} decisions; lower learner.learning_rate"
        )


def _check_measured(table: Table, settings: Settings) -> None:
    """Refuse a table of measurements that is not a training table."""
    sizes, episodes = settings.table_sizes, settings.episodes
    if sizes and isinstance(table, SpaceTable):
        raise ConfigError(
            f"learner.table_sizes and the space {table.space.name} exclude each other: set "
            "table.num_players"
        )
    for seats in sizes:
        spec(table.game).check_players(seats)
    if sizes and table.num_players not in sizes:
        raise ConfigError(
            f"table.num_players is {table.num_players}, expected one of learner.table_sizes, "
            f"{list(sizes)}, to measure the policy"
        )
    if episodes and table.rules["episode"] not in episodes:
        raise ConfigError(
            f"table.episode is {table.rules['episode']!r}, expected one of learner.episodes, "
            f"{list(episodes)}, to measure the policy"
        )
