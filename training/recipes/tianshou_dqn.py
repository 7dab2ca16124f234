"""DQN of Tianshou 2: its algorithm and its trainer, on the decisions of all seats of many tables.

`SeatCollector` takes the place of Tianshou's own collector; `tianshou_ppo.py` says why. In its
buffer a seat's decisions lie one behind the other, so returns over many steps run along the seat's
own stream. Play is greedy in the end, with little exploration before: the values of a deal depend
on what the others do. Measured with Tianshou 2.0.1.
"""

import argparse

import numpy as np
import torch
from gymnasium.spaces import Discrete
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory, LRSchedulerFactoryLinear
from tianshou.data import ReplayBuffer
from tianshou.trainer import OffPolicyTrainerParams
from torch import nn

import kille_env
from kille_env.adapters.tianshou import SeatCollector
from kille_training import evaluate

TABLES, STEPS = 1_024, 12
BUFFER, MINIBATCH, UPDATES = 100_000, 2_048, 18
LEARNING_RATE, EPSILON = 2e-3, 0.2


class Network(nn.Module):
    """Two hidden layers, called as Tianshou calls a network."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        hidden = nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()
        self.layers = nn.Sequential(*hidden, nn.Linear(64, outputs))

    def forward(self, obs, state=None, info=None):  # noqa: D102
        return self.layers(torch.as_tensor(obs)), state


def train(
    game: str = "byteskille", num_players: int = 3, decisions: int = 2_000_000, seed: int = 0
) -> kille_env.LiveOpponent:
    """Returns the greedy policy."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)
    batch = kille_env.make_batch(game, TABLES, num_players, episode="deal", seed=seed)
    actions, collected = batch.spec.num_actions, TABLES * STEPS
    network = Network(batch.observation.shape[1], actions)
    policy = DiscreteQLearningPolicy(model=network, action_space=Discrete(actions))
    schedule = LRSchedulerFactoryLinear(1, (decisions + collected) * UPDATES, collected)
    algorithm = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=LEARNING_RATE).with_lr_scheduler_factory(schedule),
        gamma=1.0, n_step_return_horizon=10, is_double=True,
    )  # fmt: skip

    def anneal(_epoch: int, step: int) -> None:
        policy.set_eps_training(EPSILON * max(0.0, 1.0 - step / decisions))

    algorithm.run_training(OffPolicyTrainerParams(
        training_collector=SeatCollector(algorithm, batch, ReplayBuffer(BUFFER)),
        training_fn=anneal, max_epochs=1, epoch_num_steps=decisions,
        collection_step_num_env_steps=collected, batch_size=MINIBATCH,
        update_step_num_gradient_steps_per_sample=UPDATES / collected, show_progress=False,
    ))  # fmt: skip
    values = lambda observation, mask: network(observation)[0]  # noqa: E731
    return kille_env.LiveOpponent(values, returns="values", observation="float")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed)
    print(evaluate(player, *table, episode="deal"))
