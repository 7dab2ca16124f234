"""PPO of TorchRL: its collector, GAE and ClipPPOLoss, on one seat of each of many tables.

    pip install ".[train]" "torchrl>=0.14"

TorchRL's `GymWrapper` takes the vector environment as one batched environment. The learning network
also plays the other seats. The trap: TorchRL's wrapper of PettingZoo credits seats correctly, but
plays a single table.
"""

import argparse
from typing import Any

import gymnasium
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import DTypeCastTransform, GymWrapper, TransformedEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from kille_env import LiveOpponent
from kille_training import evaluate

TABLES, STEPS = 512, 8
MINIBATCH, EPOCHS = 1_024, 2
LEARNING_RATE, ENTROPY = 2e-3, 0.05
LEARNT = "observation", "action_mask", "action", "action_log_prob", "advantage", "value_target"


class Network(nn.Module):
    """Two hidden layers over features scaled by their upper bounds."""

    def __init__(self, high: torch.Tensor, outputs: int) -> None:
        super().__init__()
        self.high = high.float()
        hidden = nn.Linear(len(high), 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()
        self.layers = nn.Sequential(*hidden, nn.Linear(64, outputs))

    def forward(self, observation: torch.Tensor) -> torch.Tensor:  # noqa: D102
        return self.layers(observation / self.high)


def train(
    game: str = "byteskille", num_players: int = 3, decisions: int = 2_000_000, seed: int = 0
) -> LiveOpponent:
    """Train a policy by self-play and return it as a player."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    live = LiveOpponent(
        lambda observation, mask: logits(torch.tensor(observation)),
        returns="logits", observation="box",
    )  # fmt: skip
    venv = gymnasium.make_vec(
        f"kille_env:kille_env/{game}-v0", num_envs=TABLES, num_players=num_players,
        observation="dict", opponents=live, seed=seed, autoreset_mode="Disabled",
    )  # fmt: skip
    shown: Any = venv.single_observation_space
    actions: Any = venv.single_action_space
    high = torch.from_numpy(shown["observation"].high)
    logits, value = Network(high, actions.n), Network(high, 1)
    actor = ProbabilisticActor(
        TensorDictModule(logits, in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(value, in_keys=["observation"])
    advantage = GAE(gamma=1.0, lmbda=1.0, value_network=critic)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=ENTROPY, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), eps=1e-5)
    frames = {"frames_per_batch": TABLES * STEPS, "total_frames": decisions}
    cast = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    env = TransformedEnv(GymWrapper(venv, categorical_action_encoding=True), cast)
    learned = 0
    for data in Collector(env, actor, **frames, auto_register_policy_transforms=False):
        remaining = 1.0 - learned / decisions
        learned += data.numel()
        loss.entropy_coeff.fill_(ENTROPY * remaining)
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * remaining
        with torch.no_grad():
            advantage(data)
        data = data.reshape(-1).select(*LEARNT)
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(data)).split(MINIBATCH):
                losses = loss(data[rows])
                optimizer.zero_grad()
                whole = losses["loss_objective"] + losses["loss_entropy"] + losses["loss_critic"]
                whole.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
    return live


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    print(evaluate(train(*table, options.decisions, options.seed), *table, episode="deal"))
