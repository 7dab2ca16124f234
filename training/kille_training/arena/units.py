"""What is played in one go, and what comes of it.

A *lineup* is who sits at a table, in order round it; the same player may be in it more than once.
A *stint* is a lineup at consecutive deals. A *unit* is as many stints as fill a batch: it is played
by one process in one go, and its results are kept together or not at all. What comes of a stint
does not depend on the unit that it is in.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kille_env.errors import KilleError

PLAYS = ("sampled", "argmax")


@dataclass(frozen=True)
class Entrant:
    """Somebody who takes part.

    Attributes:
        number: His number in the tournament, from 0, in the order of entering.
        name: What he is called in it.
        player: Name or path of the player, see `load_policy`.
        play: "sampled": as his probabilities say; "argmax": always the likeliest action.
    """

    number: int
    name: str
    player: str
    play: str = "sampled"

    @cached_property
    def key(self) -> int:
        """What is random in his play follows from it: his name as a number, below 2**64."""
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:8], "little")


@dataclass(frozen=True)
class Stint:
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
class Unit:
    """Stints that are played in one go.

    Attributes:
        game: The game.
        num_players: P seats, in every stint.
        rules: Every switch with its value.
        seed: Seed of the tournament.
        orders: Orders round the table that are played at each deal, see `seatings`.
        stints: What is played.
        entrants: Those who take part in it.
        trust: Whether model files that can run code may be loaded.
    """

    game: str
    num_players: int
    rules: Mapping[str, Any]
    seed: int
    orders: int | str
    stints: tuple[Stint, ...]
    entrants: tuple[Entrant, ...]
    trust: bool = False

    @property
    def deals(self) -> int:
        """Deals of all stints together."""
        return sum(stint.deals for stint in self.stints)


@dataclass(frozen=True)
class Result:
    """What came of a stint.

    Attributes:
        stint: The stint.
        seatings: [S, P] place in the lineup of who sat in each seat.
        earned: [D, S, P] units that each seat earned.
    """

    stint: Stint
    seatings: np.ndarray
    earned: np.ndarray


class Thinking(NamedTuple):
    """Who is being waited for.

    Attributes:
        entrant: His number.
        decisions: How many he was asked for in one go; 0 while he is being loaded.
        lineup: Number of the lineup of the first of them.
        deal: Its deal.
    """

    entrant: int
    decisions: int
    lineup: int
    deal: int


@dataclass(frozen=True)
class Failure:
    """An entrant who can not go on.

    Attributes:
        entrant: His number.
        reason: What he did, in words.
        lineup: Number of the lineup at whose table it came out.
        deal: The deal.
    """

    entrant: int
    reason: str
    lineup: int
    deal: int


@dataclass(frozen=True)
class Outcome:
    """What came of a unit: its results, or the failure that ended it.

    Attributes:
        unit: The unit.
        results: One a stint, none after a failure.
        failure: Who failed, None if nobody did.
        seconds: Time that it took.
    """

    unit: Unit
    results: tuple[Result, ...] = ()
    failure: Failure | None = None
    seconds: float = field(default=0.0, compare=False)


class EntrantFailed(KilleError):
    """An entrant crashed or did not answer with a distribution over the legal actions."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


def means(result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Returns means over the seatings of each deal, by place in the lineup.

    Returns:
        [D, P] units earned, and [D, P, P] share of the seatings in which the member at a place
        finished at a rank, 0 for the best; who ties shares the ranks evenly.
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


def cut(stints: Iterable[Stint], tables_a_deal: int, size: int) -> Iterator[tuple[Stint, ...]]:
    """Cuts work into units.

    The first deals of all lineups come before the next deals of any, so that what has been played
    says something about everybody at any time.

    Args:
        stints: What is to be played, of one table size.
        tables_a_deal: Tables at which a deal is played, at most.
        size: Tables of a unit; one deal is played together however many it needs.

    Yields:
        Stints of a unit each; a long stint is cut at multiples of what a unit holds, so that the
        cuts do not depend on what else there is.
    """
    deals = max(1, size // tables_a_deal)
    pieces = [piece for stint in stints for piece in _pieces(stint, deals)]
    pieces.sort(key=lambda piece: (piece.first_deal // deals, piece.lineup, piece.first_deal))
    unit: list[Stint] = []
    room = deals
    for piece in pieces:
        if piece.deals > room:
            yield tuple(unit)
            unit, room = [], deals
        unit.append(piece)
        room -= piece.deals
    if unit:
        yield tuple(unit)


def _pieces(stint: Stint, deals: int) -> Iterator[Stint]:
    first, end = stint.first_deal, stint.first_deal + stint.deals
    while first < end:
        last = min(end, (first // deals + 1) * deals)
        yield Stint(stint.lineup, stint.members, first, last - first)
        first = last
