"""Who meets whom: every lineup at one rate, orders balanced, late entrants included."""

from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest

from kille_env.errors import ConfigError
from kille_training.arena.schedule import Field, Random, RoundRobin, swiss_round

KEYS = {number: 977 * number + 5 for number in range(60)}


def draws(schedule, *sizes):
    """The draws of all waves of so many entrants."""
    ends = np.cumsum([0, *sizes]).tolist()
    waves = tuple(tuple(range(*each)) for each in pairwise(ends))
    field = Field(waves, tuple(range(ends[-1])), np.full(ends[-1], np.nan))
    assert schedule.stage(len(sizes), field) is None
    return [schedule.stage(number, field) for number in range(len(sizes))]


def rates(schedule, *sizes, deals=1):
    """How often each choice of entrants is played at a deal, over all waves."""
    found, known = {}, set()
    for draw in draws(schedule, *sizes):
        lineups = draw.lineups(1, KEYS, 0, deals)
        if deals == 1:
            assert len(lineups.deal) == round(draw.often)
        mine = [tuple(sorted(lineup)) for lineup in lineups.members.tolist()]
        assert known.isdisjoint(mine), "a later wave plays what was played"
        known |= {*mine}
        for choice in mine:
            found[choice] = found.get(choice, 0) + 1 / deals
    return found


