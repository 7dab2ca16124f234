"""Neural fictitious self-play.

Heinrich and Silver, "Deep reinforcement learning from self-play in imperfect-information games",
arXiv 1603.01121, 2016. Before each match every seat draws what it plays in it: with probability
`anticipation` the best response, which Q-learning learns, or else the average policy, which a
second network learns from a reservoir of what best responses have done. The average policy is the
one that approaches an equilibrium.

One pair of networks plays all seats: an observation says where its seat sits. Unlike the paper's, a
best response draws actions by the softmax of their values at a low temperature (smooth fictitious
play), and learns from transitions that span several decisions.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import nn

from kille_env.experience import collect
from kille_training.learn.method import Progress
from kille_training.learn.methods import dqn
from kille_training.learn.networks import Network
from kille_training.learn.tables import BenchmarkTable


@dataclass(frozen=True)
class Settings:
    """What can be set.

    Attributes:
        tables: Matches from one update to the next.
        anticipation: How often a seat plays its best response in a match; the paper has 0.1.
        buffer: Transitions that Q-learning remembers.
        horizon: Decisions of its seat that a transition spans (n-step returns).
        reservoir: Decisions of best responses that the average policy is learnt from.
        updates: Gradient steps of each network after each collecting.
        minibatch: Rows of a gradient step.
        follow: How much of the way the target network goes to the learner after each step.
        layers: Units of each hidden layer.
        learning_rate: Of Q-learning.
        average_rate: Of the average policy, at the beginning; it falls to 0.
        epsilon: How often a best response acts at random, at the beginning; it falls to 0.
    """

    tables: int = 2048
    anticipation: float = 0.25
    buffer: int = 100_000
    horizon: int = 3
    reservoir: int = 1_000_000
    updates: int = 6
    minibatch: int = 2048
    follow: float = 0.05
    layers: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-3
    average_rate: float = 2e-3
    epsilon: float = 0.1
    temperature: float = 0.05


class Reservoir:
    """A uniform sample of all rows that were ever added (Vitter's algorithm R)."""

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        """Begins empty, with room for `size` rows."""
        self._size, self._rng, self._count = size, rng, 0
        self._columns: list[np.ndarray] = []

    def add(self, *columns: np.ndarray) -> None:
        """Adds rows; each replaces an older one as often as makes all equally likely to be here."""
        if not self._columns:
            self._columns = [np.zeros((self._size, *c.shape[1:]), c.dtype) for c in columns]
        number = self._count + np.arange(len(columns[0]))
        drawn = self._rng.integers(number + 1)
        place = np.where(number < self._size, number, drawn)
        kept = place < self._size
        for mine, new in zip(self._columns, columns, strict=True):
            mine[place[kept]] = new[kept]
        self._count += len(number)

    def sample(self, size: int) -> list[np.ndarray]:
        """Draws rows, as columns."""
        drawn = self._rng.integers(min(self._count, self._size), size=size)
        return [column[drawn] for column in self._columns]


def train(
    table: BenchmarkTable, seed: int, settings: Settings, spent: Callable[[], float]
) -> Iterator[Progress]:
    """Learns; yields the average policy after each round of matches and its updates.

    Args:
        table: Any table.
        seed: Seed of the cards, the choices, the weights and the samples.
        settings: What can be set.
        spent: Returns the share of the budget that is used, from 0 to 1.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    batch = table.make_batch(settings.tables, seed)
    average, response, target = (Network(table, settings.layers) for _ in range(3))
    target.load_state_dict(response.state_dict())
    learning = torch.optim.Adam(response.parameters(), settings.learning_rate)
    averaging = torch.optim.Adam(average.parameters())
    buffer = dqn.Buffer(settings.buffer, settings.horizon)
    reservoir = Reservoir(settings.reservoir, rng)
    decisions = 0
    while True:
        left = 1.0 - spent()
        averaging.param_groups[0]["lr"] = settings.average_rate * left
        responds = rng.random((settings.tables, table.num_players)) < settings.anticipation
        responding = response.player(settings.temperature, settings.epsilon * left)
        players = [average.player(), responding]
        played = collect(batch, players, observation="box", seating=responds.astype(np.int64))
        decisions += len(played.action)
        buffer.add(played)
        own = responds[played.table, played.seat]
        reservoir.add(played.observation[own], played.mask[own], played.action[own])
        for _ in range(settings.updates):
            sampled = buffer.sample(settings.minibatch, rng)
            dqn.update(response, target, learning, sampled, settings.follow)
            seen, mask, action = reservoir.sample(settings.minibatch)
            logits = average(seen).masked_fill(torch.as_tensor(mask) == 0, -1e9)
            loss = nn.functional.cross_entropy(logits, torch.as_tensor(action))
            averaging.zero_grad()
            loss.backward()
            averaging.step()
        yield Progress(decisions, partial(average.policy, "nfsp"))
