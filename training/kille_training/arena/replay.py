"""Plays a part of a tournament again: to compare it with what is kept, or to write it down."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table as RichTable
from rich.text import Text

from kille_env.errors import ConfigError, KilleError, did_you_mean
from kille_env.records import Record, write_records
from kille_training.arena.play import Bench, record_unit
from kille_training.arena.settings import TournamentSettings
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.tournament import Executor, Watcher, check_same, units
from kille_training.arena.units import Result, Stint, means
from kille_training.statistics.intervals import Intervals, sums_by_deal
from kille_training.statistics.intervals import means as means_by_deal


@dataclass(frozen=True)
class Cell:
    """A cell of a crosstable, played again.

    Attributes:
        row: The entrant who earns.
        column: Who sits there too.
        num_players: Table size.
        mean: Units a deal of the row's entrant.
        half: Half its 95 % interval; None for a single deal.
        deals: Deals.
        tables: Tables that were played again.
        same: Whether every one of them came out as it is kept, bit for bit.
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
    watcher: Watcher,
    *,
    trust: bool = False,
) -> list[Cell]:
    """Plays everything again at which two entrants sit at one table.

    Args:
        store: What is kept; nothing is written.
        settings: The tournament's.
        row: Name of the entrant who earns.
        column: Name of the other one.
        executor: Where it is played.
        watcher: Told how far it is.
        trust: Whether model files that can run code may be loaded.

    Returns:
        A cell for each table size at which they met.

    Raises:
        ConfigError: There is no such entrant, the two never met, or the settings are of other
            tables.
        KilleError: An entrant failed who did not before.
    """
    check_same(store, settings)
    entrants = store.entrants()
    pair = [_number(entrants, name) for name in (row, column)]
    kept = [result for result in store.results() if set(pair) <= set(result.stint.members)]
    if pair[0] == pair[1] or not kept:
        raise ConfigError(f"{row!r} and {column!r} have not sat at one table; there is no cell")
    stints: dict[int, list[Stint]] = {}
    for result in kept:
        stints.setdefault(len(result.stint.members), []).append(result.stint)
    watcher.begin(sum(result.stint.deals for result in kept), 0)
    again: list[Result] = []
    for outcome in executor.run(units(settings, store, stints, trust=trust)):
        if outcome.failure is not None:
            name = entrants[outcome.failure.entrant].name
            raise KilleError(f"{name} fails now, and did not before: {outcome.failure.reason}")
        again += outcome.results
        watcher.played(outcome)
    return [_cell(seats, row, column, pair, kept, again) for seats in sorted(stints)]


def export_records(
    store: Store,
    settings: TournamentSettings,
    path: Path,
    deals: int,
    *,
    trust: bool = False,
) -> int:
    """Writes the first deals of every lineup as game records, card by card and action by action.

    They are played again for it, in this process; what they come to is compared with what is kept.

    Args:
        store: What is kept.
        settings: The tournament's.
        path: The file; replaced when the new one is whole.
        deals: Deals of each lineup.
        trust: Whether model files that can run code may be loaded.

    Returns:
        How many records it has.

    Raises:
        KilleError: An entrant plays otherwise than he did, or fails.
    """
    kept: dict[int, list[Result]] = {}
    for result in store.results():
        if result.stint.first_deal < deals:
            kept.setdefault(len(result.stint.members), []).append(result)
    count = 0

    def records() -> Iterator[Record]:
        nonlocal count
        bench = Bench()
        for seats in sorted(kept):
            stints = [_until(result.stint, deals) for result in kept[seats]]
            for unit in units(settings, store, {seats: stints}, trust=trust):
                with redirect_stdout(sys.stderr):  # what players print is none of our output
                    written = iter(record_unit(unit, bench))
                for stint in unit.stints:
                    theirs = _at(kept[seats], stint)
                    for table, earned in enumerate(theirs.reshape(-1, seats)):
                        record = next(written)
                        if not np.array_equal(np.round(record["returns"], 9), earned):
                            raise KilleError(
                                f"lineup {stint.lineup}, table {table} of the deals from "
                                f"{stint.first_deal}: came to {record['returns']}, kept is "
                                f"{earned.tolist()}; were the versions others?"
                            )
                        count += 1
                        yield record

    write_records(records(), path)
    return count


def _until(stint: Stint, deals: int) -> Stint:
    return replace(stint, deals=min(stint.deals, deals - stint.first_deal))


def _at(kept: Sequence[Result], stint: Stint) -> np.ndarray:
    """What was earned in a stint that is part of what is kept, [D, S, P]."""
    for result in kept:
        first = stint.first_deal - result.stint.first_deal
        if result.stint.lineup == stint.lineup and 0 <= first < result.stint.deals:
            return result.earned[first : first + stint.deals]
    raise KilleError(f"lineup {stint.lineup} has not played deal {stint.first_deal}")


def cells_renderable(cells: Sequence[Cell]) -> RichTable:
    """Returns cells for the terminal."""
    title = Text(f"What {cells[0].row} earns where {cells[0].column} sits too")  # names hold markup
    table = RichTable(title=title, title_justify="left")
    for name in ("seats", "units a deal", "deals", "tables", "as it is kept"):
        table.add_column(name, justify="right")
    for cell in cells:
        table.add_row(
            str(cell.num_players),
            f"{cell.mean:+.4f}" + ("" if cell.half is None else f" ± {cell.half:.4f}"),
            f"{cell.deals:,}",
            f"{cell.tables:,}",
            "bit for bit" if cell.same else "NO",
        )
    return table


def _cell(
    seats: int,
    row: str,
    column: str,
    pair: Sequence[int],
    kept: Sequence[Result],
    again: Sequence[Result],
) -> Cell:
    mine = [result for result in again if len(result.stint.members) == seats]
    theirs = [result for result in kept if len(result.stint.members) == seats]
    found = _earnings(mine, pair[0])
    tables = sum(result.earned.shape[0] * result.earned.shape[1] for result in mine)
    same = _by_deal(mine) == _by_deal(theirs)
    half = float(found.half[0]) if np.isfinite(found.half[0]) else None
    return Cell(row, column, seats, float(found.mean[0]), half, int(found.deals[0]), tables, same)


def _by_deal(results: Sequence[Result]) -> dict[Any, bytes]:
    """Everything that was earned, as bytes by lineup and deal."""
    return {
        (result.stint.lineup, result.stint.first_deal + number): earned.tobytes()
        for result in results
        for number, earned in enumerate(result.earned)
    }


def _earnings(results: Sequence[Result], who: int) -> Intervals:
    """What an entrant earned less the table's mean, over all these results."""
    deals, scores = [], []
    for result in results:
        earned, _ = means(result)
        places = [place for place, member in enumerate(result.stint.members) if member == who]
        deals.append(result.stint.first_deal + np.arange(result.stint.deals))
        scores.append(earned[:, places].mean(axis=1) - earned.mean(axis=1).round(9))
    return means_by_deal(sums_by_deal(np.concatenate(deals), np.concatenate(scores)[:, None]))


def _number(entrants: Sequence[KeptEntrant], name: str) -> int:
    for entrant in entrants:
        if entrant.name == name:
            return entrant.number
    names = [entrant.name for entrant in entrants]
    raise ConfigError(f"nobody called {name!r} takes part. {did_you_mean(name, names)}")
