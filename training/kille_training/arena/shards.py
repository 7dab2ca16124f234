"""Shards: what one process plays in one go, and playing them.

A shard is some rows of a draw at consecutive deals. What comes of it depends on nothing but the
shard, the table, the seed and the players.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kille_env.core.keys import deal_seeds
from kille_env.play.play import Players, play_out
from kille_env.play.policy import Player, check_probabilities, name_of
from kille_env.registry import Table, make_batch
from kille_training.arena.draws import Draw
from kille_training.pool.jobs import Report

SHARD_ROWS = 1024
"""Rows of a shard, at most."""


@dataclass(frozen=True)
class Shard:
    """Some rows of a draw at consecutive deals.

    Attributes:
        stage: Number of the draw among those of its table size.
        draw: The rows, L of them, at most `SHARD_ROWS`.
        first_deal: First deal, from 0.
        deals: D, how many.
        without: Numbers of entrants that do not take part: lineups with them are left out.
    """

    stage: int
    draw: Draw = field(repr=False)
    first_deal: int
    deals: int
    without: tuple[int, ...] = ()

    @property
    def seats(self) -> int:
        """P, seats of its tables."""
        return self.draw.seats

    @property
    def lineups(self) -> int:
        """Lineups of all its deals together, with those that are left out."""
        return self.deals * len(self.draw.rows)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Deals, rows and seats."""
        return self.deals, *self.draw.rows.shape

    def can_play(self) -> bool:
        """Return whether those that take part fill the slots of any of its lineups."""
        sizes = [len(group) for group in self.draw.groups]
        there = [len(set(group) - {*self.without}) for group in self.draw.groups]
        filled = np.zeros((len(self.draw.rows), sum(sizes)), dtype=np.int64)
        filled[np.arange(len(filled))[:, None], self.draw.rows] = 1
        needed = np.add.reduceat(filled, np.cumsum([0, *sizes[:-1]]), axis=1)
        return bool((needed <= there).all(axis=1).any())

    def members(self, seed: int, keys: Mapping[int, int]) -> np.ndarray:
        """Return who sits at its tables.

        Args:
            seed: Seed of the tournament.
            keys: Key of every entrant of the draw, by number.

        Returns:
            [D, L, P] int32, numbers of the entrants in order round the table; a lineup that is not
            played is all -1.
        """
        members = self.draw.lineups(seed, keys, self.first_deal, self.deals)
        members[np.isin(members, self.without).any(axis=2)] = -1
        return members

    def deal(self) -> np.ndarray:
        """Return the number of the deal of each lineup, [D, L]."""
        deals = np.arange(self.first_deal, self.first_deal + self.deals)
        return np.repeat(deals[:, None], len(self.draw.rows), axis=1)


def cut(shards: Iterable[Shard], size: int) -> Iterator[Shard]:
    """Cut long shards into ones of about `size` tables.

    The first deals of all rows come before the next deals of any. A shard is cut at multiples of
    as many deals as fit, so the cuts do not depend on what else there is.
    """
    pieces = (_pieces(shard, max(1, size // shard.draw.rows.size)) for shard in shards)
    return heapq.merge(*pieces, key=lambda piece: (piece.first_deal, piece.draw.first))


def _pieces(shard: Shard, deals: int) -> Iterator[Shard]:
    first, end = shard.first_deal, shard.first_deal + shard.deals
    while first < end:
        last = min(end, (first // deals + 1) * deals)
        yield replace(shard, first_deal=first, deals=last - first)
        first = last


def by_place(earned: np.ndarray) -> np.ndarray:
    """Return what each place of a lineup earned in each rotation, [..., P, P].

    Args:
        earned: [..., P, P] units of each seat in each rotation, the rotations first.
    """
    place = np.arange(earned.shape[-1])
    turn = place[:, None]
    return earned[..., turn, (place - turn) % len(place)]


def rotations(seats: int) -> np.ndarray:
    """Return the place in the lineup of who takes each seat in each rotation, [P, P].

    In rotation t, seat s is taken by the member at place (s + t) % P: so each member sits once in
    each seat.
    """
    seat = np.arange(seats)
    return (seat[None, :] + seat[:, None]) % seats


def play_shard(
    shard: Shard,
    members: np.ndarray,
    table: Table,
    seed: int,
    players: Mapping[int, Player],
    report: Report,
    seconds: float,
) -> np.ndarray:
    """Play a shard: all its tables in one batch, each player asked once per step.

    Args:
        shard: What is played.
        members: [D, L, P] its `members`.
        table: The table.
        seed: Seed of the tournament.
        players: Players by the numbers of their entrants.
        report: Told who is to think.
        seconds: How long a player may think about a batch of decisions.

    Returns:
        [D, L, P, P] units that each seat earned in each rotation, the rotations first; 0 where
        nothing was played.
    """
    earned = np.zeros((*members.shape, table.num_players))
    played = members[:, :, 0] >= 0
    if played.any():
        seats = table.num_players
        seated = members[played][:, rotations(seats)].reshape(-1, seats)
        batch = make_batch(table.game, len(seated), seats, rules=table.rules, seed=0, restart=False)
        batch.reset(seed=deal_seeds(seed, seats, np.repeat(shard.deal()[played], seats)))
        numbers, places = np.unique(seated, return_inverse=True)
        seating = places.reshape(seated.shape)
        own = [players[number] for number in numbers.tolist()]
        asked = _Reported(batch, own, seating, numbers.tolist(), report, seconds)
        earned[played] = play_out(asked).reshape(-1, seats, seats)
    return earned


class _Reported(Players):
    """Players each of whom is announced before it is asked."""

    def __init__(
        self,
        batch: Any,
        players: Any,
        seating: np.ndarray,
        numbers: list[int],
        report: Report,
        seconds: float,
    ) -> None:
        self._numbers, self._report, self._seconds = numbers, report, seconds
        super().__init__(batch, players, seating)
        self.compiled = False  # each is told of before it plays

    def ask(self, number: int, rows: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return the probabilities of a player's actions; see `Players.ask`."""
        task = f"for a batch of {len(rows):,} decision{'s' if len(rows) > 1 else ''}"
        with self._report(self._numbers[number], task, self._seconds):
            probabilities = super().ask(number, rows, keys)
            if type(probabilities) is not np.ndarray:  # some kinds of array hide what they hold
                probabilities = np.asarray(probabilities)
                check_probabilities(
                    name_of(self.players[number]), probabilities, self.batch.mask[rows]
                )
        return probabilities
