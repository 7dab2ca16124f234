"""Who meets whom: schedules, stage by stage, and the draws of their lineups, deal by deal.

Entrants are named by their numbers. Those that enter together are a *wave*, and each wave has a
draw of its own: exactly the lineups with at least one member of the wave and otherwise entrants of
earlier waves. So an entrant that enters later plays what is new, and what was played before stays
as it was. Over all waves together every lineup of the field is played equally often.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import ceil, comb

import numpy as np

from kille_env.core.keys import derive, uniforms
from kille_env.errors import ConfigError
from kille_training.arena.entrants import Entrant

Lineup = tuple[int, ...]
_DRAWS = 0x64726177
"""Number of the stream of draws below the seed of a tournament: no table size, and no deal."""
_MEMBERS, _PLACES, _PLAYED = range(3)
MOST_LINEUPS = 100_000
"""Lineups of a draw."""
_AGAIN = 1e15
"""Makes company worse than any other that still has a seat."""


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


@dataclass(frozen=True)
class Pairing:
    """How the lineups of a tournament are made.

    Attributes:
        format: "round_robin", "gauntlet" or "random"; for "swiss" see `swiss_round`.
        fill: "distinct": different entrants, every choice of them; "copies": one entrant among
            copies of another. Random lineups are always distinct.
        hero: Number of the entrant at every table of a gauntlet; None in other formats.
        lineups: Tables that each founder sits at in every deal, of random lineups.
    """

    format: str = "round_robin"
    fill: str = "distinct"
    hero: int | None = None
    lineups: int = 1


def draws(pairing: Pairing, waves: Sequence[Sequence[int]], seats: int) -> list[Draw]:
    """Returns the draw of each wave.

    A *choice* is a set of entrants that may sit together. At every deal

    - "distinct" plays every choice of P entrants once;
    - "copies" plays every pair, each of the two once alone among P - 1 copies of the other;
    - a gauntlet plays those of these with the hero, who is never among the copies;
    - "random" plays as many choices as it takes for founders to sit at `lineups` tables each, give
      or take one, so that all meet about equally often. Choices with members of later waves
      are played at the same rate as those of founders. If that is no whole number of lineups, the
      last one is played in some of the deals.

    Waves that are too small to fill a table are joined with the next, and play there.

    Args:
        pairing: How lineups are made.
        waves: Numbers of those that entered together, founders first.
        seats: P.

    Returns:
        A draw for each wave, without rows for one that is played with the next.

    Raises:
        ConfigError: There are too few entrants, or too many choices of them.
    """
    need = 2 if _copies(pairing, seats) else seats
    total = sum(map(len, waves))
    if total < need:
        other = "a smaller table" if pairing.format == "random" else "matchmaking.fill: copies"
        raise _too_few(total, seats, other)
    found, before, founders = [], [], 0
    for wave in waves:
        if len(before) + len(wave) < need:
            found.append(Draw((tuple(before),), np.zeros((0, seats), dtype=np.int64), np.zeros(0)))
            before = [*before, *wave]
            continue
        old, new = (before, list(wave)) if founders else ([], [*before, *wave])
        founders = founders or len(new)
        found.append(_draw(pairing, old, new, founders, seats))
        before = old + new
    return found


def swiss_draw(tables: Sequence[Lineup]) -> Draw:
    """Returns the draw of a round of a Swiss tournament.

    Args:
        tables: [L] who sits together, see `swiss_round`.
    """
    rows = np.arange(sum(map(len, tables))).reshape(len(tables), -1)
    return _turned(tuple(map(tuple, tables)), rows, np.ones(len(rows)))


def swiss_round(
    standings: Sequence[int], met: np.ndarray, sat_out: np.ndarray, seats: int
) -> list[Lineup]:
    """Returns the tables of the next round of a Swiss tournament.

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
    if len(standings) < seats:
        raise _too_few(len(standings), seats, "a smaller table")
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


@dataclass(frozen=True)
class _Slots:
    """The slots of a draw, and how large the field was at first.

    Attributes:
        hero: The hero's slot in a gauntlet; otherwise none.
        old: O slots of entrants that entered before.
        new: N slots of those that enter.
        seats: P.
        founders: F, how many entered first.
    """

    hero: range
    old: range
    new: range
    seats: int
    founders: int

    def ways(self, new: int) -> int:
        """Returns in how many ways a table can be filled with so many new entrants."""
        return comb(len(self.new), new) * comb(len(self.old), self.others - new)

    @property
    def others(self) -> int:
        """Seats that the hero leaves to others."""
        return self.seats - len(self.hero)

    @property
    def numbers_of_new(self) -> range:
        """How many new entrants may sit at a table of the draw."""
        return range(max(1, self.others - len(self.old)), 1 + min(self.others, len(self.new)))


def _copies(pairing: Pairing, seats: int) -> bool:
    """Returns whether tables are filled with copies; of two players there is nothing to copy."""
    return pairing.fill == "copies" and pairing.format != "random" and seats > 2


