"""What is kept is whole units, each once, whatever ends the process that keeps it."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kille_env.core.keys import deal_seeds
from kille_env.registry import spec
from kille_training.arena.executors.processes import HereExecutor
from kille_training.arena.export import export_jsonl, export_parquet
from kille_training.arena.store import KeptEntrant, Store, StoreError
from kille_training.arena.work import Block, Entrant, Failure, Outcome, Result, WorkUnit
from reference.orders import same

HERE = Path(__file__).parent
RULES = spec("byteskille").resolve({}, episode="deal").as_dict()
NAMES = ["anna", "bo", "cecilia"]
TURNS = {2: np.array([[0, 1], [1, 0]]), 3: np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]])}


def kept(*names):
    return [
        KeptEntrant(0, name, "uniform", fingerprint=f"of {name}", metadata={"kind": "bot"})
        for name in names
    ]


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "run", create=True) as opened:
        opened.enter(kept(*NAMES))
        opened.add_lineups(2, [(0, 1), (1, 2)])
        opened.add_lineups(3, [(0, 1, 2)])
        yield opened


def result(lineup, members, first, deals, seed=0):
    """Small whole numbers, so that ties are frequent; what one gains the others lose."""
    seats = len(members)
    rng = np.random.default_rng([seed, lineup])
    earned = rng.integers(-3, 4, (first + deals, seats, seats))[first:].astype(float)
    earned[..., -1] = -earned[..., :-1].sum(axis=-1)
    return Result(Block(lineup, members, first, deals), TURNS[seats], earned)


def outcome(*results, failure=None):
    seats = len(results[0].block.members) if results else 2
    blocks = tuple(each.block for each in results)
    entrants = tuple(Entrant(n, name, "uniform") for n, name in enumerate(NAMES))
    unit = WorkUnit("byteskille", seats, RULES, 5, 1, blocks, entrants)
    return Outcome(unit, results, failure)


# Entrants


def test_an_entrant_keeps_its_number(store):
    assert [(each.number, each.name) for each in store.entrants()] == list(enumerate(NAMES))
    moved = replace(kept("bo")[0], player="elsewhere", metadata={"kind": "network"})
    store.enter([*kept("david"), moved])
    _, bo, _, david = store.entrants()
    assert (bo.number, bo.name, bo.player, bo.metadata) == (1, "bo", "elsewhere", moved.metadata)
    assert (david.number, david.name) == (3, "david")
    with pytest.raises(StoreError, match=r"'bo' has changed.*of bo.*of Bo.*another name"):
        store.enter([*kept("erik"), replace(moved, fingerprint="of Bo")])
    with pytest.raises(StoreError, match=r"play: sampled .* play: greedy"):
        store.enter([replace(moved, play="greedy")])
    assert [each.name for each in store.entrants()] == [*NAMES, "david"]  # erik did not slip in


def test_an_entrant_that_fails_is_out_until_it_is_readmitted(store):
    store.keep(outcome(failure=Failure(1, "it cried", 0, 7)))
    store.keep(outcome(failure=Failure(1, "it cried again", 0, 9)))
    assert [each.out for each in store.entrants()] == [None, "it cried", None]
    store.enter(kept("bo"))
    assert store.entrants()[1].out == "it cried"
    with pytest.raises(StoreError, match=r"'anna' is not out; out are: 'bo'"):
        store.forget_failures(["bo", "anna"])
    assert store.entrants()[1].out == "it cried"
    store.forget_failures(["bo"])
    assert [each.out for each in store.entrants()] == [None, None, None]
    with pytest.raises(StoreError, match="no entrant number 17"):
        store.keep(outcome(failure=Failure(17, "who?", 0, 0)))


def test_lineups_have_one_number_each(store):
    assert store.add_lineups(2, [(1, 2), (2, 1), (0, 1), (2, 1)]) == [1, 3, 0, 3]
    assert store.lineups() == [(0, 1), (1, 2), (0, 1, 2), (2, 1)]
    for wrong in [(0, 1, 2), (0, 3), (-1, 0)]:
        with pytest.raises(StoreError, match="is no lineup of 2 of the 3 entrants"):
            store.add_lineups(2, [(2, 0), wrong])
    assert len(store.lineups()) == 4


def test_meta_keeps_json(store):
    store.set_meta(rounds=[[0, 1], [2]], text="å")
    store.set_meta(rounds=None)
    assert store.meta() == {"rounds": None, "text": "å"}


# Results


def test_a_unit_is_kept_whole_or_not_at_all(store):
    store.keep(outcome(result(0, (0, 1), 0, 10), result(1, (1, 2), 5, 5)))
    with pytest.raises(StoreError, match=r"lineup 1 has played deals 5 to 9.*twice"):
        store.keep(outcome(result(0, (0, 1), 10, 5), result(1, (1, 2), 8, 5)))
    assert store.played() == {0: [(0, 10)], 1: [(5, 10)]}
    store.keep(outcome(result(1, (1, 2), 0, 5), result(1, (1, 2), 12, 3)))
    assert store.played() == {0: [(0, 10)], 1: [(0, 10), (12, 15)]}


@pytest.mark.parametrize("first, deals", [(0, 1), (3, 10), (9, 5), (2, 3), (0, 30)])
def test_no_deal_counts_twice(store, first, deals):
    store.keep(outcome(result(0, (0, 1), 0, 1), result(0, (0, 1), 3, 7)))
    before = store.observations()
    with pytest.raises(StoreError):
        store.keep(outcome(result(0, (0, 1), first, deals)))
    assert same(store.observations(), before)


def test_results_that_contradict_what_is_known_are_refused(store):
    good = result(0, (0, 1), 0, 4)
    store.keep(outcome(good))
    later = result(0, (0, 1), 4, 4)
    wrong = {
        "other seatings": replace(later, seatings=TURNS[2][::-1].copy()),
        "not finite": replace(later, earned=np.full_like(later.earned, np.nan)),
        "have shape": replace(later, earned=later.earned[:2]),
        "add it first": result(9, (0, 1), 4, 4),
        "is not": result(0, (1, 2), 4, 4),
    }
    for message, bad in wrong.items():
        with pytest.raises(StoreError, match=message):
            store.keep(outcome(bad))
    assert store.played() == {0: [(0, 4)]}


def test_observations_are_what_was_earned(store):
    two, three = result(1, (1, 2), 4, 3), result(2, (0, 1, 2), 0, 50)
    store.keep(outcome(two))
    store.keep(outcome(three))
    found = store.observations()
    assert found.keys() == {2, 3}
    assert found[2].members.tolist() == [[1, 2]] * 3
    assert found[2].deal.tolist() == [4, 5, 6]
    assert set(found[3].lineup.tolist()) == {2}
    for each in (two, three):
        seats = len(each.block.members)
        seen = found[seats]
        assert (seen.scores == seen.earned).all()  # what one gains the others lose
        for deal, tables in enumerate(each.earned):
            for place in range(seats):
                units, shares = [], np.zeros(seats)
                for seated, earned in zip(each.seatings, tables, strict=True):
                    mine = earned[list(seated).index(place)]
                    units.append(mine)
                    better = int((earned > mine).sum())
                    level = int((earned == mine).sum())
                    shares[better : better + level] += 1 / level / seats
                assert seen.earned[deal, place] == pytest.approx(np.mean(units))
                assert seen.finishes[deal, place] == pytest.approx(shares)


def test_scores_are_earned_less_the_tables_mean(store):
    plus = result(2, (0, 1, 2), 0, 8)
    store.keep(outcome(replace(plus, earned=plus.earned + 2.5)))
    seen = store.observations()[3]
    assert seen.scores == pytest.approx(seen.earned - 2.5)
    assert seen.earned.sum(axis=1) == pytest.approx(7.5)


def test_observations_do_not_depend_on_how_they_came(tmp_path):
    """Neither on the order of writing nor on where the deals were cut."""
    pieces = [(lineup, members, cut) for lineup, members in enumerate([(0, 1), (1, 2), (0, 1, 2)])
              for cut in (1, 7, 12)]  # fmt: skip
    found = []
    for trial in range(3):
        rng = random.Random(trial)
        with Store(tmp_path / str(trial), create=True) as store:
            store.enter(kept(*NAMES))
            store.add_lineups(2, [(0, 1), (1, 2)])
            store.add_lineups(3, [(0, 1, 2)])
            parts = []
            for lineup in range(3):
                members = pieces[3 * lineup][1]
                cuts = [0, *sorted(rng.sample(range(1, 20), rng.randrange(5))), 20]
                parts += [result(lineup, members, a, b - a) for a, b in pairwise(cuts)]
            rng.shuffle(parts)
            for part in parts:
                store.keep(outcome(part))
            found.append(store.observations())
    assert same(found[0], found[1]) and same(found[0], found[2])
    assert len(found[0][2]) == 40


# The file


def test_reading_while_another_process_writes(store):
    store.keep(outcome(result(0, (0, 1), 0, 4)))
    with Store(store.path.parent, readonly=True) as reader:
        seen = reader.results()
        assert next(seen).block.deals == 4
        store.keep(outcome(result(0, (0, 1), 4, 4)))
        assert list(seen) == []  # as of the moment at which it began
        assert reader.played() == {0: [(0, 8)]}
        with pytest.raises(StoreError, match="for reading only"):
            reader.keep(outcome(result(0, (0, 1), 8, 4)))
    with pytest.raises(StoreError, match="has been closed"):
        reader.played()


def test_one_process_writes(store):
    with pytest.raises(StoreError, match="is being played in"):
        Store(store.path)
    script = f"import sys; sys.path[:0] = {sys.path!r}\nfrom pathlib import Path\n" + (
        "from kille_training.arena.store import Store\n"
        f"Store(Path({str(store.path)!r}))"
    )  # fmt: skip
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert told.returncode == 1 and "StoreError: a tournament is being played" in told.stderr
    store.close()
    assert subprocess.run([sys.executable, "-c", script], check=True).returncode == 0
    Store(store.path).close()


def test_files_that_are_none_of_ours(tmp_path):
    path = tmp_path / "results.sqlite"
    with pytest.raises(StoreError, match="no results"):
        Store(tmp_path)
    with pytest.raises(StoreError):
        Store(tmp_path, readonly=True)
    assert not path.exists()
    path.touch()
    with pytest.raises(StoreError, match="is empty"):
        Store(tmp_path)
    path.write_text("name,score\nanna,3\n" * 100)
    for options in ({}, {"create": True}, {"readonly": True}):
        with pytest.raises(StoreError, match="not written by a tournament"):
            Store(tmp_path, **options)
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE something (x)")
    other.close()
    with pytest.raises(StoreError):
        Store(tmp_path, create=True)


def test_another_version_is_refused(store):
    store.close()
    with sqlite3.connect(store.path) as file:
        file.execute("PRAGMA user_version = 7")
    file.close()
    with pytest.raises(StoreError, match=r"version 7 .* reads version 3"):
        Store(store.path)


READ = """
import os, sys
sys.path[:0] = {path!r}
from pathlib import Path
from kille_training.arena.store import Store, StoreError
if os.geteuid() == 0:  # who may write everywhere
    os.setuid(65534)
