"""Draws: who sits with whom, in which order, at every deal.

A draw is a template of lineups over *slots*, and entrants in groups that fill the slots. Two random
permutations are drawn at every deal: of the members of each group, so any of them may be in any of
the group's slots; and of the places of a lineup, so its slots may sit in any order round the table.
So at every deal each choice of entrants that the template allows is equally likely, and so is each
circular order of it. Deals are independent and identically distributed, including who meets whom in
which order, which is what intervals with deals as clusters assume. Within a deal the template stays
what it is: as balanced as it was made.

A lineup plays a deal from all P positions, so each member has each position once. That leaves who
sits to whose left, which matters where cards go to the left, and is drawn.

The random numbers follow from the seed, the table size, the deal and the keys of the entrants,
which are made of their names. So a draw is the same in whatever order entrants entered, however its
deals are cut, and whatever else is played.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kille_env.core.keys import derive, uniforms

Lineup = tuple[int, ...]
_DRAWS = 0x64726177
"""Number of the stream of draws below the seed of a tournament: no table size, and no deal."""
_MEMBERS, _PLACES, _PLAYED = range(3)


@dataclass(frozen=True, eq=False)
class Draw:
    """A template of lineups, and who fills it.

    Attributes:
        groups: Numbers of the entrants of each group; their order means nothing.
        rows: [L, P] slots of each lineup. Slots count through the groups one after the other: the
            first slot of the second group comes after the last of the first.
        often: [L] share of the deals in which a row is played, 1.0 nearly always.
        orders: [L, P] order of each row round the table, as places of the row, beginning with 0:
            (0, 2, 1) is the mirror image of (0, 1, 2). The deal's permutation decides which slots
            these places are. None: (0, 1, ..., P - 1) for all.
        first: Number of the first row in the draw that this is a part of.
    """

    groups: tuple[tuple[int, ...], ...]
    rows: np.ndarray
    often: np.ndarray
    orders: np.ndarray | None = None
    first: int = 0

    @property
    def seats(self) -> int:
        """P, seats of the table."""
        return self.rows.shape[1]

    def lineups(
        self, seed: int, keys: Mapping[int, int], first_deal: int, deals: int
    ) -> np.ndarray:
        """Returns the lineups of consecutive deals.

        Args:
            seed: Seed of the tournament.
            keys: Of the entrants in the groups, by number, see `Entrant.key`.
            first_deal: The first deal, from 0.
            deals: How many, D.

        Returns:
            [D, L, P] int32 numbers of entrants in circular order, beginning with the row's first
            slot; -1 for a row that is not played at a deal.
        """
        rows, seats = self.rows.shape
        stream = derive(derive(np.uint64(seed), _DRAWS), seats)
        numbers = np.arange(first_deal, first_deal + deals)
        members = self._members(derive(derive(stream, _MEMBERS), numbers), keys)
        places = _places(derive(derive(stream, _PLACES), numbers), seats)
        orders = np.arange(seats) if self.orders is None else self.orders
        slots = self.rows[np.arange(rows)[:, None], places[:, np.atleast_2d(orders)]]
        found = members[np.arange(deals)[:, None, None], slots]
        for row in np.flatnonzero(self.often < 1.0).tolist():
            drawn = uniforms(derive(derive(derive(stream, _PLAYED), self.first + row), numbers))
            found[drawn >= self.often[row], row] = -1
        return found

    def digest(self) -> str:
        """Return what tells the draw from others: equal draws have equal digests."""
        orders = None if self.orders is None else self.orders.tolist()
        text = json.dumps([self.groups, self.rows.tolist(), self.often.tolist(), orders])
        return hashlib.sha256(text.encode()).hexdigest()

    def part(self, begin: int, end: int) -> "Draw":
        """Returns some of the rows, which play what they play in the whole."""
        return replace(
            self,
            rows=self.rows[begin:end],
            often=self.often[begin:end],
            orders=None if self.orders is None else self.orders[begin:end],
            first=self.first + begin,
        )

    def _members(self, deals: np.ndarray, keys: Mapping[int, int]) -> np.ndarray:
        """Returns who fills each slot at deals with these keys, [D, slots] int32."""
        filled = []
        for group in self.groups:
            own = np.array([keys[number] for number in group], dtype=np.uint64)
            order = np.argsort(derive(deals[:, None], own), axis=1)
            filled.append(np.array(group, dtype=np.int32)[order])
        return np.concatenate(filled, axis=1)


def _places(deals: np.ndarray, seats: int) -> np.ndarray:
    """Returns the permutation of the places at each deal, [D, P]; the first place stays."""
    words = derive(deals[:, None], np.arange(1, seats))
    return np.pad(1 + np.argsort(words, axis=1), ((0, 0), (1, 0)))