def _draw(
    pairing: Pairing, old: Sequence[int], new: Sequence[int], founders: int, seats: int
) -> Draw:
    """Returns the draw of a wave."""
    hero = () if pairing.hero is None else (pairing.hero,)
    groups = (hero, *(tuple(who for who in group if who not in hero) for group in (old, new)))
    ends = np.cumsum([0, *map(len, groups)]).tolist()
    of_hero, of_old, of_new = (range(*each) for each in pairwise(ends))
    slots = _Slots(of_hero, of_old, of_new, seats, founders)
    groups = tuple(filter(None, groups))
    if _copies(pairing, seats):
        return Draw(groups, *_among_copies(slots, pairing))
    template = _some_choices if pairing.format == "random" else _all_choices
    return _turned(groups, *template(slots, pairing))


def _among_copies(slots: _Slots, pairing: Pairing) -> tuple[np.ndarray, np.ndarray]:
    """Returns rows (one, other, other, ...) with a new entrant, and how often each is played."""
    everybody = range(slots.new.stop)
    pairs = [
        (one, other)
        for one in slots.hero or everybody
        for other in everybody
        if one != other and (one in slots.new or other in slots.new)
    ]
    _check_number(len(pairs), slots, pairing)
    rows = np.repeat(np.array(pairs).reshape(-1, 2), (1, slots.seats - 1), axis=1)
    return rows, np.ones(len(rows))


def _all_choices(slots: _Slots, pairing: Pairing) -> tuple[np.ndarray, np.ndarray]:
    """Returns every choice with a new entrant, and how often each is played: always."""
    _check_number(sum(map(slots.ways, slots.numbers_of_new)), slots, pairing)
    rows = [
        (*slots.hero, *old, *new)
        for number in slots.numbers_of_new
        for old in combinations(slots.old, slots.others - number)
        for new in combinations(slots.new, number)
    ]
    return np.array(rows).reshape(-1, slots.seats), np.ones(len(rows))


def _some_choices(slots: _Slots, pairing: Pairing) -> tuple[np.ndarray, np.ndarray]:
    """Returns choices with a new entrant at the founders' rate, and how often each is played."""
    every = comb(slots.founders, slots.seats)
    rate = Fraction(ceil(Fraction(pairing.lineups * slots.founders, slots.seats)), every)
    if rate >= 1:
        return _all_choices(slots, pairing)
    wanted = {number: rate * slots.ways(number) for number in slots.numbers_of_new}
    _check_number(sum(map(ceil, wanted.values())), slots, pairing)
    numbers, often = [], []
    for number, lineups in wanted.items():
        whole, rest = divmod(lineups, 1)
        often += [1.0] * whole + [float(rest)] * (rest > 0)
        numbers += [number] * ceil(lineups)
    return _balanced(slots, tuple(numbers)), np.array(often)


@lru_cache(maxsize=16)  # settings are checked before they are played
def _balanced(slots: _Slots, numbers: tuple[int, ...]) -> np.ndarray:
    """Returns choices in which all slots meet about equally often, and sit about equally often.

    Seat by seat it takes the slot that has met those at the table least often (by the sum of the
    squares), and of these the one that has sat least often. A choice that is there already is taken
    again only if nobody else could sit in its last seat.

    Args:
        slots: The slots.
        numbers: [L] how many new entrants sit in each choice.

    Returns:
        [L, P] slots, ascending.
    """
    count, last = slots.new.stop, slots.seats - 1
    sat, met = np.zeros(count, dtype=np.int64), np.zeros((count, count), dtype=np.int64)
    rows = np.zeros((len(numbers), slots.seats), dtype=np.int64)
    known = set()
    for row, number in zip(rows, numbers, strict=True):
        company = np.zeros(count)
        for seat in range(slots.seats):
            pool = slots.new if seat < number else slots.old
            who = _least(company, sat, pool)
            while seat == last and company[who] < _AGAIN and {*row[:last], who} in known:
                company[who] += _AGAIN
                who = _least(company, sat, pool)
            row[seat] = who
            company += met[who] ** 2
            company[who] = np.inf
        known.add(frozenset(row))
        sat[row] += 1
        met[np.ix_(row, row)] += 1
    return np.sort(rows, axis=1)


def _least(company: np.ndarray, sat: np.ndarray, pool: range) -> int:
    """Returns the slot of a pool with the least company, and of those the one that sat least."""
    mine = company[pool.start : pool.stop]
    least = pool.start + np.flatnonzero(mine == mine.min())
    return int(least[np.argmin(sat[least])])