try:
    with Store(Path({folder!r}), readonly=True) as store:
        print(store.played())
except StoreError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="folders are not read-only here")
def test_a_folder_on_a_read_only_disk_can_be_read():
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        with Store(folder, create=True) as store:
            store.enter(kept(*NAMES))
            store.add_lineups(2, [(0, 1)])
            store.keep(outcome(result(0, (0, 1), 0, 4)))
            log = store.path.with_name(f"{store.path.name}-wal").read_bytes()

        def read():
            for each in (Path(place), folder):
                each.chmod(0o555)
            script = READ.format(path=sys.path, folder=str(folder))
            told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
            folder.chmod(0o755)
            return told.stdout.strip() or told.stderr

        assert read() == "{0: [(0, 4)]}"
        store.path.with_name(f"{store.path.name}-wal").write_bytes(log)
        assert "was not closed, and its folder cannot be written to; copy the folder" in read()


@pytest.mark.parametrize(
    "statement",
    [
        'UPDATE lineups SET members = \'["anna", "bo"]\' WHERE number = 0',
        "UPDATE lineups SET members = '{}' WHERE number = 0",
        "UPDATE entrants SET failure = '[]'",
        "UPDATE entrants SET metadata = 'x'",
        'UPDATE meta SET value = \'{"seed": "five"}\'',
        "UPDATE results SET earned = x'00'",
        "UPDATE results SET deals = 9000000000000000000",
    ],
)
def test_values_of_another_kind_are_damage(store, statement):
    store.set_meta(tables={"seed": 5})
    store.keep(outcome(result(0, (0, 1), 0, 4)))
    store.close()
    with sqlite3.connect(store.path) as file:
        file.execute(statement)
    file.close()
    with (
        pytest.raises(StoreError, match="restore it from a copy"),
        Store(store.path, readonly=True) as reader,
    ):
        assert reader.meta() and reader.entrants() and reader.lineups() and reader.observations()


