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
from kille_training.arena import store as arena_store
from kille_training.arena.database import StoreError
from kille_training.arena.draws import Draw
from kille_training.arena.executors.processes import HereExecutor
from kille_training.arena.export import export_parquet
from kille_training.arena.spans import Span
from kille_training.arena.store import KeptEntrant, Store
from kille_training.arena.work import Block, Entrant, Failure, Outcome, Result, WorkUnit
from kille_training.statistics.tally import Tally
from reference.tallies import same

HERE = Path(__file__).parent
RULES = spec("byteskille").resolve({}, episode="deal").as_dict()
NAMES = ["anna", "bo", "cecilia"]
KEYS = {0: 71, 1: 3, 2: 40}


def draw(seats, rows=None):
    rows = np.array(rows or [range(seats)])
    return Draw(((0, 1, 2),), rows, np.ones(len(rows)))


def kept(*names):
    return [
        KeptEntrant(0, name, "uniform", fingerprint=f"of {name}", metadata={"kind": "bot"})
        for name in names
    ]


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "run", create=True) as opened:
        opened.enter(kept(*NAMES))
        yield opened


def panels(store):
    """Two panels of one row at two seats, one of two rows at three seats."""
    return [
        store.panels(stage, each)[0]
        for stage, each in enumerate((draw(2), draw(2, [(1, 2)]), draw(3, [(0, 1, 2), (2, 1, 0)])))
    ]


def result(panel, first, deals, without=(), some=()):
    """Small whole numbers, so that ties are frequent; what one gains the others lose."""
    seats, block = panel.seats, Block(panel, first, deals, without, some)
    rng = np.random.default_rng([seats, panel.number])
    shape = (first + deals, panel.lineups, seats, seats)
    earned = rng.integers(-3, 4, shape)[first:].astype(float)
    earned[..., -1] = -earned[..., :-1].sum(axis=-1)
    members = block.members(5, KEYS)
    earned[members[..., 0] < 0] = 0
    return Result(block, members, earned)


def outcome(*results, failure=None):
    seats = results[0].block.panel.seats if results else 2
    blocks = tuple(each.block for each in results)
    entrants = tuple(Entrant(n, name, "uniform") for n, name in enumerate(NAMES))
    unit = WorkUnit("byteskille", seats, RULES, 5, blocks, entrants)
    return Outcome(unit, results, failure)


def spans(*ends):
    return [Span(first, end, ((),)) for first, end in ends]


# Entrants


def test_an_entrant_keeps_its_number(store):
    assert [(each.number, each.name) for each in store.entrants()] == list(enumerate(NAMES))
    moved = replace(kept("bo")[0], player="elsewhere", metadata={"kind": "network"})
    store.enter([*kept("david"), moved])
    _, bo, _, david = store.entrants()
    assert (bo.number, bo.name, bo.player, bo.metadata) == (1, "bo", "elsewhere", moved.metadata)
    assert (david.number, david.name) == (3, "david")
    store.enter(kept("erik", "filippa"))
    assert [each.wave for each in store.entrants()] == [0, 0, 0, 1, 2, 2]
    with pytest.raises(StoreError, match=r"'bo' has changed.*of bo.*of Bo.*another name"):
        store.enter([*kept("gustav"), replace(moved, fingerprint="of Bo")])
    with pytest.raises(StoreError, match=r"play: sampled .* play: greedy"):
        store.enter([replace(moved, play="greedy")])
    assert [each.name for each in store.entrants()] == [
        *NAMES,
        "david",
        "erik",
        "filippa",
    ]  # gustav did not slip in


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


