"""Who meets whom: a schedule makes a draw for each stage, and a draw the lineups of each deal.

Entrants are named by their numbers. Those that enter together are a *wave*. In every format but
Swiss a stage is a wave: its draw is the one that everybody who has entered by then would have, and
only lineups with one that is new are played. So an entrant that enters later plays what is new, and
what was played before stays as it was. Over all stages together every lineup of the field is played
equally often; random ones as nearly as whole numbers of lineups allow.

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
which are made of their names. So a draw is the same in whatever order entrants are named, however
its deals are cut, and whatever else is played.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations, permutations
from math import ceil, comb, perm
from typing import NamedTuple, Protocol

import numpy as np

from kille_env.core.keys import derive
from kille_env.errors import ConfigError
from kille_training.arena.entrants import Entrant

_DRAWS = 0x64726177
"""Number of the stream of draws below the seed of a tournament: no table size, and no deal."""
_MEMBERS, _PLACES = range(2)
MOST_TABLES = 2**16
"""Tables of a deal, which are played side by side."""
_AGAIN = 1e15
"""Makes company worse than any other that still has a seat."""


class Lineups(NamedTuple):
    """Who sits together at which deals: K lineups.

    Attributes:
        members: [K, P] int32 numbers of the entrants in order round the table, beginning with the
            first slot of the row.
        deal: [K] numbers of the deals, from 0.
        row: [K] numbers of the rows of the draw.
    """

    members: np.ndarray
    deal: np.ndarray
    row: np.ndarray


@dataclass(frozen=True, eq=False)
class Draw:
    """A template of lineups, and who fills it.

    Every second row, by the sum of its slots, sits the other way round. So of any two slots the one
    sits directly left of the other about as often as right. Over all choices of n slots, "left" and
    "right" differ by at most 2 at three seats, where two slots meet n - 2 times; by n / 2 at four
    seats and by n at five, where they meet some n**2 / 2 and n**3 / 6 times.

    Attributes:
        groups: Numbers of the entrants of each group; their order means nothing.
        rows: [L, P] slots of each lineup. Slots count through the groups one after the other: the
            first slot of the second group comes after the last of the first.
        new: Members of the last group: lineups without any of them are not played. None: all are.
        first_deal: The first deal that is played.
    """

    groups: tuple[tuple[int, ...], ...]
    rows: np.ndarray
    new: tuple[int, ...] | None = None
    first_deal: int = 0

    @property
    def seats(self) -> int:
        """P, seats of the table."""
        return self.rows.shape[1]

    @property
    def often(self) -> float:
        """How many of its lineups are played at a deal, in the mean."""
        if self.new is None:
            return float(len(self.rows))
        size, begin = len(self.groups[-1]), sum(map(len, self.groups[:-1]))
        seated = len({slot for slot in self.rows[0].tolist() if slot >= begin})
        return len(self.rows) * (1 - comb(size - len(self.new), seated) / comb(size, seated))

    def can_play(self, without: Collection[int]) -> bool:
        """Return whether any of its lineups can be played without these entrants."""
        if self.new is not None and set(self.new) <= set(without):
            return False
        there = [len(set(group) - set(without)) for group in self.groups]
        group_of = np.repeat(np.arange(len(there)), [len(group) for group in self.groups])
        needed = (Counter(group_of[list({*row})].tolist()) for row in self.rows.tolist())
        return any(all(there[group] >= n for group, n in row.items()) for row in needed)

    def lineups(
        self,
        seed: int,
        keys: Mapping[int, int],
        first_deal: int,
        deals: int,
        without: Collection[int] = (),
    ) -> Lineups:
        """Return the lineups that are played at consecutive deals, deal by deal.

        Args:
            seed: Seed of the tournament.
            keys: Of the entrants in the groups, by number, see `Entrant.key`.
            first_deal: The first deal, from 0.
            deals: How many.
            without: Entrants that do not take part: lineups with them are left out.
        """
        rows, seats = self.rows.shape
        stream = derive(derive(np.uint64(seed), _DRAWS), seats)
        numbers = np.arange(first_deal, first_deal + deals)
        members = self._members(derive(derive(stream, _MEMBERS), numbers), keys)
        places = _places(derive(derive(stream, _PLACES), numbers), seats)
        order = np.arange(seats)
        odd = self.rows.sum(axis=1, keepdims=True) % 2 == 1
        orders = np.where(odd, -order % seats, order)
        slots = self.rows[np.arange(rows)[:, None], places[:, orders]]
        seated = members[np.arange(deals)[:, None, None], slots]
        played = ~np.isin(seated, list(without)).any(axis=2)
        if self.new is not None:
            played &= np.isin(seated, self.new).any(axis=2)
        deal, row = np.nonzero(played)
        return Lineups(seated[deal, row], numbers[deal], row)

    def _members(self, deals: np.ndarray, keys: Mapping[int, int]) -> np.ndarray:
        """Return who fills each slot at deals with these keys, [D, slots] int32."""
        filled = []
        for group in self.groups:
            own = np.array([keys[number] for number in group], dtype=np.uint64)
            order = np.argsort(derive(deals[:, None], own), axis=1)
            filled.append(np.array(group, dtype=np.int32)[order])
        return np.concatenate(filled, axis=1)


def _places(deals: np.ndarray, seats: int) -> np.ndarray:
    """Return the permutation of the places at each deal, [D, P]; the first place stays."""
    words = derive(deals[:, None], np.arange(1, seats))
    return np.pad(1 + np.argsort(words, axis=1), ((0, 0), (1, 0)))


@dataclass(frozen=True, eq=False)
class Field:
    """Who takes part, and what is known of them.

    Attributes:
        waves: Numbers of those that entered together, founders first, those that are out among
            them.
        present: Numbers of those that are in, in the order of their names.
        scores: [E] units per deal so far, NaN for those that have not sat.
        rounds: Lineups of the Swiss rounds that have been drawn.
    """

    waves: tuple[tuple[int, ...], ...]
    present: tuple[int, ...]
    scores: np.ndarray
    rounds: Sequence[Sequence[tuple[int, ...]]] = ()

    @classmethod
    def of(
        cls,
        entrants: Sequence[Entrant],
        scores: np.ndarray | None = None,
        rounds: Sequence[Sequence[tuple[int, ...]]] = (),
    ) -> "Field":
        """Return the field of all entrants, by number."""
        waves: list[list[int]] = [[] for _ in range(1 + max(each.wave for each in entrants))]
        for each in entrants:
            waves[each.wave].append(each.number)
        there = sorted((each.name, each.number) for each in entrants if each.out is None)
        known = np.full(len(entrants), np.nan) if scores is None else scores
        return cls(tuple(map(tuple, waves)), tuple(number for _, number in there), known, rounds)

    def entered(self, stage: int) -> tuple[int, ...]:
        """Return numbers of those that have entered with a wave or before."""
        return tuple(chain(*self.waves[: stage + 1]))

    def new(self, stage: int) -> tuple[int, ...] | None:
        """Return numbers of those that enter with a wave; None for the founders."""
        return self.waves[stage] if stage else None


class Schedule(Protocol):
    """Who meets whom: `RoundRobin`, `Random` or `Swiss`."""

    def stage(self, number: int, field: Field) -> Draw | None:
        """Return the draw of a stage, counted from 0; None behind the last.

        Raises:
            ConfigError: There are too few entrants, or too many choices of them.
        """
        ...


@dataclass(frozen=True)
class RoundRobin:
    """Every choice of entrants at every deal.

    Attributes:
        seats: P.
        copies: Whether a table of more than two seats has one entrant among copies of another, for
            every pair both ways, and not every choice of P entrants.
        hero: Number of the entrant that sits at every table, never as a copy: a gauntlet. None: a
            round robin.
    """

    seats: int
    copies: bool = False
    hero: int | None = None

    def stage(self, number: int, field: Field) -> Draw | None:
        """Return the draw of a wave; see `Schedule`."""
        if number >= len(field.waves):
            return None
        entered, late = field.entered(number), number > 0
        copies = self.copies and self.seats > 2
        _check_enough(
            len(entered), 2 if copies else self.seats, self.seats, "matchmaking.fill: copies"
        )
        hero = () if self.hero is None else (self.hero,)
        others = tuple(one for one in entered if one not in hero)
        slots, free = range(len(hero), len(entered)), self.seats - len(hero)
        instead = "matchmaking.format: random or swiss"
        if copies:
            _check_number(
                perm(len(others), 2 - len(hero)), len(entered), self.seats, instead, late=late
            )
            pairs = ((0, other) for other in slots) if hero else permutations(slots, 2)
            rows = [(one, *[other] * (self.seats - 1)) for one, other in pairs]
        else:
            instead += ", or fill: copies" if self.seats > 2 else ""
            _check_number(comb(len(others), free), len(entered), self.seats, instead, late=late)
            rows = [(*range(len(hero)), *chosen) for chosen in combinations(slots, free)]
        groups = tuple(filter(None, (hero, others)))
        return Draw(groups, np.array(rows), field.new(number))


@dataclass(frozen=True)
class Random:
    """Some of all choices of entrants, others at every deal.

    Founders sit at `lineups` tables each at every deal, give or take one, and meet about equally
    often. Choices with later entrants are played at the same rate, to a whole number of lineups.

    Attributes:
        seats: P.
        lineups: Tables that each founder sits at in every deal.
    """

    seats: int
    lineups: int = 1

    def stage(self, number: int, field: Field) -> Draw | None:
        """Return the draw of a wave; see `Schedule`."""
        if number >= len(field.waves):
            return None
        entered, founders = field.entered(number), len(field.waves[0])
        _check_enough(founders, self.seats, self.seats, "a smaller table")
        every = comb(len(entered), self.seats)
        rate = Fraction(
            ceil(Fraction(self.lineups * founders, self.seats)), comb(founders, self.seats)
        )
        lineups = min(every, round(rate * every))
        instead = "fewer matchmaking.lineups"
        _check_number(lineups, len(entered), self.seats, instead, late=number > 0)
        if lineups < every:
            rows = _balanced(len(entered), self.seats, lineups)
        else:
            rows = np.array(list(combinations(range(len(entered)), self.seats)))
        return Draw((entered,), rows, field.new(number))


@dataclass(frozen=True)
class Swiss:
    """Rounds in which neighbours in the standings meet; see `swiss_round`.

    Attributes:
        seats: P.
        rounds: How many rounds.
        deals: Deals of each.
        seed: Seed of the tournament, which orders the entrants for the first round.
    """

    seats: int
    rounds: int
    deals: int
    seed: int

    def stage(self, number: int, field: Field) -> Draw | None:
        """Return the draw of a round; one that has not been drawn follows from the standings."""
        if number < len(field.rounds):
            tables = field.rounds[number]
        elif number >= self.rounds or (number and len(field.present) < self.seats):
            return None
        else:
            met, idle = _met(field.rounds, len(field.scores))
            tables = swiss_round(self._order(field), met, idle, self.seats)
        rows = np.arange(len(tables) * self.seats).reshape(-1, self.seats)
        return Draw(tuple(map(tuple, tables)), rows, first_deal=number * self.deals)

    def _order(self, field: Field) -> list[int]:
        """Return entrants by what they earned, newcomers in the middle; by lot before any did."""
        present = list(field.present)
        if not field.rounds:
            rng = np.random.default_rng([self.seed, self.seats])
            return [present[place] for place in rng.permutation(len(present)).tolist()]
        known = field.scores[present]
        middle = float(np.nanmedian(known)) if np.isfinite(known).any() else 0.0
        return sorted(present, key=lambda one: -np.nan_to_num(field.scores[one], nan=middle))


def _met(
    rounds: Sequence[Sequence[tuple[int, ...]]], entrants: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return how often two have met [E, E], and how often each has sat out [E]."""
    met = np.zeros((entrants, entrants), dtype=np.int64)
    idle = np.full(entrants, len(rounds), dtype=np.int64)
    for lineup in chain(*rounds):
        for one in lineup:
            idle[one] -= 1
            for other in lineup:
                met[one, other] += one != other
    return met, idle