def test_numbers_that_are_text_are_damage(store):
    store.close()
    with sqlite3.connect(store.path) as file:
        file.execute("DROP TABLE results")
        file.execute("CREATE TABLE results (lineup, first_deal, deals, earned)")
        file.execute("INSERT INTO results VALUES ('no', 'numbers', 'are', 'here')")
    file.close()
    with pytest.raises(StoreError, match="other tables than a tournament writes"):
        Store(store.path, readonly=True)


def test_damage_is_found(store):
    for first in range(0, 400, 40):
        store.keep(outcome(result(0, (0, 1), first, 40)))
    whole = store.observations()
    store.close()
    content = bytearray(store.path.read_bytes())
    places = random.Random(3).sample(range(4096, len(content) - 64), 40)
    told = 0
    for place in places:  # whatever is hit, nobody is told other results without a word
        hurt = content.copy()
        hurt[place : place + 64] = bytes(64)
        store.path.write_bytes(hurt)
        try:
            with Store(store.path, readonly=True) as reader:
                assert same(reader.observations(), whole)
        except StoreError as error:
            assert "is damaged" in str(error)
            told += 1
    assert told > 0


def test_a_full_disk_loses_nothing_that_was_kept(store):
    store.keep(outcome(result(0, (0, 1), 0, 5)))
    before = store.observations()
    (pages,) = store._file.execute("PRAGMA page_count").fetchone()
    store._file.execute(f"PRAGMA max_page_count = {pages + 1}")
    big = outcome(result(0, (0, 1), 5, 9000), result(1, (1, 2), 0, 9000))
    with pytest.raises(StoreError, match="full"):
        store.keep(big)
    assert same(store.observations(), before)
    store._file.execute("PRAGMA max_page_count = 1000000")
    store.keep(big)
    assert store.played() == {0: [(0, 9005)], 1: [(0, 9000)]}


