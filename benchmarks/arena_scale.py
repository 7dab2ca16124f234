"""What a large tournament takes, from rates measured here: `python benchmarks/arena_scale.py`.

First how many tables a core plays in a second, for rules of thumb, networks with two layers of 64
units, and search. Then what keeping results takes: seconds of the process that keeps
them, bytes on disk, bytes and seconds when statistics read them. At last the arithmetic for a
tournament of `--agents` players and `--deals` deals, each played with every member in every
position. Seconds are processor time of one thread, so that they depend little on what else the
machine does; every figure is that of the fastest of `--repeats` runs, for others only slow them.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from kille_agents.catalog import load_policy
from kille_agents.search import FlatSearch
from kille_env.core.spec import Rules
from kille_env.registry import spec
from kille_training.arena.play import Player, PlayerCache, play_unit
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.work import Block, Entrant, Outcome, WorkUnit
from kille_training.cli.speed import machine, random_network

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
"""How each kind of player is made, and by how much its units are smaller."""
DEALS_A_LINEUP = 2000
LINEUPS = 16


class Seated(PlayerCache):
    """Has the same kind of player on every seat."""

    def __init__(self, player: Player) -> None:
        super().__init__()
        self._player = player

    def player(self, entrant: Entrant, unit: WorkUnit, rules: Rules) -> Player:
        """Returns the same one for everybody."""
        return self._player


@dataclass(frozen=True)
class Kept:
    """What keeping results takes.

    Attributes:
        write: Seconds a table, when they are written.
        disk: Bytes a deal.
        read: Seconds a deal, when statistics read them.
        memory: Bytes a deal, for statistics.
    """

    write: float
    disk: float
    read: float
    memory: float


def unit_of(game: str, seats: int, blocks: tuple[Block, ...], players: int) -> WorkUnit:
    """Entrants 0, 1, ... at tables of single deals."""
    rules = spec(game).resolve({}, episode="deal").as_dict()
    entrants = tuple(
        Entrant(number, f"player {number}", "rule_of_thumb") for number in range(players)
    )
    return WorkUnit(game, seats, rules, 1, 1, blocks, entrants)


def tables_a_second(game: str, seats: int, kind: str, repeats: int) -> float:
    """How many tables a core plays in a second."""
    rules = spec(game).resolve({}, episode="deal")
    make, part = KINDS[kind]
    bench = Seated(make(game, seats, rules))
    deals = TABLES // part // seats
    rates = []
    for run in range(1 + repeats):
        # Lineups of 2,000 deals, nobody in two of them: as where everybody meets everybody.
        blocks = tuple(
            Block(number, tuple(range(seats * number, seats * (number + 1))), run * deals, played)
            for number in range(-(-deals // DEALS_A_LINEUP))
            if (played := min(DEALS_A_LINEUP, deals - number * DEALS_A_LINEUP))
        )
        unit = unit_of(game, seats, blocks, seats * len(blocks))
        start = time.process_time()
        outcome = play_unit(unit, bench)
        rates.append(unit.deals * seats / (time.process_time() - start))
        assert outcome.failure is None, outcome.failure
    return max(rates[1:])  # the first one compiles


def keeping(game: str, seats: int, repeats: int) -> Kept:
    """What keeping takes, for lineups of rules of thumb at 2,000 deals each."""
    bench = Seated(
        load_policy("rule_of_thumb", game, seats, spec(game).resolve({}, episode="deal"))
    )
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder), create=True) as store:
        entrants = [KeptEntrant(n, f"player {n}", "rule_of_thumb") for n in range(LINEUPS + seats)]
        store.enter(entrants)
        members = [tuple(range(first, first + seats)) for first in range(LINEUPS)]
        numbers = store.add_lineups(seats, members)
        deals, writes = 0, []
        at_once = max(1, TABLES // seats // DEALS_A_LINEUP)
        for begin in range(0, LINEUPS, at_once):
            blocks = tuple(
                Block(number, lineup, 0, DEALS_A_LINEUP)
                for number, lineup in list(zip(numbers, members, strict=True))[begin:][:at_once]
            )
            unit = unit_of(game, seats, blocks, LINEUPS + seats)
            writes.append(_keep(store, play_unit(unit, bench)) / (unit.deals * seats))
            deals += unit.deals
        reads, seen = [], store.observations()[seats]
        for _ in range(repeats):
            start = time.process_time()
            store.observations()
            reads.append((time.process_time() - start) / deals)
        memory = sum(getattr(seen, each.name).nbytes for each in fields(seen)) / deals
        store.close()
        disk = sum(each.stat().st_size for each in Path(folder).iterdir()) / deals
    return Kept(min(writes), disk, min(reads), memory)


def _keep(store: Store, outcome: Outcome) -> float:
    start = time.process_time()
    store.keep(outcome)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--deals", type=int, default=10**9)
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

    print(
        "\n| keeping | µs a table, written | bytes a deal, disk | µs a deal, read | bytes, memory |"
    )
    print("|---|---:|---:|---:|---:|")
    for game, seats in GAMES:
        kept[game, seats] = each = keeping(game, seats, options.repeats)
        print(
            f"| {game}, {seats} seats | {1e6 * each.write:.2f} | {each.disk:.2f} | "
            f"{1e6 * each.read:.2f} | {each.memory:.0f} |",
            flush=True,
        )

    agents, deals, price = options.agents, options.deals, options.price
    print(f"\n{agents:,} agents, {deals:,} deals; {price:g} a core hour, for example:\n")
    print("| | tables | players | core hours | cost | GB, disk | core hours to read | GB, memory |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    for game, seats in GAMES:
        each, tables = kept[game, seats], deals * seats
        for kind in KINDS:
            hours = tables / rates[game, seats, kind] / 3600
            print(
                f"| {game}, {seats} seats | {tables:.1e} | {kind} | {hours:,.1f} | "
                f"{price * hours:,.2f} | {each.disk * deals / 1e9:,.1f} | "
                f"{each.read * deals / 3600:,.2f} | {each.memory * deals / 1e9:,.0f} |"
            )
    pairs = agents * (agents - 1) // 2
    print(f"\nEverybody against everybody at two seats: {pairs:,} lineups")
    print(f"with {deals // pairs:,} deals each.")
    for game, seats in GAMES:
        cores = [f"{kind} {1 / (kept[game, seats].write * rates[game, seats, kind]):,.0f}"
                 for kind in KINDS]  # fmt: skip
        print(f"Cores that one process keeps up with, {game}, {seats} seats: {', '.join(cores)}.")


if __name__ == "__main__":
    main()