def swiss_round(
    standings: Sequence[int], met: np.ndarray, sat_out: np.ndarray, seats: int
) -> list[tuple[int, ...]]:
    """Return the tables of the next round of a Swiss tournament.

    The leader is seated first, then those next in the standings that have met the ones at its table
    least often; then the first of those that are left, and so on.

    Args:
        standings: [E] numbers, best first; for the first round in a drawn order.
        met: [E', E'] how often two have met, by number.
        sat_out: [E'] how often each has sat out.
        seats: P.

    Returns:
        Lineups; when the entrants do not fill all tables, those sit out that have done so least
        often, the last in the standings first.

    Raises:
        ConfigError: There are fewer entrants than seats.
    """
    _check_enough(len(standings), seats, seats, "a smaller table")
    places = {entrant: place for place, entrant in enumerate(standings)}
    idle = sorted(standings, key=lambda entrant: (sat_out[entrant], -places[entrant]))
    resting = set(idle[: len(standings) % seats])
    waiting = np.array([entrant for entrant in standings if entrant not in resting])
    tables = []
    while len(waiting):
        table = [0]
        most = met[waiting[0], waiting].astype(np.float64)  # of those at the table
        while len(table) < seats:
            most[table[-1]] = np.inf
            table.append(int(np.argmin(most)))
            most = np.maximum(most, met[waiting[table[-1]], waiting])
        tables.append(tuple(waiting[table].tolist()))
        waiting = np.delete(waiting, table)
    return tables


