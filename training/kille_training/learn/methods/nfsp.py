"""Neural fictitious self-play.

Heinrich and Silver, "Deep reinforcement learning from self-play in imperfect-information games",
arXiv 1603.01121, 2016. Before each match every seat draws its policy: with probability
`anticipation` the best response of Q-learning, otherwise the average policy, which a second network
learns from a reservoir of the best responses' decisions. The average policy approaches an
equilibrium.

One pair of networks plays all seats, as observations contain the position. Unlike in the paper, a
best response draws actions from the softmax of their values at a low temperature (smooth fictitious
play), and learns from n-step transitions.
"""

from collections.abc import Mapping

import numpy as np
import torch
from torch import nn

from kille_agents.network import NetworkPolicy
from kille_env.registry import Table
from kille_training.learn.method import DealLearner, DealSettings, Left
from kille_training.learn.methods import dqn
from kille_training.learn.networks import Rows
from kille_training.settings import settings


@settings
class Settings(DealSettings):
    """Hyperparameters beside those of `DealSettings`.

    Attributes:
        anticipation: Probability of the best response in a match; the paper has 0.1.
        buffer: Size of the replay buffer, in transitions.
        horizon: Decisions of its seat per transition (n-step returns).
        reservoir: Size of the reservoir of best responses' decisions.
        updates: Gradient steps of each network per update.
        minibatch: Rows per gradient step.
        follow: Step size of the target network towards the learner (Polyak averaging).
        learning_rate: Learning rate of Q-learning.
        average_rate: Initial learning rate of the average policy; it falls to 0.
        epsilon: Initial share of a best response's random actions; it falls to 0.
        temperature: Softmax temperature of a best response, in units.
    """

    anticipation: float = 0.25
    buffer: int = 100_000
    horizon: int = 3
    reservoir: int = 1_000_000
    updates: int = 6
    minibatch: int = 2048
    follow: float = 0.05
    learning_rate: float = 1e-3
    average_rate: float = 2e-3
    epsilon: float = 0.1
    temperature: float = 0.05


class Learner(DealLearner):
    """A best response and an average policy, one pair of networks for all seats."""

    parts = ("average", "response", "target", "learning", "averaging", "responses", "rng")
    refills = "its replay buffer and its reservoir"

    def __init__(self, table: Table, seed: int, settings: Settings) -> None:
        """Begin with PyTorch's random weights."""
        super().__init__(table, seed, settings)
        self.rng = np.random.default_rng(seed)
        self.average, self.response, self.target = (self.new_network() for _ in range(3))
        self.target.load_state_dict(self.response.state_dict())
        self.learning = torch.optim.Adam(self.response.parameters(), settings.learning_rate)
        self.averaging = torch.optim.Adam(self.average.parameters())
        self.memory, self.reservoir = Rows(settings.buffer), Rows(settings.reservoir)
        self.responses = 0

    def update(self, left: Left) -> dict[str, float]:
        """Play matches and make gradient steps of both networks."""
        settings, rng, share = self.settings, self.rng, left()
        self.averaging.param_groups[0]["lr"] = settings.average_rate * share
        responds = rng.random((settings.tables, self.table.num_players)) < settings.anticipation
        responding = self.response.player(settings.temperature, settings.epsilon * share)
        players, seating = [self.average.player(), responding], responds.astype(np.int64)
        played = self.collect(players, seating)
        self.decisions += len(played.action)
        self.memory.add(*dqn.transitions(played, settings.horizon))
        own = responds[played.table, played.seat]
        columns = played.observation, played.mask, played.action
        self.reservoir.add_sampled(rng, *(column[own] for column in columns))
        self.responses = self.reservoir.count
        for _ in range(settings.updates):
            sampled = self.memory.sample(settings.minibatch, rng)
            dqn.update(self.response, self.target, self.learning, sampled, settings.follow)
            seen, mask, action = self.reservoir.sample(settings.minibatch, rng)
            logits = self.average(seen).masked_fill(torch.as_tensor(mask) == 0, -1e9)
            loss = nn.functional.cross_entropy(logits, torch.as_tensor(action))
            self.averaging.zero_grad()
            loss.backward()
            self.averaging.step()
        return {}

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """See `learn.method.Learner`; the average policy refills the reservoir."""
        super().load(state)
        # The average policy is the mean of the best responses that the reservoir sampled, so its
        # own play is a new sample of the same decisions.
        while self.reservoir.count < min(self.responses, self.reservoir.size):
            played = self.collect(self.average.player())
            self.reservoir.add(played.observation, played.mask, played.action)
        self.reservoir.count = self.responses

    def policy(self, name: str) -> NetworkPolicy:
        """Return the average policy."""
        return self.average.policy(name, made=self.made)
