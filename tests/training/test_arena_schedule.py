"""Who meets whom: every lineup at one rate, orders balanced, late entrants included."""

from fractions import Fraction
from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest

from kille_env.errors import ConfigError
from kille_training.arena.schedule import Pairing, draws, swiss_round

KEYS = {number: 977 * number + 5 for number in range(60)}


def waves_of(*sizes):
    ends = np.cumsum([0, *sizes]).tolist()
    return [list(range(begin, end)) for begin, end in pairwise(ends)]


def rates(draw, seats):
    """The expected number of times that each choice of entrants is played at a deal."""
    group_of_slot = np.repeat(np.arange(len(draw.groups)), list(map(len, draw.groups)))
    rows = {}  # by how many members each group has
    for slots, often in zip(draw.rows, draw.often, strict=True):
        kind = tuple(np.bincount(group_of_slot[slots], minlength=len(draw.groups)).tolist())
        rows[kind] = rows.get(kind, 0.0) + often
    group_of = {who: number for number, group in enumerate(draw.groups) for who in group}
    found = {}
    for choice in combinations(sorted(group_of), seats):
        kind = [0] * len(draw.groups)
        for who in choice:
            kind[group_of[who]] += 1
        ways = np.prod([comb(len(group), k) for group, k in zip(draw.groups, kind, strict=True)])
        if tuple(kind) in rows:
            found[choice] = rows[tuple(kind)] / ways
    return found


def all_rates(pairing, waves, seats):
    """The same over all waves, which play no choice twice."""
    found = {}
    for draw in draws(pairing, waves, seats):
        mine = rates(draw, seats)
        assert found.keys().isdisjoint(mine)
        found |= mine
    return found


