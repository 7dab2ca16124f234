"""What is played in one go, and what comes of it.

A *draw* says who meets whom at each deal, see `draws`; its *rows* are lineups, fresh ones at every
deal. A *panel* is some of the rows of a draw, and a *block* is a panel at consecutive deals. A
*work unit* is as many blocks as fill a batch: one process plays it in one go, and its results are
kept together or not at all. The results of a block do not depend on the unit that it is in.
"""

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kille_env.errors import KilleError
from kille_training.arena.draws import Draw

SAMPLED = "sampled"
PANEL_ROWS = 1024
"""Rows of a panel, at most."""


@dataclass(frozen=True)
class Entrant:
    """A player in a tournament.

    Attributes:
        number: Its number in the tournament, from 0.
        name: What it is called there.
        player: Name or path of the player, see `load_policy`.
        play: "sampled": by its probabilities; "greedy": always the most likely action.
    """

    number: int
    name: str
    player: str
    play: str = SAMPLED

    @cached_property
    def key(self) -> int:
        """Its name as a number below 2**64; orders round the table are drawn from it."""
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:8], "little")


@dataclass(frozen=True)
class Panel:
    """Some rows of a draw: what the store counts as played.

    Attributes:
        number: Its number in the store, which two panels share only if they are the same.
        draw: Its rows, L of them, at most `PANEL_ROWS`.
        stage: Number of the whole draw: of the wave of entrants, or of the Swiss round.
    """

    number: int
    draw: Draw = field(compare=False, repr=False)
    stage: int = field(default=0, compare=False)

    @property
    def lineups(self) -> int:
        """L, the lineups that it plays at each deal."""
        return len(self.draw.rows)

    @property
    def seats(self) -> int:
        """P, seats of its tables."""
        return self.draw.seats


@dataclass(frozen=True)
class Block:
    """A panel at consecutive deals.

    Attributes:
        panel: The panel.
        first_deal: First deal, from 0.
        deals: D, how many.
        without: Numbers of entrants that do not take part: lineups with them are left out.
        some: Only lineups that have a member in each of these sets of entrants are played: those
            that were left out before, or those in which certain entrants meet.
    """

    panel: Panel
    first_deal: int
    deals: int
    without: tuple[int, ...] = ()
    some: tuple[tuple[int, ...], ...] = ()

    @property
    def lineups(self) -> int:
        """Lineups of all its deals together, with those that are left out."""
        return self.deals * self.panel.lineups

    def can_play(self) -> bool:
        """Returns whether those that take part fill the slots of any of its lineups."""
        if not self.without:
            return True
        draw, gone = self.panel.draw, set(self.without)
        sizes = [len(group) for group in draw.groups]
        there = [len(set(group) - gone) for group in draw.groups]
        filled = np.zeros((len(draw.rows), sum(sizes)), dtype=np.int64)
        filled[np.arange(len(draw.rows))[:, None], draw.rows] = 1
        needed = np.add.reduceat(filled, np.cumsum([0, *sizes[:-1]]), axis=1)
        return bool((needed <= there).all(axis=1).any())

    def members(self, seed: int, keys: Mapping[int, int]) -> np.ndarray:
        """Returns who sits at its tables.

        Args:
            seed: Seed of the tournament.
            keys: Key of every entrant of the draw, by number.

        Returns:
            [D, L, P] int32, numbers of the entrants in order round the table; a lineup that is not
            played is all -1.
        """
        members = self.panel.draw.lineups(seed, keys, self.first_deal, self.deals)
        left_out = np.isin(members, self.without).any(axis=2)
        for each in self.some:
            left_out |= ~np.isin(members, each).any(axis=2)
        members[left_out] = -1
        return members


