"""Policy-space response oracles: a population that grows by best responses to a mixture of itself.

Lanctot et al., "A unified game-theoretic approach to multiagent reinforcement learning", NIPS 2017.
Each round has four parts:

1. An *oracle* learns a best response to opponents drawn from the mixture. They are fixed, so it
   regresses the returns of its actions (`monte_carlo`).
2. The new member meets each older one over the same deals, once in every seat, with the older one
   in all other seats: a row of the *meta-game*.
3. The *meta-solver* chooses the next mixture: an equilibrium of the margins, or uniform (fictitious
   play). With two seats the margins are the whole game; with more they ignore tables with three
   members, so the mixture is an equilibrium of duels only.
4. The mixture is distilled into one policy: at each observation, the mean of the members weighted
   by their frequencies there. A network learns it from matches in which every seat draws a member.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Literal

import numpy as np
import torch
from scipy.optimize import linprog

from kille_agents.network import NetworkPolicy
from kille_env.core.batch import Batch
from kille_env.errors import ConfigError, KilleError
from kille_env.play.experience import Collector, PolicyFunction, collect
from kille_env.registry import Table
from kille_training.learn.method import DealLearner, DealSettings, Left, count_of
from kille_training.learn.methods import monte_carlo
from kille_training.learn.networks import Network
from kille_training.settings import settings

GREEDY = 1e-3  # temperature of practically greedy play


@settings
class Settings(DealSettings):
    """Hyperparameters beside those of `DealSettings`.

    Attributes:
        oracle: Updates per oracle.
        steps: Gradient steps per update.
        learning_rate: Initial learning rate of an oracle; it falls to 0.
        epsilon: Initial share of an oracle's random actions; it falls to 0.
        meta: The meta-solver, "nash" or "uniform".
        distilled: Batches of matches per round for the distilled network.
        distilling: Gradient steps of the distilled network per round.
    """

    oracle: int = 20
    steps: int = 4
    learning_rate: float = 3e-3
    epsilon: float = 0.3
    meta: Literal["nash", "uniform"] = "nash"
    distilled: int = 4
    distilling: int = 40

    def __post_init__(self) -> None:
        """Refuse scaled rewards: margins between members are in units."""
        if self.scaled:
            raise ConfigError("scaled is true, and psro plays for units: leave it out")


class Learner(DealLearner):
    """A population of best responses, and a distilled network of their mixture."""

    parts = ("response", "average", "learning", "networks", "margins", "mixture", "rng")

    def __init__(self, table: Table, seed: int, settings: Settings) -> None:
        """Begin with uniform play as the only member."""
        super().__init__(table, seed, settings)
        self.rng, self.meeting = np.random.default_rng(seed), self.make_batch()
        self.networks: list[Network] = []
        self.margins, self.mixture = np.zeros((1, 1)), np.ones(1)
        self.response, self.average = (self.new_network() for _ in range(2))
        self.learning = torch.optim.Adam(self.average.parameters(), settings.learning_rate)

    @property
    def members(self) -> list[PolicyFunction]:
        """All members of the population, uniform play first."""
        return [_uniform, *(network.player(GREEDY) for network in self.networks)]

    def update(self, left: Left) -> dict[str, float]:
        """Make one round; `left` is unused, as rounds are alike."""
        settings, rng = self.settings, self.rng
        self.decisions += _respond(
            self.response, self.members, self.mixture, self.batch, settings, rng
        )
        self.networks.append(deepcopy(self.response))
        members = self.members
        row, played = _meet(members, self.meeting, int(rng.integers(2**32)))
        self.margins = np.block([[self.margins, -row[:, None]], [row[None], np.zeros((1, 1))]])
        self.mixture = np.full(len(members), 1.0 / len(members))
        if settings.meta == "nash":
            self.mixture = equilibrium(self.margins)
        self.decisions += played + _distil(
            self.average, self.learning, members, self.mixture, self.batch, settings, rng
        )
        return {}

    def policy(self, name: str) -> NetworkPolicy:
        """Return the mixture as one policy."""
        return self.average.policy(name, made=self.made)

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """See `learn.method.Learner`."""
        self.networks = [deepcopy(self.response) for _ in range(count_of(state, "networks"))]
        super().load(state)


def equilibrium(payoff: np.ndarray) -> np.ndarray:
    """Return an equilibrium of a symmetric zero-sum game, [K] probabilities."""
    count = len(payoff)
    found = linprog(  # minimize the payoff of a best response
        np.append(np.zeros(count), 1.0),
        A_ub=np.column_stack([payoff, -np.ones(count)]),
        b_ub=np.zeros(count),
        A_eq=[[1.0] * count + [0.0]],
        b_eq=[1.0],
        bounds=[(0, 1)] * count + [(None, None)],
    )
    if found.status:
        raise KilleError(f"no equilibrium of the meta-game was found: {found.message}")
    mixture = found.x[:count].clip(0.0)
    return mixture / mixture.sum()


def _respond(
    response: Network,
    members: list[PolicyFunction],
    mixture: np.ndarray,
    batch: Batch,
    settings: Settings,
    rng: np.random.Generator,
) -> int:
    """Train the last response further against a mixture; return the number of decisions."""
    optimizer = torch.optim.Adam(response.parameters())
    decisions = 0
    for number in range(settings.oracle):
        left = 1.0 - number / settings.oracle
        optimizer.param_groups[0]["lr"] = settings.learning_rate * left
        explorer = response.player(GREEDY, settings.epsilon * left)
        seating = _drawn(mixture, batch, rng)
        tables = np.arange(batch.num_tables)
        seating[tables, tables % batch.num_players] = len(members)
        played = collect(batch, [*members, explorer], observation="box", seating=seating)
        returns = played.advantages(np.zeros(len(played.action)))
        own = seating[played.table, played.seat] == len(members)
        rows = played.observation[own], played.action[own], returns[own]
        monte_carlo.regress(response, optimizer, *rows, settings.steps)
        decisions += len(played.action)
    return decisions


def _meet(members: list[PolicyFunction], batch: Batch, seed: int) -> tuple[np.ndarray, int]:
    """Return the newest member's margins over the others in units, [K - 1], and the decisions."""
    row, decisions = np.zeros(len(members) - 1), 0
    for number, older in enumerate(members[:-1]):
        for pair, sign in (([members[-1], older], 0.5), ([older, members[-1]], -0.5)):
            for seat in range(batch.num_players):
                seating = (np.arange(batch.num_players) != seat).astype(np.int64)
                collector = Collector(batch, pair, observation="box", seed=seed, seating=seating)
                played = collector.finish()
                earned = played.reward[played.seat == seat].sum()
                earned += collector.undecided[:, seat].sum()
                row[number] += sign * earned / (batch.num_tables * batch.num_players)
                decisions += len(played.action)
    return row, decisions


