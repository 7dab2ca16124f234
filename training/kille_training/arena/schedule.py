"""Schedules: the lineups of every deal, computed from the settings and the entrants.

Entrants are identified by their numbers. Entrants that join together are a *cohort*. The `Schedule`
of a cohort contains the lineups of all entrants so far, minus those of earlier cohorts alone: a
late entrant only adds lineups, and earlier results stay valid. Over all cohorts every lineup is
played equally often, random ones up to rounding.

A schedule is a balanced template: rows of placeholders for entrants. Two random permutations are
drawn at every deal, one of the entrants and one of the places of a lineup. So all choices of
entrants that fit the template, and all circular orders of them, are equally likely, and deals are
independent and identically distributed, as intervals with deals as clusters assume.

A lineup plays a deal from all P positions, so each member has each position once. The circular
order matters where cards go to the left, and is random.

Random numbers depend on the seed, the table size, the deal and the names of the entrants only: not
on the order of the entrants, nor on the cuts into shards.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations, permutations
from math import ceil, comb, perm
from typing import NamedTuple

import numpy as np

from kille_env.core.keys import derive
from kille_env.errors import ConfigError
from kille_training.arena.entrants import Entrant

_LINEUPS = 0x64726177
"""Random stream of lineups below the seed of a tournament; no table size and no deal has it."""
_MEMBERS, _PLACES = range(2)
MOST_TABLES = 2**16  # maximum number of tables of a deal, which are played side by side
_AGAIN = 1e15  # penalty of an entrant without a free seat, larger than any other
Cohorts = Sequence[tuple[int, ...]]  # numbers of the entrants that entered together, founders first


class Lineups(NamedTuple):
    """K lineups and the deals that they play."""

    members: np.ndarray  # int32 [K, P]: entrants in order round the table, first place first
    deal: np.ndarray  # [K], from 0
    row: np.ndarray  # [K]: row of the schedule


@dataclass(frozen=True, eq=False)
class Schedule:
    """The lineups of a cohort at every deal.

    Every second row, by its sum, is reversed, so that of any two numbers each sits directly left of
    the other about equally often. Over all choices of n numbers, "left" and "right" differ by at
    most 2 at three seats, where two numbers meet n - 2 times; by n / 2 at four seats and by n at
    five, where they meet some n**2 / 2 and n**3 / 6 times.
    """

    entrants: tuple[int, ...]  # in any order
    rows: np.ndarray  # [L, P]: places in the permuted entrants, which begin with the hero
    hero: int | None = None  # sits in every lineup
    new: tuple[int, ...] | None = None  # only lineups with one of them are played; None: all are

    @property
    def seats(self) -> int:
        """P, seats of the table."""
        return self.rows.shape[1]

    @property
    def _drawn(self) -> int:
        """The number of `entrants` per lineup, the same in all rows."""
        return len(np.unique(self.rows[0])) - (self.hero is not None)

    @property
    def lineups_per_deal(self) -> float:
        """The mean number of lineups per deal."""
        if self.new is None:
            return float(len(self.rows))
        size = len(self.entrants)
        old = comb(size - len(self.new), self._drawn)
        return len(self.rows) * (1 - old / comb(size, self._drawn))

    def can_play(self, without: Collection[int]) -> bool:
        """Return whether any lineup can be played without these entrants."""
        if self.hero in without or (self.new is not None and {*self.new} <= {*without}):
            return False
        return len({*self.entrants} - {*without}) >= self._drawn

    def lineups(
        self,
        seed: int,
        keys: Mapping[int, int],
        first_deal: int,
        deals: int,
        without: Collection[int] = (),
    ) -> Lineups:
        """Return the lineups of consecutive deals, deal by deal, without some entrants."""
        rows, seats = self.rows.shape
        stream = derive(derive(np.uint64(seed), _LINEUPS), seats)
        numbers = np.arange(first_deal, first_deal + deals)
        members = self._permuted(derive(derive(stream, _MEMBERS), numbers), keys)
        places = _places(derive(derive(stream, _PLACES), numbers), seats)
        order = np.arange(seats)
        odd = self.rows.sum(axis=1, keepdims=True) % 2 == 1
        orders = np.where(odd, -order % seats, order)
        chosen = self.rows[np.arange(rows)[:, None], places[:, orders]]
        seated = members[np.arange(deals)[:, None, None], chosen]
        played = ~np.isin(seated, list(without)).any(axis=2)
        if self.new is not None:
            played &= np.isin(seated, self.new).any(axis=2)
        deal, row = np.nonzero(played)
        return Lineups(seated[deal, row], numbers[deal], row)

    def _permuted(self, deals: np.ndarray, keys: Mapping[int, int]) -> np.ndarray:
        """Return the entrants in the order of each deal, the hero first, int32 [D, E]."""
        own = np.array([keys[number] for number in self.entrants], dtype=np.uint64)
        order = np.argsort(derive(deals[:, None], own), axis=1)
        members = np.array(self.entrants, dtype=np.int32)[order]
        if self.hero is None:
            return members
        return np.pad(members, ((0, 0), (1, 0)), constant_values=self.hero)


def _places(deals: np.ndarray, seats: int) -> np.ndarray:
    """Return the permutation of the places at each deal, [D, P]; the first place stays."""
    words = derive(deals[:, None], np.arange(1, seats))
    return np.pad(1 + np.argsort(words, axis=1), ((0, 0), (1, 0)))


def cohorts_of(entrants: Sequence[Entrant]) -> Cohorts:
    """Return the numbers of all entrants by cohort, including disqualified ones."""
    cohorts: list[list[int]] = [[] for _ in range(1 + max(each.cohort for each in entrants))]
    for each in entrants:
        cohorts[each.cohort].append(each.number)
    return [tuple(numbers) for numbers in cohorts]


def _with_earlier(
    cohorts: Cohorts,
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...] | None]]:
    """Yield for each cohort all entrants so far, and its members (None for the founders)."""
    for number, members in enumerate(cohorts):
        yield tuple(chain(*cohorts[: number + 1])), members if number else None


def round_robin(
    cohorts: Cohorts, seats: int, *, copies: bool = False, hero: int | None = None
) -> list[Schedule]:
    """Schedule every choice of entrants at every deal.

    With `copies`, a table of more than two seats has one entrant among copies of another, for every
    pair both ways. A `hero` sits at every table, never as a copy: a gauntlet.
    """
    copies = copies and seats > 2
    _check_enough(len(cohorts[0]), 2 if copies else seats, seats, "matchmaking.fill: copies")
    schedules, fixed = [], int(hero is not None)
    for entered, new in _with_earlier(cohorts):
        others = tuple(number for number in entered if number != hero)
        places, instead = range(fixed, len(entered)), "matchmaking.format: random"
        if copies:
            count = perm(len(others), 2 - fixed)
            _check_number(count, len(entered), seats, instead, late=new is not None)
            pairs = ((0, other) for other in places) if fixed else permutations(places, 2)
            rows = [(one, *[other] * (seats - 1)) for one, other in pairs]
        else:
            instead += ", or fill: copies" if seats > 2 else ""
            count = comb(len(others), seats - fixed)
            _check_number(count, len(entered), seats, instead, late=new is not None)
            rows = [(*range(fixed), *choice) for choice in combinations(places, seats - fixed)]
        schedules.append(Schedule(others, np.array(rows), hero, new))
    return schedules


def random_tables(cohorts: Cohorts, seats: int, lineups: int = 1) -> list[Schedule]:
    """Schedule a random sample of the choices of entrants, anew at every deal.

    Founders sit at `lineups` tables each per deal, plus or minus one, and meet about equally often.
    Choices with later entrants are played at the same rate, rounded to whole lineups.
    """
    founders = len(cohorts[0])
    _check_enough(founders, seats, seats, "a smaller table")
    rate = Fraction(ceil(Fraction(lineups * founders, seats)), comb(founders, seats))
    schedules = []
    for entered, new in _with_earlier(cohorts):
        every = comb(len(entered), seats)
        chosen = min(every, round(rate * every))
        instead = "fewer matchmaking.lineups"
        _check_number(chosen, len(entered), seats, instead, late=new is not None)
        if chosen < every:
            rows = _balanced(len(entered), seats, chosen)
        else:
            rows = np.array(list(combinations(range(len(entered)), seats)))
        schedules.append(Schedule(entered, rows, new=new))
    return schedules


@lru_cache(maxsize=16)  # settings are checked before they are played
def _balanced(count: int, seats: int, lineups: int) -> np.ndarray:
    """Return choices in which all numbers meet and sit about equally often, ascending, [L, P]."""
    # Greedy: the next seat goes to the number that has met the others at the table least often (sum
    # of squares), then to the one that has sat least often. A choice repeats only if it has to.
    sat, met = np.zeros(count, dtype=np.int64), np.zeros((count, count), dtype=np.int64)
    rows = np.zeros((lineups, seats), dtype=np.int64)
    known = set()
    for row in rows:
        company = np.zeros(count)
        for seat in range(seats):
            number = _least(company, sat)
            while seat == seats - 1 and company[number] < _AGAIN and {*row[:-1], number} in known:
                company[number] += _AGAIN
                number = _least(company, sat)
            row[seat] = number
            company += met[number] ** 2
            company[number] = np.inf
        known.add(frozenset(row))
        sat[row] += 1
        met[np.ix_(row, row)] += 1
    return np.sort(rows, axis=1)


def _least(company: np.ndarray, sat: np.ndarray) -> int:
    """Return the number with the smallest company; among equals, the one that sat least often."""
    least = np.flatnonzero(company == company.min())
    return int(least[np.argmin(sat[least])])


def too_few(entrants: int, seats: int, instead: str) -> ConfigError:
    """Return the error for entrants that do not fill a table."""
    return ConfigError(
        f"{entrants} entrants do not fill a table of {seats} seats; add entrants, or {instead}"
    )


def _check_enough(entrants: int, need: int, seats: int, instead: str) -> None:
    """Refuse a table that cannot be filled."""
    if entrants < need:
        raise too_few(entrants, seats, instead)


def _check_number(lineups: int, entrants: int, seats: int, instead: str, *, late: bool) -> None:
    """Refuse more lineups than a deal may have."""
    if lineups * seats > MOST_TABLES:
        raise ConfigError(
            f"{entrants} entrants make {lineups:,} lineups at a table of {seats} seats, more than "
            f"{MOST_TABLES // seats:,} at every deal; take "
            f"{'another name, and there ' if late else ''}{instead}"
        )
