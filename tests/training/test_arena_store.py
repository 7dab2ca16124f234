"""What is kept is whole, each deal once, whatever ends the process that keeps it."""

import json
import random
import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from kille_env.core.keys import deal_seeds
from kille_env.files import read_arrays, write_arrays
from kille_env.registry import spec
from kille_training.arena import store as arena_store
from kille_training.arena.draws import Draw
from kille_training.arena.entrants import Entrant
from kille_training.arena.parquet import remove_unkept, write_shard
from kille_training.arena.shards import Shard
from kille_training.arena.store import Result, Store, StoreError
from kille_training.statistics.tally import Tally
from reference.tallies import same

RULES = spec("byteskille").resolve({}, episode="deal").as_dict()
TABLES = {"game": "byteskille", "game_version": 1, "rules": RULES, "seed": 5}
NAMES = ["anna", "bo", "cecilia"]
KEYS = {0: 71, 1: 3, 2: 40}
DRAWS = {2: [[(0, 1)], [(1, 2)]], 3: [[(0, 1, 2), (2, 1, 0)]]}
"""Rows by table size and stage."""


def draw(seats, stage=0):
    rows = np.array(DRAWS[seats][stage])
    return Draw(((0, 1, 2),), rows, np.ones(len(rows)))


def entered(*names, **about):
    return [
        Entrant(0, name, "uniform", fingerprints={"2": f"of {name}"}, metadata={"what": "a bot"})
        for name in names
    ]


def opened(path, **options):
    store = Store(path, create=True, **options)
    store.tables, store.made_with = TABLES, {"kille-env": "1"}
    store.enter(store.with_new(entered(*NAMES)))
    for seats, stages in DRAWS.items():
        for stage in range(len(stages)):
            list(store.missing(stage, draw(seats, stage), 0, 1))
    return store


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path / "run") as store:
        yield store


def result(seats, stage, first, deals, without=()):
    """Small whole numbers, so that ties are frequent; what one gains the others lose."""
    shard = Shard(stage, draw(seats, stage), first, deals, without)
    rng = np.random.default_rng([seats, stage])
    earned = rng.integers(-3, 4, (first + deals, *shard.shape[1:], seats))[first:].astype(float)
    earned[..., -1] = -earned[..., :-1].sum(axis=-1)
    members = shard.members(5, KEYS)
    earned[members[..., 0] < 0] = 0
    return Result(shard, members, earned)


def missing(store, seats, stage, end):
    found = store.missing(stage, draw(seats, stage), 0, end)
    return [(each.first_deal, each.first_deal + each.deals) for each in found]


def test_an_entrant_keeps_its_number(store):
    moved = replace(entered("bo")[0], player="elsewhere")
    now = store.with_new([*entered("david", "anna", "cecilia"), moved])
    assert [(each.number, each.name) for each in now] == list(enumerate([*NAMES, "david"]))
    assert now[1].player == "elsewhere" and [each.wave for each in now] == [0, 0, 0, 1]
    store.enter(now)
    later = store.with_new(entered(*NAMES, "david", "erik", "filippa"))
    assert [each.wave for each in later] == [0, 0, 0, 1, 2, 2]
    with pytest.raises(StoreError, match=r"'bo' has changed: .* under another name"):
        store.enter([replace(now[1], fingerprints={"2": "of Bo"}) if n == 1 else each
                     for n, each in enumerate(now)])  # fmt: skip
    with pytest.raises(StoreError, match="'bo' entered with play: sampled and has play: greedy"):
        store.with_new([*entered("anna", "cecilia", "david"), replace(moved, play="greedy")])
    with pytest.raises(StoreError, match=r"'bo' has entered and is not among the entrants"):
        store.with_new(entered("anna", "cecilia", "david"))
    store.put_out(1, "it cried")
    store.put_out(1, "it cried again")
    assert store.with_new(entered("anna", "cecilia", "david"))[1].out == "it cried"
    assert store.absent == (1,)


