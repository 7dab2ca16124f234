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
from kille_training.arena.work import Block, Result, WorkUnit
from kille_training.statistics.intervals import units
from kille_training.statistics.tally import Tally


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
    blocks: dict[int, list[Block]] = {}
    for result in store.results():
        if pair[0] != pair[1] and _with(result.members, *pair).any():
            both = (*result.block.some, *((number,) for number in pair))
            block = replace(result.block, some=both)
            blocks.setdefault(block.panel.seats, []).append(block)
    if not blocks:
        raise ConfigError(f"{row!r} and {column!r} have not sat at one table; there is no cell")
    progress.begin({seats: sum(each.lineups for each in blocks[seats]) for seats in blocks}, {})
    again = {seats: _Again(store, pair[0], pair[1], seats) for seats in sorted(blocks)}
    for outcome in executor.run(work_units(settings, store, blocks, trust=trust)):
        if outcome.failure is not None:
            name = entrants[outcome.failure.entrant].name
            raise KilleError(f"{name} fails now, but did not before: {outcome.failure.reason}")
        for result in outcome.results:
            again[result.block.panel.seats].add(result)
        progress.played(outcome)
    return [each.cell(row, column) for each in again.values()]


class _Again:
    """Tables of one size, played again: what two entrants earn, and whether it is as before."""

    def __init__(self, store: Store, row: int, column: int, seats: int) -> None:
        self._store, self._row, self._column, self._seats = store, row, column, seats
        self._tally = Tally.empty(seats, 3)  # the row's entrant, the column's, all others
        self._same = True

    def add(self, result: Result) -> None:
        """Adds what came of a block, and compares it with what is kept."""
        played = result.members[:, :, 0] >= 0
        kept = self._store.kept(result.block)
        self._same &= np.array_equal(_with(kept.members, self._row, self._column) & played, played)
        self._same &= np.array_equal(result.members[played], kept.members[played])
        self._same &= np.array_equal(result.earned[played], kept.earned[played])
        deal, _ = np.nonzero(played)
        members = result.members[played]
        who = np.where(members == self._row, 0, np.where(members == self._column, 1, 2))
        self._tally.add(who, result.block.first_deal + deal, result.earned[played])

    def cell(self, row: str, column: str) -> Cell:
        """Returns what has been found."""
        found = units(self._tally)
        half = found.half[0]
        return Cell(
            row,
            column,
            self._seats,
            mean=float(found.mean[0]),
            half=float(half) if np.isfinite(half) else None,
            deals=int(found.count[0]),
            tables=self._tally.observations * self._seats,
            same=self._same,
        )


def _with(members: np.ndarray, row: int, column: int) -> np.ndarray:
    """Returns at which tables both sit, [D, L]."""
    return (members == row).any(axis=2) & (members == column).any(axis=2)


def export_records(
    store: Store,
    settings: TournamentSettings,
    path: Path,
    deals: int,
    *,
    trust: bool = False,
) -> int:
    """Writes the first deals of a tournament as game records, card by card and action by action.

    They are replayed for it, in this process, and compared with the stored results.

    Args:
        store: The results.
        settings: The tournament's.
        path: The file; replaced when the new one is whole.
        deals: How many deals, each with all its lineups.
        trust: Whether model files that can run code may be loaded.

    Returns:
        How many records it has.

    Raises:
        KilleError: An entrant plays otherwise than before, or fails.
    """
    check_same(store, settings)
    blocks: dict[int, list[Block]] = {}
    for result in store.results():
        block = result.block
        if (most := min(block.deals, deals - block.first_deal)) > 0:
            blocks.setdefault(block.panel.seats, []).append(replace(block, deals=most))
    count = 0

    def records() -> Iterator[Record]:
        nonlocal count
        cache = PlayerCache()
        for unit in work_units(settings, store, dict(sorted(blocks.items())), trust=trust):
            with redirect_stdout(sys.stderr):  # what players print is not our output
                written = record_unit(unit, cache)
            _check_records(written, unit, store)
            count += len(written)
            yield from written

    write_records(records(), path)
    return count


def _check_records(records: Sequence[Record], unit: WorkUnit, store: Store) -> None:
    """Refuses records of a unit that do not match the stored results."""
    earned = np.round([record["returns"] for record in records], 9)
    end = 0
    for block in unit.blocks:
        played = block.members(unit.seed, unit.keys)[:, :, 0] >= 0
        kept = store.kept(block)
        theirs = kept.earned[played].reshape(-1, unit.num_players)
        begin, end = end, end + len(theirs)
        there = (kept.members[played] >= 0).all()
        if not there or not np.array_equal(earned[begin:end], theirs):
            raise KilleError(
                f"the deals from {block.first_deal} earn something else than is stored in "
                f"{store.path}; were they played with other versions, see its config.yaml?"
            )


def _number(entrants: Sequence[KeptEntrant], name: str) -> int:
    for entrant in entrants:
        if entrant.name == name:
            return entrant.number
    names = [entrant.name for entrant in entrants]
    raise ConfigError(f"there is no entrant {name!r}. {did_you_mean(name, names)}")
