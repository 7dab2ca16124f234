"""Rows for learning and solving: the cost of training, and exact trees."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kille_env.adapters.sb3 import SeatVecEnv
from kille_env.core.spec import Rules
from kille_env.play.policy import Policy
from kille_env.registry import Table, spec
from kille_training.learn.methods.maskable_ppo import Learner, Settings
from kille_training.solving.byteskille.match_solving import solve_match
from kille_training.solving.byteskille.matches import build_match
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import nash_conv
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.sequence_game import SequenceGame
from speed.playing import played, step_rate
from speed.rows import Row, random_actions, row, seconds

BUDGET = 10**10  # decisions of the cost estimate
STEPS = 8  # steps of a run of `bench_seats`


def random_network(seats: int, rules: Rules) -> Policy:
    """Return an untrained network."""
    return Learner(Table.of(rules.game, seats, rules), 1, Settings()).policy("random")


def bench_seats(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Measure a step of `SeatVecEnv` against the live policy, evaluated seat after seat."""
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


def bench_cost(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Measure core-hours of 10^10 decisions in single deals: stepping, and MaskablePPO end to end.

    Compared cases alternate. CPU time excludes other programs.
    """
    large = replace(Settings(), n_steps=32, batch_size=4096)
    works = {
        "stepping, 4,096 tables": _stepping(game, players),
        "`kille train`, batch_size 1,024 (the default)": _learning(game, players, Settings()),
        "`kille train`, batch_size 4,096, n_steps 32": _learning(game, players, large),
    }
    for work in works.values():
        work()  # compiles, and fills caches
    turns = [[BUDGET * work() / 3600 for work in works.values()] for _ in range(repeats)]
    for what, runs in zip(works, zip(*turns, strict=True), strict=True):
        yield row(what, runs, "core-hours")


def _stepping(game: str, players: int) -> Callable[[], float]:
    """Return a function that steps random play and returns CPU seconds per decision."""
    batch, rng = played(game, 4096, players, "deal"), np.random.default_rng(1)
    return lambda: 1.0 / step_rate(batch, 250 * batch.num_tables, rng, time.process_time)


def _learning(game: str, players: int, settings: Settings) -> Callable[[], float]:
    """Return a function that trains and returns CPU seconds per decision."""
    learner = Learner(Table.of(game, players), 1, settings)

    def work() -> float:
        before, start = learner.decisions, time.process_time()
        for _ in range(4):
            learner.update(lambda: 1.0)
        return (time.process_time() - start) / (learner.decisions - before)

    return work


def bench_solve(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Measure exact trees of Byteskille, growing and solving, with 2 to 4 seats in any case."""

    def solve(tree: SequenceGame, method: str, iterations: int, until: float) -> None:
        CFR(tree, method).run(iterations, until=until)

    for seats, part in ((2, 1e-9), (3, 1e-6), (4, 1e-4)):
        rules = spec("byteskille").resolve()
        deal = build_deal(seats, rules)  # compile before timing
        yield row(f"tree of a deal, {seats} seats", seconds(repeats, build_deal, seats, rules), "s")
        stage = deal.stages[-1]
        target = part * float(stage.rules.number("stake"))
        for method in ("cfr+", "pcfr+", "dcfr"):
            solve(stage.tree, method, 1, 1e-300)
            spent = seconds(repeats, solve, stage.tree, method, 1_000_000, target)
            yield row(
                f"NashConv below {part:.0e} of the stake, {seats} seats, {method}", spent, "s"
            )
        network = random_network(seats, stage.rules)
        nash_conv(network, deal)
        what = f"nash_conv of a 64x64 network, {seats} seats, {len(deal.stages)} hands"
        yield row(what, seconds(repeats, nash_conv, network, deal), "s")
    solve_match(build_match(2))
    for seats in (2, 3):
        match = build_match(seats)
        spent = [solve_match(match).seconds for _ in range(repeats)]
        yield row(f"NashConv of a match below 1e-04 of the pot, {seats} seats", spent, "s")