def test_no_deal_counts_twice(store):
    store.keep(result(2, 0, 0, 1))
    store.keep(result(2, 0, 3, 7))
    assert missing(store, 2, 0, 12) == [(1, 3), (10, 12)]
    for first, deals in [(0, 1), (3, 10), (9, 5), (2, 3), (0, 30)]:
        with pytest.raises(StoreError, match="have been played before"):
            store.keep(result(2, 0, first, deals))
    assert missing(store, 2, 0, 12) == [(1, 3), (10, 12)]
    assert store.tallies[2].observations == 8 and store.deals() == {2: 8}


def test_results_that_contradict_what_is_known_are_refused(store):
    good = result(2, 0, 4, 4)
    for earned in (np.full_like(good.earned, np.nan), good.earned[:2]):
        with pytest.raises(StoreError, match=r"expected .* finite units"):
            store.keep(replace(good, earned=earned))
    assert not store.tallies
    with pytest.raises(StoreError, match=r"other lineups \(stage 0, 2 seats\).*another folder"):
        list(store.missing(0, draw(2, 1), 0, 9))


def test_who_is_out_is_left_out(store):
    store.put_out(1, "gone")
    (shard,) = store.missing(0, draw(2), 0, 30)
    assert shard.without == (1,)
    store.keep(result(2, 0, 0, 30, without=(1,)))
    assert 0 < store.tallies[2].observations < 30
    assert missing(store, 2, 0, 30) == []
    assert missing(store, 3, 0, 30) == [], "nobody fills these tables"


def test_the_bytes_do_not_depend_on_how_results_came(tmp_path):
    """Neither on their order, nor on where deals were cut, nor on what was written between."""
    written, store = set(), None
    for trial in range(3):
        rng = random.Random(trial)
        parts = []
        for seats, stages in DRAWS.items():
            for stage in range(len(stages)):
                cuts = [0, *sorted(rng.sample(range(1, 300), rng.randrange(5))), 300]
                parts += [(seats, stage, a, b - a) for a, b in pairwise(cuts)]
        rng.shuffle(parts)
        store = opened(tmp_path / str(trial))
        for part in parts:
            store.keep(result(*part))
            if rng.random() < 0.3:
                store.write()
                store.close()
                store = Store(tmp_path / str(trial))
        store.note_end()
        store.write()
        store.close()
        written.add(store.path.read_bytes())
    assert len(written) == 1
    with Store(tmp_path / "0", readonly=True) as reader:
        whole = Tally.empty(3, 3)
        found = result(3, 0, 0, 300)
        whole.add(found.members.reshape(-1, 3), found.shard.deal().ravel(),
                  found.earned.reshape(-1, 3, 3))  # fmt: skip
        assert same({3: reader.tallies[3]}, {3: whole})
        assert reader.entrants == store.entrants and reader.ends == [{"2": 300, "3": 300}]
        with pytest.raises(StoreError, match="not open for writing"):
            reader.write()


def test_the_file_is_written_now_and_then(store, monkeypatch):
    store.write()
    before = store.path.read_bytes()
    store.keep(result(2, 0, 0, 5))
    store.write_if_due()
    assert store.path.read_bytes() == before
    monkeypatch.setattr(arena_store, "SECONDS", -1.0)
    monkeypatch.setattr(arena_store, "COST", 0.0)
    store.write_if_due()
    assert store.path.read_bytes() != before


def test_one_process_writes_and_others_read(store):
    store.keep(result(2, 0, 0, 4))
    store.write()
    with pytest.raises(StoreError, match="is being played in"):
        Store(store.path)
    with Store(store.path.parent, readonly=True) as reader:
        assert reader.tallies[2].observations == 4
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

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(arena_store, "write_arrays", full)
    with pytest.raises(StoreError, match="cannot be written: disk full"):
        store.write()
    assert store.path.read_bytes() == before