def test_panels_have_one_number_each(store, monkeypatch):
    monkeypatch.setattr(arena_store, "PANEL_ROWS", 2)
    whole = draw(2, [(0, 1), (0, 2), (1, 2), (2, 0), (1, 0)])
    first = store.panels(0, whole)
    assert [(each.number, each.lineups, each.draw.first) for each in first] == [
        (1, 2, 0), (2, 2, 2), (3, 1, 4),
    ]  # fmt: skip
    assert [each.number for each in store.panels(1, draw(2))] == [4]
    assert [each.number for each in store.panels(0, draw(3))] == [5]
    assert store.panels(0, whole) == first
    with pytest.raises(StoreError, match=r"other lineups \(stage 0, 2 seats\).*another folder"):
        store.panels(0, draw(2, [(0, 1), (0, 2), (2, 1), (2, 0), (1, 0)]))
    with Store(store.path, readonly=True) as reader:
        for panel in first:
            kept = reader._panel(panel.number)
            assert (kept.draw.lineups(5, KEYS, 3, 9) == panel.draw.lineups(5, KEYS, 3, 9)).all()


def test_meta_keeps_json(store):
    store.set_meta(rounds=[[0, 1], [2]], text="å")
    store.set_meta(rounds=None)
    assert store.meta() == {"rounds": None, "text": "å"}


# Results


def test_a_unit_is_kept_whole_or_not_at_all(store):
    one, other, _ = panels(store)
    store.keep(outcome(result(one, 0, 10), result(other, 5, 5)))
    with pytest.raises(StoreError, match=r"panel 2 has played deals 5 to 9.*twice"):
        store.keep(outcome(result(one, 10, 5), result(other, 8, 5)))
    assert store.played(1) == spans((0, 10)) and store.played(2) == spans((5, 10))
    store.keep(outcome(result(other, 0, 5), result(other, 12, 3)))
    assert store.played(2) == spans((0, 10), (12, 15))
    store.close()
    with Store(store.path) as again:
        assert again.played(1) == spans((0, 10))
        assert again.played(2) == spans((0, 10), (12, 15))


@pytest.mark.parametrize("first, deals", [(0, 1), (3, 10), (9, 5), (2, 3), (0, 30)])
def test_no_deal_counts_twice(store, first, deals):
    panel = panels(store)[0]
    store.keep(outcome(result(panel, 0, 1), result(panel, 3, 7)))
    before = [each.block for each in store.results()]
    for options in ({}, {"without": (1,)}, {"some": ((1,),)}):
        with pytest.raises(StoreError, match=r"twice|has not played all"):
            store.keep(outcome(result(panel, first, deals, **options)))
    assert [each.block for each in store.results()] == before


def test_lineups_that_were_left_out_are_filled_in_once(store):
    panel = store.panels(0, draw(2, [(0, 1), (0, 2), (1, 2)]))[0]
    whole = result(panel, 0, 12)
    store.keep(outcome(result(panel, 0, 8, without=(0, 2))))
    store.keep(outcome(result(panel, 8, 4, without=(0,))))
    assert store.played(1) == [Span(0, 8, ((0, 2),)), Span(8, 12, ((0,),))]
    for some in [(), ((1,),), ((0, 2),), ((0,), (1,))]:  # 2 was left out only at some of them
        with pytest.raises(StoreError, match="twice"):
            store.keep(outcome(result(panel, 0, 12, some=some)))
    store.keep(outcome(result(panel, 2, 10, without=(2,), some=((0,),))))
    with pytest.raises(StoreError, match=r"has not played all of the deals 8 to 13"):
        store.keep(outcome(result(panel, 8, 6, some=((0,), (2,)))))
    with pytest.raises(StoreError, match="twice"):
        store.keep(outcome(result(panel, 2, 10, some=((0,),))))
    assert store.played(1) == [
        Span(0, 2, ((0, 2),)),
        Span(2, 8, ((2,),)),
        Span(8, 12, ((0,), (2,))),
    ]
    store.keep(outcome(result(panel, 0, 2, some=((0, 2),)), result(panel, 2, 6, some=((2,),))))
    store.keep(outcome(result(panel, 8, 4, some=((0,), (2,)))))
    assert store.played(1) == spans((0, 12))
    found = store.kept(whole.block)
    assert (found.members == whole.members).all()
    assert store.tallies()[2].observations == 36
    part = store.kept(replace(whole.block, first_deal=3, deals=7))
    assert (part.members == whole.members[3:10]).all()


