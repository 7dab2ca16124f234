"""What is played in one go, and what comes of it.

A *lineup* is who sits at a table, in order round it; the same entrant may be in it more than once.
A *block* is a lineup at consecutive deals. A *work unit* is as many blocks as fill a batch: one
process plays it in one go, and its results are kept together or not at all. The results of a block
do not depend on the unit that it is in.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kille_env.errors import KilleError
from kille_training.statistics.observations import Observations

SAMPLED = "sampled"


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
class Block:
    """A lineup at consecutive deals.

    Attributes:
        lineup: Number of the lineup.
        members: [P] numbers of the entrants, in order round the table.
        first_deal: First deal, from 0.
        deals: How many.
    """

    lineup: int
    members: tuple[int, ...]
    first_deal: int
    deals: int


@dataclass(frozen=True)
class WorkUnit:
    """Blocks that are played in one go.

    Attributes:
        game: The game.
        num_players: P seats, in every block.
        rules: Every switch with its value.
        seed: Seed of the tournament.
        orders: Orders round the table that are played at each deal, see `seatings`.
        blocks: What is played.
        entrants: The entrants who sit there.
        trust: Whether model files that can run code may be loaded.
    """

    game: str
    num_players: int
    rules: Mapping[str, Any]
    seed: int
    orders: int | str
    blocks: tuple[Block, ...]
    entrants: tuple[Entrant, ...]
    trust: bool = False

    @property
    def deals(self) -> int:
        """Deals of all blocks together."""
        return sum(block.deals for block in self.blocks)


@dataclass(frozen=True)
class Result:
    """What came of a block.

    Attributes:
        block: The block.
        seatings: [S, P] place in the lineup of who sat in each seat.
        earned: [D, S, P] units that each seat earned.
    """

    block: Block
    seatings: np.ndarray
    earned: np.ndarray


class Thinking(NamedTuple):
    """Who is being waited for.

    Attributes:
        entrant: Its number.
        decisions: How many it was asked for in one go; 0 while it is being loaded.
        lineup: Number of the lineup of the first of them.
        deal: Its deal.
    """

    entrant: int
    decisions: int
    lineup: int
    deal: int


@dataclass(frozen=True)
class Failure:
    """An entrant that cannot go on.

    Attributes:
        entrant: Its number.
        reason: What it did, as text.
        lineup: Number of the lineup at whose table it failed.
        deal: The deal.
    """

    entrant: int
    reason: str
    lineup: int
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


def observe(results: Iterable[Result]) -> dict[int, Observations]:
    """Returns the input of all statistics, by table size, in the order of the results."""
    parts: dict[int, list[tuple[np.ndarray, ...]]] = {}
    for result in results:
        block = result.block
        earned, finishes = _means(result)
        # Rounded like the earnings, so that it is 0 in games that sum to zero; and summed from
        # first to last, because the order of NumPy's sums depends on the shape.
        mean = (sum(earned.T) / earned.shape[1]).round(9)
        part = (
            np.tile(np.array(block.members, dtype=np.int32), (block.deals, 1)),
            block.first_deal + np.arange(block.deals),
            np.full(block.deals, block.lineup, dtype=np.int32),
            earned - mean[:, None],
            earned,
            finishes.astype(np.float32),
        )
        parts.setdefault(len(block.members), []).append(part)
    return {
        seats: Observations(*map(np.concatenate, zip(*parts[seats], strict=True)))
        for seats in sorted(parts)
    }


def _means(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Returns means over the seatings of each deal, by place in the lineup.

    Returns:
        [D, P] units earned, and [D, P, P] share of the seatings in which the member at a place
        finished at a rank, 0 for the best; ties share the ranks evenly.
    """
    deals, turns, seats = result.earned.shape
    earned, finishes = np.zeros((deals, seats)), np.zeros((deals, seats, seats))
    ranks = np.arange(seats)
    by_place = np.zeros((deals, seats))
    for turn, seated in enumerate(result.seatings):
        by_place[:, seated] = result.earned[:, turn]
        earned += by_place
        better = (by_place[:, None, :] > by_place[:, :, None]).sum(axis=2)[:, :, None]
        equal = (by_place[:, None, :] == by_place[:, :, None]).sum(axis=2)[:, :, None]
        finishes += ((better <= ranks) & (ranks < better + equal)) / equal
    return earned / turns, finishes / turns


def cut(blocks: Iterable[Block], tables_per_deal: int, size: int) -> Iterator[tuple[Block, ...]]:
    """Cuts work into units.

    The first deals of all lineups come before the next deals of any, so that the results say
    something about every entrant at any time.

    Args:
        blocks: What is to be played, of one table size.
        tables_per_deal: Tables at which a deal is played, at most.
        size: Tables of a unit; a deal is played together however many it needs.

    Yields:
        The blocks of one unit after another. A long block is cut at multiples of what a unit holds,
        so the cuts do not depend on what else there is.
    """
    deals = max(1, size // tables_per_deal)
    pieces = [piece for block in blocks for piece in _pieces(block, deals)]
    pieces.sort(key=lambda piece: (piece.first_deal // deals, piece.lineup, piece.first_deal))
    unit: list[Block] = []
    room = deals
    for piece in pieces:
        if piece.deals > room:
            yield tuple(unit)
            unit, room = [], deals
        unit.append(piece)
        room -= piece.deals
    if unit:
        yield tuple(unit)


def _pieces(block: Block, deals: int) -> Iterator[Block]:
    first, end = block.first_deal, block.first_deal + block.deals
    while first < end:
        last = min(end, (first // deals + 1) * deals)
        yield Block(block.lineup, block.members, first, last - first)
        first = last
