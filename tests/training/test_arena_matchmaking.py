from itertools import permutations
from math import factorial

import numpy as np
import pytest

from kille_env.errors import ConfigError
from kille_training.arena.matchmaking import gauntlet, random_tables, round_robin, swiss_round
from kille_training.arena.seating import check_orders, seatings
from kille_training.arena.work import Block, cut


def turns(row):
    return {tuple(np.roll(row, turn)) for turn in range(len(row))}


@pytest.mark.parametrize("seats", [2, 3, 5, 8, 20])
def test_one_order_is_played_from_every_position(seats):
    rows = seatings(tuple(range(100, 100 + seats)), 1, seed=3)
    assert rows.shape == (seats, seats)
    assert (rows[0] == np.arange(seats)).all()
    assert {tuple(row) for row in rows} == turns(np.arange(seats))


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_all_orders_are_all_permutations(seats):
    rows = seatings(tuple(range(7, 7 + seats)), "all", seed=0)
    assert sorted(map(tuple, rows)) == sorted(permutations(range(seats)))


def test_drawn_orders_differ_and_depend_on_seed_and_members_alone():
    members = (11, 12, 13, 14, 15, 16)
    rows = seatings(members, 9, seed=1)
    assert len(rows) == 9 * 6
    assert len({frozenset(turns(row)) for row in rows}) == 9
    assert (rows == seatings(members, 9, seed=1)).all()
    assert (rows != seatings(members, 9, seed=2)).any()
    for seat in range(6):  # everybody is as often in every seat
        assert (np.bincount(rows[:, seat]) == 9).all()


def test_copies_of_a_player_make_no_orders_of_their_own():
    assert len(seatings((5, 8, 8), "all", seed=0)) == 3
    assert len(seatings((5, 8, 8, 8, 8, 8), 4, seed=0)) == 6
    two_and_two = seatings((5, 5, 8, 8), "all", seed=0)
    seated = {tuple(np.array((5, 5, 8, 8))[row]) for row in two_and_two}
    assert len(two_and_two) == 8 and len(seated) == 6  # side by side, or across: 4 + 2 tables


@pytest.mark.parametrize(
    ("orders", "seats"), [(0, 3), (3, 3), (True, 4), (1.5, 4), ("some", 4), ("all", 8), (None, 2)]
)
def test_orders_that_a_table_does_not_have_are_refused(orders, seats):
    with pytest.raises(ConfigError, match="orders is"):
        check_orders(orders, seats)


def test_everybody_meets_everybody():
    assert round_robin(range(4), 2, "distinct") == [
        (0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3),
    ]  # fmt: skip
    assert round_robin(range(4), 3, "distinct") == [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    copies = round_robin(range(3), 4, "copies")
    assert sorted(copies) == sorted(
        (one, other, other, other) for one in range(3) for other in range(3) if one != other
    )
    assert round_robin(range(3), 2, "copies") == round_robin(range(3), 2, "distinct")


@pytest.mark.parametrize("fill", ["distinct", "copies"])
@pytest.mark.parametrize("seats", [2, 3, 5])
def test_who_enters_later_adds_lineups_behind_the_others(fill, seats):
    before = round_robin(range(6), seats, fill)
    after = round_robin(range(7), seats, fill)
    assert after[: len(before)] == before
    assert all(6 in lineup for lineup in after[len(before) :])


def test_the_hero_sits_at_every_table_of_a_gauntlet():
    assert gauntlet(range(4), 2, 2, "distinct") == [(2, 0), (2, 1), (2, 3)]
    assert gauntlet(range(4), 1, 3, "copies") == [(1, 0, 0), (1, 2, 2), (1, 3, 3)]
    assert gauntlet(range(4), 0, 3, "distinct") == [(0, 1, 2), (0, 1, 3), (0, 2, 3)]


def test_random_tables_hold_different_entrants_and_stay_when_somebody_enters():
    before = random_tables(range(10), 10, 4, each=6, seed=5)
    assert all(len(set(lineup)) == 4 for lineup in before)
    assert {lineup[0] for lineup in before} == set(range(10))
    assert len(before) > 55
    after = random_tables(range(11), 10, 4, each=6, seed=5)
    assert after[: len(before)] == before
    assert all(lineup[0] == 10 for lineup in after[len(before) :])
    assert random_tables(range(10), 10, 4, each=6, seed=6) != before
    without = random_tables([0, 1, 2, 4, 5, 6, 7, 8, 9], 10, 4, each=6, seed=5)
    assert without == [lineup for lineup in before if 3 not in lineup]


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


@pytest.mark.parametrize(
    "make",
    [
        lambda: round_robin(range(2), 3, "distinct"),
        lambda: gauntlet(range(2), 0, 3, "distinct"),
        lambda: random_tables(range(3), 3, 4, 1, 0),
        lambda: swiss_round([0, 1], np.zeros((2, 2)), np.zeros(2), 3),
    ],
)
def test_a_table_that_cannot_be_filled_is_refused(make):
    with pytest.raises(ConfigError, match="entrants do not fill a table"):
        make()


def test_too_many_lineups_are_refused_with_a_way_out():
    with pytest.raises(ConfigError, match="format: random, swiss"):
        round_robin(range(200), 5, "distinct")


def test_work_is_cut_into_units_that_do_not_depend_on_what_else_there_is():
    blocks = [Block(0, (0, 1), 0, 10), Block(1, (0, 2), 0, 10), Block(2, (1, 2), 3, 7)]
    units = list(cut(blocks, 2, 8))  # four deals a unit
    assert all(sum(piece.deals for piece in unit) <= 4 for unit in units)
    pieces = [piece for unit in units for piece in unit]
    for block in blocks:
        mine = [piece for piece in pieces if piece.lineup == block.lineup]
        played = [d for p in mine for d in range(p.first_deal, p.first_deal + p.deals)]
        assert played == list(range(block.first_deal, block.first_deal + block.deals))
        alone = [piece for unit in cut([block], 2, 8) for piece in unit]
        assert alone == mine
    firsts = [piece.first_deal // 4 for piece in pieces]
    assert firsts == sorted(firsts)  # everybody's first deals come first


def test_a_deal_is_played_together_however_many_tables_it_needs():
    assert [len(unit) for unit in cut([Block(0, (0, 1), 0, 3)], 100, 8)] == [1, 1, 1]


def test_the_limit_of_orders_is_that_of_seven_seats():
    check_orders("all", 7)
    check_orders(factorial(6), 9)
