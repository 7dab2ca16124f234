"""PPO of Tianshou 2: its algorithm and its trainer, on the decisions of all seats of many tables.

`SeatCollector` replaces Tianshou's own collector, which over Tianshou's wrapper of PettingZoo is
the trap: a step there returns the next seat's observation and that step's rewards, so what a seat
earns by others' actions is missing from its transitions. Tianshou has no masked actor; the network
applies the mask. Measured with Tianshou 2.0.1.
"""

import argparse

import numpy as np
import torch
from gymnasium.spaces import Discrete
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory, LRSchedulerFactoryLinear
from tianshou.data import ReplayBuffer
from tianshou.trainer import OnPolicyTrainerParams
from torch import nn

import kille_env
from kille_env.adapters.tianshou import SeatCollector
from kille_training import evaluate

TABLES, STEPS = 1_024, 8
MINIBATCH, EPOCHS = 2_048, 4
LEARNING_RATE, ENTROPY = 2e-3, 0.1


class Network(nn.Module):
    """Two hidden layers, called as Tianshou calls a critic."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        hidden = nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()
        self.layers = nn.Sequential(*hidden, nn.Linear(64, outputs))

    def forward(self, obs, state=None, info=None):  # noqa: D102
        return self.layers(torch.as_tensor(obs.obs))


class Actor(Network):
    """The same for an actor: logits, very low ones for illegal actions."""

    def forward(self, obs, state=None, info=None):  # noqa: D102
        return super().forward(obs).masked_fill(~torch.as_tensor(obs.mask), -1e9), state


def train(
    game: str = "byteskille", num_players: int = 3, decisions: int = 2_300_000, seed: int = 0
) -> kille_env.LiveOpponent:
    """Returns the policy."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)
    batch = kille_env.make_batch(game, TABLES, num_players, episode="deal", seed=seed)
    features, actions = batch.observation.shape[1], batch.spec.num_actions
    actor, collected = Actor(features, actions), TABLES * STEPS
    schedule = LRSchedulerFactoryLinear(1, decisions, collected)
    algorithm = PPO(
        policy=DiscreteActorPolicy(actor=actor, action_space=Discrete(actions)),
        critic=Network(features, 1),
        optim=AdamOptimizerFactory(lr=LEARNING_RATE, eps=1e-5).with_lr_scheduler_factory(schedule),
        gamma=1.0, gae_lambda=1.0, max_grad_norm=0.5, max_batchsize=MINIBATCH,
    )  # fmt: skip
    buffer = ReplayBuffer(collected + TABLES * num_players)

    def anneal(_epoch: int, step: int) -> None:
        algorithm.ent_coef = ENTROPY * max(0.0, 1.0 - step / decisions)

    algorithm.run_training(OnPolicyTrainerParams(
        training_collector=SeatCollector(algorithm, batch, buffer), training_fn=anneal,
        max_epochs=1, epoch_num_steps=decisions, collection_step_num_env_steps=collected,
        batch_size=MINIBATCH, update_step_num_repetitions=EPOCHS, show_progress=False,
    ))  # fmt: skip
    logits = lambda observation, mask: actor.layers(torch.as_tensor(observation))  # noqa: E731
    return kille_env.LiveOpponent(logits, returns="logits", observation="float")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="byteskille")
    parser.add_argument("--players", type=int, default=3, help="seats")
    parser.add_argument("--decisions", type=int, default=2_300_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = options.game, options.players
    player = train(*table, options.decisions, options.seed)
    print(evaluate(player, *table, episode="deal"))