def test_results_that_contradict_what_is_known_are_refused(store):
    panel = panels(store)[0]
    store.keep(outcome(result(panel, 0, 4)))
    later = result(panel, 4, 4)
    wrong = {
        "not finite": replace(later, earned=np.full_like(later.earned, np.nan)),
        "have shapes": replace(later, earned=later.earned[:2]),
        "FOREIGN KEY": result(replace(panel, number=9), 4, 4),
    }
    for message, bad in wrong.items():
        with pytest.raises(StoreError, match=message):
            store.keep(outcome(bad))
    assert store.played(1) == spans((0, 4))


def test_scores_of_a_lineup_are_read_deal_by_deal(store, monkeypatch):
    monkeypatch.setattr(arena_store, "STRETCH", 4)
    panel = store.panels(0, Draw(((1,), (0, 2)), np.array([(0, 1, 1), (0, 1, 2)]), np.ones(2)))[0]
    whole = result(panel, 0, 13)
    for first, deals in ((6, 5), (0, 6), (12, 1)):
        store.keep(outcome(result(panel, first, deals)))
    place = np.arange(3)
    expected = whole.earned[:, 0][:, place, -place % 3].mean(axis=1)  # of the hero, at place 0
    for first in (0, 3, 10, 11):
        found = np.concatenate(list(store.scores(1, 0, 1, first)))
        assert found == pytest.approx(expected[first:11])
    assert len(np.concatenate(list(store.scores(1, 0, 1, 12)))) == 1


# Tallies


def raw(results, entrants=3):
    """All results added up at once."""
    tallies = {}
    for each in results:
        deals, lineups, seats = each.members.shape
        tallies.setdefault(seats, Tally.empty(seats, entrants)).add(
            each.members.reshape(-1, seats),
            np.repeat(each.block.first_deal + np.arange(deals), lineups),
            each.earned.reshape(-1, seats, seats),
        )
    return tallies


def test_tallies_do_not_depend_on_how_results_came(tmp_path):
    """Neither on the order of writing nor on where the deals were cut, nor on what was kept."""
    for trial in range(3):
        rng = random.Random(trial)
        with Store(tmp_path / str(trial), create=True) as store:
            store.enter(kept(*NAMES))
            parts = []
            for panel in panels(store):
                cuts = [0, *sorted(rng.sample(range(1, 300), rng.randrange(5))), 300]
                parts += [result(panel, a, b - a) for a, b in pairwise(cuts)]
            rng.shuffle(parts)
            for part in parts:
                store.keep(outcome(part))
                if rng.random() < 0.3:
                    store.save_tallies()
            whole = raw(result(panel, 0, 300) for panel in panels(store))
            assert same(store.tallies(), whole) and whole[3].observations == 600
        with Store(tmp_path / str(trial), readonly=True) as reader:
            assert same(reader.tallies(), whole)


def test_tallies_are_kept_now_and_then_and_nothing_is_read_twice(store, monkeypatch):
    monkeypatch.setattr(arena_store, "SAVED_UNITS", 3)
    panel = panels(store)[2]
    for first in range(70):
        store.keep(outcome(result(panel, first, 1)))
    (upto,) = store._file.execute("SELECT upto FROM tallies").fetchone()
    assert upto > 3
    store.close()
    with Store(store.path) as again:
        read, seen = again._read, []
        monkeypatch.setattr(again, "_read", lambda *words: seen.append(words) or read(*words))
        assert again.tallies()[3].observations == 140
        again.keep(outcome(result(panel, 70, 1)))
        again.enter(kept("david"))
        assert again.tallies()[3].observations == 142 and again.tallies()[3].entrants == 4
        assert [words[1] for words in seen] == [upto, 70, 71]
        again.save_tallies()
    with Store(store.path, readonly=True) as reader:
        assert reader.tallies()[3].observations == 142


