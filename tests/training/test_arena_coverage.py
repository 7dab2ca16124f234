"""Intervals of tournaments hold the truth over all lineups and all orders round the table."""

from contextlib import nullcontext
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from kille_agents.catalog import load_policy
from kille_env.registry import Table, spec
from kille_training.arena.entrants import Entrant
from kille_training.arena.play import play_shard
from kille_training.arena.schedule import Lineups, cohorts_of, random_tables, round_robin
from reference.scripts import script

ENTRANTS = 6
DEALS = (150,)


@pytest.fixture(scope="module")
def benchmark():
    return script("benchmarks/arena_coverage.py")


@pytest.fixture(scope="module")
def population(benchmark):
    """Deals of a game in which what is earned depends on the company, and on who sits where."""
    rng = np.random.default_rng(3)
    tables = len(benchmark.circles(ENTRANTS))
    company = rng.normal(0, 0.6, (1, tables, 3))
    cards = 0.5 * rng.exponential(size=(500, 1, 3)) + rng.normal(size=(500, tables, 3))
    scores = company + cards
    return benchmark.by_company(scores - scores.mean(axis=2, keepdims=True), ENTRANTS)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("schedule", "sizes"),
    [
        pytest.param(partial(round_robin, seats=3), [ENTRANTS], marks=pytest.mark.slow),
        pytest.param(
            partial(random_tables, seats=3, lineups=2), [ENTRANTS], marks=pytest.mark.slow
        ),
        (partial(random_tables, seats=3), [4, 2]),
    ],
    ids=["round robin", "random", "random, two enter late"],
)
def test_ninety_five_of_a_hundred_intervals_hold_the_truth(benchmark, population, schedule, sizes):
    design = benchmark.scheduled("", schedule, *sizes)
    shares = benchmark.simulate(population, design, range(200), 99.0, DEALS).mean()
    assert (shares[["a wrong arrow", "a wrong place"]] <= 0.05).all()
    held = shares.drop(["deals", "a wrong arrow", "a wrong place"])
    assert held.between(0.925, 0.975).all(), held


@pytest.mark.compiled
def test_intervals_of_lineups_that_were_drawn_once_would_not(benchmark, population):
    """So the test above can fail: company and order matter in that game."""

    def seating(seed, deals):
        lineups = np.array(list(combinations(range(ENTRANTS), 3)), dtype=np.int32)
        members = np.random.default_rng(seed).permutation(ENTRANTS)[lineups]
        drawn, row = np.indices((deals, len(lineups))).reshape(2, -1)
        return Lineups(members[row], drawn, row)

    design = benchmark.Design("", ENTRANTS, seating)
    shares = benchmark.simulate(population, design, range(30), 99.0, DEALS).mean()
    assert (shares[["standings", "differences", "cells", "margins"]] < 0.8).all()


def test_a_population_is_what_the_arena_plays(benchmark):
    names = ("rule_of_thumb", "uniform", "byteskille/tipsy", "byteskille/solved")
    rules = spec("byteskille").resolve({}, episode="deal")
    players = [load_policy(name, "byteskille", 3, rules) for name in names]
    population = benchmark.play("byteskille", players, np.arange(2, 7), 8)
    entrants = [Entrant(n, name, name) for n, name in enumerate(names)]
    (schedule,) = round_robin(cohorts_of(entrants), 3)
    lineups = schedule.lineups(8, {each.number: each.key for each in entrants}, 2, 5)
    report = lambda *_: nullcontext()  # noqa: E731
    table = Table.of("byteskille", 3, rules)
    units = play_shard(lineups, table, 8, dict(enumerate(players)), report, 60.0)
    for lineup, deal, _, earned in zip(*lineups, units, strict=True):
        for place in range(3):
            own = np.mean([earned[turn, (place - turn) % 3] for turn in range(3)])
            one, left, right = np.roll(lineup, -place)
            assert population[deal - 2, one, left, right] == pytest.approx(own)
