"""What is kept is whole, each deal once, whatever ends the process that keeps it."""

import random
import shutil
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from kille_env.errors import FileError
from kille_env.files import read_arrays, write_arrays
from kille_env.registry import Table
from kille_training.arena import store as arena_store
from kille_training.arena.entrants import Entrant
from kille_training.arena.play import Shard
from kille_training.arena.schedule import Schedule
from kille_training.arena.store import Store, StoreError
from kille_training.statistics.tally import Tally
from reference.tallies import same

CONFIG = {"table": Table.of("byteskille", 2).as_dict(), "seed": 5}
NAMES = ["anna", "bo", "cecilia"]
KEYS = {0: 71, 1: 3, 2: 40}
COHORTS = [[(0, 1), (1, 2)], [(1, 2)]]
"""Rows by cohort."""


def schedule(cohort=0):
    return Schedule((0, 1, 2), np.array(COHORTS[cohort]))


def entered(*names):
    return [Entrant(0, name, "uniform", fingerprint=f"of {name}") for name in names]


def opened(folder, **options):
    store = Store(folder / "results.npz", create=True, **options)
    store.config, store.made_with = CONFIG, {"kille-env": "1"}
    store.enter(store.with_new(entered(*NAMES)))
    return store


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path / "run") as store:
        yield store


def result(cohort, first, deals, without=()):
    """Small whole numbers, so that ties are frequent; what one gains the others lose."""
    shard = Shard(cohort, schedule(cohort), first, deals, without)
    lineups = shard.lineups(5, KEYS)
    rng = np.random.default_rng(cohort)
    of_all = rng.integers(-3, 4, (first + deals, len(COHORTS[cohort]), 2, 2)).astype(float)
    earned = of_all[lineups.deal, lineups.row]
    earned[..., -1] = -earned[..., :-1].sum(axis=-1)
    return shard, lineups, earned


def missing(store, cohort, end):
    found = store.missing(cohort, schedule(cohort), end)
    return [(each.first_deal, each.first_deal + each.deals) for each in found]


def test_an_entrant_keeps_its_number(store):
    moved = replace(entered("bo")[0], player="elsewhere")
    now = store.with_new([*entered("david", "anna", "cecilia"), moved])
    assert [(each.number, each.name) for each in now] == list(enumerate([*NAMES, "david"]))
    assert now[1].player == "elsewhere" and [each.cohort for each in now] == [0, 0, 0, 1]
    store.enter(now)
    later = store.with_new(entered(*NAMES, "david", "erik", "filippa"))
    assert [each.cohort for each in later] == [0, 0, 0, 1, 2, 2]
    with pytest.raises(StoreError, match=r"'bo' has changed: .* under another name"):
        store.enter([replace(now[1], fingerprint="of Bo") if n == 1 else each
                     for n, each in enumerate(now)])  # fmt: skip
    with pytest.raises(StoreError, match="'bo' entered with play: sampled, not play: greedy"):
        store.with_new([*entered("anna", "cecilia", "david"), replace(moved, play="greedy")])
    with pytest.raises(StoreError, match=r"'bo' is missing from the entrants"):
        store.with_new(entered("anna", "cecilia", "david"))
    store.put_out(1, "it cried")
    store.put_out(1, "it cried again")
    assert store.with_new(entered("anna", "cecilia", "david"))[1].out == "it cried"
    assert store.out == (1,)


def test_no_deal_counts_twice(store):
    store.keep(*result(0, 0, 1))
    store.keep(*result(0, 3, 7))
    assert missing(store, 0, 12) == [(1, 3), (10, 12)]
    for first, deals in [(0, 1), (3, 10), (9, 5), (2, 3), (0, 30)]:
        with pytest.raises(StoreError, match="have been played before"):
            store.keep(*result(0, first, deals))
    assert missing(store, 0, 12) == [(1, 3), (10, 12)]
    assert store.tally.observations == 16 and store.deals() == 8


