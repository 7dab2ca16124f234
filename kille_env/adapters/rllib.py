# pyright: reportMissingImports=false
"""RLlib, new API stack: a module that keeps to the mask, and a runner that plays many tables.

RLlib's own runners step tables in Python and build an episode object for each seat. This one plays
a batch instead: every seat of every table with the module that learns, each decision credited with
what its seat earns until it decides again. `self_play` sets it up for PPO.

`MaskedModule` also works with RLlib's own runners and `PettingZooEnv(kille_env.make(...))`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from kille_env.adapters.spaces import Observations
from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.extras import needs
from kille_env.play.experience import Collector, Transitions
from kille_env.play.policy import masked_softmax
from kille_env.registry import make_batch

with needs("rllib"):
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
    from ray.rllib.connectors.learner import (
        AddOneTsToEpisodesAndTruncate,
        GeneralAdvantageEstimation,
    )
    from ray.rllib.core import DEFAULT_MODULE_ID
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode
    from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer
    from ray.rllib.evaluation.postprocessing import Postprocessing
    from ray.rllib.utils.torch_utils import FLOAT_MIN


__all__ = ["self_play"]


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """Actor and critic for observations `{"observation", "action_mask"}`; a player as it stands.

    Features are scaled to 0 to 1 by the upper bounds of their space. Illegal actions get the lowest
    logit that there is, and so the probability 0.

    `model_config` may name `layers`, the widths of the hidden layers of both networks.
    """

    name = "rllib"

    def setup(self) -> None:
        """Builds the networks; see `RLModule`."""
        features = self.observation_space["observation"]
        layers = self.model_config.get("layers", (64, 64))
        scale = torch.from_numpy(1 / features.high.astype(np.float32))
        self.register_buffer("scale", scale, persistent=False)
        self.actor = _perceptron(features.shape[0], layers, int(self.action_space.n))
        self.critic = _perceptron(features.shape[0], layers, 1)

    def _forward(self, batch: Mapping[str, Any], **_: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        logits = self.actor(seen["observation"] * self.scale)
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen["action_mask"] == 0, FLOAT_MIN)}

    def compute_values(self, batch: Mapping[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Returns the critic's values, [N]; see `ValueFunctionAPI`."""
        return self.critic(batch[Columns.OBS]["observation"] * self.scale).squeeze(-1)

    @torch.no_grad()
    def logits(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the actor's logits of decisions, [N, A] float32.

        Args:
            observation: [N, F] uint8.
            mask: [N, A] int8.
        """
        found = self._forward(self._batch(observation, mask))
        return found[Columns.ACTION_DIST_INPUTS].cpu().numpy()

    @torch.no_grad()
    def values(self, observation: np.ndarray) -> np.ndarray:
        """Returns the critic's values of observations [N, F] uint8, [N] float32."""
        return self.compute_values(self._batch(observation)).cpu().numpy()

    def probabilities(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns how likely each action is, [N, A] float64; see `kille_env.play.policy.Policy`."""
        return masked_softmax(self.name, self.logits(observation, mask), mask)

    def _batch(self, observation: np.ndarray, mask: np.ndarray | None = None) -> dict[str, Any]:
        seen = {"observation": observation} | ({} if mask is None else {"action_mask": mask})
        device = self.scale.device
        return {
            Columns.OBS: {name: torch.from_numpy(part).to(device) for name, part in seen.items()}
        }


def _perceptron(inputs: int, layers: Sequence[int], outputs: int) -> torch.nn.Sequential:
    parts: list[torch.nn.Module] = []
    for layer in layers:
        parts += [torch.nn.Linear(inputs, layer), torch.nn.Tanh()]
        inputs = layer
    return torch.nn.Sequential(*parts, torch.nn.Linear(inputs, outputs))


class SelfPlayRunner(SingleAgentEnvRunner):
    """Environment runner that plays every seat of many tables with the module.

    `num_envs_per_env_runner` is the number of tables; `env_config` has "game" and what
    `make_batch` takes besides. A sample is one episode object with all decisions that have become
    complete. Their advantages are computed here, along each seat's own decisions (GAE), and
    standardized: the order of the decisions means nothing to the learner, `SelfPlayLearner`.
    """

    config: Any
    module: Any

    def make_env(self) -> None:
        """Sets up the tables; see `EnvRunner`."""
        self.num_envs = self.config.num_envs_per_env_runner
        options = dict(self.config.env_config)
        batch = make_batch(options.pop("game"), self.num_envs, seed=self._seed, **options)
        self._collector = Collector(batch, self._play, observation="box", seed=self._seed)
        seen = Observations("dict", batch.spec, batch.num_players).space
        both = seen, spaces.Discrete(batch.spec.num_actions)
        names = INPUT_ENV_SPACES, INPUT_ENV_SINGLE_SPACES, DEFAULT_MODULE_ID
        self.spaces = dict.fromkeys(names, both)

    def _play(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        return self.module.probabilities(observation, mask)

    def sample(self, **asked: Any) -> list[SingleAgentEpisode]:
        """Plays `rollout_fragment_length` steps of every table; see `EnvRunner`.

        Raises:
            KilleError: Something else was asked for.
        """
        if any(asked.values()):
            raise KilleError(
                f"SelfPlayRunner samples fragments and explores, and was asked for {asked}; to "
                "evaluate, give the module to kille_training.nash_conv or kille_training.evaluate"
            )
        steps = self.config.get_rollout_fragment_length(self.worker_index)
        decisions = self._collector.collect(steps)
        if len(decisions.action) < 2:
            raise KilleError(
                f"{len(decisions.action)} decisions are complete after {steps} steps of "
                f"{self.num_envs} tables, too few to learn from; raise rollout_fragment_length or "
                "num_envs_per_env_runner"
            )
        ends = np.count_nonzero(decisions.terminated | decisions.truncated)
        self._increase_sampled_metrics(steps * self.num_envs, ends)
        return [_episode(decisions, self._columns(decisions))]

    def _columns(self, decisions: Transitions) -> dict[str, np.ndarray]:
        """Returns what PPO's learner needs besides the decisions."""
        values = self.module.values(decisions.observation)
        gains = decisions.advantages(
            values,
            self.module.values(decisions.next_observation),
            gamma=self.config.gamma,
            gae_lambda=self.config.lambda_,
        )
        standardized = (gains - gains.mean()) / max(float(gains.std()), 1e-4)
        columns = {
            Columns.ACTION_DIST_INPUTS: self.module.logits(decisions.observation, decisions.mask),
            Columns.ACTION_LOGP: decisions.log_probability,
            Postprocessing.ADVANTAGES: standardized,
            Postprocessing.VALUE_TARGETS: gains + values,
        }
        return {name: column.astype(np.float32) for name, column in columns.items()}

    def assert_healthy(self) -> None:
        """Checks that there are tables and a module; see `EnvRunner`."""
        assert self._collector and self.module

    def stop(self) -> None:
        """Does nothing: tables need no closing; see `EnvRunner`."""


def _episode(decisions: Transitions, columns: Mapping[str, np.ndarray]) -> SingleAgentEpisode:
    """Returns decisions as the kind of experience that RLlib hands to its learners."""
    seen = {"observation": decisions.observation, "action_mask": decisions.mask}
    last = {"observation": decisions.next_observation[-1:], "action_mask": decisions.next_mask[-1:]}
    observations: Any = {name: np.concatenate([seen[name], last[name]]) for name in seen}
    return SingleAgentEpisode(
        observations=InfiniteLookbackBuffer(observations),
        infos=InfiniteLookbackBuffer([{}] * (len(decisions.action) + 1)),
        actions=InfiniteLookbackBuffer(decisions.action),
        rewards=InfiniteLookbackBuffer(decisions.reward.astype(np.float32)),
        extra_model_outputs={name: InfiniteLookbackBuffer(part) for name, part in columns.items()},
        truncated=True,
        len_lookback_buffer=0,
    )


class SelfPlayLearner(PPOTorchLearner):
    """PPO's learner for the samples of `SelfPlayRunner`, which come with their advantages."""

    _learner_connector: Any

    def build(self) -> None:
        """Builds the learner without the connectors that compute advantages; see `Learner`."""
        super().build()
        for connector in (AddOneTsToEpisodesAndTruncate, GeneralAdvantageEstimation):
            self._learner_connector.remove(connector)


def self_play(
    config: PPOConfig,
    game: str,
    num_players: int | None = None,
    *,
    num_tables: int = 512,
    layers: Sequence[int] = (64, 64),
    rules: Rules | Mapping[str, Any] | str | None = None,
    episode: str | None = None,
) -> PPOConfig:
    """Sets up self-play at many tables in a configuration of PPO.

    Args:
        config: The configuration; changed.
        game: Name of the game.
        num_players: P, the game's default for None.
        num_tables: N, tables of each environment runner.
        layers: Widths of the hidden layers, of the actor and of the critic.
        rules: A preset's name, a mapping of switches, or resolved rules.
        episode: "deal" or "match"; None is what `rules` say, or else "deal".

    Returns:
        The configuration.
    """
    table = {"num_players": num_players, "rules": rules, "episode": episode}
    return (
        config.environment(env_config={"game": game, **table})
        .env_runners(env_runner_cls=SelfPlayRunner, num_envs_per_env_runner=num_tables)
        .rl_module(rl_module_spec=RLModuleSpec(MaskedModule, model_config={"layers": list(layers)}))
        .learners(learner_class=SelfPlayLearner)
    )
