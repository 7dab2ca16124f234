"""Tallies hold what raw observations say, however they came."""

from collections import defaultdict

import numpy as np
import pytest

from kille_env.errors import KilleError
from kille_training.statistics import standings, tally
from kille_training.statistics.plackett_luce import fit
from kille_training.statistics.standings import crosstable, group
from kille_training.statistics.tally import ARRAYS, Tally
from reference.tallies import clustered, everywhere, seen, tallied
from reference.tallies import same as all_same

ENTRANTS, SEATS, DEALS = 6, 3, 40


def played(count=300, seats=SEATS, deals=DEALS, seed=0):
    """Observations with copies, ties, and an entrant that never sat."""
    rng = np.random.default_rng(seed)
    members = rng.integers(ENTRANTS - 1, size=(count, seats))
    return members, rng.integers(deals, size=count), rng.integers(-3, 4, (count, seats, seats)) / 7


def counted(members, deal, earned, entrants=ENTRANTS):
    made = Tally.empty(members.shape[1], entrants)
    made.add(members, deal, earned)
    return made


def alike(one, other):
    return all_same(one, other)


def plainly(members, deal, earned):
    """The observations of each entrant and of each two, as lists of a deal and what was seen."""
    own, cells = defaultdict(list), defaultdict(list)
    for who, number, units in zip(members.tolist(), deal.tolist(), earned.tolist(), strict=True):
        found = seen(who, units)
        for one, (score, ranks) in found.items():
            own[one].append((number, score, *ranks))
            for other, (theirs, _) in found.items():
                if other != one:
                    above = 0.5 * (score > theirs + 1e-9) + 0.5 * (score > theirs - 1e-9)
                    cells[one, other].append((number, score, above, score - theirs))
    return own, cells


def same(found, at, expected):
    """Whether an interval of many is the one expected, to what nano-units leave."""
    names = ("mean", "low", "high", "error", "freedom")
    got = [getattr(found, name)[at] for name in names]
    return got == pytest.approx(expected, abs=2e-9, nan_ok=True)


def test_statistics_are_those_of_raw_observations_with_deals_as_clusters():
    given = played()
    own, cells = plainly(*given)
    made = counted(*given)
    assert made.observations == len(given[0])
    assert (made.folds, made.entrants, made.seats) == (tally.FOLDS, ENTRANTS, SEATS)
    units = standings.units(made)
    finishes = made.finishes.sum(axis=0) / tally.NANO
    for entrant in range(ENTRANTS):
        rows = np.array(own[entrant]).reshape(-1, 2 + SEATS)
        assert units.count[entrant] == len(rows)
        if entrant == ENTRANTS - 1:
            assert np.isnan(units.mean[entrant]) and not finishes[entrant].any()
            continue
        assert same(units, entrant, clustered(rows[:, 1], rows[:, 0]))
        assert finishes[entrant] == pytest.approx(rows[:, 2:].sum(axis=0), abs=1e-6)
    table = crosstable(made)
    for pair in np.ndindex(ENTRANTS, ENTRANTS):
        assert table.count[pair] == len(cells[pair])
        if not cells[pair]:
            assert np.isnan(table.mean[pair])
            continue
        deal, score, above, margin = np.array(cells[pair]).T
        assert same(table, pair, clustered(score, deal))
        assert same(table.above, pair, clustered(above, deal))
        assert same(table.margin, pair, clustered(margin, deal))


def test_sums_do_not_depend_on_order_or_on_parts():
    members, deal, earned = played(deals=1000)
    whole = counted(members, deal, earned)
    rng = np.random.default_rng(1)
    mixed = rng.permutation(len(members))
    assert alike(counted(members[mixed], deal[mixed], earned[mixed]), whole)
    late = counted(members[:0], deal[:0], earned[:0], 1).grown(whole.entrants)
    for part in np.array_split(mixed, [20, 20, 250]):
        late.add(members[part], deal[part], earned[part])
    assert alike(late, whole)


