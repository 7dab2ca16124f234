"""Rows for training a network."""

import statistics
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from kille_agents.network import NetworkPolicy
from kille_env.core.spec import Rules
from kille_env.registry import Table
from speed.choices import random_actions
from speed.rows import Row, row, seconds

if TYPE_CHECKING:
    pass

STEPS = 8


def bench_train(game: str, players: int, repeats: int) -> Iterator[Row]:
    """MaskablePPO end to end on seat streams, 64x64 network, one thread; and beside idle tables.

    The second row is the limit of what any environment lets the learner reach: the same learner,
    with its library's own buffer, at tables that cost nothing. Both take turns.
    """
    from kille_training.learn.methods.maskable_ppo import Learner, Settings
    from speed.idle import IdleVecEnv

    table, settings = Table.of(game, players), Settings(num_tables=512, n_steps=32, batch_size=4096)
    rates, shares = [], []
    for seed in range(min(repeats, 3)):
        idle = IdleVecEnv(game, settings.num_tables, players, rules=table.rules, seed=seed)
        learners = Learner(table, seed, settings), Learner(table, seed, settings, idle)
        for learner in learners:
            learner.update(lambda: 1.0)  # compiles
        turns = [
            [seconds(1, learner.update, lambda: 1.0)[0] for learner in learners] for _ in range(8)
        ]
        playing, idling = (sum(spent) for spent in zip(*turns, strict=True))
        rates.append(8 * 512 * 32 / playing / 1e3)
        shares.append(idling / playing)
    yield row(f"MaskablePPO end to end, {players} seats, deals", rates, "k decisions/s", "45")
    what = f"MaskablePPO over the same at idle tables, {players} seats"
    yield row(what, shares, "times", "0.9")


class _Asked:
    """A policy's `probabilities`, with a clock and a count of its calls."""

    def __init__(self, probabilities: Callable[..., Any]) -> None:
        self._probabilities = probabilities
        self.seconds, self.decisions, self.passes = 0.0, 0, 0

    def __call__(self, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        start = time.perf_counter()
        found = self._probabilities(observation, mask)
        self.seconds += time.perf_counter() - start
        self.decisions, self.passes = self.decisions + len(mask), self.passes + 1
        return found


def bench_seats(game: str, players: int, repeats: int) -> Iterator[Row]:
    """A step of `SeatVecEnv` against the live policy, beside one forward pass over its decisions.

    Between two decisions of a seat the others decide one after the other, so their questions come
    in many small passes. The yardstick is one pass of the same network by torch over as many
    decisions.
    """
    import torch

    from kille_env.adapters.sb3 import SeatVecEnv
    from kille_training.learn.methods.maskable_ppo import Learner, Settings

    table = Table.of(game, players)
    venv = SeatVecEnv(game, 512, players, rules=table.rules, opponents="self", seed=0)
    model: Any = Learner(table, 1, Settings(), venv).model
    venv.follow(model)
    asks, rng = venv.live.probabilities, np.random.default_rng(1)
    venv.reset()

    def play() -> None:
        for _ in range(STEPS):
            venv.step(random_actions(venv.action_masks(), rng))

    play()
    runs = []
    for _ in range(repeats):
        asked = venv.live.probabilities = _Asked(asks)
        (spent,) = seconds(1, play)
        features = venv.tables.batch.observation.shape[1]
        seen = torch.zeros(asked.decisions // STEPS, features)
        with torch.no_grad():
            one = statistics.median(seconds(5, model.policy.get_distribution, seen))
        runs.append((spent / STEPS * 1e3, asked.passes / STEPS, asked.seconds / STEPS / one))
    steps, passes, shares = zip(*runs, strict=True)
    where = f"{players} seats, 512 tables"
    yield row(f"SeatVecEnv step against the live policy, {where}", steps, "ms")
    yield row(f"its forward passes, {where}", passes, "a step")
    yield row(f"all of them over one pass of all decisions, {where}", shares, "times", "1")


def random_network(seats: int, rules: Rules) -> NetworkPolicy:
    """Returns a network that has not learnt anything."""
    from kille_training.learn.methods.maskable_ppo import Learner, Settings

    return Learner(Table.of(rules.game, seats, rules), 1, Settings()).policy("random")
