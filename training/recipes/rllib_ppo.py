"""RLlib's PPO (new API stack) on one seat of each of many tables, as a vector environment.

    pip install ".[train]" "ray[rllib]>=2.60" "dm-tree>=0.1.9"

`SelfPlayRunner` steps all its tables at once. Its copy of the learning module also plays the other
seats, so each row is one seat's trajectory and RLlib's GAE is correct. Ray distributes further
runners (`--runners 8`). The trap: `PettingZooEnv` around one table also works, far more slowly.
"""

import argparse
from typing import Any

import numpy as np
import torch
from gymnasium.wrappers.vector import DictInfoToList
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.utils.torch_utils import FLOAT_MIN
from torch import nn

from kille_env import LiveOpponent
from kille_env.gym import SeatVectorEnv
from kille_training import evaluate

TABLES, STEPS, MINIBATCH = 256, 16, 1_024


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """Actor and critic; illegal actions get the lowest possible logit."""

    def setup(self) -> None:  # noqa: D102
        features = self.observation_space["observation"].high
        self.register_buffer("scale", 1 / torch.from_numpy(features).float(), persistent=False)
        self.actor, self.critic = (
            nn.Sequential(nn.Linear(len(features), 64), nn.Tanh(), nn.Linear(64, outputs))
            for outputs in (int(self.action_space.n), 1)
        )

    def logits(self, observation: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:  # noqa: D102
        return self.actor(observation * self.scale).masked_fill(mask == 0, FLOAT_MIN)

    def _forward(self, batch: Any, **_: Any) -> Any:
        seen = batch[Columns.OBS]
        return {Columns.ACTION_DIST_INPUTS: self.logits(seen["observation"], seen["action_mask"])}

    def compute_values(self, batch: Any, embeddings: Any = None) -> torch.Tensor:  # noqa: D102
        return self.critic(batch[Columns.OBS]["observation"] * self.scale).squeeze(-1)


class SelfPlayRunner(SingleAgentEnvRunner):
    """Environment runner over the vector environment; its module plays every seat."""

    def make_env(self) -> None:  # noqa: D102
        live = LiveOpponent(self._logits, returns="logits", observation="box")
        table = {"opponents": live, "observation": "dict", "seed": self._seed}
        self.num_envs = self.config.num_envs_per_env_runner  # pyright: ignore
        tables = SeatVectorEnv(num_envs=self.num_envs, **self.config.env_config, **table)
        self.env = DictInfoToList(tables)

    def _logits(self, observation: np.ndarray, mask: np.ndarray) -> torch.Tensor:
        module: Any = self.module
        return module.logits(torch.tensor(observation), torch.tensor(mask))


def train(
    game: str = "byteskille",
    num_players: int = 3,
    decisions: int = 300_000,
    seed: int = 0,
    runners: int = 0,
) -> LiveOpponent:
    """Train a policy by self-play and return it as a player."""
    torch.set_num_threads(1)
    config = PPOConfig().environment(env_config={"game": game, "num_players": num_players})
    config.env_runners(
        env_runner_cls=SelfPlayRunner, num_env_runners=runners, num_envs_per_env_runner=TABLES
    )
    config.rl_module(rl_module_spec=RLModuleSpec(MaskedModule))
    config.debugging(seed=seed, log_level="ERROR")
    config.training(
        train_batch_size_per_learner=TABLES * STEPS,
        minibatch_size=MINIBATCH,
        num_epochs=3,
        lr=[[0, 2e-3], [decisions, 0.0]],
        entropy_coeff=[[0, 0.1], [decisions, 0.0]],  # pyright: ignore
        gamma=1.0,
        lambda_=1.0,
        grad_clip=0.5,
        use_kl_loss=False,
        vf_clip_param=float("inf"),  # RLlib clips value errors at 10 units by default
    )
    algorithm = config.build_algo()
    for _ in range(max(1, decisions // (TABLES * STEPS))):
        algorithm.train()
    module: Any = algorithm.get_module()
    algorithm.stop()
    return LiveOpponent(
        lambda observation, mask: module.logits(torch.tensor(observation), torch.tensor(mask)),
        returns="logits",
        observation="box",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runners", type=int, default=0, help="additional runners")
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed, options.runners)
    print(evaluate(player, *table, episode="deal"))
