"""Rows for what a large budget of decisions costs, from processor time."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from speed.batch import played
from speed.choices import random_actions
from speed.rows import Row, row

if TYPE_CHECKING:
    from kille_training.learn.settings import LearnerSettings

BUDGET = 10**10
"""Decisions that are priced."""


def core_hours(seconds: float, decisions: int) -> float:
    """Returns the hours of one core for BUDGET decisions at a measured rate.

    Args:
        seconds: Processor time that was measured.
        decisions: Decisions that were made in it.
    """
    return seconds / decisions * BUDGET / 3600


def bench_cost(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Core-hours of 10^10 decisions in single deals: stepping alone, and MaskablePPO end to end.

    What is compared runs in turn. Processor time leaves out what other programs take.
    """
    from kille_training.learn.settings import LearnerSettings

    usual = LearnerSettings()
    large = replace(usual, n_steps=32, batch_size=4096)
    works = {
        "stepping, 4,096 tables": stepping(game, players),
        "`kille train`, batch_size 1,024 (the default)": learning(game, players, usual),
        "`kille train`, batch_size 4,096, n_steps 32": learning(game, players, large),
    }
    for work in works.values():
        work()  # compiles, and fills caches
    turns = [[core_hours(*work()) for work in works.values()] for _ in range(repeats)]
    for what, runs in zip(works, zip(*turns, strict=True), strict=True):
        yield row(what, runs, "core-hours")


def stepping(game: str, players: int) -> Callable[[], tuple[float, int]]:
    """Returns what steps random play; it returns its processor seconds and its decisions."""
    batch, rng, steps = played(game, 4096, players, "deal"), np.random.default_rng(1), 250

    def work() -> tuple[float, int]:
        inside = 0.0
        for _ in range(steps):
            actions = random_actions(batch.mask, rng)
            start = time.process_time()
            batch.step(actions)
            inside += time.process_time() - start
        return inside, steps * batch.num_tables

    return work


def learning(
    game: str, players: int, learner: "LearnerSettings"
) -> Callable[[], tuple[float, int]]:
    """Returns what plays and learns; it returns its processor seconds and its decisions."""
    from kille_env.registry import Table
    from kille_training.learn.methods.maskable_ppo import Learner

    made = Learner(Table.of(game, players), 1, learner)

    def work() -> tuple[float, int]:
        before, start = made.decisions, time.process_time()
        for _ in range(4):
            made.update(lambda: 1.0)
        return time.process_time() - start, made.decisions - before

    return work
