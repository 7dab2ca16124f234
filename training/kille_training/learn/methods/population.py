"""PPO against a population of snapshots of itself.

Bansal, Pachocki, Sidor, Sutskever and Mordatch, "Emergent complexity via multi-agent competition",
ICLR 2018: opponents are drawn from older versions of the learner, so that it does not forget to
play against them. The population is a uniform sample of all past versions (reservoir sampling,
Vitter 1985). At each table one seat always learns; each other seat is the learner too, or a
snapshot. Only the learner's decisions are learned from.
"""

from collections.abc import Mapping
from copy import deepcopy

import numpy as np

from kille_env.registry import Table
from kille_training.learn.method import Left, count_of
from kille_training.learn.methods import ppo
from kille_training.learn.networks import Network
from kille_training.settings import settings


@settings
class Settings(ppo.Settings):
    """Hyperparameters beside those of `ppo`.

    Attributes:
        size: Snapshots in the population.
        share: Probability that another seat plays a snapshot.
    """

    size: int = 8
    share: float = 0.5


class Learner(ppo.Learner):
    """A learner of `ppo` with snapshots of itself."""

    parts = (*ppo.Learner.parts, "rng", "updates", "population")

    def __init__(self, table: Table, seed: int, settings: Settings) -> None:
        """Begin with PyTorch's random weights."""
        super().__init__(table, seed, settings)
        self.rng, self.updates = np.random.default_rng(seed), 0
        self.population: list[Network] = []

    def update(self, left: Left) -> dict[str, float]:
        """Offer a snapshot to the population, play matches with it, and make one update."""
        share, settings, population = left(), self.settings, self.population
        self.updates += 1
        full = len(population) >= settings.size
        place = int(self.rng.integers(self.updates)) if full else len(population)
        if place < settings.size:
            population[place : place + 1] = [deepcopy(self.actor)]
        seating = _seating(len(population), settings, self.table.num_players, self.rng)
        players = [self.actor.player(), *(snapshot.player() for snapshot in population)]
        played = self.collect(players, seating)
        self.decisions += len(played.action)
        self.learn(played, share, seating[played.table, played.seat] == 0)
        return {}

    def load(self, state: Mapping[str, np.ndarray]) -> None:
        """See `learn.method.Learner`."""
        self.population = [deepcopy(self.actor) for _ in range(count_of(state, "population"))]
        super().load(state)


def _seating(
    snapshots: int, settings: Settings, num_players: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the player of each seat, [N, P]: 0 is the learner, the snapshots begin at 1."""
    size, tables = (settings.tables, num_players), np.arange(settings.tables)
    seating = (rng.random(size) < settings.share) * (1 + rng.integers(snapshots, size=size))
    seating[tables, tables % num_players] = 0
    return seating
