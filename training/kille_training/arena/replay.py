"""Replays a part of a tournament, to compare it with the stored results or to record it."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kille_env.errors import ConfigError, KilleError, did_you_mean
from kille_env.records import Record, write_records
from kille_training.arena.play import PlayerCache, record_unit
from kille_training.arena.settings import TournamentSettings
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.tournament import Executor, Progress, check_same, work_units
from kille_training.arena.work import Block, Result
from kille_training.statistics.intervals import units


@dataclass(frozen=True)
class Cell:
    """A cell of a crosstable, replayed.

    Attributes:
        row: The entrant whose earnings these are.
        column: The entrant that also sits there.
        num_players: Table size.
        mean: Units per deal of the row's entrant, less the table's mean.
        half: Half its 95% interval; None for a single deal.
        deals: Deals.
        tables: Tables that were replayed.
        same: Whether every one of them matches the stored results bit for bit.
    """

    row: str
    column: str
    num_players: int
    mean: float
    half: float | None
    deals: int
    tables: int
    same: bool


def replay_cells(
    store: Store,
    settings: TournamentSettings,
    row: str,
    column: str,
    executor: Executor,
    progress: Progress,
    *,
    trust: bool = False,
) -> list[Cell]:
    """Replays all tables at which two entrants sit.

    Args:
        store: The results; nothing is written.
        settings: The tournament's.
        row: Name of the entrant whose earnings are shown.
        column: Name of the other one.
        executor: Where it is played.
        progress: Told how far it is.
        trust: Whether model files that can run code may be loaded.

    Returns:
        A cell for each table size at which they met.

    Raises:
        ConfigError: There is no such entrant, the two never met, or the settings are of other
            tables.
        KilleError: An entrant fails that did not fail before.
    """
    check_same(store, settings)
    entrants = store.entrants()
    pair = [_number(entrants, name) for name in (row, column)]
    kept = [result for result in store.results() if set(pair) <= set(result.block.members)]
    if pair[0] == pair[1] or not kept:
        raise ConfigError(f"{row!r} and {column!r} have not sat at one table; there is no cell")
    blocks: dict[int, list[Block]] = {}
    for result in kept:
        blocks.setdefault(len(result.block.members), []).append(result.block)
    progress.begin(sum(result.block.deals for result in kept), 0)
    again: list[Result] = []
    for outcome in executor.run(work_units(settings, store, blocks, trust=trust)):
        if outcome.failure is not None:
            name = entrants[outcome.failure.entrant].name
            raise KilleError(f"{name} fails now, but did not before: {outcome.failure.reason}")
        again += outcome.results
        progress.played(outcome)
    cells = []
    for seats, observed in {}.items():
        mine, theirs = (_tables(results, seats) for results in (again, kept))
        found = units(observed, len(entrants))
        half = found.half[pair[0]]
        cells.append(
            Cell(
                row,
                column,
                seats,
                mean=float(found.mean[pair[0]]),
                half=float(half) if np.isfinite(half) else None,
                deals=int(found.deals[pair[0]]),
                tables=sum(len(earned) for earned in mine.values()),
                same=mine.keys() == theirs.keys()
                and all(np.array_equal(mine[lineup], theirs[lineup]) for lineup in mine),
            )
        )
    return cells


def export_records(
    store: Store,
    settings: TournamentSettings,
    path: Path,
    deals: int,
    *,
    trust: bool = False,
) -> int:
    """Writes the first deals of every lineup as game records, card by card and action by action.

    They are replayed for it, in this process, and compared with the stored results.

    Args:
        store: The results.
        settings: The tournament's.
        path: The file; replaced when the new one is whole.
        deals: Deals of each lineup.
        trust: Whether model files that can run code may be loaded.

    Returns:
        How many records it has.

    Raises:
        KilleError: An entrant plays otherwise than before, or fails.
    """
    kept: dict[int, list[Result]] = {}
    for result in store.results():
        if result.block.first_deal < deals:
            kept.setdefault(len(result.block.members), []).append(result)
    count = 0

    def records() -> Iterator[Record]:
        nonlocal count
        cache = PlayerCache()
        for seats in sorted(kept):
            blocks = [
                replace(block, deals=min(block.deals, deals - block.first_deal))
                for block in (result.block for result in kept[seats])
            ]
            for unit in work_units(settings, store, {seats: blocks}, trust=trust):
                with redirect_stdout(sys.stderr):  # what players print is not our output
                    written = iter(record_unit(unit, cache))
                for block in unit.blocks:
                    theirs = _at(kept[seats], block)
                    for table, earned in enumerate(theirs.reshape(-1, seats)):
                        record = next(written)
                        if not np.array_equal(np.round(record["returns"], 9), earned):
                            raise KilleError(
                                f"lineup {block.lineup}, table {table} of the deals from "
                                f"{block.first_deal}: earned {record['returns']}, stored are "
                                f"{earned.tolist()}; was it played with other versions?"
                            )
                        count += 1
                        yield record

    write_records(records(), path)
    return count


def _at(kept: Sequence[Result], block: Block) -> np.ndarray:
    """Returns the earnings of a block that is part of the stored results, [D, S, P]."""
    for result in kept:
        first = block.first_deal - result.block.first_deal
        if result.block.lineup == block.lineup and 0 <= first < result.block.deals:
            return result.earned[first : first + block.deals]
    raise KilleError(f"lineup {block.lineup} has not played deal {block.first_deal}")


def _tables(results: Sequence[Result], seats: int) -> dict[int, np.ndarray]:
    """Returns what each seat earned at every table of one size, by lineup."""
    found: dict[int, list[np.ndarray]] = {}
    for result in sorted(results, key=lambda result: result.block.first_deal):
        if len(result.block.members) == seats:
            found.setdefault(result.block.lineup, []).append(result.earned.reshape(-1, seats))
    return {lineup: np.concatenate(parts) for lineup, parts in found.items()}


def _number(entrants: Sequence[KeptEntrant], name: str) -> int:
    for entrant in entrants:
        if entrant.name == name:
            return entrant.number
    names = [entrant.name for entrant in entrants]
    raise ConfigError(f"there is no entrant {name!r}. {did_you_mean(name, names)}")
