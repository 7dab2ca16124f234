"""What a large tournament takes, from rates measured here: `python benchmarks/arena_scale.py`.

First how many tables a core plays in a second, for rules of thumb, networks with two layers of 64
units, and search. Then what keeping results takes: seconds of the process that keeps them, bytes on
disk, and seconds to tally what statistics need, an observation (a lineup's deal in all its
rotations) at a time. At last the arithmetic for a tournament of `--agents` players and
`--observations`. Seconds are processor time of one thread, so that they depend little on what else
the machine does; every figure is that of the fastest of `--repeats` runs, for others only slow
them.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kille_agents.catalog import load_policy
from kille_agents.search import FlatSearch
from kille_env.core.spec import Rules
from kille_env.policy import Player
from kille_env.registry import spec
from kille_training.arena.matchmaking import Pairing, draws
from kille_training.arena.play import PlayerCache, play_unit
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.work import Block, Entrant, Panel, WorkUnit
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
"""How each kind of player is made, and by how much its units are smaller."""
UNITS = 8
"""Units that are kept."""
LINEUPS = 16
"""Lineups of a deal, nobody in two of them."""


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
        disk: Bytes an observation.
        count: Seconds an observation, to tally it from the file.
    """

    write: float
    disk: float
    count: float


def panel_of(seats: int) -> Panel:
    """Returns lineups that are drawn anew at every deal."""
    (draw,) = draws(Pairing("random"), [range(LINEUPS * seats)], seats)
    return Panel(0, draw)


def unit_of(game: str, block: Block) -> WorkUnit:
    """Returns a unit of single deals."""
    rules = spec(game).resolve({}, episode="deal").as_dict()
    entrants = tuple(
        Entrant(number, f"player {number}", "rule_of_thumb")
        for number in block.panel.draw.groups[0]
    )
    return WorkUnit(game, block.panel.seats, rules, 1, (block,), entrants)


def tables_a_second(game: str, seats: int, kind: str, repeats: int) -> float:
    """Returns how many tables a core plays in a second."""
    rules = spec(game).resolve({}, episode="deal")
    make, part = KINDS[kind]
    bench = Seated(make(game, seats, rules))
    deals = max(1, TABLES // part // seats // LINEUPS)
    rates = []
    for run in range(1 + repeats):
        unit = unit_of(game, Block(panel_of(seats), run * deals, deals))
        start = time.process_time()
        outcome = play_unit(unit, bench)
        rates.append(unit.deals * seats / (time.process_time() - start))
        assert outcome.failure is None, outcome.failure
    return max(rates[1:])  # the first one compiles


def keeping(game: str, seats: int, repeats: int) -> Kept:
    """Returns what keeping takes, for lineups of rules of thumb."""
    bench = Seated(
        load_policy("rule_of_thumb", game, seats, spec(game).resolve({}, episode="deal"))
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with Store(path, create=True) as store:
            (panel,) = _entered(store, seats)
            deals, writes = TABLES // seats // LINEUPS, []
            for run in range(UNITS):
                outcome = play_unit(unit_of(game, Block(panel, run * deals, deals)), bench)
                start = time.process_time()
                store.keep(outcome)
                writes.append((time.process_time() - start) / (deals * LINEUPS * seats))
        observations = UNITS * deals * LINEUPS
        disk = sum(each.stat().st_size for each in path.iterdir()) / observations
        counts = [_seconds_to_tally(path, seats) / observations for _ in range(repeats)]
    return Kept(min(writes), disk, min(counts))


def _entered(store: Store, seats: int) -> list[Panel]:
    """Enters the players, and returns the panels that they play."""
    draw = panel_of(seats).draw
    store.enter([KeptEntrant(n, f"player {n}", "rule_of_thumb") for n in draw.groups[0]])
    return store.panels(0, draw)


def _seconds_to_tally(path: Path, seats: int) -> float:
    """Returns what it takes to tally all results anew."""
    with Store(path, readonly=True) as store:
        start = time.process_time()
        found = Tally.empty(seats, len(store.entrants()))
        for result in store.results():
            deals, lineups, _ = result.members.shape
            found.add(
                result.members.reshape(-1, seats),
                np.repeat(result.block.first_deal + np.arange(deals), lineups),
                result.earned.reshape(-1, seats, seats),
            )
        return time.process_time() - start


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

    print("\n| keeping | µs a table, written | bytes an observation, disk | µs, tallied |")
    print("|---|---:|---:|---:|")
    for game, seats in GAMES:
        kept[game, seats] = each = keeping(game, seats, options.repeats)
        print(
            f"| {game}, {seats} seats | {1e6 * each.write:.2f} | {each.disk:.2f} | "
            f"{1e6 * each.count:.2f} |",
            flush=True,
        )

    agents, observations, price = options.agents, options.observations, options.price
    print(f"\n{agents:,} agents, {observations:,} observations; {price:g} a core hour:\n")
    print("| | tables | players | core hours | cost | GB, disk | core hours to tally |")
    print("|---|---:|---|---:|---:|---:|---:|")
    for game, seats in GAMES:
        each, tables = kept[game, seats], observations * seats
        for kind in KINDS:
            hours = tables / rates[game, seats, kind] / 3600
            print(
                f"| {game}, {seats} seats | {tables:.1e} | {kind} | {hours:,.1f} | "
                f"{price * hours:,.2f} | {each.disk * observations / 1e9:,.1f} | "
                f"{each.count * observations / 3600:,.2f} |"
            )
    print("\nMemory of a tally, whatever was played:")
    for many in (10, 100, agents):
        sizes = [f"{seats} seats {memory(seats, many) / 1e6:,.1f} MB" for _, seats in GAMES[:2]]
        print(f"{many:,} agents: {', '.join(sizes)}.")
    for game, seats in GAMES:
        cores = [f"{kind} {1 / (kept[game, seats].write * rates[game, seats, kind]):,.0f}"
                 for kind in KINDS]  # fmt: skip
        print(f"Cores that one process keeps up with, {game}, {seats} seats: {', '.join(cores)}.")


if __name__ == "__main__":
    main()