SIZES = [(6,), (9,), (6, 1), (5, 3), (4, 2, 3)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_choice_is_played_once_whoever_enters_late(sizes, seats):
    found = rates(RoundRobin(seats), *sizes)
    assert found == dict.fromkeys(combinations(range(sum(sizes)), seats), 1.0)


@pytest.mark.parametrize("sizes", [(6,), (6, 1), (5, 3), (4, 2, 3)])
@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("lineups", [1, 3])
def test_random_lineups_are_played_at_the_founders_rate_whoever_enters_late(sizes, seats, lineups):
    schedule, deals = Random(seats, lineups), 3_000
    founders = comb(sizes[0], seats)
    rate = min(1, -(-lineups * sizes[0] // seats) / founders)
    found = rates(schedule, *sizes, deals=deals)
    for number, draw in enumerate(draws(schedule, *sizes)):
        every, before = (comb(sum(sizes[: number + more]), seats) for more in (1, 0))
        assert abs(len(draw.rows) - rate * every) < 0.5 + 1e-9, "to a whole number of lineups"
        mine = {choice: of for choice, of in found.items() if before <= _rank(choice) < every}
        assert len(mine) == every - before
        often = len(draw.rows) / every
        assert sum(mine.values()) == pytest.approx(draw.often, rel=0.1)
        error = np.sqrt(often * (1 - often) / deals)
        assert np.abs(np.array([*mine.values()]) - often).max() <= 5 * error + 1e-9


def _rank(choice):
    """Number of a choice where those of the first entrants come first."""
    return sum(comb(number, place) for place, number in enumerate(choice, start=1))


@pytest.mark.parametrize("sizes", [(6,), (4, 3), (4, 1, 2)])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_gauntlet_plays_every_choice_with_the_hero(sizes, seats):
    found = rates(RoundRobin(seats, hero=1), *sizes)
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
    made = draws(RoundRobin(4, copies=True, hero=hero), *sizes)
    for deal in range(3):
        found = [tuple(who) for draw in made for who in lineups(draw, deal)]
        assert sorted(found) == wanted
    assert rates(RoundRobin(2, copies=True), 4) == rates(RoundRobin(2), 4)


def lineups(draw, deal=0):
    """The lineups of a deal."""
    return draw.lineups(1, KEYS, deal, 1).members.tolist()


def test_who_entered_late_changes_nothing_that_was_played():
    for schedule in (RoundRobin(3), Random(3, 2), RoundRobin(3, hero=2)):
        before, after = draws(schedule, 5, 2), draws(schedule, 5, 2, 4)
        for old, new in zip(before, after[:2], strict=True):
            for one, other in zip(
                *(each.lineups(1, KEYS, 0, 20) for each in (old, new)), strict=True
            ):
                assert (one == other).all()
        late = after[2].lineups(1, KEYS, 0, 20).members
        assert np.isin(late, range(7, 11)).any(axis=1).all()


def neighbours(draw, count, deals=20):
    """How often the row sits directly left of the column, by deal."""
    left = np.zeros((deals, count, count), dtype=int)
    found = draw.lineups(3, KEYS, 0, deals)
    seats = found.members.shape[1]
    beside = found.members.ravel(), np.roll(found.members, -1, axis=1).ravel()
    np.add.at(left, (found.deal.repeat(seats), *beside), 1)
    return left


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_whoever_sits_left_of_another_sits_right_of_it_as_often(seats):
    for count in (6, 9, 12):
        (draw,) = draws(RoundRobin(seats), count)
        assert len(draw.rows) == comb(count, seats)
        left = neighbours(draw, count)
        apart = np.abs(left - left.transpose(0, 2, 1)).max()
        limit = {3: 2, 4: count / 2, 5: count}[seats]
        assert apart <= limit, (count, apart)
        assert left.sum(axis=2).min() == left.sum(axis=2).max()


def test_a_gauntlet_sits_left_and_right_alike():
    (draw,) = draws(RoundRobin(3, hero=4), 9)
    left = neighbours(draw, 9)
    assert np.abs(left - left.transpose(0, 2, 1)).max() <= 2


def test_random_lineups_are_balanced_in_company():
    for count, seats, number in ((10, 3, 6), (12, 2, 5), (30, 5, 10), (9, 3, 8)):
        (draw,) = draws(Random(seats, number), count)
        assert len(draw.rows) == -(-number * count // seats)
        assert len(np.unique(draw.rows, axis=0)) == len(draw.rows), "no lineup plays a deal twice"
        found = np.array(lineups(draw))
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
        first, late = draws(Random(seats, 2), count, 1)
        assert len(first.rows) == 2 * count // seats
        wanted = len(first.rows) * seats / (count + 1 - seats)
        assert late.often == pytest.approx(wanted, abs=0.5 * seats / count)


# Swiss rounds


def swiss(strength, seats, rounds):
    """Plays a Swiss tournament in which the stronger always earns more."""
    count = len(strength)
    met, idle = np.zeros((count, count), dtype=int), np.zeros(count, dtype=int)
    score, tables = np.zeros(count), []
    for _ in range(rounds):
        order = sorted(range(count), key=lambda who: (-score[who], who))
        lineups = swiss_round(order, met, idle, seats)
        tables.append(lineups)
        for lineup in lineups:
            for who in lineup:
                score[who] += sum(strength[who] > strength[other] for other in lineup)
                for other in lineup:
                    met[who, other] += who != other
        idle += [all(who not in lineup for lineup in lineups) for who in range(count)]
    return tables, met, idle


@pytest.mark.parametrize(("count", "seats"), [(8, 2), (16, 2), (12, 4), (15, 3)])
def test_a_swiss_tournament_fills_all_tables_and_repeats_no_meeting_early(count, seats):
    tables, met, idle = swiss(np.random.default_rng(2).permutation(count), seats, 3)
    for lineups in tables:
        assert sorted(who for lineup in lineups for who in lineup) == list(range(count))
    assert not idle.any()
    if seats == 2:
        assert met.max() == 1


def test_nobody_sits_out_twice_before_everybody_has():
    tables, _, idle = swiss(np.arange(7), 3, 7)
    assert (idle == 1).all()
    assert all(len(lineups) == 2 for lineups in tables)


def test_neighbours_in_the_standings_meet():
    nobody = np.zeros((6, 6), dtype=int)
    assert swiss_round([4, 2, 0, 1, 3, 5], nobody, nobody[0], 2) == [(4, 2), (0, 1), (3, 5)]
    met = nobody.copy()
    met[4, 2] = met[2, 4] = 1
    assert swiss_round([4, 2, 0, 1, 3, 5], met, nobody[0], 2) == [(4, 0), (2, 1), (3, 5)]


# What is refused


@pytest.mark.parametrize(
    "make",
    [
        lambda: draws(RoundRobin(3), 2),
        lambda: draws(RoundRobin(3, hero=0), 1, 1),
        lambda: draws(Random(4), 3),
        lambda: draws(RoundRobin(4, copies=True), 1),
        lambda: swiss_round([0, 1], np.zeros((2, 2)), np.zeros(2), 3),
    ],
)
def test_a_table_that_cannot_be_filled_is_refused(make):
    with pytest.raises(ConfigError, match="do not fill a table"):
        make()


@pytest.mark.parametrize(
    ("schedule", "waves", "says"),
    [
        (RoundRobin(5), (200,), "200 entrants make .*format: random or swiss, or fill: copies"),
        (RoundRobin(2), (1000,), "499,500 lineups .*format: random or swiss$"),
        (RoundRobin(4), (60,), "487,635 lineups"),
        (RoundRobin(3, copies=True), (400,), "159,600 lineups .*format: random or swiss$"),
        (Random(3, 500), (1000,), "take fewer matchmaking.lineups"),
        (Random(5, 5), (5, 35), "40 entrants make .* another name, and there fewer"),
    ],
)
def test_too_many_lineups_are_refused_with_a_way_out(schedule, waves, says):
    with pytest.raises(ConfigError, match=says):
        draws(schedule, *waves)
