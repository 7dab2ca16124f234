"""Recorded matches, for tests and for pictures."""

from collections.abc import Iterator, Sequence

import numpy as np

from kille_agents import as_policy
from kille_env.core.batch import Batch
from kille_env.play.play import Players
from kille_env.records import Recorder
from kille_env.registry import load_game
from kille_training.evaluation.replay import Numbered


def matches(
    game: str,
    seats: int,
    episode: str,
    number: int,
    names: Sequence[str] | None = None,
    player: str = "uniform",
) -> Iterator[Numbered]:
    """Plays matches, the first of the seeds 0, 1, ...; one player sits in every seat."""
    rules = load_game(game).spec.resolve(episode=episode)
    batch = Batch(load_game(game), 1, seats, rules, 0, restart=False)
    recorder, policy = Recorder(batch, names), as_policy(player, game, seats, rules)
    players = Players(batch, [policy], np.zeros(seats, np.int64), recorder.step)
    for seed in range(number):
        recorder.reset(seed=seed)
        while batch.seat[0] >= 0:
            players.play()
        yield Numbered(seed + 1, recorder.record())