@lru_cache(maxsize=16)  # settings are checked before they are played
def _balanced(count: int, seats: int, lineups: int) -> np.ndarray:
    """Return choices in which all slots meet about equally often, and sit about equally often.

    Seat by seat it takes the slot that has met those at the table least often (by the sum of the
    squares), and of these the one that has sat least often. A choice that is there already is taken
    again only if nobody else could sit in its last seat.

    Args:
        count: Slots.
        seats: P.
        lineups: L.

    Returns:
        [L, P] slots, ascending.
    """
    sat, met = np.zeros(count, dtype=np.int64), np.zeros((count, count), dtype=np.int64)
    rows = np.zeros((lineups, seats), dtype=np.int64)
    known = set()
    for row in rows:
        company = np.zeros(count)
        for seat in range(seats):
            slot = _least(company, sat)
            while seat == seats - 1 and company[slot] < _AGAIN and {*row[:-1], slot} in known:
                company[slot] += _AGAIN
                slot = _least(company, sat)
            row[seat] = slot
            company += met[slot] ** 2
            company[slot] = np.inf
        known.add(frozenset(row))
        sat[row] += 1
        met[np.ix_(row, row)] += 1
    return np.sort(rows, axis=1)


def _least(company: np.ndarray, sat: np.ndarray) -> int:
    """Return the slot with the least company, and of those the one that sat least."""
    least = np.flatnonzero(company == company.min())
    return int(least[np.argmin(sat[least])])


def _check_enough(entrants: int, need: int, seats: int, instead: str) -> None:
    """Refuse a table that cannot be filled."""
    if entrants < need:
        raise ConfigError(
            f"{entrants} entrants do not fill a table of {seats} seats; take more of them, or "
            f"{instead}"
        )


def _check_number(lineups: int, entrants: int, seats: int, instead: str, *, late: bool) -> None:
    """Refuse more lineups than a draw may have."""
    if lineups * seats > MOST_TABLES:
        raise ConfigError(
            f"{entrants} entrants make {lineups:,} lineups at a table of {seats} seats, more than "
            f"{MOST_TABLES // seats:,} at every deal; take "
            f"{'another name, and there ' if late else ''}{instead}"
        )