def _turned(groups: tuple[tuple[int, ...], ...], rows: np.ndarray, often: np.ndarray) -> Draw:
    """Returns the draw of rows whose every second one, by the sum of the slots, is mirrored.

    So of any two slots the one sits directly left of the other about as often as right. Over all
    choices of n slots, "left" and "right" differ by at most 2 at three seats, where two slots meet
    n - 2 times; by n / 2 at four seats and by n at five, where they meet some n**2 / 2 and
    n**3 / 6 times.
    """
    seats = np.arange(rows.shape[1])
    odd = rows.sum(axis=1, keepdims=True) % 2 == 1
    return Draw(groups, rows, often, np.where(odd, -seats % len(seats), seats))


def _check_number(lineups: int, slots: _Slots, pairing: Pairing) -> None:
    """Refuses more lineups than a draw may have."""
    if lineups <= MOST_LINEUPS:
        return
    who = f"{slots.new.stop} entrants"
    instead = "matchmaking.format: random or swiss"
    if pairing.fill == "distinct" and slots.seats > 2:
        instead += ", or fill: copies"
    if pairing.format == "random":
        instead = "fewer matchmaking.lineups"
    if slots.old:
        who = f"{len(slots.new)} entrants that join {len(slots.hero) + len(slots.old)} others"
        instead = "another name, for a tournament that all enter together"
    raise ConfigError(
        f"{who} make {lineups:,} lineups at a table of {slots.seats} seats, more than "
        f"{MOST_LINEUPS:,} at every deal; take {instead}"
    )


def _too_few(entrants: int, seats: int, instead: str) -> ConfigError:
    return ConfigError(
        f"{entrants} entrants do not fill a table of {seats} seats; take more of them, or {instead}"
    )


@dataclass(frozen=True, eq=False)
class Field:
    """Who takes part at tables of one size, and what is known of them.

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
    rounds: Sequence[Sequence[Lineup]] = ()

    @classmethod
    def of(
        cls,
        entrants: Sequence[Entrant],
        scores: np.ndarray,
        rounds: Sequence[Sequence[Lineup]] = (),
    ) -> "Field":
        """Return the field of all entrants, by number."""
        waves: list[list[int]] = [[] for _ in range(1 + max(each.wave for each in entrants))]
        for each in entrants:
            waves[each.wave].append(each.number)
        there = sorted((each.name, each.number) for each in entrants if each.out is None)
        present = tuple(number for _, number in there)
        return cls(tuple(map(tuple, waves)), present, scores, rounds)


@dataclass(frozen=True)
class Waves:
    """Round robin, gauntlet and random tables: a stage for each wave of entrants.

    Attributes:
        pairing: How lineups are made.
        seats: P.
    """

    pairing: Pairing
    seats: int

    def stage(self, number: int, field: Field) -> Draw | None:
        """Return the draw of a wave; see `draws`."""
        found = self.drawn(field)
        return found[number] if number < len(found) else None

    def drawn(self, field: Field) -> list[Draw]:
        """Return the draws of all waves."""
        return _cached_draws(self.pairing, field.waves, self.seats)

    def later(self, field: Field) -> int:
        """Return 0: all lineups have been drawn."""
        return 0

    def first_deal(self, number: int) -> int:
        """Return 0: all waves play the same deals."""
        return 0


_cached_draws = lru_cache(maxsize=16)(draws)


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
        """Return the draw of a round, which follows from the rounds before."""
        if number < len(field.rounds):
            return self.drawn(field)[number]
        if number >= self.rounds or (number and len(field.present) < self.seats):
            return None
        met, idle = _met(field.rounds, len(field.scores))
        return swiss_draw(swiss_round(self._order(field), met, idle, self.seats))

    def drawn(self, field: Field) -> list[Draw]:
        """Return the rounds that have been drawn."""
        return [swiss_draw(tables) for tables in field.rounds]

    def later(self, field: Field) -> int:
        """Return how many lineups the other rounds will have if nobody comes or goes."""
        return max(0, self.rounds - len(field.rounds)) * (len(field.present) // self.seats)

    def first_deal(self, number: int) -> int:
        """Return the deal at which a round begins."""
        return number * self.deals

    def _order(self, field: Field) -> list[int]:
        """Return entrants by what they earned, newcomers in the middle; by lot before any did."""
        present = list(field.present)
        if not field.rounds:
            rng = np.random.default_rng([self.seed, self.seats])
            return [present[place] for place in rng.permutation(len(present)).tolist()]
        known = field.scores[present]
        middle = float(np.nanmedian(known)) if np.isfinite(known).any() else 0.0
        return sorted(present, key=lambda one: -np.nan_to_num(field.scores[one], nan=middle))


def _met(rounds: Sequence[Sequence[Lineup]], entrants: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how often two have met [E, E], and how often each has sat out [E]."""
    met = np.zeros((entrants, entrants), dtype=np.int64)
    idle = np.full(entrants, len(rounds), dtype=np.int64)
    for lineup in (lineup for lineups in rounds for lineup in lineups):
        for one in lineup:
            idle[one] -= 1
            for other in lineup:
                met[one, other] += one != other
    return met, idle