def test_an_error_while_results_are_added_leaves_no_half_of_them(store, monkeypatch):
    panel = panels(store)[0]
    store.keep(outcome(result(panel, 0, 5)))
    store.tallies()
    store.keep(outcome(result(panel, 5, 5)))
    with monkeypatch.context() as patch:
        patch.setattr(Tally, "add", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.tallies()
    assert same(store.tallies(), raw([result(panel, 0, 10)]))


# The file


def test_reading_while_another_process_writes(store):
    panel = panels(store)[0]
    store.keep(outcome(result(panel, 0, 4)))
    with Store(store.path.parent, readonly=True) as reader:
        assert reader.tallies()[2].observations == 4
        seen = reader.results()
        assert next(seen).block.deals == 4
        store.keep(outcome(result(panel, 4, 4)))
        assert list(seen) == []  # as of the moment at which it began
        assert reader.played(1) == spans((0, 8))
        assert reader.tallies()[2].observations == 8
        with pytest.raises(StoreError, match="for reading only"):
            reader.keep(outcome(result(panel, 8, 4)))
    with pytest.raises(StoreError, match="has been closed"):
        reader.played(1)


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
    for version in (3, 7):
        with sqlite3.connect(store.path) as file:
            file.execute(f"PRAGMA user_version = {version}")
        file.close()
        told = rf"version {version} .* reads version 4; read it with the kille-env that wrote it"
        with pytest.raises(StoreError, match=told):
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
        print([(span.first, span.end) for span in store.played(1)])
except StoreError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="folders are not read-only here")
def test_a_folder_on_a_read_only_disk_can_be_read():
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        with Store(folder, create=True) as store:
            store.enter(kept(*NAMES))
            store.keep(outcome(result(panels(store)[0], 0, 4)))
            log = store.path.with_name(f"{store.path.name}-wal").read_bytes()

        def read():
            for each in (Path(place), folder):
                each.chmod(0o555)
            script = READ.format(path=sys.path, folder=str(folder))
            told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
            folder.chmod(0o755)
            return told.stdout.strip() or told.stderr

        assert read() == "[(0, 4)]"
        store.path.with_name(f"{store.path.name}-wal").write_bytes(log)
        assert "was not closed, and its folder cannot be written to; copy the folder" in read()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE panels SET draw = '[[[\"anna\"]], [[0, 1]], [1.0], null, 0]'",
        "UPDATE panels SET draw = '{}'",
        "UPDATE results SET without = '[\"anna\"]'",
        "UPDATE results SET some = '[0]'",
        "UPDATE results SET members = x'00'",
        "UPDATE tallies SET tally = x'00'",
        "UPDATE tallies SET upto = 2",
        "UPDATE tallies SET num_players = 3",
        "UPDATE entrants SET failure = '[]'",
        "UPDATE entrants SET metadata = 'x'",
        'UPDATE meta SET value = \'{"seed": "five"}\'',
        "UPDATE results SET earned = x'00'",
        "UPDATE results SET deals = 9000000000000000000",
    ],
)
def test_values_of_another_kind_are_damage(store, statement):
    store.set_meta(tables={"game": "byteskille", "rules": RULES, "seed": 5})
    store.keep(outcome(result(panels(store)[0], 0, 4)))
    store.save_tallies()
    store.close()
    with sqlite3.connect(store.path) as file:
        file.execute(statement)
    file.close()
    with (
        pytest.raises(StoreError, match="restore it from a copy"),
        Store(store.path, readonly=True) as reader,
    ):
        assert reader.meta() and reader.entrants() and reader.tallies() and list(reader.results())


def test_numbers_that_are_text_are_damage(store):
    store.close()
    with sqlite3.connect(store.path) as file:
        file.execute("DROP TABLE results")
        file.execute("CREATE TABLE results (panel, first_deal, deals, earned)")
        file.execute("INSERT INTO results VALUES ('no', 'numbers', 'are', 'here')")
    file.close()
    with pytest.raises(StoreError, match="other tables than a tournament writes"):
        Store(store.path, readonly=True)


def test_damage_is_found(store):
    for first in range(0, 400, 40):
        store.keep(outcome(result(panels(store)[0], first, 40)))
    store.save_tallies()
    whole = store.tallies()
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
                assert same(reader.tallies(), whole)
                assert same(raw(reader.results()), whole)
        except StoreError as error:
            assert "is damaged" in str(error)
            told += 1
    assert told > 0


