"""Magnetic mirror descent with a network, by self-play over whole deals.

Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown and Kroer, "A unified approach to
reinforcement learning, quantal response equilibria, and two-player zero-sum games", ICLR 2023. Each
update climbs what the actions brought, less `alpha` times the divergence from a magnet (uniform
play: `alpha` is the temperature of a quantal response equilibrium) and less the divergence from the
policy before the update over a step size `eta`. Both fall to 0, so play ends at an equilibrium.

All seats share one network. Thousands of deals meet the same few observations, so counts and
advantages are added up by observation and action first: the update is the same, and much cheaper.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from kille_env.experience import Decisions, collect
from kille_training.benchmark.distinct import distinct
from kille_training.benchmark.method import Progress
from kille_training.benchmark.networks import Network
from kille_training.benchmark.tables import BenchmarkTable


@dataclass(frozen=True)
class Settings:
    """What can be set.

    Attributes:
        tables: N, matches from one update to the next.
        layers: Units of each hidden layer.
        steps: Gradient steps of an update, each over all its decisions.
        learning_rate: At the beginning; it falls to 0.
        alpha: Pull of the magnet at the beginning, in units; it falls to 0.
        eta: Size of a step in the space of policies, at the beginning; it falls to 0.
    """

    tables: int = 4096
    layers: tuple[int, ...] = (64, 64)
    steps: int = 8
    learning_rate: float = 3e-3
    alpha: float = 0.1
    eta: float = 1.0


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
    actor, critic = Network(table, settings.layers), Network(table, settings.layers, outputs=1)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
    decisions = 0
    while True:
        left = max(1.0 - spent(), 1e-3)  # steps would have no length at the very end
        optimizer.param_groups[0]["lr"] = settings.learning_rate * left
        played = collect(batch, actor.player(), observation="box")
        decisions += len(played.action)
        descend(actor, critic, optimizer, played, settings, left)
        yield Progress(decisions, partial(actor.policy, "mmd"))


def descend(
    actor: Network,
    critic: Network,
    optimizer: torch.optim.Optimizer,
    played: Decisions,
    settings: Settings,
    left: float,
) -> None:
    """Makes one update of magnetic mirror descent, in several gradient steps.

    Args:
        actor: Its outputs are the logits of the policy.
        critic: Learns what an observation is worth.
        optimizer: Of both.
        played: Whole matches, played by the actor.
        settings: What can be set.
        left: The share of the budget that is left.
    """
    alike = distinct(played.observation)
    seen, mask = played.observation[alike.first], torch.as_tensor(played.mask[alike.first])
    returns = played.advantages(np.zeros(len(played.action)))  # not discounted
    actions, total = mask.shape[1], float(len(returns))
    count = torch.as_tensor(alike.total(played.action, actions, None) / total).float()
    earned = torch.as_tensor(alike.total(played.action, actions, returns) / total).float()
    visits = count.sum(1)
    mean = earned.sum(1) / visits
    with torch.no_grad():
        before = _log_policy(actor, seen, mask)
        advantage = earned - count * critic(seen)  # the sum over decisions, [K, A]
        advantage /= before.exp().clamp(min=1e-6)  # of ratios to the policy before
    for _ in range(settings.steps):
        now = _log_policy(actor, seen, mask)
        odds = now.exp()
        magnet = (odds * now).sum(1)  # the divergence from uniform play, but for a constant
        moved = (odds * (now - before)).sum(1)
        loss = -(odds * advantage).sum()
        loss += (visits * (settings.alpha * left * magnet + moved / (settings.eta * left))).sum()
        loss += (visits * (critic(seen)[:, 0] - mean).square()).sum() / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def _log_policy(actor: Network, seen: np.ndarray, mask: torch.Tensor) -> torch.Tensor:
    """Returns log-probabilities [K, A]; a large negative number where an action is illegal."""
    return actor(seen).masked_fill(mask == 0, -1e9).log_softmax(1)
