"""What a large tournament takes, from rates measured here: `python benchmarks/arena_scale.py`.

First how many tables a core plays in a second, for rules of thumb, networks with two layers of 64
units, and search. Then what keeping results takes: seconds to tally a table, and to write the file,
which does not grow with what was played. At last the arithmetic for a tournament of `--agents`
players and `--observations`. Seconds are processor time of one thread, so that they depend little
on what else the machine does; every figure is that of the fastest of `--repeats` runs.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Kept:
    """What keeping results takes.

    Attributes:
        count: Seconds per table, to tally it.
        write: Seconds, to write the file once.
        disk: Bytes of the file.
    """

    count: float
    write: float
    disk: int


def entrants_of(seats: int) -> list[Entrant]:
    """Returns so many entrants that nobody is in two lineups."""
    return [Entrant(n, f"player {n}", "rule_of_thumb") for n in range(LINEUPS * seats)]


def draw_of(seats: int) -> Draw:
    """Returns lineups that are drawn anew at every deal."""
    (draw,) = draws(Pairing("random"), [range(LINEUPS * seats)], seats)
    return draw


def played(game: str, seats: int, player: Player, first: int, deals: int) -> Result:
    """Plays single deals, with the same player in every seat."""
    table, shard = Table.of(game, seats), Shard(0, draw_of(seats), first, deals)
    everybody = entrants_of(seats)
    members = shard.members(1, {each.number: each.key for each in everybody})
    players = {each.number: player for each in everybody}
    earned = play_shard(
        shard, members, table, 1, players, lambda whose, task, seconds: nullcontext(), 60.0
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


def keeping(game: str, seats: int) -> Kept:
    """Returns what keeping takes, for lineups of rules of thumb."""
    table = Table.of(game, seats)
    player, counts = load_policy("rule_of_thumb", game, seats, table.rules), []
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder), create=True) as store:
        store.tables = {"game": game, "game_version": 1, "rules": table.rules.as_dict(), "seed": 1}
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
        return Kept(min(counts), time.process_time() - start, store.path.stat().st_size)


def memory(seats: int, agents: int) -> int:
    """Returns the bytes of a tally."""
    empty = Tally.empty(seats, agents)  # NumPy takes no memory for zeros that nobody touches
    return sum(getattr(empty, name).nbytes for name in ARRAYS)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--observations", type=int, default=10**9, help="deals of a lineup")
    parser.add_argument("--price", type=float, default=0.04, help="of a core hour, an example")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(", ".join(f"{key}: {value}" for key, value in machine().items()), "\n")

    rates, kept = {}, {}
    print("| tables a second and core | " + " | ".join(KINDS) + " |")
    print("|---|" + "---:|" * len(KINDS))
    for game, seats in GAMES:
        for kind in KINDS:
            rates[game, seats, kind] = tables_a_second(game, seats, kind, options.repeats)
        row = [f"{rates[game, seats, kind]:,.0f}" for kind in KINDS]
        print(f"| {game}, {seats} seats | " + " | ".join(row) + " |", flush=True)

    print("\n| keeping | µs per table, tallied | s, written | MB on disk |")
    print("|---|---:|---:|---:|")
    for game, seats in GAMES:
        kept[game, seats] = each = keeping(game, seats)
        print(
            f"| {game}, {seats} seats | {1e6 * each.count:.2f} | {each.write:.2f} | "
            f"{each.disk / 1e6:.2f} |",
            flush=True,
        )

    agents, observations, price = options.agents, options.observations, options.price
    print(f"\n{agents:,} agents, {observations:,} observations; {price:g} a core hour:\n")
    print("| | tables | players | core hours | cost | core hours to tally |")
    print("|---|---:|---|---:|---:|---:|")
    for game, seats in GAMES:
        each, tables = kept[game, seats], observations * seats
        for kind in KINDS:
            hours = tables / rates[game, seats, kind] / 3600
            print(
                f"| {game}, {seats} seats | {tables:.1e} | {kind} | {hours:,.1f} | "
                f"{price * hours:,.2f} | {each.count * tables / 3600:,.2f} |"
            )
    print("\nMemory of a tally, whatever was played:")
    for many in (10, 100, agents):
        sizes = [f"{seats} seats {memory(seats, many) / 1e6:,.1f} MB" for _, seats in GAMES[:2]]
        print(f"{many:,} agents: {', '.join(sizes)}.")
    for game, seats in GAMES:
        cores = [f"{kind} {1 / (kept[game, seats].count * rates[game, seats, kind]):,.0f}"
                 for kind in KINDS]  # fmt: skip
        print(f"Cores that one process keeps up with, {game}, {seats} seats: {', '.join(cores)}.")


if __name__ == "__main__":
    main()