def test_a_full_disk_loses_nothing_that_was_kept(store):
    one, other, _ = panels(store)
    store.keep(outcome(result(one, 0, 5)))
    before = raw(store.results())
    (pages,) = store._file.execute("PRAGMA page_count").fetchone()
    store._file.execute(f"PRAGMA max_page_count = {pages + 1}")
    big = outcome(result(one, 5, 9000), result(other, 0, 9000))
    with pytest.raises(StoreError, match="full"):
        store.keep(big)
    assert same(store.tallies(), before) and store.played(1) == spans((0, 5))
    store._file.execute("PRAGMA max_page_count = 1000000")
    store.keep(big)
    assert store.played(1) == spans((0, 9005)) and store.played(2) == spans((0, 9000))


# Exports


def test_exports_have_every_table_once(store, tmp_path):
    import pyarrow.parquet as pq

    with pytest.raises(StoreError, match="does not say what is played"):
        export_parquet(store, tmp_path / "x.parquet")
    assert not list(tmp_path.glob("*.parquet"))
    store.set_meta(tables={"game": "byteskille", "rules": RULES, "seed": 5})
    one, _, three = panels(store)
    parts = [result(one, 3, 4), result(three, 0, 5, without=(2,)), result(one, 0, 3)]
    parts.append(result(three, 2, 3, some=((2,),)))
    for part in parts:
        store.keep(outcome(part))

    assert export_parquet(store, tmp_path / "x.parquet") == 7 * 4 + 3 * 2 * 9
    rows = pq.read_table(tmp_path / "x.parquet").to_pylist()

    expected = {}
    for part in parts:
        seats = part.block.panel.seats
        for (deal, row, turn, seat), units in np.ndenumerate(part.earned):
            who = part.members[deal, row, (seat + turn) % seats]
            if who >= 0:
                key = (seats, part.block.first_deal + deal, row, turn, seat)
                expected[key] = (NAMES[who], units)
    assert {
        (row["num_players"], row["deal"], row["lineup"], row["rotation"], row["seat"]):
        (row["entrant"], row["earned"])
        for row in rows
    } == expected  # fmt: skip
    assert len(rows) == len(expected)
    assert {(row["tournament"], row["game"]) for row in rows} == {("run", "byteskille")}
    assert all(json.loads(row["rules"]) == RULES for row in rows)
    for row in rows:
        seats = row["num_players"]
        assert row["stage"] == {2: 0, 3: 2}[seats]
        assert row["deal_seed"] == int(deal_seeds(5, seats, np.array([row["deal"]]))[0])


def test_an_export_that_fails_leaves_what_was_there(store, tmp_path, monkeypatch):
    store.set_meta(tables={"game": "byteskille", "rules": RULES, "seed": 5})
    panel = panels(store)[0]
    store.keep(outcome(result(panel, 0, 3)))
    path = tmp_path / "out" / "x.parquet"
    path.parent.mkdir()
    path.write_text("before")

    def broken(*_):
        yield result(panel, 0, 3)
        raise OSError("disk full")

    monkeypatch.setattr(store, "results", broken)
    with pytest.raises(OSError, match="disk full"):
        export_parquet(store, path)
    assert [each.name for each in path.parent.iterdir()] == ["x.parquet"]
    assert path.read_text() == "before"


# The end of the process


PAIRS = [(0, 1), (1, 2), (2, 0)]


