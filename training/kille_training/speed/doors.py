"""Rows for the doors that Python code comes through, one table at a time."""

import contextlib
import io
import time
from collections.abc import Iterator

import numpy as np

import kille_env
from kille_training.speed.rows import Row, row


def bench_aec(game: str, players: int, repeats: int) -> Iterator[Row]:
    """A decision through PettingZoo: `last`, choose from the mask, `step`."""
    from pettingzoo.test import performance_benchmark

    env = kille_env.make(game, num_players=players)
    rng = np.random.default_rng(1)
    runs = []
    for repeat in range(repeats):
        env.reset(seed=repeat)
        decisions = 0
        start = time.perf_counter()
        while decisions < 5000:
            _, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.reset()
                continue
            legal = np.flatnonzero(info["action_mask"])
            env.step(int(legal[int(rng.random() * len(legal))]))
            decisions += 1
        runs.append((time.perf_counter() - start) / decisions * 1e6)
    yield row(f"AEC decision, {players} seats", runs, "µs a decision", "10")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        performance_benchmark(env)
    for line in printed.getvalue().splitlines():
        number = line.partition(" turns per second")[0]
        with contextlib.suppress(ValueError):
            yield row("pettingzoo.test.performance_benchmark", [float(number)], "turns/s")
