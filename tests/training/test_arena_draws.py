"""Draws: at every deal another lineup, each equally often, whatever entrants are numbered."""

from itertools import combinations
from math import perm

import numpy as np
import pytest

from kille_training.arena.entrants import Entrant
from kille_training.arena.schedule import Draw, Field, Pairing, Swiss, draws
from kille_training.arena.store import FORMAT


def keys(names):
    return {number: Entrant(number, name, "").key for number, name in enumerate(names)}


NAMES = ["anna", "bertil", "cecilia", "david", "erik", "frida", "gustav"]
KEYS = keys(NAMES)


def draw(groups, rows, often=None):
    often = np.ones(len(rows)) if often is None else np.array(often)
    return Draw(groups, np.array(rows), often)


def choices(count, seats):
    return list(combinations(range(count), seats))


def turned(lineups):
    """Lineups, each turned so that its lowest number comes first: the same for one round table."""
    places = lineups.argmin(axis=-1)[..., None] + np.arange(lineups.shape[-1])
    return np.take_along_axis(lineups, places % lineups.shape[-1], axis=-1)


def equally_often(found, kinds):
    """Whether each kind of row came as often as it should in independent deals: five errors."""
    counts = np.unique(found, axis=0, return_counts=True)[1]
    assert len(counts) == kinds
    expected = len(found) / kinds
    assert np.abs(counts - expected).max() < 5 * np.sqrt(expected * (1 - 1 / kinds))


def test_a_draw_is_the_same_however_its_deals_and_rows_are_cut():
    whole = draw(((0, 1, 2, 3), (4, 5, 6)), choices(7, 3), np.linspace(0.2, 1.0, 35))
    found = whole.lineups(5, KEYS, 10, 40)
    assert found.dtype == np.int32 and found.shape == (40, 35, 3)
    cuts = [whole.lineups(5, KEYS, first, count) for first, count in ((10, 1), (11, 29), (40, 10))]
    assert (np.concatenate(cuts) == found).all()
    parts = [whole.part(0, 4), whole.part(4, 20).part(0, 16), whole.part(4, 35).part(16, 31)]
    assert (np.concatenate([p.lineups(5, KEYS, 10, 40) for p in parts], axis=1) == found).all()


def test_a_draw_is_one_of_names_whatever_their_numbers_are():
    shuffled = [NAMES[number] for number in (3, 0, 6, 1, 5, 2, 4)]
    here = draw(((0, 1, 2, 3), (4, 5, 6)), choices(7, 4)).lineups(1, KEYS, 0, 50)
    groups = ((1, 5, 0, 3), (6, 4, 2))  # the same names: 1 is anna there
    there = draw(groups, choices(7, 4)).lineups(1, keys(shuffled), 0, 50)
    assert (np.array(NAMES)[here] == np.array(shuffled)[there]).all()


def test_groups_fill_their_own_slots():
    found = draw(((6,), (0, 1, 2), (3, 4)), [(0, 1, 4), (0, 2, 5)]).lineups(1, KEYS, 0, 300)
    assert (found[..., 0] == 6).all(), "a lineup begins with the row's first slot"
    for first, second in found:
        old, new = ({*first.tolist(), *second.tolist()} & {*group} for group in ((0, 1, 2), (3, 4)))
        assert len(old) == len(new) == 2, "different slots have different entrants"


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_every_choice_and_every_order_of_it_is_equally_likely(seats):
    single = draw((tuple(range(6)),), [tuple(range(seats))])
    found = single.lineups(11, KEYS, 0, 30_000)[:, 0]
    equally_often(turned(found), perm(6, seats) // seats)


@pytest.mark.parametrize("groups", [((0,), (1,), (2, 3)), ((0, 1), (2, 3)), ((0, 1, 2), (3,))])
def test_orders_are_equally_likely_whichever_groups_meet(groups):
    found = draw(groups, [(0, 1, 2, 3)]).lineups(2, KEYS, 0, 12_000)[:, 0]
    equally_often(turned(found), 6)


def test_neighbouring_deals_and_seeds_are_independent():
    single = draw((tuple(range(4)),), [(0, 1)])
    found = single.lineups(1, KEYS, 0, 40_001)[:, 0]
    equally_often(np.hstack([found[:-1], found[1:]]), 144)
    equally_often(np.hstack([found, single.lineups(2, KEYS, 0, 40_001)[:, 0]]), 144)


def test_copies_stay_where_they_are():
    found = draw((tuple(range(5)),), [(0, 1, 1, 1), (1, 0, 0, 0)]).lineups(4, KEYS, 0, 50)
    assert (found[:, 0, 1:] == found[:, 1, :1]).all() and (found[:, 1, 1:] == found[:, 0, :1]).all()


def test_a_row_is_played_as_often_as_it_says():
    deals, often = 20_000, (0.0, 0.03, 0.5, 0.5, 1.0)
    rows = [(0, 1)] * len(often)
    found = draw((tuple(range(5)),), rows, often).lineups(4, KEYS, 0, deals)
    played = (found >= 0).all(axis=2)
    assert (played | (found < 0).all(axis=2)).all(), "played, or all -1"
    error = np.sqrt(np.multiply(often, np.subtract(1, often)) / deals)
    assert (np.abs(played.mean(axis=0) - often) <= 5 * error).all()
    equally_often(played[:, 2:4], 4)  # each row has random numbers of its own
    equally_often(found[played[:, 2], 2], 20)
    always = draw((tuple(range(5)),), rows).lineups(4, KEYS, 0, deals)
    assert (always[played] == found[played]).all()


VERSION = 7
PINNED = {
    "round_robin": [
        "bcd bac bda cad cda cbd cab dba",
        "bce bed bae cde cea dae cde cea cbe dae deb abe",
    ],
    "gauntlet": ["bcd bac bda bcd bac bda", "bce bed bae bce bed bae"],
    "copies": ["bcc bdd baa bcc bdd baa", "bee bee"],
    "random": ["bcd bac bda cda cbd cab", "bce dae bed cea cde abe cea deb"],
    "swiss": ["bga edc gab edc", "fgd bac gdf cba"],
}
"""Lineups at two deals, by the names' first letters, that this `store.FORMAT` stands for."""
OTHER = "results of before cannot be resumed: raise FORMAT in store.py, then pin it and these here"


def said(draw):
    lineups = draw.lineups(5, KEYS, 3, 2).reshape(-1, draw.seats).tolist()
    return " ".join(
        "".join(NAMES[number][0] for number in each) for each in lineups if min(each) >= 0
    )


@pytest.mark.parametrize(
    ("name", "pairing"),
    [
        ("round_robin", Pairing()),
        ("gauntlet", Pairing("gauntlet", hero=1)),
        ("copies", Pairing("gauntlet", "copies", hero=1)),
        ("random", Pairing("random", lineups=2)),
    ],
)
def test_other_lineups_are_another_version_of_the_file(name, pairing):
    found = [said(draw) for draw in draws(pairing, [range(4), range(4, 5)], 3)]
    assert (FORMAT, found) == (VERSION, PINNED[name]), OTHER


def test_other_swiss_rounds_are_another_version_of_the_file():
    entrants = [Entrant(number, name, "") for number, name in enumerate(NAMES)]
    schedule, rounds, found = Swiss(3, 2, 50, 5), [], []
    for number in range(2):
        draw = schedule.stage(number, Field.of(entrants, np.arange(7) % 4, rounds))
        rounds.append(draw.groups)
        found.append(said(draw))
    assert (FORMAT, found) == (VERSION, PINNED["swiss"]), OTHER
