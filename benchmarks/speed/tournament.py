"""Rows for tournaments: tables per second of a core, and the cost of storing results."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from kille_agents.catalog import load_policy
from kille_agents.search import FlatSearch
from kille_env.play.policy import Policy
from kille_env.registry import Table
from kille_training.arena.entrants import Entrant
from kille_training.arena.play import Shard, play_shard
from kille_training.arena.schedule import Lineups, cohorts_of, random_tables
from kille_training.arena.store import Store
from kille_training.statistics.tally import ARRAYS, Tally
from speed.learning import random_network
from speed.rows import Row, row

TABLES = 16384  # tables of a shard, as in a tournament; fewer for search players
SEARCHED = 64
LINEUPS = 16  # disjoint lineups of a deal
Result = tuple[Shard, Lineups, np.ndarray]  # shard, its members and their earnings


def bench_tournament(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Measure shards with one player in every seat, in CPU time; the first one compiles."""
    where = Table.of(game, players)
    rule = load_policy("rule_of_thumb", game, players, where.rules)
    kinds: dict[str, tuple[Policy, int]] = {
        "rule of thumb": (rule, TABLES),
        "network": (random_network(players, where.rules), TABLES),
        "search": (FlatSearch(players, where.rules), SEARCHED),
    }
    entrants = [Entrant(n, f"player {n}", "rule_of_thumb") for n in range(LINEUPS * players)]
    (schedule,) = random_tables(cohorts_of(entrants), players)
    kept: list[Result] = []
    for kind, (player, tables) in kinds.items():
        deals, rates = max(1, tables // (players * LINEUPS)), []
        everybody = dict.fromkeys(range(len(entrants)), player)
        for run in range(1 + repeats):
            shard = Shard(0, schedule, run * deals, deals)
            lineups = shard.lineups(1, {each.number: each.key for each in entrants})
            start = time.process_time()
            units = play_shard(
                lineups, where, 1, everybody, lambda whose, task, seconds: nullcontext(), 60.0
            )
            rates.append(len(lineups.deal) * players / (time.process_time() - start))
            kept += [(shard, lineups, units)] if player is rule else []
        yield row(f"{game}, {players} seats, {kind}", rates[1:], "tables/s")
    yield row("tally of a table", list(_tallied(where, entrants, kept))[1:], "µs")
    for number in (10, 100):
        empty = Tally.empty(players, number)  # NumPy allocates untouched zeros lazily
        size = sum(getattr(empty, name).nbytes for name in ARRAYS) / 1e6
        yield row(f"tally of {number} entrants, {players} seats", [size], "MB")


def _tallied(where: Table, entrants: list[Entrant], kept: list[Result]) -> Iterator[float]:
    """Yield the microseconds per table of adding each result to a tally."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / "results.npz", create=True) as store,
    ):
        store.config = {"table": where.as_dict(), "seed": 1}
        store.enter(entrants)
        for shard, lineups, units in kept:
            start = time.process_time()
            store.keep(shard, lineups, units)
            spent = time.process_time() - start
            yield 1e6 * spent / (len(lineups.deal) * where.num_players)
