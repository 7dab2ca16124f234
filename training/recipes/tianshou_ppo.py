"""PPO of Tianshou 2: its collector, algorithm and trainer, on one seat of each of many tables.

    pip install ".[train]" "tianshou>=2.0"

Tianshou's vector environment steps single Gymnasium environments one by one; the learning network
also plays the other seats. Tianshou has no masked actor, so the network applies the mask. The trap:
with Tianshou's wrapper of PettingZoo a transition holds the next seat's observation and misses
rewards from others' actions.
"""

import argparse
from functools import partial

import numpy as np
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory, LRSchedulerFactoryLinear
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from torch import nn

from kille_env import LiveOpponent
from kille_env.gym import KilleEnv
from kille_training import evaluate

TABLES, STEPS = 64, 64
MINIBATCH, EPOCHS = 1_024, 4
LEARNING_RATE, ENTROPY = 2e-3, 0.1


class Network(nn.Module):
    """Two hidden layers over features scaled by their upper bounds."""

    def __init__(self, high: np.ndarray, outputs: int) -> None:
        super().__init__()
        self.high = torch.from_numpy(high).float()
        hidden = nn.Linear(len(high), 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()
        self.layers = nn.Sequential(*hidden, nn.Linear(64, outputs))

    def forward(self, obs, state=None, info=None):  # noqa: D102
        return self.layers(torch.as_tensor(obs.observation) / self.high)


class Actor(Network):
    """The same for an actor: logits, very low ones for illegal actions."""

    def forward(self, obs, state=None, info=None):  # noqa: D102
        return super().forward(obs).masked_fill(torch.as_tensor(obs.action_mask) == 0, -1e9), state


def train(
    game: str = "byteskille", num_players: int = 3, decisions: int = 300_000, seed: int = 0
) -> LiveOpponent:
    """Train a policy by self-play and return it as a player."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)
    live = LiveOpponent(
        lambda observation, mask: actor.layers(torch.tensor(observation) / actor.high),
        returns="logits", observation="box",
    )  # fmt: skip
    make = partial(KilleEnv, game, num_players, observation="dict", opponents=live)
    venv = DummyVectorEnv([make] * TABLES)
    high, actions = venv.observation_space[0]["observation"].high, venv.action_space[0]
    actor, collected = Actor(high, int(actions.n)), TABLES * STEPS
    venv.seed(seed)
    schedule = LRSchedulerFactoryLinear(1, decisions, collected)
    algorithm = PPO(
        policy=DiscreteActorPolicy(actor=actor, action_space=actions),
        critic=Network(high, 1),
        optim=AdamOptimizerFactory(lr=LEARNING_RATE, eps=1e-5).with_lr_scheduler_factory(schedule),
        gamma=1.0, gae_lambda=1.0, max_grad_norm=0.5, max_batchsize=MINIBATCH,
    )  # fmt: skip

    def anneal(_epoch: int, step: int) -> None:
        algorithm.ent_coef = ENTROPY * max(0.0, 1.0 - step / decisions)

    algorithm.run_training(OnPolicyTrainerParams(
        training_collector=Collector(algorithm, venv, VectorReplayBuffer(collected, TABLES)),
        training_fn=anneal, max_epochs=1, epoch_num_steps=decisions, batch_size=MINIBATCH,
        collection_step_num_env_steps=collected, update_step_num_repetitions=EPOCHS,
        show_progress=False,
    ))  # fmt: skip
    return live


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    print(evaluate(train(*table, options.decisions, options.seed), *table, episode="deal"))