@dataclass(frozen=True)
class WorkUnit:
    """Blocks that are played in one go.

    Attributes:
        game: The game.
        num_players: P seats, in every block.
        rules: Every switch with its value.
        seed: Seed of the tournament.
        blocks: What is played.
        entrants: The entrants of all their draws.
        trust: Whether model files that can run code may be loaded.
    """

    game: str
    num_players: int
    rules: Mapping[str, Any]
    seed: int
    blocks: tuple[Block, ...]
    entrants: tuple[Entrant, ...]
    trust: bool = False

    @property
    def keys(self) -> dict[int, int]:
        """Keys of the entrants, by number."""
        return {entrant.number: entrant.key for entrant in self.entrants}

    @property
    def deals(self) -> int:
        """Deals of all blocks together; each counts once for every lineup."""
        return sum(block.lineups for block in self.blocks)


@dataclass(frozen=True)
class Result:
    """What came of a block.

    In rotation t, seat s is taken by the member at place (s + t) % P of the lineup: so each member
    sits once in each seat.

    Attributes:
        block: The block.
        members: [D, L, P] int32, numbers of the entrants in order round the table; a lineup that
            was not played is all -1.
        earned: [D, L, P, P] units of each seat in each rotation, the rotations first; 0 where
            nothing was played.
    """

    block: Block
    members: np.ndarray
    earned: np.ndarray


def rotations(seats: int) -> np.ndarray:
    """Returns the place in the lineup of who takes each seat in each rotation, [P, P]."""
    seat = np.arange(seats)
    return (seat[None, :] + seat[:, None]) % seats


def by_place(earned: np.ndarray) -> np.ndarray:
    """Returns what each place of a lineup earned in each rotation, [..., P, P].

    Args:
        earned: [..., P, P] units of each seat in each rotation, the rotations first.
    """
    place = np.arange(earned.shape[-1])
    turn = place[:, None]
    return earned[..., turn, (place - turn) % len(place)]


class Thinking(NamedTuple):
    """Who is being waited for.

    Attributes:
        entrant: Its number.
        decisions: How many it was asked for in one go; 0 while it is being loaded.
        panel: Number of the panel of the first of them.
        deal: Its deal.
    """

    entrant: int
    decisions: int
    panel: int
    deal: int


@dataclass(frozen=True)
class Failure:
    """An entrant that cannot go on.

    Attributes:
        entrant: Its number.
        reason: What it did, as text.
        panel: Number of the panel at one of whose tables it failed.
        deal: The deal.
    """

    entrant: int
    reason: str
    panel: int
    deal: int


@dataclass(frozen=True)
class Outcome:
    """What came of a work unit: its results, or the failure that ended it.

    Attributes:
        unit: The unit.
        results: One per block, none after a failure.
        failure: Who failed; None if no entrant did.
    """

    unit: WorkUnit
    results: tuple[Result, ...] = ()
    failure: Failure | None = None


class EntrantFailed(KilleError):
    """A player crashed or did not return a distribution over the legal actions."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


def cut(blocks: Iterable[Block], size: int) -> Iterator[tuple[Block, ...]]:
    """Cuts work into units.

    The first deals of all panels come before the next deals of any, so that the results say
    something about every entrant at any time.

    Args:
        blocks: What is to be played, of one table size.
        size: Tables of a unit; a deal of a panel is played together however many it needs.

    Yields:
        The blocks of one unit after another, made when they are asked for. A long block is cut at
        multiples of as many deals as a unit holds, so the cuts do not depend on what else there is.
    """
    pieces = heapq.merge(
        *(_pieces(block, size) for block in blocks),
        key=lambda piece: (piece.first_deal, piece.panel.number),
    )
    unit: list[Block] = []
    room = size
    for piece in pieces:
        tables = piece.lineups * piece.panel.seats
        if unit and tables > room:
            yield tuple(unit)
            unit, room = [], size
        unit.append(piece)
        room -= tables
    if unit:
        yield tuple(unit)


def _pieces(block: Block, size: int) -> Iterator[Block]:
    deals = max(1, size // (block.panel.lineups * block.panel.seats))
    first, end = block.first_deal, block.first_deal + block.deals
    while first < end:
        last = min(end, (first // deals + 1) * deals)
        yield replace(block, first_deal=first, deals=last - first)
        first = last