def test_files_that_are_none_of_ours(tmp_path):
    path = tmp_path / "results.npz"
    with pytest.raises(StoreError, match=r"no results .*kille tournament CONFIG"):
        Store(tmp_path, readonly=True)
    for content in (b"", b"name,score\nanna,3\n" * 100):
        path.write_bytes(content)
        with pytest.raises(StoreError, match="holds what no tournament writes"):
            Store(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "run"
    with opened(path) as store:
        for seats in (2, 3):
            store.keep(result(seats, 0, 0, 4))
        store.rounds = {2: [[(0, 1)]]}
        store.note_end()
        store.write()
    return path


def changed(about, arrays, path, value):
    *keys, last = path
    for key in keys:
        about = about[key]
    about[last] = value


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("format",), 4, "has version 4 of the format, this kille-env reads version 5"),
        (("format",), None, "has version None of the format"),
        (("tables", "rules", "stake"), "many", "holds what no tournament writes"),
        (("tables", "rules"), "svenska", "holds what no tournament writes"),
        (("tables", "rules", "no_switch"), 1, "holds what no tournament writes"),
        (("tables", "game"), "kille", "holds what no tournament writes"),
        (("tables", "seed"), -1, "the seed is -1"),
        (("tables", "seed"), "5", "the seed is '5'"),
        (("tables",), {}, "holds what no tournament writes"),
        (("observations",), {str(10**15): 3}, "holds what no tournament writes"),
        (("observations",), {"many": 3}, "holds what no tournament writes"),
        (("observations",), {"4": 3}, "holds what no tournament writes"),
        (("stages", str(10**15)), ["x"], "holds what no tournament writes"),
        (("entrants", 0, "number"), 7, "its entrants have the numbers"),
        (("entrants", 0, "name"), "bo", "its entrants have the numbers"),
        (("entrants", 0, "play"), "best", r"entrants\.0\.play"),
        (("entrants", 0, "metadata"), [], r"entrants\.0\.metadata"),
        (("entrants", 0, "more"), 1, r"entrants\.0\.more"),
        (("rounds", "2"), [[[0, 7]]], "rounds at 2 seats are of other entrants"),
        (("rounds", "2"), [[[0, 1, 2]]], "rounds at 2 seats are of other entrants"),
        (("played", 0, "stage"), 9, "it says it has played"),
        (("played", 0, "end"), 0, "it says it has played"),
        (("played", 0, "end"), 10**30, r"played\.0\.end"),
        (("played", 0, "first"), -4, r"played\.0\.first"),
        (("ends",), [{"2": "x"}], r"ends\.0"),
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
    arrays["2.met"] = change(arrays["2.met"])
    write_arrays(file, about, arrays)
    with pytest.raises(StoreError, match="holds what no tournament writes"):
        Store(file, readonly=True)


def test_shards_are_parquet_files_with_every_table_once(store, tmp_path):
    folder = store.path.parent / "results"
    parts = [result(3, 0, 0, 4), result(3, 0, 4, 2, without=(1,))]
    for part in parts:
        write_shard(folder, store, part)
        store.keep(part)
    write_shard(folder, store, result(3, 0, 6, 3))  # interrupted before it was kept
    (folder / ".3-seats-stage-0-row-0-deals-9-12.parquet.x1").touch()  # killed while writing
    remove_unkept(folder, store)
    assert len([*folder.iterdir()]) == len(parts)
    frame = pd.read_parquet(folder)
    assert len(frame) == 4 * 2 * 3 * 3, "where all three sit"
    assert frame["deal_seed"].tolist() == deal_seeds(5, 3, frame["deal"].to_numpy()).tolist()
    assert set(frame["tournament"]) == {"run"} and set(frame["entrant"]) == set(NAMES)
    assert json.loads(frame["rules"][0]) == RULES and set(frame["num_players"]) == {3}
    members, earned = parts[0].members, parts[0].earned
    for row in frame.sample(20, random_state=1).itertuples():
        place = (row.seat + row.rotation) % 3
        assert row.entrant == NAMES[members[row.deal, row.lineup, place]]
        assert row.earned == earned[row.deal, row.lineup, row.rotation, row.seat]
    keys = ["deal", "lineup", "rotation", "seat"]
    assert len(frame[keys].drop_duplicates()) == len(frame)
    assert set(frame["stage"]) == {0}
