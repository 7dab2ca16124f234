"""Who meets whom: every lineup at one rate, orders balanced, late entrants included."""

from functools import partial
from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest

from kille_env.errors import ConfigError
from kille_training.arena.schedule import random_tables, round_robin

KEYS = {number: 977 * number + 5 for number in range(60)}


def schedules(make, *sizes):
    """The schedules of cohorts of so many entrants."""
    ends = np.cumsum([0, *sizes]).tolist()
    return make([tuple(range(*each)) for each in pairwise(ends)])


def robin(seats, **options):
    return partial(round_robin, seats=seats, **options)


def drawn(seats, lineups):
    return partial(random_tables, seats=seats, lineups=lineups)


def rates(make, *sizes, deals=1):
    """How often each choice of entrants is played at a deal, over all cohorts."""
    found, known = {}, set()
    for schedule in schedules(make, *sizes):
        lineups = schedule.lineups(1, KEYS, 0, deals)
        if deals == 1:
            assert len(lineups.deal) == round(schedule.lineups_per_deal)
        mine = [tuple(sorted(lineup)) for lineup in lineups.members.tolist()]
        assert known.isdisjoint(mine), "a later cohort plays what was played"
        known |= {*mine}
        for choice in mine:
            found[choice] = found.get(choice, 0) + 1 / deals
    return found