def _distil(
    average: Network,
    learning: torch.optim.Optimizer,
    members: list[PolicyFunction],
    mixture: np.ndarray,
    batch: Batch,
    settings: Settings,
    rng: np.random.Generator,
) -> int:
    """Train the network to play the mixture; return the number of decisions."""
    played = [
        collect(batch, members, observation="box", seating=_drawn(mixture, batch, rng))
        for _ in range(settings.distilled)
    ]
    observation, mask, action = (
        np.concatenate(c) for c in zip(*(p[:3] for p in played), strict=True)
    )
    alike = average.alike(observation)
    count = torch.as_tensor(alike.total(action, mask.shape[1], None)).float()
    illegal = torch.as_tensor(mask[alike.first]) == 0
    for _ in range(settings.distilling):
        logits = average(observation[alike.first]).masked_fill(illegal, -1e9)
        loss = -(count * logits.log_softmax(1)).sum() / count.sum()
        learning.zero_grad()
        loss.backward()
        learning.step()
    return len(action)


def _uniform(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Play every legal action with the same probability."""
    return mask / mask.sum(axis=1, keepdims=True)


def _drawn(mixture: np.ndarray, batch: Batch, rng: np.random.Generator) -> np.ndarray:
    """Return the player of each seat, [N, P], drawn from the mixture."""
    return rng.choice(len(mixture), size=(batch.num_tables, batch.num_players), p=mixture)