SIZES = [(6,), (9,), (6, 1), (5, 3), (4, 2, 3), (2, 2, 3), (1, 1, 1, 1, 4), (2, 6)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_choice_is_played_once_whoever_enters_late(sizes, seats):
    found = all_rates(Pairing(), waves_of(*sizes), seats)
    assert found == dict.fromkeys(combinations(range(sum(sizes)), seats), 1.0)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("seats", [2, 3, 4])
@pytest.mark.parametrize("lineups", [1, 3])
def test_random_lineups_are_played_at_the_founders_rate_whoever_enters_late(sizes, seats, lineups):
    waves = waves_of(*sizes)
    founders = next(count for count in np.cumsum(sizes).tolist() if count >= seats)
    rate = min(1, Fraction(-(-lineups * founders // seats), comb(founders, seats)))
    found = all_rates(Pairing("random", lineups=lineups), waves, seats)
    assert found.keys() == set(combinations(range(sum(sizes)), seats))
    assert np.allclose(list(found.values()), float(rate), rtol=1e-12)
    for draw in draws(Pairing("random", lineups=lineups), waves, seats):
        assert (draw.often > 0).all() and (draw.often <= 1).all()
        assert (draw.often < 1).sum() <= seats, "the rest of whole lineups"


@pytest.mark.parametrize("sizes", [(6,), (4, 3), (3, 1, 2), (2, 5)])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_gauntlet_plays_every_choice_with_the_hero(sizes, seats):
    found = all_rates(Pairing("gauntlet", hero=1), waves_of(*sizes), seats)
    every = combinations(range(sum(sizes)), seats)
    assert found == {choice: 1.0 for choice in every if 1 in choice}


@pytest.mark.parametrize("sizes", [(5,), (3, 2), (2, 1, 1), (1, 3)])
@pytest.mark.parametrize("hero", [None, 0])
def test_copies_play_every_pair_both_ways(sizes, hero):
    pairing = Pairing("round_robin" if hero is None else "gauntlet", "copies", hero)
    found = [draw.lineups(1, KEYS, 0, 3) for draw in draws(pairing, waves_of(*sizes), 4)]
    everybody = range(sum(sizes))
    wanted = {
        (one, other, other, other)
        for one in everybody
        for other in everybody
        if one != other and hero in (None, one)
    }
    for deal in np.concatenate(found, axis=1).tolist():
        assert len(deal) == len(wanted) and set(map(tuple, deal)) == wanted
    pairs, distinct = (Pairing(fill=fill) for fill in ("copies", "distinct"))
    assert all_rates(pairs, [range(4)], 2) == all_rates(distinct, [range(4)], 2)


def test_who_entered_late_changes_nothing_that_was_played():
    for pairing in (Pairing(), Pairing("random", lineups=2), Pairing("gauntlet", hero=2)):
        before = draws(pairing, waves_of(5, 2), 3)
        after = draws(pairing, waves_of(5, 2, 4), 3)
        for old, new in zip(before, after[:2], strict=True):
            assert (old.lineups(1, KEYS, 0, 20) == new.lineups(1, KEYS, 0, 20)).all()
        late = after[2].lineups(1, KEYS, 0, 20)
        assert np.isin(late[late[..., 0] >= 0], range(7, 11)).any(axis=1).all()


def neighbours(draw, count, deals=20):
    """How often the row sits directly left of the column, by deal."""
    left = np.zeros((deals, count, count), dtype=int)
    for deal, lineups in enumerate(draw.lineups(3, KEYS, 0, deals)):
        played = lineups[lineups[:, 0] >= 0]
        np.add.at(left[deal], (played.ravel(), np.roll(played, -1, axis=1).ravel()), 1)
    return left


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_whoever_sits_left_of_another_sits_right_of_it_as_often(seats):
    for count in (6, 9, 12):
        draw = draws(Pairing(), [range(count)], seats)[0]
        assert len(draw.rows) == comb(count, seats)
        left = neighbours(draw, count)
        apart = np.abs(left - left.transpose(0, 2, 1)).max()
        limit = {3: 2, 4: count / 2, 5: count}[seats]
        assert apart <= limit, (count, apart)
        assert left.sum(axis=2).min() == left.sum(axis=2).max()


def test_a_gauntlet_and_late_entrants_sit_left_and_right_alike():
    gauntlet = draws(Pairing("gauntlet", hero=4), [range(9)], 3)[0]
    late = draws(Pairing(), waves_of(5, 4), 3)[1]
    for draw in (gauntlet, late):
        left = neighbours(draw, 9)
        assert np.abs(left - left.transpose(0, 2, 1)).max() <= 2


def test_random_lineups_are_balanced_in_company():
    for count, seats, lineups in ((10, 3, 6), (12, 2, 5), (30, 5, 10), (9, 3, 8)):
        draw = draws(Pairing("random", lineups=lineups), [range(count)], seats)[0]
        assert len(draw.rows) == -(-lineups * count // seats)
        assert len(np.unique(draw.rows, axis=0)) == len(draw.rows), "no lineup plays a deal twice"
        found = draw.lineups(1, KEYS, 0, 1)[0]
        assert (np.diff(np.sort(found, axis=1), axis=1) > 0).all(), "nobody sits twice at a table"
        sits = np.bincount(found.ravel(), minlength=count)
        assert lineups - 1 <= sits.min() <= sits.max() <= lineups + 1
        met = np.zeros((count, count), dtype=int)
        for lineup in found:
            met[np.ix_(lineup, lineup)] += 1
        pairs = met[np.triu_indices(count, 1)]
        assert pairs.max() - pairs.min() <= 3
        assert pairs.var() < 0.75 * pairs.mean(), "chance would make it the mean"


def test_large_fields_and_tables():
    for count, seats in ((1000, 2), (1000, 20), (400, 5)):
        first, late = draws(Pairing("random", lineups=2), waves_of(count, 1), seats)
        assert len(first.rows) == 2 * count // seats
        assert late.often.sum() == pytest.approx(len(first.rows) * seats / (count + 1 - seats))


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
        lambda: draws(Pairing(), [range(2)], 3),
        lambda: draws(Pairing("gauntlet", hero=0), [range(1), range(1, 2)], 3),
        lambda: draws(Pairing("random"), [range(3)], 4),
        lambda: draws(Pairing(fill="copies"), [range(1)], 4),
        lambda: swiss_round([0, 1], np.zeros((2, 2)), np.zeros(2), 3),
    ],
)
def test_a_table_that_cannot_be_filled_is_refused(make):
    with pytest.raises(ConfigError, match="do not fill a table"):
        make()


@pytest.mark.parametrize(
    ("pairing", "waves", "seats", "says"),
    [
        (Pairing(), (200,), 5, "200 entrants make .*format: random or swiss, or fill: copies"),
        (Pairing(), (1000,), 2, "499,500 lineups .*format: random or swiss$"),
        (Pairing(), (60,), 4, "487,635 lineups"),
        (Pairing(fill="copies"), (400,), 3, "159,600 lineups .*format: random or swiss$"),
        (Pairing("random", lineups=500), (1000,), 3, "take fewer matchmaking.lineups"),
        (Pairing("random"), (5, 35), 5, "35 entrants that join 5 others .* another name"),
    ],
)
def test_too_many_lineups_are_refused_with_a_way_out(pairing, waves, seats, says):
    with pytest.raises(ConfigError, match=says):
        draws(pairing, waves_of(*waves), seats)