def test_numbers_of_entrants_mean_nothing():
    members, deal, earned = played()
    number = np.array([3, 0, 4, 1, 2, 5])
    one = counted(members, deal, earned)
    other = counted(number[members], deal, earned)
    cells = np.ix_(number, number)
    for statistic in (standings.units, fit):
        for name in ("low", "high"):
            again = getattr(statistic(other), name)[number]
            assert again == pytest.approx(getattr(statistic(one), name), nan_ok=True)
    for statistic in (standings.differences, crosstable):
        again = statistic(other).low[cells]
        assert again == pytest.approx(statistic(one).low, nan_ok=True)
    worst = [
        group(standings.units(each).mean, standings.differences(each)).worst
        for each in (one, other)
    ]
    assert (worst[1][number] == worst[0]).all()


def test_deals_share_folds_and_more_entrants_have_fewer_folds():
    members, deal, earned = played(deals=5000)
    few, many = counted(members, deal, earned), counted(members, deal, earned, tally.MANY + 1)
    assert (few.folds, many.folds) == (256, 64)
    assert few.count[7].sum() == sum(
        len(set(who)) for who, number in zip(members.tolist(), deal, strict=True)
        if number % 256 == 7 and who[0] >= 0
    )  # fmt: skip
    assert alike(few.grown(tally.MANY + 1), many)
    with pytest.raises(KilleError, match="6 entrants cannot become one of 5"):
        few.grown(5)


def test_copies_count_once_with_their_mean():
    made = tallied([[0, 1, 0]], [[3.0, -4.0, 1.0]])
    assert made.count.sum(axis=0).tolist() == [1, 1]
    assert made.total.sum(axis=0).tolist() == [2_000_000_000, -4_000_000_000]
    assert made.finishes.sum(axis=0).tolist() == [[5e8, 5e8, 0], [0, 0, 1e9]]
    assert made.above.sum(axis=0).tolist() == [[0, 2], [0, 0]]


def test_scores_that_differ_by_rounding_are_equal():
    made = tallied([[1, 0, 2]], [[0.1 + 0.2, 0.3, -0.6]])
    assert made.above.sum(axis=0).tolist() == [[0, 1, 2], [1, 0, 2], [0, 0, 0]]


def test_numbers_that_run_over_are_refused():
    one = tallied([[0, 1]], [[2e7, -2e7]], entrants=2)
    with pytest.raises(KilleError, match="no longer fit into 64 bits"):
        for _ in range(10):
            one.add([[0, 1]], [0], everywhere([[2e7, -2e7]]))
    with pytest.raises(KilleError, match="no longer fit into 64 bits"):
        Tally.empty(2, 2).add([[0, 1]], [0], everywhere([[1e300, -1e300]]))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.zeros((900, 3), int), np.arange(900), np.ones((900, 3, 3))), r"\(900, 3\)"),
        (([[0, 1]], [0], [[0, 0]]), r"earned has shape \(1, 2\)"),
        (([[0, 1]], [0, 1], [[[0, 0]] * 2]), r"deal has shape \(2,\)"),
        (([[0, 3]], [0], [[[0, 0]] * 2]), "those of entrants, 0 to 2"),
        (([[0, -1]], [0], [[[0, 0]] * 2]), "those of entrants, 0 to 2"),
        (([[0, 1]], [-1], [[[0, 0]] * 2]), "counted from 0"),
        (([[0, 1]], [0], [[[0, 0], [np.nan, 0]]]), "not finite"),
    ],
)
def test_what_cannot_be_is_refused(arguments, words):
    made = Tally.empty(2, 3)
    with pytest.raises(KilleError, match=words):
        made.add(*arguments)
    assert not any(getattr(made, name).any() for name in ARRAYS) and not made.observations


def test_a_tally_whose_arrays_were_replaced_is_refused():
    made = Tally.empty(2, 3)
    made.above = made.above[:, :2]
    with pytest.raises(KilleError, match=r"above of the tally has shape \(256, 2, 3\)"):
        made.add([[0, 1]], [0], everywhere([[0, 0]]))


def test_narrow_arrays_come_back():
    made = counted(*played())
    huge = tallied([[0, 1]] * 2, [[1e7, -1e7]] * 2, deal=[0] * 2)
    for each in (made, huge, Tally.empty(2, 0)):
        again = Tally.of(each.narrow(), each.observations)
        assert alike(again, each)
        assert {getattr(again, name).dtype for name in ARRAYS} == {np.dtype(np.int64)}
    assert made.narrow()["met"].itemsize < 8