# Exports


def test_exports_have_every_table_once(store, tmp_path):
    import pyarrow.parquet as pq

    with pytest.raises(StoreError, match="does not say what is played"):
        export_parquet(store, tmp_path / "x.parquet")
    assert not list(tmp_path.glob("*.parquet"))
    store.set_meta(tables={"game": "byteskille", "rules": RULES, "seed": 5})
    parts = [result(0, (0, 1), 3, 4), result(2, (0, 1, 2), 0, 5), result(0, (0, 1), 0, 3)]
    for part in parts:
        store.keep(outcome(part))

    assert export_parquet(store, tmp_path / "x.parquet") == 7 * 4 + 5 * 9
    rows = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert export_jsonl(store, tmp_path / "x.jsonl") == 7 * 2 + 5 * 3
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]

    expected = {}
    for part in parts:
        for deal, tables in enumerate(part.earned, part.block.first_deal):
            for seating, (seated, earned) in enumerate(zip(part.seatings, tables, strict=True)):
                for seat, (place, units) in enumerate(zip(seated, earned, strict=True)):
                    key = (part.block.lineup, deal, seating, seat)
                    expected[key] = (NAMES[part.block.members[place]], units)
    assert {
        (row["lineup"], row["deal"], row["seating"], row["seat"]): (row["entrant"], row["earned"])
        for row in rows
    } == expected
    assert {
        (line["lineup"], line["deal"], line["seating"], seat): (name, units)
        for line in lines
        for seat, (name, units) in enumerate(zip(line["entrants"], line["earned"], strict=True))
    } == expected
    assert len(rows) == len(expected)
    assert {(row["tournament"], row["game"]) for row in rows} == {("run", "byteskille")}
    assert all(json.loads(row["rules"]) == RULES for row in rows)
    for row in rows:
        seats = 2 if row["lineup"] == 0 else 3
        assert row["num_players"] == seats
        assert row["deal_seed"] == int(deal_seeds(5, seats, np.array([row["deal"]]))[0])
    assert {(line["deal"], line["deal_seed"]) for line in lines} == {
        (row["deal"], row["deal_seed"]) for row in rows
    }


def test_an_export_that_fails_leaves_what_was_there(store, tmp_path, monkeypatch):
    store.set_meta(tables={"game": "byteskille", "rules": RULES, "seed": 5})
    store.keep(outcome(result(0, (0, 1), 0, 3)))
    path = tmp_path / "out" / "x.jsonl"
    path.parent.mkdir()
    path.write_text("before")

    def broken(*_):
        yield result(0, (0, 1), 0, 3)
        raise OSError("disk full")

    monkeypatch.setattr(store, "results", broken)
    for export in (export_jsonl, export_parquet):
        with pytest.raises(OSError, match="disk full"):
            export(store, path)
    assert [each.name for each in path.parent.iterdir()] == ["x.jsonl"]
    assert path.read_text() == "before"