def test_results_that_do_not_fit_their_shard_are_refused(store):
    shard, lineups, good = result(0, 4, 4)
    for earned in (np.full_like(good, np.nan), good[:2]):
        with pytest.raises(StoreError, match=r"expected .* finite units"):
            store.keep(shard, lineups, earned)
    assert not store.tally.observations and missing(store, 0, 8) == [(0, 8)]


def test_who_is_out_is_left_out(store):
    store.put_out(1, "gone")
    (shard,) = store.missing(0, schedule(), 30)
    assert shard.without == (1,)
    store.keep(*result(0, 0, 30, without=(1,)))
    assert 0 < store.tally.observations < 60
    assert missing(store, 0, 30) == []


def test_deals_at_which_nobody_is_left_to_sit_do_not_count(store):
    """The floor of an interval is the narrower the more deals there were."""
    store.keep(*result(0, 0, 4))
    store.put_out(1, "gone")
    assert missing(store, 0, 30) == [(4, 30)]  # the other two still meet
    store.put_out(0, "gone, too")
    assert missing(store, 0, 30) == [] and store.deals() == 4


@pytest.mark.parametrize(
    ("without", "founders", "late", "hero", "copies"),
    [
        ((), True, True, True, True),
        ((3,), True, False, True, True),
        ((2,), False, True, False, True),
        ((0,), False, True, False, False),
        ((1, 2), False, False, False, False),
    ],
)
def test_a_schedule_can_be_played_where_it_has_lineups(without, founders, late, hero, copies):
    keys = {0: 5, 1: 71, 2: 3, 3: 40}
    all_four, pair = np.array(list(combinations(range(4), 3))), np.array([[0, 1, 1], [0, 2, 2]])
    for expected, each in [
        (founders, Schedule((0, 1, 2), np.array([[0, 1, 2]]))),
        (late, Schedule((0, 1, 2, 3), all_four, new=(3,))),
        (hero, Schedule((1, 2), np.array([[0, 1, 2]]), hero=0)),
        (copies, Schedule((1, 2), pair, hero=0)),
    ]:
        played = each.lineups(5, keys, 0, 50, without).deal
        assert each.can_play(without) == expected == bool(len(played))


def test_the_bytes_do_not_depend_on_how_results_came(tmp_path):
    """Neither on their order, nor on where deals were cut, nor on what was written between."""
    written, store = set(), None
    for trial in range(3):
        rng = random.Random(trial)
        parts = []
        for cohort in range(len(COHORTS)):
            cuts = [0, *sorted(rng.sample(range(1, 300), rng.randrange(5))), 300]
            parts += [(cohort, a, b - a) for a, b in pairwise(cuts)]
        rng.shuffle(parts)
        store = opened(tmp_path / str(trial))
        for part in parts:
            store.keep(*result(*part))
            if rng.random() < 0.3:
                store.write()
                store.close()
                store = Store(store.path)
        store.note_end()
        store.write()
        store.close()
        written.add(store.path.read_bytes())
    assert store is not None and len(written) == 1
    with Store(store.path, readonly=True) as reader:
        whole = Tally.empty(2, 3)
        for cohort in range(len(COHORTS)):
            _, lineups, earned = result(cohort, 0, 300)
            whole.add(lineups.members, lineups.deal, earned)
        assert same(reader.tally, whole)
        assert reader.entrants == store.entrants and reader.ends == [(300, 3)]
        with pytest.raises(StoreError, match="not open for writing"):
            reader.write()


def test_the_file_is_written_now_and_then(store, monkeypatch):
    store.write()
    before = store.path.read_bytes()
    store.keep(*result(0, 0, 5))
    store.write_if_due()
    assert store.path.read_bytes() == before
    monkeypatch.setattr(arena_store, "SECONDS", -1.0)
    monkeypatch.setattr(arena_store, "COST", 0.0)
    store.write_if_due()
    assert store.path.read_bytes() != before


