"""A few matches of each two entrants, played again and recorded card by card."""

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from kille_env.errors import KilleError
from kille_env.records import Record
from kille_training.arena.play import PlayerCache, record_unit
from kille_training.arena.settings import TournamentSettings
from kille_training.arena.store import Store
from kille_training.arena.tournament import Folder, check_same
from kille_training.arena.work import Block, Panel, Result, WorkUnit

LINEUPS = 200
"""Lineups that are played again in one go."""


@dataclass(frozen=True)
class Sample:
    """A lineup at a deal, in all its rotations.

    Attributes:
        members: [P] numbers of the entrants, in order round the table.
        deal: The deal.
        records: [P] the match of each rotation.
    """

    members: tuple[int, ...]
    deal: int
    records: tuple[Record, ...]


def samples(
    store: Store,
    settings: TournamentSettings,
    num_players: int,
    among: Collection[int],
    *,
    trust: bool = False,
) -> Iterator[Sample]:
    """Yields lineups in which each two entrants meet that have met, the first ones that do.

    They are played again in this process, without a time limit, and compared with the results.

    Args:
        store: The results.
        settings: The tournament's.
        num_players: The table size.
        among: Numbers of the entrants.
        trust: Whether model files that can run code may be loaded.

    Raises:
        KilleError: An entrant plays otherwise than before, or fails.
    """
    table, rules = settings.table, settings.table.resolve().as_dict()
    entrants = tuple(each.plain for each in store.entrants())
    cache = PlayerCache()
    chosen = list(_lineups(store.results(num_players), len(entrants), among))
    for begin in range(0, len(chosen), LINEUPS):
        part = chosen[begin : begin + LINEUPS]
        blocks = tuple(each.block for each in part)
        unit = WorkUnit(table.game, num_players, rules, settings.seed, blocks, entrants, trust)
        with redirect_stdout(sys.stderr):  # what players print is not our output
            records = record_unit(unit, cache)
        for number, each in enumerate(part):
            found = records[number * num_players : (number + 1) * num_players]
            _check_same(found, each)
            members = tuple(each.members[0, 0].tolist())
            yield Sample(members, each.block.first_deal, tuple(found))


def tournament_samples(folder: Folder, *, trust: bool = False) -> Iterator[Sample]:
    """Yields samples of a tournament, at every table size; see `samples`.

    Args:
        folder: The tournament's.
        trust: Whether model files that can run code may be loaded.
    """
    settings = folder.settings()
    with Store(folder.results, readonly=True) as store:
        check_same(store, settings)
        there = range(len(store.entrants()))
        for seats in settings.table.num_players:
            yield from samples(store, settings, seats, there, trust=trust)


def _lineups(results: Iterator[Result], entrants: int, among: Collection[int]) -> Iterator[Result]:
    """Yields results of single lineups at single deals, until no two have met in others alone."""
    wanted = {frozenset(pair) for pair in combinations(sorted(among), 2)}
    for result in results:
        if not wanted:
            return
        rows = result.members.reshape(-1, result.block.panel.seats)
        first = _first_meetings(rows, entrants)
        for pair in sorted(map(sorted, wanted)):
            at = first[pair[0], pair[1]]
            if at >= 0 and frozenset(pair) in wanted:
                wanted -= {frozenset(each) for each in combinations(rows[at].tolist(), 2)}
                yield _alone(result, *divmod(int(at), result.block.panel.lineups))


def _first_meetings(rows: np.ndarray, entrants: int) -> np.ndarray:
    """Returns the first row in which each two sit, [E, E]; -1 where none is.

    Args:
        rows: [N, P] numbers of entrants; -1 where nothing was played.
        entrants: E.
    """
    first = np.full((entrants, entrants), len(rows))
    number = np.flatnonzero(rows[:, 0] >= 0)
    for one, other in combinations(rows[number].T, 2):
        np.minimum.at(first, (one, other), number)
    first = np.minimum(first, first.T)
    return np.where(first < len(rows), first, -1)


def _alone(result: Result, deal: int, row: int) -> Result:
    """Returns what came of a single lineup at a single deal of a result."""
    panel = result.block.panel
    alone = Panel(panel.number, panel.draw.part(row, row + 1))
    block = Block(alone, result.block.first_deal + deal, 1)
    here = slice(deal, deal + 1), slice(row, row + 1)
    return Result(block, result.members[here], result.earned[here])


def _check_same(records: Sequence[Record], result: Result) -> None:
    earned = np.round([record["returns"] for record in records], 9)
    if not np.array_equal(earned, result.earned[0, 0]):
        raise KilleError(
            f"deal {result.block.first_deal} earns {earned.tolist()} now, and earned "
            f"{result.earned[0, 0].tolist()}; was it played with other versions?"
        )
