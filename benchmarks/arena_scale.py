"""What a large tournament takes, from rates measured here: `python benchmarks/arena_scale.py`.

First how many tables a core plays in a second, for rules of thumb, networks with two layers of 64
units, and search; then the seconds to tally a table and to write the file, which does not grow with
what was played; at last the memory of tallies. Seconds are processor time of one thread, so that
they depend little on what else the machine does; every figure is that of the fastest of
`--repeats` runs.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from kille_agents.catalog import load_policy
from kille_agents.search import FlatSearch
from kille_env.core.spec import Rules
from kille_env.play.policy import Player
from kille_env.registry import Table
from kille_training.arena.draws import Draw
from kille_training.arena.entrants import Entrant
from kille_training.arena.schedule import Pairing, draws
from kille_training.arena.shards import Shard, play_shard
from kille_training.arena.store import Result, Store
from kille_training.statistics.tally import ARRAYS, Tally
from markdown_tables import table
from speed.rows import machine
from speed.training import random_network

GAMES = (("byteskille", 2), ("byteskille", 4), ("kungsholmskille", 4))
TABLES = 16384
"""Tables of a unit, as in a tournament; players that search get a part of it."""
KINDS: dict[str, tuple[Callable[[str, int, Rules], Player], int]] = {
    "rule of thumb": (
        lambda game, seats, rules: load_policy("rule_of_thumb", game, seats, rules),
        1,
    ),
    "network": (lambda game, seats, rules: random_network(seats, rules), 1),
    "search": (lambda game, seats, rules: FlatSearch(seats, rules), 256),
}
"""How each kind of player is made, and by how much its shards are smaller."""
SHARDS = 8
"""Shards that are kept."""
LINEUPS = 16
"""Lineups of a deal, nobody in two of them."""


def entrants_of(seats: int) -> list[Entrant]:
    """Returns so many entrants that nobody is in two lineups."""
    return [Entrant(n, f"player {n}", "rule_of_thumb") for n in range(LINEUPS * seats)]


def draw_of(seats: int) -> Draw:
    """Returns lineups that are drawn anew at every deal."""
    (draw,) = draws(Pairing("random"), [range(LINEUPS * seats)], seats)
    return draw


def played(game: str, seats: int, player: Player, first: int, deals: int) -> Result:
    """Plays single deals, with the same player in every seat."""
    where, shard = Table.of(game, seats), Shard(0, draw_of(seats), first, deals)
    everybody = entrants_of(seats)
    members = shard.members(1, {each.number: each.key for each in everybody})
    players = {each.number: player for each in everybody}
    earned = play_shard(
        shard, members, where, 1, players, lambda whose, task, seconds: nullcontext(), 60.0
    )
    return Result(shard, members, earned)


def tables_a_second(game: str, seats: int, kind: str, repeats: int) -> float:
    """Returns how many tables a core plays in a second."""
    make, part = KINDS[kind]
    player = make(game, seats, Table.of(game, seats).rules)
    deals = max(1, TABLES // part // seats // LINEUPS)
    rates = []
    for run in range(1 + repeats):
        start = time.process_time()
        result = played(game, seats, player, run * deals, deals)
        rates.append(result.shard.lineups * seats / (time.process_time() - start))
    return max(rates[1:])  # the first one compiles


def keeping(game: str, seats: int) -> tuple[float, float, int]:
    """Returns seconds to tally a table and to write the file once, and the bytes of the file."""
    rules = Table.of(game, seats).rules
    player, counts = load_policy("rule_of_thumb", game, seats, rules), []
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder), create=True) as store:
        store.tables = {"game": game, "game_version": 1, "rules": rules.as_dict(), "seed": 1}
        store.enter(entrants_of(seats))
        list(store.missing(0, draw_of(seats), 0, 1))  # begins the stage
        deals = TABLES // seats // LINEUPS
        for run in range(SHARDS):
            result = played(game, seats, player, run * deals, deals)
            start = time.process_time()
            store.keep(result)
            counts.append((time.process_time() - start) / (deals * LINEUPS * seats))
        start = time.process_time()
        store.write()
        return min(counts), time.process_time() - start, store.path.stat().st_size


def memory(seats: int, agents: int) -> int:
    """Returns the bytes of a tally."""
    empty = Tally.empty(seats, agents)  # NumPy takes no memory for zeros that nobody touches
    return sum(getattr(empty, name).nbytes for name in ARRAYS)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    print(", ".join(f"{key}: {value}" for key, value in machine().items()), "\n")
    rows, kept = [], []
    for game, seats in GAMES:
        name, rates = (
            f"{game}, {seats} seats",
            [tables_a_second(game, seats, kind, repeats) for kind in KINDS],
        )
        rows.append([name, *(f"{rate:,.0f}" for rate in rates)])
        count, write, disk = keeping(game, seats)
        cores = f"{1 / (count * rates[0]):,.0f}"
        kept.append([name, f"{1e6 * count:.2f}", f"{write:.2f}", f"{disk / 1e6:.2f}", cores])
    print(table(["tables a second and core", *KINDS], rows), "\n")
    head = ["keeping", "µs per table", "s, written", "MB on disk", "cores of rules of thumb"]
    print(table(head, kept), "\n")
    sizes = [(seats, agents) for _, seats in GAMES[:2] for agents in (10, 100, 1000)]
    cells = [[seats, agents, f"{memory(seats, agents) / 1e6:,.1f}"] for seats, agents in sizes]
    print(table(["seats", "entrants", "MB of a tally"], cells))


if __name__ == "__main__":
    main()