# The end of the process


MEMBERS = [(0, 1), (1, 2), (2, 0)]


def tournament(folder, deals=60, pause=0.0):
    """Plays what has not been played, two lineups a unit."""
    with Store(folder, create=True) as store, HereExecutor() as executor:
        store.enter(kept(*NAMES))
        store.add_lineups(2, MEMBERS)
        played = {lineup: sum(b - a for a, b in spans) for lineup, spans in store.played().items()}
        players = ("rule_of_thumb", "uniform", "byteskille/tipsy")
        entrants = tuple(Entrant(n, NAMES[n], player) for n, player in enumerate(players))
        missing = [
            WorkUnit("byteskille", 2, RULES, 5, 1, tuple(blocks), entrants)
            for first in range(0, deals, 5)
            for pair in ([0, 1], [2])
            if (blocks := [
                Block(lineup, MEMBERS[lineup], first, 5)
                for lineup in pair
                if first >= played.get(lineup, 0)
            ])
        ]  # fmt: skip
        for outcome in executor.run(missing):
            store.keep(outcome)
            time.sleep(pause)


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills so surely here")
def test_a_tournament_that_is_killed_again_and_again_ends_as_if_it_never_had_been(tmp_path):
    tournament(tmp_path / "whole")
    with Store(tmp_path / "whole") as store:
        expected = store.observations()
        assert len(expected[2]) == 180 and np.abs(expected[2].scores).max() > 0

    folder = tmp_path / "killed"
    script = (
        f"import sys; sys.path[:0] = {[str(HERE), *sys.path]!r}\n"
        "from pathlib import Path\n"
        "import test_arena_store as tests\n"
        f"tests.tournament(Path({str(folder)!r}), pause=0.02)\n"
    )
    rng, kills, before = random.Random(11), 0, -1
    while True:
        process = subprocess.Popen([sys.executable, "-c", script])
        try:
            if kills < 2:
                # From the first unit that it keeps: until then it is only starting.
                while process.poll() is None and deals_in(folder) <= before:
                    time.sleep(0.01)
                time.sleep(rng.random() * 0.08)
                process.kill()
            code = process.wait(60)
        finally:
            process.kill()
        kills += code == -signal.SIGKILL
        with Store(folder) as store:  # the lock has died with the process
            check = store._file.execute("PRAGMA integrity_check").fetchone()
            assert check == ("ok",)
            spans = store.played()
        ends = [spans.get(lineup, [(0, 0)])[0] for lineup in range(3)]
        assert all(len(each) == 1 for each in spans.values())
        assert all(first == 0 and end % 5 == 0 for first, end in ends)
        assert ends[0] == ends[1]  # they are played in units together
        if code == 0:
            break
        assert code == -signal.SIGKILL
        before = sum(end for _, end in ends)
    assert kills >= 1  # the last one may have come too late
    with Store(folder) as store:
        assert same(store.observations(), expected)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills so surely here")
def test_killed_in_the_middle_of_a_unit_nothing_of_it_is_kept(store):
    store.keep(outcome(result(0, (0, 1), 0, 5)))
    before = store.observations()
    store.close()
    script = (
        f"import os, signal, sys; sys.path[:0] = {[str(HERE), *sys.path]!r}\n"
        "from pathlib import Path\n"
        "import test_arena_store as tests\n"
        "keep, kept = tests.Store._keep_result, []\n"
        "def half(store, result):\n"
        "    if kept:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    kept.append(keep(store, result))\n"
        "tests.Store._keep_result = half\n"
        f"with tests.Store(Path({str(store.path)!r})) as store:\n"
        "    one, other = (tests.result(n, (n, n + 1), 5, 9000) for n in (0, 1))\n"
        "    store.keep(tests.outcome(one, other))\n"
    )
    process = subprocess.run([sys.executable, "-c", script])
    assert process.returncode == -signal.SIGKILL
    with Store(store.path) as again:
        assert again.played() == {0: [(0, 5)]}
        assert same(again.observations(), before)
        again.keep(outcome(result(0, (0, 1), 5, 20), result(1, (1, 2), 5, 20)))


def deals_in(folder):
    """How many deals are kept, as another process sees it; -1 before there is a file."""
    if not (folder / "results.sqlite").exists():
        return -1
    try:
        with Store(folder, readonly=True) as store:
            return sum(end - first for spans in store.played().values() for first, end in spans)
    except StoreError:
        return -1
