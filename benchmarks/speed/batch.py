"""Rows for batches of tables: by number of tables and seats, game, threads, and parts of a step."""

import statistics
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np

import kille_env
from kille_env.core.batch import Batch
from kille_env.core.jit import kernel
from speed.choices import random_actions
from speed.rows import Row, row, seconds

TABLES = (64, 1024, 4096, 16384, 65536)


def played(game: str, tables: int, players: int, episode: str = "match", threads: int = 1) -> Batch:
    """Returns a batch in the middle of its matches."""
    batch = kille_env.make_batch(game, tables, players, seed=0, threads=threads, episode=episode)
    batch.reset()
    rng = np.random.default_rng(0)
    for _ in range(20):
        batch.step(random_actions(batch.mask, rng))
    return batch


def step_rate(batch: Batch, decisions: int, rng: np.random.Generator) -> float:
    """Returns decisions a second inside `step`; choosing the actions is not counted."""
    steps = max(3, decisions // batch.num_tables)
    inside = 0.0
    for _ in range(steps):
        actions = random_actions(batch.mask, rng)
        start = time.perf_counter()
        batch.step(actions)
        inside += time.perf_counter() - start
    return steps * batch.num_tables / inside


def _rates(batches: Mapping[str, Batch], repeats: int) -> Iterator[Row]:
    """Steps of several batches, in turn, so that their figures can be compared."""
    rng = np.random.default_rng(1)
    runs = [
        [step_rate(batch, 400_000, rng) / 1e6 for batch in batches.values()] for _ in range(repeats)
    ]
    for (what, batch), rates in zip(batches.items(), zip(*runs, strict=True), strict=True):
        target = "12 (one card)" if batch.spec.name == "byteskille" else "6.5"
        yield row(what, rates, "M decisions/s", target)


def bench_batch(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Steps with observation, mask and rewards on one core, by number of tables and of seats."""
    spec = kille_env.spec(game)
    seats = sorted({spec.min_players, min(3, spec.max_players), spec.max_players} - {players})
    cases = [(tables, players, "match") for tables in TABLES]
    cases += [(4096, players, "deal"), *((4096, p, "match") for p in seats)]
    batches = {
        f"batch step, {tables} tables, {p} seats, {episode}": played(game, tables, p, episode)
        for tables, p, episode in cases
    }
    yield from _rates(batches, repeats)


def bench_games(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Every game at its own number of seats."""
    batches = {}
    for name, episode in product(kille_env.list_games(), ("match", "deal")):
        seats = kille_env.spec(name).default_players
        batches[f"{name}, {seats} seats, {episode}"] = played(name, 4096, seats, episode)
    yield from _rates(batches, repeats)


def bench_one(game: str, players: int, repeats: int) -> Iterator[Row]:
    """One table of the native batch, driven from Python."""
    batch, rng = played(game, 1, players), np.random.default_rng(1)
    runs = [1e6 / step_rate(batch, 5000, rng) for _ in range(repeats)]
    yield row(f"one table through the batch, {players} seats", runs, "µs a decision", "2")


@kernel
def _mix(rounds):
    """Sums that fill a core's adders and touch no memory: what two threads could gain at best."""
    a, b, c, d = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    e, f, g, h = np.uint64(5), np.uint64(6), np.uint64(7), np.uint64(8)
    for number in range(rounds):
        k = np.uint64(number)
        a, b, c, d = (a ^ k) + b, (b ^ k) + c, (c ^ k) + d, (d ^ k) + e
        e, f, g, h = (e ^ k) + f, (f ^ k) + g, (g ^ k) + h, (h ^ k) + a
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h


def _gain_of_the_machine(rounds: int = 30_000_000) -> float:
    """Returns how many times as fast two threads add as one: below 2 where they share a core."""
    with ThreadPoolExecutor(2) as pool:
        times = []
        for threads in (1, 2):
            start = time.perf_counter()
            list(pool.map(_mix, [rounds] * threads))
            times.append(time.perf_counter() - start)
    return 2 * times[0] / times[1]


def bench_threads(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Two threads over one, run alternately; and what the machine gives to any two threads.

    Two cores of a virtual machine may be two threads of one core.
    """
    rng = np.random.default_rng(1)
    one, two = (played(game, 16384, players, threads=threads) for threads in (1, 2))
    _mix(1)  # compiled before it is timed
    ratios, limits = [], []
    for _ in range(repeats):
        ratios.append(step_rate(two, 600_000, rng) / step_rate(one, 600_000, rng))
        limits.append(_gain_of_the_machine())
    yield row("two threads over one, 16384 tables", ratios, "times", "1.8 (idle machine)")
    yield row("two threads over one, sums that touch no memory", limits, "times")


def bench_shares(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Where a step's time goes: its observation and its mask, and the rest, which is the rules."""
    rng = np.random.default_rng(1)
    batch = played(game, 4096, players)
    batch.observe(0)  # compiled before they are timed
    batch.legal_actions(0)
    shares = []
    for _ in range(repeats):
        step = batch.num_tables / step_rate(batch, 400_000, rng)
        seats = np.array(batch.seat)
        looks = [
            100 * statistics.mean(seconds(50, look, seats)) / step
            for look in (batch.observe, batch.legal_actions)
        ]
        shares.append([*looks, 100 - sum(looks)])
    names = ("observation", "mask", "rules, dealing, rewards")
    for name, runs in zip(names, zip(*shares, strict=True), strict=True):
        yield row(f"share of a step: {name}", runs, "%")
