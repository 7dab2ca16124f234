"""Magnetic mirror descent with a network, by self-play over whole deals.

Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown and Kroer, "A unified approach to
reinforcement learning, quantal response equilibria, and two-player zero-sum games", ICLR 2023. Each
update ascends the advantages, less `alpha` times the divergence from a magnet (uniform
play: `alpha` is the temperature of a quantal response equilibrium) and less the divergence from the
policy before the update over a step size `eta`. Both fall to 0, so play ends at an equilibrium.

All seats share one network. Thousands of deals meet the same few observations, so counts and
advantages are added up by observation and action first: the update is the same, and much cheaper.

Not in the paper: every seat explores, playing uniformly with probability `epsilon`, because answers
to deviations from an equilibrium are learned only if seats deviate. Importance weights of the later
actions correct the returns for exploration.
"""

import numpy as np
import torch

from kille_agents.network import NetworkPolicy
from kille_env.play.experience import Transitions
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
        alpha: Initial pull of the magnet, in units; it falls to 0 with the square of the budget
            that is left, so that the network can follow it.
        eta: Initial step size in the space of policies; it falls to 0.
        epsilon: Share of exploring actions; it makes returns of long matches noisy.
    """

    tables: int = 16_384
    steps: int = 8
    learning_rate: float = 3e-3
    alpha: float = 0.1
    eta: float = 1.0
    epsilon: float = 0.05


class Learner(DealLearner):
    """An actor and a critic."""

    parts = ("actor", "critic", "optimizer")

    def __init__(self, table: Table, seed: int, settings: Settings) -> None:
        """Begin with PyTorch's random weights."""
        super().__init__(table, seed, settings)
        self.actor = self.new_network()
        self.critic = self.new_network(outputs=1)
        parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(parameters, fused=True)

    def update(self, left: Left) -> dict[str, float]:
        """Play matches and make one update."""
        settings, share = self.settings, max(left(), 1e-3)  # a step size of 0 would divide by 0
        self.optimizer.param_groups[0]["lr"] = settings.learning_rate * share
        explorer = self.actor.player(epsilon=settings.epsilon)
        played = self.collect(explorer)
        self.decisions += len(played.action)
        descend(self.actor, self.critic, self.optimizer, played, settings, share)
        return {}

    def policy(self, name: str) -> NetworkPolicy:
        """Return the actor's policy."""
        return self.actor.policy(name, made=self.made)


def descend(
    actor: Network,
    critic: Network,
    optimizer: torch.optim.Optimizer,
    played: Transitions,
    settings: Settings,
    left: float,
) -> None:
    """Make one update of magnetic mirror descent, in several gradient steps."""
    alike = actor.alike(played.observation)
    seen = actor.inputs(played.observation[alike.first])
    legal = torch.as_tensor(played.mask[alike.first]) != 0
    with torch.no_grad():
        before = _log_policy(actor, seen, legal)
        value = critic.outputs(seen)
    log_odds = before.double().numpy()[alike.kind, played.action]
    weight = weights(played.table, log_odds - played.log_probability)
    returns = played.advantages(np.zeros(len(weight)))  # not discounted
    count, weighed, earned = (
        torch.as_tensor(alike.total(played.action, legal.shape[1], worth) / len(weight)).float()
        for worth in (None, weight, weight * returns)
    )
    visits, weighed_visits, earned_here = count.sum(1), weighed.sum(1), earned.sum(1)
    uniform = legal / legal.sum(1, keepdim=True)
    behaviour = (1.0 - settings.epsilon) * before.exp() + settings.epsilon * uniform
    advantage = (earned - weighed * value) / behaviour.clamp(min=1e-6)  # times visits
    alpha, eta = settings.alpha * left**2, settings.eta * left
    for _ in range(settings.steps):
        now = _log_policy(actor, seen, legal)
        odds = now.exp()
        magnet = (odds * now).sum(1)  # the divergence from uniform play, but for a constant
        moved = (odds * (now - before)).sum(1)
        loss = (visits * (alpha * magnet + moved / eta)).sum() - (odds * advantage).sum()
        worth = critic.outputs(seen)[:, 0]
        loss += (weighed_visits * worth.square() / 2 - earned_here * worth).sum()  # least squares
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def weights(table: np.ndarray, log_ratio: np.ndarray) -> np.ndarray:
    """Return importance weights: products of the ratios of all later decisions at a table, [D]."""
    order = np.argsort(table, kind="stable")
    total = np.cumsum(log_ratio[order])
    last = np.searchsorted(table[order], table[order], side="right") - 1
    found = np.empty(len(table))
    found[order] = np.exp(total[last] - total)
    return found


def _log_policy(actor: Network, seen: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Return log-probabilities [K, A]; a large negative number where an action is illegal."""
    return actor.outputs(seen).masked_fill(~legal, -1e9).log_softmax(1)
