"""Rows for training a network."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from kille_agents.network import NetworkPolicy
from kille_env.core.spec import Rules
from kille_env.registry import Table
from speed.choices import random_actions
from speed.rows import Row, row, seconds

STEPS = 8


def bench_train(game: str, players: int, repeats: int) -> Iterator[Row]:
    """MaskablePPO end to end on seat streams, 64x64 network, one thread."""
    from kille_training.learn.methods.maskable_ppo import Learner, Settings

    table, settings = Table.of(game, players), Settings(num_tables=512, n_steps=32, batch_size=4096)
    rates = []
    for seed in range(min(repeats, 3)):
        learner = Learner(table, seed, settings)
        learner.update(lambda: 1.0)  # compiles
        spent = seconds(8, learner.update, lambda: 1.0)
        rates.append(8 * 512 * 32 / sum(spent) / 1e3)
    yield row(f"MaskablePPO end to end, {players} seats, deals", rates, "k decisions/s", "45")


def bench_seats(game: str, players: int, repeats: int) -> Iterator[Row]:
    """A step of `SeatVecEnv` against the live policy, which is asked seat after seat."""
    from kille_env.adapters.sb3 import SeatVecEnv
    from kille_training.learn.methods.maskable_ppo import Learner, Settings

    table = Table.of(game, players)
    venv = SeatVecEnv(game, 512, players, rules=table.rules, opponents="self", seed=0)
    model: Any = Learner(table, 1, Settings(), venv).model
    venv.follow(model)
    rng = np.random.default_rng(1)
    venv.reset()

    def play() -> None:
        for _ in range(STEPS):
            venv.step(random_actions(venv.action_masks(), rng))

    play()
    runs = [1e3 * spent / STEPS for spent in seconds(repeats, play)]
    yield row(f"SeatVecEnv step against the live policy, {players} seats, 512 tables", runs, "ms")


def random_network(seats: int, rules: Rules) -> NetworkPolicy:
    """Returns a network that has not learnt anything."""
    from kille_training.learn.methods.maskable_ppo import Learner, Settings

    return Learner(Table.of(rules.game, seats, rules), 1, Settings()).policy("random")
