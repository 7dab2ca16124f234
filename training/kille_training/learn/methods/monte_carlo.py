"""Deep Monte Carlo: a network learns what each action brings in the end, and prefers the best.

Zha, Xie, Ma, Zhang, Lian, Hu and Liu, "DouZero: Mastering DouDizhu with self-play deep
reinforcement learning", ICML 2021. There is no bootstrapping: the target of an action is all that
its seat earned from there to the end of the match. All seats share one network.

The paper explores with a fixed epsilon and plays the best action. Where an equilibrium mixes, play
by the best action runs in circles. So actions are drawn by the softmax of their worth, with a
temperature that falls together with epsilon and the learning rate, and so are they in the end.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from kille_env.experience import collect
from kille_training.learn.distinct import distinct
from kille_training.learn.method import Progress
from kille_training.learn.networks import Network
from kille_training.learn.tables import BenchmarkTable


@dataclass(frozen=True)
class Settings:
    """What can be set.

    Attributes:
        tables: N, matches from one update to the next.
        layers: Units of each hidden layer.
        steps: Gradient steps of an update, each over all its decisions.
        learning_rate: At the beginning; it falls to 0.
        epsilon: How often a seat acts at random, at the beginning; it falls to 0.
        temperature: Units by which the best action has to be better than another to be taken e
            times as often, at the beginning; it falls to `coldest`.
        coldest: The temperature at the end.
    """

    tables: int = 2048
    layers: tuple[int, ...] = (64, 64)
    steps: int = 4
    learning_rate: float = 5e-3
    epsilon: float = 0.1
    temperature: float = 0.5
    coldest: float = 0.02


def train(
    table: BenchmarkTable, seed: int, settings: Settings, spent: Callable[[], float]
) -> Iterator[Progress]:
    """Learns; yields the policy after each update.

    Args:
        table: Any table.
        seed: Seed of the cards, the choices and the weights.
        settings: What can be set.
        spent: Returns the share of the budget that is used, from 0 to 1.
    """
    torch.manual_seed(seed)
    batch = table.make_batch(settings.tables, seed)
    network = Network(table, settings.layers)
    optimizer = torch.optim.Adam(network.parameters())
    decisions = 0
    while True:
        left = 1.0 - spent()
        optimizer.param_groups[0]["lr"] = settings.learning_rate * left
        temperature = settings.coldest + (settings.temperature - settings.coldest) * left
        explorer = network.player(temperature, settings.epsilon * left)
        played = collect(batch, explorer, observation="box")
        decisions += len(played.action)
        returns = played.advantages(np.zeros(len(played.action)))
        regress(network, optimizer, played.observation, played.action, returns, settings.steps)
        yield Progress(decisions, partial(network.policy, "monte_carlo", temperature))


def regress(
    network: Network,
    optimizer: torch.optim.Optimizer,
    observation: np.ndarray,
    action: np.ndarray,
    returns: np.ndarray,
    steps: int,
) -> None:
    """Makes gradient steps towards what actions have returned, each over all the decisions.

    Args:
        network: Learns the worth of each action.
        optimizer: Its optimizer.
        observation: [D, F] uint8.
        action: [D] int64.
        returns: [D] units.
        steps: How many.
    """
    alike = distinct(observation)
    seen = observation[alike.first]
    num_actions = network.spec.num_actions
    count, total = (alike.total(action, num_actions, what) for what in (None, returns))
    mean = torch.as_tensor(total / np.maximum(count, 1.0)).float()
    weight = torch.as_tensor(count / count.sum()).float()
    for _ in range(steps):
        loss = (weight * (network(seen) - mean).square()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
