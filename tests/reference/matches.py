"""Recorded matches, for tests and for pictures."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kille_agents import as_policy
from kille_env.core.batch import Batch
from kille_env.play.seating import SeatedPolicies
from kille_env.records import Record, Recorder
from kille_env.registry import load_game
from kille_training.evaluation.replay import Numbered


def match(
    game: str = "byteskille",
    seats: int = 3,
    episode: str = "deal",
    seed: int = 0,
    names: Sequence[str] | None = None,
    player: Any = "uniform",
) -> Record:
    """Play the first match of a seed, with one player in every seat, and return its record."""
    rules = load_game(game).spec.resolve(episode=episode)
    batch = Batch(load_game(game), 1, seats, rules, 0, restart=False)
    recorder = Recorder(batch, names)
    recorder.reset(seed=seed)
    policy = as_policy(player, game, seats, rules)
    players = SeatedPolicies(batch, [policy], np.zeros(seats, np.int64), recorder.step)
    while batch.seat[0] >= 0:
        players.run()
    return recorder.record()


def matches(game: str, seats: int, episode: str, number: int, *more: Any) -> list[Numbered]:
    """Play the first matches of the seeds 0, 1, ..., and numbers them as lines of a file."""
    return [Numbered(seed + 1, match(game, seats, episode, seed, *more)) for seed in range(number)]
