"""Proximal policy optimization in one file, by self-play over whole deals.

Schulman, Wolski, Dhariwal, Radford and Klimov, "Proximal policy optimization algorithms",
arXiv:1707.06347, 2017, in the style of CleanRL (Huang et al., JMLR 23, 2022). All seats share one
actor and one critic. The return of a decision is the earnings of its own seat until the end of the
match. The entropy bonus and the learning rate fall to 0, because a permanent bonus would move play
away from the equilibrium.
"""

import numpy as np
import torch
from torch import nn

from kille_agents.network import NetworkPolicy
from kille_env.errors import ConfigError
from kille_env.play.experience import Transitions
from kille_env.registry import Table
from kille_training.learn.method import DealLearner, DealSettings, Left
from kille_training.settings import settings


@settings
class Settings(DealSettings):
    """Hyperparameters beside those of `DealSettings`.

    Attributes:
        epochs: Passes over the decisions per update.
        parts: Minibatches per epoch.
        learning_rate: Initial learning rate; it falls to 0.
        entropy: Initial weight of the entropy bonus; it falls to 0.
        clip: Clip range of the ratio of new to old probability.
        norm: Maximum norm of the gradient.
    """

    epochs: int = 4
    parts: int = 4
    learning_rate: float = 2e-3
    entropy: float = 0.1
    clip: float = 0.2
    norm: float = 0.5

    def __post_init__(self) -> None:
        """Refuse updates of one match, which may have a single decision."""
        if self.tables < 2:
            raise ConfigError(
                f"tables is {self.tables}, expected at least 2: advantages are normalized by "
                "their spread over an update, and one decision has none"
            )


class Learner(DealLearner):
    """An actor and a critic."""

    parts = ("actor", "critic", "optimizer")

    def __init__(self, table: Table, seed: int, settings: Settings) -> None:
        """Begin with PyTorch's random weights."""
        super().__init__(table, seed, settings)
        self.actor = self.new_network()
        self.critic = self.new_network(outputs=1)
        self.parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, eps=1e-5)

    def update(self, left: Left) -> dict[str, float]:
        """Play matches and make one update."""
        share = left()
        played = self.collect(self.actor.player())
        self.decisions += len(played.action)
        self.learn(played, share)
        return {}

    def policy(self, name: str) -> NetworkPolicy:
        """Return the actor's policy."""
        return self.actor.policy(name, made=self.made)

    def learn(self, played: Transitions, left: float, own: np.ndarray | None = None) -> None:
        """Make the gradient steps of an update."""
        settings = self.settings
        self.optimizer.param_groups[0]["lr"] = settings.learning_rate * left
        mask, action = torch.as_tensor(played.mask), torch.as_tensor(played.action)
        before = torch.as_tensor(played.log_probability).float()
        with torch.no_grad():
            values = self.critic(played.observation)[:, 0]
        advantage = torch.as_tensor(played.advantages(values)).float()
        returns = advantage + values
        rows = torch.arange(len(action)) if own is None else torch.as_tensor(own).nonzero()[:, 0]
        if len(rows) < 2:
            return  # there is no spread to normalize by
        advantage = (advantage - advantage[rows].mean()) / (advantage[rows].std() + 1e-8)
        shuffles = [rows[torch.randperm(len(rows))] for _ in range(settings.epochs)]
        steps = min(settings.epochs * settings.parts, settings.epochs * len(rows))
        for part in torch.cat(shuffles).tensor_split(steps):
            seen = played.observation[part.numpy()]
            log = self.actor(seen).masked_fill(mask[part] == 0, -1e9).log_softmax(1)
            ratio = (log.gather(1, action[part, None])[:, 0] - before[part]).exp()
            clipped = ratio.clamp(1.0 - settings.clip, 1.0 + settings.clip)
            gain = torch.min(ratio * advantage[part], clipped * advantage[part])
            error = self.critic(seen)[:, 0] - returns[part]
            entropy = -(log.exp() * log).sum(1)
            bonus = settings.entropy * left * entropy
            loss = error.square().mean() / 2 - (gain + bonus).mean()
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.parameters, settings.norm)
            self.optimizer.step()
