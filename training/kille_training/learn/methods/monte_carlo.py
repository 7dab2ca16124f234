"""Deep Monte Carlo: a network regresses the final return of each action.

Zha, Xie, Ma, Zhang, Lian, Hu and Liu, "DouZero: Mastering DouDizhu with self-play deep
reinforcement learning", ICML 2021. There is no bootstrapping: the target of an action is its
seat's return to the end of the match. All seats share one network.

The paper explores with a fixed epsilon and plays the best action, which cycles if the equilibrium
mixes. Here actions are drawn from the softmax of their values, with a temperature that falls
together with epsilon and the learning rate; so is final play.
"""

import numpy as np
import torch

from kille_agents.network import NetworkPolicy
from kille_env.registry import Table
from kille_training.learn.method import DealLearner, DealSettings, Left
from kille_training.learn.networks import Network
from kille_training.settings import settings


@settings
class Settings(DealSettings):
    """Hyperparameters beside those of `DealSettings`.

    Attributes:
        steps: Gradient steps per update, each over all decisions.
        learning_rate: Initial learning rate; it falls to 0.
        epsilon: Initial share of random actions; it falls to 0.
        temperature: Initial softmax temperature, in units; it falls to `coldest`.
        coldest: Final temperature.
    """

    steps: int = 4
    learning_rate: float = 5e-3
    epsilon: float = 0.1
    temperature: float = 0.5
    coldest: float = 0.02


class Learner(DealLearner):
    """One network for all seats."""

    parts = ("network", "optimizer", "temperature")

    def __init__(self, table: Table, seed: int, settings: Settings) -> None:
        """Begin with PyTorch's random weights."""
        super().__init__(table, seed, settings)
        self.network = self.new_network()
        self.optimizer = torch.optim.Adam(self.network.parameters())
        self.temperature = settings.temperature

    def update(self, left: Left) -> dict[str, float]:
        """Play matches and regress their returns."""
        settings, share = self.settings, left()
        self.optimizer.param_groups[0]["lr"] = settings.learning_rate * share
        warmer = settings.temperature - settings.coldest
        self.temperature = settings.coldest + warmer * share
        explorer = self.network.player(self.temperature, settings.epsilon * share)
        played = self.collect(explorer)
        self.decisions += len(played.action)
        returns = played.advantages(np.zeros(len(played.action)))
        rows = played.observation, played.action, returns
        regress(self.network, self.optimizer, *rows, settings.steps)
        return {}

    def policy(self, name: str) -> NetworkPolicy:
        """Return the softmax policy of the action values."""
        return self.network.policy(name, self.temperature, made=self.made)


def regress(
    network: Network,
    optimizer: torch.optim.Optimizer,
    observation: np.ndarray,
    action: np.ndarray,
    returns: np.ndarray,
    steps: int,
) -> None:
    """Make gradient steps towards the returns [D], each over all decisions."""
    alike = network.alike(observation)
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
