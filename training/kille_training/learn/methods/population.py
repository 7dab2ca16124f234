"""Policy gradient against a population of its own past: PPO whose opponents are snapshots.

Bansal, Pachocki, Sidor, Sutskever and Mordatch, "Emergent complexity via multi-agent competition",
ICLR 2018: an opponent is drawn from the learner's older versions, so that it cannot forget how to
play against them. The population is a sample of all past versions, each as likely to be in it as
any other (reservoir sampling, Vitter 1985), whatever its age. At each table one seat always learns;
each other seat is the learner too, or a snapshot. Only the learner's decisions are learnt from.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from kille_env.experience import PolicyFunction, collect
from kille_training.learn.method import Progress
from kille_training.learn.methods import ppo
from kille_training.learn.tables import BenchmarkTable


@dataclass(frozen=True)
class Settings(ppo.Settings):
    """What can be set, beside the numbers of `ppo`.

    Attributes:
        size: Snapshots in the population.
        share: How often another seat plays a snapshot.
    """

    size: int = 8
    share: float = 0.5


def train(
    table: BenchmarkTable, seed: int, settings: Settings, spent: Callable[[], float]
) -> Iterator[Progress]:
    """Learns; yields the newest policy after each update.

    Args:
        table: Any table.
        seed: Seed of the cards, the choices, the weights, the minibatches and the population.
        settings: What can be set.
        spent: Returns the share of the budget that is used, from 0 to 1.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    batch, learner = table.make_batch(settings.tables, seed), ppo.Learner(table, settings)
    population: list[PolicyFunction] = []
    decisions = updates = 0
    while True:
        updates += 1
        place = len(population) if len(population) < settings.size else int(rng.integers(updates))
        if place < settings.size:
            population[place : place + 1] = [deepcopy(learner.actor).player()]
        seating = _seating(len(population), settings, table.num_players, rng)
        players = [learner.actor.player(), *population]
        played = collect(batch, players, observation="box", seating=seating)
        decisions += len(played.action)
        learner.update(played, 1.0 - spent(), seating[played.table, played.seat] == 0)
        yield Progress(decisions, partial(learner.actor.policy, "population"))


def _seating(
    snapshots: int, settings: Settings, num_players: int, rng: np.random.Generator
) -> np.ndarray:
    """Returns who plays each seat, [N, P]: 0 is the learner, 1 and so on the snapshots."""
    size, tables = (settings.tables, num_players), np.arange(settings.tables)
    seating = (rng.random(size) < settings.share) * (1 + rng.integers(snapshots, size=size))
    seating[tables, tables % num_players] = 0
    return seating