def test_one_process_writes_and_others_read(store):
    store.keep(*result(0, 0, 4))
    store.write()
    with pytest.raises(StoreError, match="is playing in"):
        Store(store.path)
    with Store(store.path, readonly=True) as reader:
        assert reader.tally.observations == 8
    store.close()
    Store(store.path).close()


def test_what_was_being_written_when_its_process_was_killed_is_removed(store):
    store.write()
    left = store.path.with_name(f".{store.path.name}.x1")
    left.touch()
    with Store(store.path, readonly=True):
        assert left.exists(), "another process may be writing it"
    store.close()
    with Store(store.path):
        assert not left.exists() and store.path.exists()


def test_a_full_disk_leaves_what_was_there(store, monkeypatch):
    store.write()
    before = store.path.read_bytes()

    def full(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr("kille_env.files.tempfile.mkstemp", full)
    with pytest.raises(FileError, match=r"results.npz cannot be written: disk full; name another"):
        store.write()
    assert store.path.read_bytes() == before


def test_files_that_are_none_of_ours(tmp_path):
    path = tmp_path / "results.npz"
    with pytest.raises(StoreError, match=r"no results .*kille tournament CONFIG"):
        Store(path, readonly=True)
    for content in (b"", b"name,score\nanna,3\n" * 100):
        path.write_bytes(content)
        with pytest.raises(StoreError, match="is damaged"):
            Store(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "run"
    with opened(path) as store:
        store.keep(*result(0, 0, 4))
        store.note_end()
        store.write()
    return path


SPAN = {"cohort": 0, "first": 0, "end": 4}


def changed(about, arrays, path, value):
    *keys, last = path
    for key in keys:
        about = about[key]
    about[last] = value


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("format",), 7, "has version 7 of the format, this kille-env reads version 1"),
        (("format",), None, "has version None of the format"),
        (("config", "table", "rules", "stake"), "many", "is damaged"),
        (("config", "table", "game"), "kille", "is damaged"),
        (("config", "table", "num_players"), 3, "the tally is of other tables"),
        (("config",), {}, "is damaged"),
        (("observations",), "3", "is damaged"),
        (("entrants", 0, "number"), 7, "its entrants have the numbers"),
        (("entrants", 0, "name"), "bo", "its entrants have the numbers"),
        (("entrants", 0, "play"), "best", r"entrants\.0\.play"),
        (("entrants", 0, "more"), 1, r"entrants\.0\.more"),
        (("played", 0, "end"), 10**30, r"played\.0\.end"),
        (("played", 0, "first"), -4, r"played\.0\.first"),
        (("played", 0, "end"), 0, "its played deals are out of order"),
        (("played",), [SPAN, {**SPAN, "first": 3, "end": 9}], "are out of order"),
        (("played",), [{**SPAN, "first": 6, "end": 9}, SPAN], "are out of order"),
        (("ends",), ["x"], r"ends\.0"),
    ],
)
def test_what_no_tournament_writes_is_refused_when_it_is_read(whole, tmp_path, path, value, words):
    shutil.copytree(whole, tmp_path / "run")
    file = tmp_path / "run" / "results.npz"
    about, arrays = read_arrays(file)
    changed(about, arrays, path, value)
    write_arrays(file, about, arrays)
    with pytest.raises(StoreError, match=words):
        Store(file, readonly=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda array: array[:, :2],
        lambda array: array[:9],
        lambda array: array.astype(float),
        lambda array: array.ravel(),
        lambda array: array.astype(str),
    ],
)
def test_a_tally_of_other_tables_is_refused(whole, tmp_path, change):
    shutil.copytree(whole, tmp_path / "run")
    file = tmp_path / "run" / "results.npz"
    about, arrays = read_arrays(file)
    arrays["met"] = change(arrays["met"])
    write_arrays(file, about, arrays)
    with pytest.raises(StoreError, match="is damaged"):
        Store(file, readonly=True)
