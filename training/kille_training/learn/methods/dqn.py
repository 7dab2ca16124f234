"""Double DQN by self-play: one network for all seats, on the decisions of thousands of tables.

Mnih et al., "Human-level control through deep reinforcement learning", Nature 518, 2015; van
Hasselt, Guez and Silver, "Deep reinforcement learning with double Q-learning", AAAI 2016. Illegal
actions are masked, where actions are chosen and in the targets. A transition is a seat's decision
and its next one; what others do in between is its environment, so the buffer is short.

The paper explores with epsilon alone and plays the best action. Where an equilibrium mixes, play by
the best action runs in circles. So actions are drawn by the softmax of their values, with a
temperature that falls together with epsilon and the learning rate, and so are they in the end.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import nn

from kille_env.experience import Decisions, collect
from kille_training.learn.method import Progress
from kille_training.learn.networks import Network
from kille_training.learn.tables import BenchmarkTable


@dataclass(frozen=True)
class Settings:
    """What can be set.

    Attributes:
        tables: Matches from one policy to the next.
        buffer: Transitions that are remembered.
        horizon: Decisions of its seat that a transition spans (n-step returns).
        updates: Gradient steps after these matches.
        minibatch: Transitions of a gradient step.
        follow: How much of the way the target network goes to the learner after each step.
        layers: Units of each hidden layer.
        learning_rate: At the beginning; it falls to 0.
        epsilon: How often a seat acts at random, at the beginning; it falls to 0.
        temperature: Units that make an action e times as likely, at the beginning.
        coldest: The temperature at the end.
    """

    tables: int = 2048
    buffer: int = 100_000
    horizon: int = 10
    updates: int = 8
    minibatch: int = 2048
    follow: float = 0.05
    layers: tuple[int, ...] = (64, 64)
    learning_rate: float = 2e-3
    epsilon: float = 0.1
    temperature: float = 0.5
    coldest: float = 0.02


class Buffer:
    """The newest transitions, in a ring."""

    def __init__(self, size: int, horizon: int) -> None:
        """Begins empty.

        Args:
            size: Transitions that there is room for.
            horizon: Decisions of the seat that a transition spans.
        """
        self._size, self._horizon, self._count = size, horizon, 0
        self._columns: list[np.ndarray] = []

    def add(self, played: Decisions) -> None:
        """Adds whole matches in place of the oldest transitions."""
        last, reward = np.arange(len(played.action)), played.reward.copy()
        for _ in range(self._horizon - 1):
            goes_on = played.following[last] >= 0
            last[goes_on] = played.following[last[goes_on]]
            reward[goes_on] += played.reward[last[goes_on]]
        after = played.next_observation[last], played.next_mask[last]
        added = played.observation, played.action, reward, *after
        if not self._columns:
            self._columns = [np.zeros((self._size, *new.shape[1:]), new.dtype) for new in added]
        place = (self._count + np.arange(len(last))) % self._size
        for column, new in zip(self._columns, added, strict=True):
            column[place] = new
        self._count += len(last)

    def sample(self, size: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Draws transitions: what was seen, done and earned, what was seen next, its mask."""
        drawn = rng.integers(min(self._count, self._size), size=size)
        return [column[drawn] for column in self._columns]


def train(
    table: BenchmarkTable, seed: int, settings: Settings, spent: Callable[[], float]
) -> Iterator[Progress]:
    """Learns; yields the policy after each round of matches and its updates.

    Args:
        table: Any table.
        seed: Seed of the cards, the choices, the weights and the samples.
        settings: What can be set.
        spent: Returns the share of the budget that is used, from 0 to 1.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    learner, target = (Network(table, settings.layers) for _ in range(2))
    target.load_state_dict(learner.state_dict())
    optimizer = torch.optim.Adam(learner.parameters())
    batch = table.make_batch(settings.tables, seed)
    buffer, decisions = Buffer(settings.buffer, settings.horizon), 0
    while True:
        left = 1.0 - spent()
        optimizer.param_groups[0]["lr"] = settings.learning_rate * left
        temperature = settings.coldest + (settings.temperature - settings.coldest) * left
        explorer = learner.player(temperature, settings.epsilon * left)
        played = collect(batch, explorer, observation="box")
        buffer.add(played)
        decisions += len(played.action)
        for _ in range(settings.updates):
            sampled = buffer.sample(settings.minibatch, rng)
            update(learner, target, optimizer, sampled, settings.follow)
        yield Progress(decisions, partial(learner.policy, "dqn", temperature))


def update(
    learner: Network,
    target: Network,
    optimizer: torch.optim.Optimizer,
    sampled: Sequence[np.ndarray],
    follow: float,
) -> None:
    """Makes a gradient step of double Q-learning; the target network follows the learner.

    Args:
        learner: Chooses the next action.
        target: Rates it.
        optimizer: Of the learner.
        sampled: Transitions, from `Buffer.sample`.
        follow: How much of the way the target goes.
    """
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