def tournament(folder, deals=60, pause=0.0):
    """Plays what has not been played, two panels a unit."""
    with Store(folder, create=True) as store, HereExecutor() as executor:
        store.enter(kept(*NAMES))
        three = [store.panels(stage, draw(2, [pair]))[0] for stage, pair in enumerate(PAIRS)]
        players = ("rule_of_thumb", "uniform", "byteskille/tipsy")
        entrants = tuple(Entrant(n, NAMES[n], player) for n, player in enumerate(players))
        missing = [
            WorkUnit("byteskille", 2, RULES, 5, tuple(blocks), entrants)
            for first in range(0, deals, 5)
            for part in (three[:2], three[2:])
            if (blocks := [
                Block(panel, first, 5)
                for panel in part
                if first >= sum(span.end for span in store.played(panel.number))
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
        expected = store.tallies()
        assert expected[2].observations == 180 and np.abs(expected[2].total).max() > 0

    folder = tmp_path / "killed"
    script = (
        f"import sys; sys.path[:0] = {[str(HERE), *sys.path]!r}\n"
        "from pathlib import Path\n"
        "import test_arena_store as tests\n"
        "tests.arena_store.SAVED_UNITS = 2\n"
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
            played = [store.played(number) or spans((0, 0)) for number in (1, 2, 3)]
            assert same(store.tallies(), raw(store.results()))
        assert all(len(each) == 1 for each in played)
        ends = [(each[0].first, each[0].end) for each in played]
        assert all(first == 0 and end % 5 == 0 for first, end in ends)
        assert ends[0] == ends[1]  # they are played in units together
        if code == 0:
            break
        assert code == -signal.SIGKILL
        before = sum(end for _, end in ends)
    assert kills >= 1  # the last one may have come too late
    with Store(folder) as store:
        assert same(store.tallies(), expected)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills so surely here")
def test_killed_in_the_middle_of_a_unit_nothing_of_it_is_kept(store):
    one, other, _ = panels(store)
    store.keep(outcome(result(one, 0, 5)))
    before = store.tallies()
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
        "    one, other, _ = tests.panels(store)\n"
        "    one, other = (tests.result(panel, 5, 9000) for panel in (one, other))\n"
        "    store.keep(tests.outcome(one, other))\n"
    )
    process = subprocess.run([sys.executable, "-c", script])
    assert process.returncode == -signal.SIGKILL
    with Store(store.path) as again:
        assert again.played(1) == spans((0, 5)) and again.played(2) == []
        assert same(again.tallies(), before)
        again.keep(outcome(result(one, 5, 20), result(other, 5, 20)))


def deals_in(folder):
    """How many deals are kept, as another process sees it; -1 before there is a file."""
    if not (folder / "results.sqlite").exists():
        return -1
    try:
        with Store(folder, readonly=True) as store:
            return sum(result.block.deals for result in store.results())
    except StoreError:
        return -1


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM meta",
        "UPDATE meta SET value = '5' WHERE key = 'tables'",
        "UPDATE meta SET value = '5' WHERE key = 'made_with'",
        f"UPDATE meta SET value = '{'[' * 9000}' WHERE key = 'tables'",
        'UPDATE meta SET value = \'{"game": [], "rules": {}, "seed": 1}\' WHERE key = \'tables\'',
        "UPDATE panels SET num_players = 1000000000000000 WHERE number = 1",
        "UPDATE panels SET num_players = -1 WHERE number = 1",
        "UPDATE entrants SET number = number + 1000",
        "UPDATE entrants SET metadata = '5'",
        f"UPDATE entrants SET metadata = '{'[' * 9000}'",
    ],
)
def test_what_no_tournament_writes_is_refused_when_it_is_read(store, change):
    store.set_meta(tables={"game": "byteskille", "rules": RULES, "seed": 5}, made_with={})
    store.keep(outcome(result(panels(store)[0], 0, 2)))
    store.close()
    with sqlite3.connect(store.path) as file:
        file.execute(change)
    file.close()
    with (
        Store(store.path, readonly=True) as again,
        pytest.raises(StoreError, match="holds what no"),
    ):
        again.meta("tables", "made_with")
        again.entrants()
        again.deals()


def test_a_schema_that_is_no_text_is_a_damaged_file(store):
    store.close()
    data = store.path.read_bytes()
    place = data.index(b"CREATE TABLE entrants") + 8
    store.path.write_bytes(data[:place] + b"\xf4" + data[place + 1 :])
    with pytest.raises(StoreError, match="damaged"):
        Store(store.path, readonly=True)
