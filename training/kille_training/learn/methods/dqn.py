"""Double DQN by self-play: one network for all seats, on the decisions of thousands of tables.

Mnih et al., "Human-level control through deep reinforcement learning", Nature 518, 2015; van
Hasselt, Guez and Silver, "Deep reinforcement learning with double Q-learning", AAAI 2016. Illegal
actions are masked in play and in the targets. A transition leads from a seat's decision to its next
one; the other seats are part of its environment and change, so the buffer is short.

The paper explores with epsilon alone and plays the best action, which cycles if the equilibrium
mixes. Here actions are drawn from the softmax of their values, with a temperature that falls
together with epsilon and the learning rate; so is final play.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from kille_agents.network import NetworkPolicy
from kille_env.play.experience import Transitions
from kille_env.registry import Table
from kille_training.learn.method import DealLearner, DealSettings, Left
from kille_training.learn.networks import Network, Rows
from kille_training.settings import settings


@settings
class Settings(DealSettings):
    """Hyperparameters beside those of `DealSettings`.

    Attributes:
        buffer: Size of the replay buffer, in transitions.
        horizon: Decisions of its seat per transition (n-step returns).
        updates: Gradient steps between two policies.
        minibatch: Transitions per gradient step.
        follow: Step size of the target network towards the learner (Polyak averaging).
        learning_rate: Initial learning rate; it falls to 0.
        epsilon: Initial share of random actions; it falls to 0.
        temperature: Initial softmax temperature, in units.
        coldest: Final temperature.
    """

    buffer: int = 100_000
    horizon: int = 10
    updates: int = 8
    minibatch: int = 2048
    follow: float = 0.05
    learning_rate: float = 2e-3
    epsilon: float = 0.1
    temperature: float = 0.5
    coldest: float = 0.02


class Learner(DealLearner):
    """A network of action values and its target network."""

    parts = ("learner", "target", "optimizer", "rng", "temperature")
    refills = "its replay buffer"

    def __init__(self, table: Table, seed: int, settings: Settings) -> None:
        """Begin with PyTorch's random weights."""
        super().__init__(table, seed, settings)
        self.rng = np.random.default_rng(seed)
        self.learner, self.target = (self.new_network() for _ in range(2))
        self.target.load_state_dict(self.learner.state_dict())
        self.optimizer = torch.optim.Adam(self.learner.parameters())
        self.memory = Rows(settings.buffer)
        self.temperature = settings.temperature

    def update(self, left: Left) -> dict[str, float]:
        """Play matches and make gradient steps on the replay buffer."""
        settings, share = self.settings, left()
        self.optimizer.param_groups[0]["lr"] = settings.learning_rate * share
        warmer = settings.temperature - settings.coldest
        self.temperature = settings.coldest + warmer * share
        explorer = self.learner.player(self.temperature, settings.epsilon * share)
        played = self.collect(explorer)
        self.memory.add(*transitions(played, settings.horizon))
        self.decisions += len(played.action)
        for _ in range(settings.updates):
            sampled = self.memory.sample(settings.minibatch, self.rng)
            update(self.learner, self.target, self.optimizer, sampled, settings.follow)
        return {}

    def policy(self, name: str) -> NetworkPolicy:
        """Return the softmax policy of the action values."""
        return self.learner.policy(name, self.temperature, made=self.made)


def transitions(played: Transitions, horizon: int) -> list[np.ndarray]:
    """Return transitions of whole matches, as columns."""
    last, reward = np.arange(len(played.action)), played.reward.copy()
    for _ in range(horizon - 1):
        goes_on = played.following[last] >= 0
        last[goes_on] = played.following[last[goes_on]]
        reward[goes_on] += played.reward[last[goes_on]]
    after = played.next_observation[last], played.next_mask[last]
    return [played.observation, played.action, reward, *after]


def update(
    learner: Network,
    target: Network,
    optimizer: torch.optim.Optimizer,
    sampled: Sequence[np.ndarray],
    follow: float,
) -> None:
    """Make a gradient step of double Q-learning; the target network follows the learner."""
    observation, action, reward, next_observation, next_mask = sampled
    legal = torch.as_tensor(next_mask) != 0
    with torch.no_grad():
        best = learner(next_observation).masked_fill(~legal, -torch.inf).argmax(1, keepdim=True)
        ahead = target(next_observation).gather(1, best)[:, 0] * legal.any(1)
        wanted = torch.as_tensor(reward).float() + ahead
    found = learner(observation).gather(1, torch.as_tensor(action)[:, None])[:, 0]
    loss = nn.functional.mse_loss(found, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), learner.parameters(), strict=True):
            slow.lerp_(fast, follow)