SIZES = [(6,), (9,), (6, 1), (5, 3), (4, 2, 3)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_choice_is_played_once_whoever_enters_late(sizes, seats):
    found = rates(robin(seats), *sizes)
    assert found == dict.fromkeys(combinations(range(sum(sizes)), seats), 1.0)


@pytest.mark.parametrize("sizes", [(6,), (6, 1), (5, 3), (4, 2, 3)])
@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("lineups", [1, 3])
def test_random_lineups_are_played_at_the_founders_rate_whoever_enters_late(sizes, seats, lineups):
    make, deals = drawn(seats, lineups), 3_000
    founders = comb(sizes[0], seats)
    rate = min(1, -(-lineups * sizes[0] // seats) / founders)
    found = rates(make, *sizes, deals=deals)
    for number, schedule in enumerate(schedules(make, *sizes)):
        every, before = (comb(sum(sizes[: number + more]), seats) for more in (1, 0))
        assert abs(len(schedule.rows) - rate * every) < 0.5 + 1e-9, "to a whole number of lineups"
        mine = {choice: of for choice, of in found.items() if before <= _rank(choice) < every}
        assert len(mine) == every - before
        often = len(schedule.rows) / every
        assert sum(mine.values()) == pytest.approx(schedule.lineups_per_deal, rel=0.1)
        error = np.sqrt(often * (1 - often) / deals)
        assert np.abs(np.array([*mine.values()]) - often).max() <= 5 * error + 1e-9


def _rank(choice):
    """Number of a choice where those of the first entrants come first."""
    return sum(comb(number, place) for place, number in enumerate(choice, start=1))


@pytest.mark.parametrize("sizes", [(6,), (4, 3), (4, 1, 2)])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_gauntlet_plays_every_choice_with_the_hero(sizes, seats):
    found = rates(robin(seats, hero=1), *sizes)
    every = combinations(range(sum(sizes)), seats)
    assert found == {choice: 1.0 for choice in every if 1 in choice}


@pytest.mark.parametrize("sizes", [(5,), (3, 2), (2, 1, 1)])
@pytest.mark.parametrize("hero", [None, 0])
def test_copies_play_every_pair_both_ways(sizes, hero):
    everybody = range(sum(sizes))
    wanted = [
        (one, other, other, other)
        for one in everybody
        for other in everybody
        if one != other and hero in (None, one)
    ]
    made = schedules(robin(4, copies=True, hero=hero), *sizes)
    for deal in range(3):
        found = [tuple(who) for each in made for who in lineups(each, deal)]
        assert sorted(found) == wanted
    assert rates(robin(2, copies=True), 4) == rates(robin(2), 4)


def lineups(schedule, deal=0):
    """The lineups of a deal."""
    return schedule.lineups(1, KEYS, deal, 1).members.tolist()


def test_who_entered_late_changes_nothing_that_was_played():
    for make in (robin(3), drawn(3, 2), robin(3, hero=2)):
        before, after = schedules(make, 5, 2), schedules(make, 5, 2, 4)
        for old, new in zip(before, after[:2], strict=True):
            for one, other in zip(
                *(each.lineups(1, KEYS, 0, 20) for each in (old, new)), strict=True
            ):
                assert (one == other).all()
        late = after[2].lineups(1, KEYS, 0, 20).members
        assert np.isin(late, range(7, 11)).any(axis=1).all()


def neighbours(schedule, count, deals=20):
    """How often the row sits directly left of the column, by deal."""
    left = np.zeros((deals, count, count), dtype=int)
    found = schedule.lineups(3, KEYS, 0, deals)
    seats = found.members.shape[1]
    beside = found.members.ravel(), np.roll(found.members, -1, axis=1).ravel()
    np.add.at(left, (found.deal.repeat(seats), *beside), 1)
    return left


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_whoever_sits_left_of_another_sits_right_of_it_as_often(seats):
    for count in (6, 9, 12):
        (schedule,) = schedules(robin(seats), count)
        assert len(schedule.rows) == comb(count, seats)
        left = neighbours(schedule, count)
        apart = np.abs(left - left.transpose(0, 2, 1)).max()
        limit = {3: 2, 4: count / 2, 5: count}[seats]
        assert apart <= limit, (count, apart)
        assert left.sum(axis=2).min() == left.sum(axis=2).max()


def test_a_gauntlet_sits_left_and_right_alike():
    (schedule,) = schedules(robin(3, hero=4), 9)
    left = neighbours(schedule, 9)
    assert np.abs(left - left.transpose(0, 2, 1)).max() <= 2


def test_random_lineups_are_balanced_in_company():
    for count, seats, number in ((10, 3, 6), (12, 2, 5), (30, 5, 10), (9, 3, 8)):
        (schedule,) = schedules(drawn(seats, number), count)
        rows = schedule.rows
        assert len(rows) == -(-number * count // seats)
        assert len(np.unique(rows, axis=0)) == len(rows), "no lineup plays a deal twice"
        found = np.array(lineups(schedule))
        assert (np.diff(np.sort(found, axis=1), axis=1) > 0).all(), "nobody sits twice at a table"
        sits = np.bincount(found.ravel(), minlength=count)
        assert number - 1 <= sits.min() <= sits.max() <= number + 1
        met = np.zeros((count, count), dtype=int)
        for lineup in found:
            met[np.ix_(lineup, lineup)] += 1
        pairs = met[np.triu_indices(count, 1)]
        assert pairs.max() - pairs.min() <= 3
        assert pairs.var() < 0.75 * pairs.mean(), "chance would make it the mean"


def test_large_fields_and_tables():
    for count, seats in ((1000, 2), (1000, 20), (400, 5)):
        first, late = schedules(drawn(seats, 2), count, 1)
        assert len(first.rows) == 2 * count // seats
        wanted = len(first.rows) * seats / (count + 1 - seats)
        assert late.lineups_per_deal == pytest.approx(wanted, abs=0.5 * seats / count)


# What is refused


@pytest.mark.parametrize(
    "make",
    [
        lambda: schedules(robin(3), 2),
        lambda: schedules(robin(3, hero=0), 1, 1),
        lambda: schedules(drawn(4, 1), 3),
        lambda: schedules(robin(4, copies=True), 1),
    ],
)
def test_a_table_that_cannot_be_filled_is_refused(make):
    with pytest.raises(ConfigError, match="do not fill a table"):
        make()


@pytest.mark.parametrize(
    ("make", "sizes", "says"),
    [
        (robin(5), (200,), "200 entrants make .*format: random, or fill: copies"),
        (robin(2), (1000,), "499,500 lineups .*format: random$"),
        (robin(4), (60,), "487,635 lineups"),
        (robin(3, copies=True), (400,), "159,600 lineups .*format: random$"),
        (drawn(3, 500), (1000,), "take fewer matchmaking.lineups"),
        (drawn(5, 5), (5, 35), "40 entrants make .* another name, and there fewer"),
    ],
)
def test_too_many_lineups_are_refused_with_a_way_out(make, sizes, says):
    with pytest.raises(ConfigError, match=says):
        schedules(make, *sizes)
