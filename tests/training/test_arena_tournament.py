import json
import signal
import subprocess
import sys
import time

import pytest
import yaml

from kille_env.errors import ConfigError, KilleError
from kille_env.registry import Table
from kille_training.arena.play import identified
from kille_training.arena.results import TournamentResult
from kille_training.arena.settings import Folder, TournamentSettings
from kille_training.arena.store import Store, StoreError
from kille_training.arena.tournament import Tournament, finished, play_tournament
from kille_training.cli.main import main
from kille_training.pool.jobs import Here
from kille_training.settings import build
from reference.tallies import same

TRIO = {"rule": "rule_of_thumb", "luck": "uniform", "bold": {"player": "uniform", "play": "greedy"}}

FIVE = {**TRIO, "tipsy": "byteskille/tipsy", "chance": "uniform"}


def settings(**changes):
    content = {
        "table": {"num_players": 3},
        "entrants": TRIO,
        "matchmaking": {"deals": 6},
        "batch_tables": 30,
        "workers": 0,
    }
    return build(TournamentSettings, {**content, **changes}, "the test")


class Spy:
    """Counts what is played; interrupts after some shards."""

    def __init__(self, shards=None):
        self.left, self.deals, self.total, self.done = shards, 0, 0, None

    def __call__(self, job, deals, total):
        assert total == (self.total or total)
        self.total = total
        if self.done is None:
            self.done = deals
            return
        self.deals += deals
        self.left = None if self.left is None else self.left - 1
        if self.left == 0:
            raise KeyboardInterrupt


PLAYED = {}
"""By folder what was kept: by cohort, lineup and deal who sat there, and what the seats earned."""


def play(path, watcher=None, **changes):
    watcher = watcher or Spy()
    with Here() as pool:
        tournament = Tournament(Folder(path), settings(**changes), pool)
        with tournament.store as store:
            keep, played = store.keep, PLAYED.setdefault(path, {})

            def noted(shard, lineups, earned):
                keep(shard, lineups, earned)
                for members, deal, row, units in zip(*lineups, earned, strict=True):
                    key = shard.cohort, int(row), int(deal)
                    assert key not in played, "a lineup was played twice at a deal"
                    names = tuple(store.entrants[number].name for number in members)
                    played[key] = names, units[0].tobytes()

            store.keep = noted
            tournament.play(watcher)
    return watcher


def opened(path):
    return Store(Folder(path).results, readonly=True)


def kept(path):
    with opened(path) as store:
        return store.tally


def rows(path):
    """Every lineup that was played: deal and members, with what was earned."""
    return {(deal, names): earned for (_, _, deal), (names, earned) in sorted(PLAYED[path].items())}


def shown(path):
    """The standings, as they are shown."""
    with opened(path) as store:
        return TournamentResult.of(store).as_dict()


def test_everything_is_played_once(tmp_path):
    spy = play(tmp_path / "a", table={"num_players": 2})
    assert kept(tmp_path / "a").observations == 3 * 6
    assert spy.deals == spy.total == 18 and spy.done == 0
    again = play(tmp_path / "a", table={"num_players": 2})
    assert (again.deals, again.done, again.total) == (0, 18, 18)


def test_interrupted_anywhere_it_ends_the_same(tmp_path):
    whole = {"table": {"num_players": 2}, "batch_tables": 4, "matchmaking": {"deals": 10}}
    play(tmp_path / "whole", **whole)
    times, done = 0, 0
    while True:
        spy = Spy(2)
        try:
            play(tmp_path / "parts", spy, **whole)
            break
        except KeyboardInterrupt:
            assert spy.done == done, "progress knows what was done before"
            times, done = times + 1, done + spy.deals
    assert times > 3
    assert rows(tmp_path / "whole") == rows(tmp_path / "parts")
    results = [(tmp_path / name / "results.npz").read_bytes() for name in ("whole", "parts")]
    assert results[0] == results[1]


@pytest.mark.parametrize("format", ["round_robin", "random"])
def test_the_order_of_naming_entrants_means_nothing(tmp_path, format):
    turned = dict(reversed(FIVE.items()))
    matchmaking = {"format": format, "deals": 6, "lineups": 2}
    table = {"num_players": 2}
    for name, each in (("a", FIVE), ("b", turned)):
        play(tmp_path / name, table=table, entrants=each, matchmaking=matchmaking)
    assert same(kept(tmp_path / "a"), kept(tmp_path / "b"))
    assert rows(tmp_path / "a") == rows(tmp_path / "b")
    one, other = ((tmp_path / name / "config.yaml").read_bytes() for name in "ab")
    assert one == other


def test_who_failed_is_out_for_good_and_one_that_is_mended_enters_anew(tmp_path):
    bad = {**TRIO, "bad": "training.bad_players:Raises"}
    play(tmp_path / "a", entrants=bad)
    with opened(tmp_path / "a") as store:
        assert store.entrants[0].out == "RuntimeError: no idea"
    before = rows(tmp_path / "a")
    assert before and not any("bad" in members for _, members in before)
    mended = {**TRIO, "mended": "uniform"}  # "bad" need not be named again
    play(tmp_path / "a", entrants=mended)
    after = rows(tmp_path / "a")
    late = after.keys() - before.keys()
    assert before.items() <= after.items() and len(late) == 6 * 3
    assert all("mended" in members for _, members in late)


def test_too_many_late_entrants_are_refused_before_they_enter(tmp_path):
    few = {
        "table": {"num_players": 3},
        "matchmaking": {"format": "random", "lineups": 1, "deals": 2},
    }
    founders = {f"luck {n}": "uniform" for n in range(4)}
    play(tmp_path / "a", **few, entrants=founders)
    before = (tmp_path / "a" / "results.npz").read_bytes()
    with pytest.raises(ConfigError, match=r"100 entrants make 80,850 lineups .* another name"):
        play(tmp_path / "a", **few, entrants={f"luck {n}": "uniform" for n in range(100)})
    assert (tmp_path / "a" / "results.npz").read_bytes() == before
    assert not play(tmp_path / "a", **few, entrants=founders).deals  # it goes on as it was


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 2}, "seed 1 instead of 2"),
        ({"table": {"num_players": 3, "game": "knack"}}, "byteskille instead of knack"),
        ({"table": {"num_players": 3, "episode": "match"}}, "episode 'deal' instead of 'match'"),
        ({"table": {"num_players": 3, "rules": {"stake": 4}}}, "stake 2 instead of 4"),
        ({"table": {"num_players": 2}}, "3 seats instead of 2"),
        ({"matchmaking": {"format": "random"}}, "format 'round_robin' instead of 'random'"),
        ({"matchmaking": {"fill": "copies"}}, "fill 'distinct' instead of 'copies'"),
        ({"matchmaking": {"deals": 4}}, "results of 6 deals, and the settings ask for 4"),
    ],
)
def test_another_tournament_does_not_go_on_in_the_folder(tmp_path, changes, words):
    play(tmp_path / "a")
    before = (tmp_path / "a" / "config.yaml").read_bytes()
    with pytest.raises(ConfigError, match=words):
        play(tmp_path / "a", **changes)
    assert (tmp_path / "a" / "config.yaml").read_bytes() == before


@pytest.mark.parametrize("begun", [False, True])
def test_two_that_begin_at_once_do_not_mix(tmp_path, monkeypatch, begun):
    """While one identifies its entrants, no other one begins in its folder."""
    if begun:
        play(tmp_path / "a")

    def meanwhile(*words):
        monkeypatch.undo()
        with pytest.raises(StoreError, match="another process is playing in"):
            play(tmp_path / "a", seed=1 if begun else 2)
        return identified(*words)

    monkeypatch.setattr("kille_training.arena.tournament.identified", meanwhile)
    play(tmp_path / "a", entrants=FIVE)
    with opened(tmp_path / "a") as store:
        assert store.config["seed"] == 1 and len(store.entrants) == 5


def test_a_policy_for_another_table_is_transferred_if_that_is_asked_for(tmp_path):
    entrants = {"rule": "rule_of_thumb", "mine": "training.bad_players:ForTwo"}
    words = {"entrants": entrants, "matchmaking": {"fill": "copies", "deals": 4}}
    with pytest.raises(ConfigError, match=r"'mine' cannot play at 3 seats: .*transfer"):
        play(tmp_path / "a", **words)
    play(tmp_path / "a", **words, transfer=True)
    told = shown(tmp_path / "a")["transferred"]
    assert told == {"mine": str(Table.of("byteskille", 2))}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"entrants": {"rule": "rule_of_thumb"}}, "1 entrants take part"),
        ({"entrants": {**TRIO, "x": "rule_of_tumb"}}, "'x' cannot play at 3 seats"),
        ({"entrants": {**TRIO, "x": "no.such_module:Player"}}, "'x' cannot play at 3 seats"),
        ({"entrants": {**TRIO, "x": {"player": "uniform", "plays": 1}}}, "unknown key 'plays'"),
        ({"entrants": {**TRIO, "x": {"player": "uniform", "play": "best"}}}, "play 'best'"),
        ({"entrants": {**TRIO, "x": 3}}, "'x' is 3"),
        ({"entrants": {**TRIO, "a, b": "uniform"}}, "without commas"),
        ({"table": {"num_players": [2, 3]}}, "num_players is .*, expected a whole number"),
        ({"table": {"num_players": 21}}, "21"),
        ({"table": {"num_players": 4}}, "do not fill a table of 4"),
        ({"table": {"game": "kille"}}, "kille"),
        ({"table": {"rules": {"episode": "deal"}}}, "table.episode"),
        ({"matchmaking": {"format": "cup"}}, "format is 'cup'"),
        ({"matchmaking": {"deals": 1}}, "at least 2"),
        ({"matchmaking": {"format": "gauntlet"}}, "needs a hero"),
        ({"matchmaking": {"hero": "rule"}}, "needs a hero"),
        ({"matchmaking": {"format": "gauntlet", "hero": "rul"}}, "expected an entrant"),
        ({"matchmaking": {"lineup": 3}}, "matchmaking.lineup is an unknown key"),
        ({"time_limit": 0.0}, "time_limit is 0.0, expected above 0"),
        ({"batch_tables": 0}, "batch_tables is 0, expected at least 1"),
        ({"executor": "slurm"}, "executor is 'slurm'"),
        ({"workers": -1}, "workers is -1, expected at least 0"),
        ({"population": "some"}, "population is 'some'"),
        ({"name": "../x"}, "name is"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_is_written(tmp_path, changes, words):
    with pytest.raises(KilleError, match=words):
        play(tmp_path / "a", **changes)
    assert not (tmp_path / "a").exists()


def test_the_bots_of_a_game_take_part():
    found = settings(population="all").taking_part()
    halves = [settings(population=split).taking_part() for split in ("train", "held_out")]
    assert {e.name for e in found} == {e.name for half in halves for e in half}
    assert len(found) > 8 and [each.number for each in found] == list(range(len(found)))


def command(folder, *words, **content):
    """Run `kille tournament` with these settings."""
    file = folder / "t.yaml"
    usual = {"name": "t", "table": {"num_players": 3}, "entrants": TRIO, "workers": 0}
    file.write_text(yaml.safe_dump({**usual, **content}))
    return main(["tournament", str(file), "--out", str(folder / "t"), *words])


def test_ctrl_c_says_once_how_to_resume(tmp_path, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Tournament, "play", interrupt)
    monkeypatch.setattr("kille_training.arena.compare._played", interrupt)
    compare = ["compare", "rule_of_thumb", "uniform", "--set", "workers=0"]
    compare += ["--out", str(tmp_path / "c")]
    for name, run in (
        ("tournament", lambda: command(tmp_path)),
        ("compare", lambda: main(compare)),
    ):
        assert run() == 130
        told = capsys.readouterr().err
        assert told.lower().count("interrupted") == 1
        assert f"resume with: kille {name}" in told


def test_the_command_plays_shows_and_goes_on(tmp_path, capsys):
    deals = {"matchmaking": {"deals": 40}}
    assert command(tmp_path, **deals) == 0
    shown = capsys.readouterr().out
    assert "3 seats" in shown and "rule" in shown and "units per deal" in shown
    assert command(tmp_path, "--json", **deals) == 0
    content = json.loads(capsys.readouterr().out)
    rows = content["standings"]
    assert rows[0]["name"] == "rule" and rows[0]["place"] == 1 and rows[0]["observations"] == 40
    again = ["tournament", str(tmp_path / "t"), "--set", "matchmaking.deals=50"]
    assert main([*again, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["standings"][0]["observations"] == 50
    assert main(["tournament", str(tmp_path / "t"), "--seed", "5"]) == 1
    assert "leave out --out and --seed" in capsys.readouterr().err


def test_a_finished_folder_is_shown_without_loading_anybody(tmp_path, capsys, monkeypatch):
    table, deals = {"num_players": 2}, {"matchmaking": {"deals": 4}}
    assert command(tmp_path, table=table, **deals) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(Tournament, "__init__", lambda *_, **__: pytest.fail("somebody is loaded"))
    assert main(["tournament", str(tmp_path / "t")]) == 0
    assert capsys.readouterr().out == first
    for more in ("matchmaking.deals=5", "entrants.luck=rule_of_thumb"):
        with pytest.raises(pytest.fail.Exception):
            main(["tournament", str(tmp_path / "t"), "--set", more])


@pytest.mark.parametrize("shards", [0, 1])
def test_an_entrant_whose_cohort_was_interrupted_is_not_shown_as_finished(tmp_path, capsys, shards):
    def at_once(*_):
        raise KeyboardInterrupt

    words = {"table": {"num_players": 2}, "matchmaking": {"deals": 10}, "batch_tables": 4}
    play(tmp_path / "t", **words)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path / "t", Spy(shards) if shards else at_once, entrants=FIVE, **words)
    assert finished(Folder(tmp_path / "t"), settings(entrants=FIVE, **words)) is None
    assert shown(tmp_path / "t")["caution"].startswith("Not finished")
    assert main(["tournament", str(tmp_path / "t"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["observations"] for row in found["standings"]] == [4 * 10] * 5
    assert found["caution"].startswith("Extended, and finished 2 times")
    assert finished(Folder(tmp_path / "t"), settings(entrants=FIVE, **words)) is not None


def test_the_plan_says_who_is_out(tmp_path, capsys):
    entrants = {**TRIO, "bad": "training.bad_players:Raises"}
    assert command(tmp_path, entrants=entrants, matchmaking={"deals": 4}) == 0
    plan = "Plan: 3 entrants (1 out), round robin, 4 deals, each from all 3 seats: at most 4"
    said = capsys.readouterr().err
    assert plan in " ".join(said.split()) and max(map(len, said.splitlines())) < 80


def test_where_all_fail_it_is_said_who_and_why(tmp_path, capsys):
    bad = {"bad": "training.bad_players:Raises", "sad": "training.bad_players:Raises"}
    words = {"table": {"num_players": 2}, "entrants": bad}
    for _ in range(2):  # resumed, it is no other
        assert command(tmp_path, **words) == 1
        said = capsys.readouterr().err
        assert "all entrants are out (bad: RuntimeError" in said and "another folder" in said


@pytest.mark.parametrize(
    ("matchmaking", "words"),
    [
        ({}, "2 entrants do not fill a table of 3 seats; .* matchmaking.fill: copies, in another"),
        ({"format": "gauntlet", "hero": "bad", "fill": "copies"}, "the hero is out"),
        ({"format": "random"}, "2 entrants do not fill a table of 3 seats; .* a smaller table"),
    ],
)
def test_too_few_left_to_fill_a_table_is_said(tmp_path, matchmaking, words):
    entrants = {"rule": "rule_of_thumb", "luck": "uniform", "bad": "training.bad_players:Raises"}
    with pytest.raises(ConfigError, match=rf"{words}.*bad: RuntimeError: no idea"):
        play(tmp_path / "a", entrants=entrants, matchmaking={"deals": 4, **matchmaking})


SLOW = """
import sys
sys.path[:0] = {path!r}
from kille_training.cli.main import main
sys.exit(main(["tournament", {config!r}, "--out", {out!r}]))
"""


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills so surely here")
def test_a_tournament_that_is_killed_ends_as_if_it_never_had_been(tmp_path, monkeypatch):
    """The process itself is killed, with kill -9, while others play for it."""
    waiting = tmp_path / "waiting"
    monkeypatch.setenv("KILLE_TEST_WAITING", str(waiting))
    content = {
        "name": "t", "table": {"num_players": 2}, "workers": 1, "batch_tables": 4,
        "entrants": {"slow": "training.bad_players:Slow", "rule": "rule_of_thumb"},
        "matchmaking": {"deals": 8},
    }  # fmt: skip
    (tmp_path / "t.yaml").write_text(yaml.safe_dump(content))
    words = {"path": sys.path, "config": str(tmp_path / "t.yaml")}

    def begin(out):
        script = SLOW.format(**words, out=str(tmp_path / out))
        return subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)

    def parts():
        found = tmp_path / "killed" / "results.npz"
        return found.is_file() and waiting.is_file() and len(waiting.read_text().split())

    process = begin("killed")
    deadline = time.monotonic() + 60
    while not (asked := parts()) and time.monotonic() < deadline:
        time.sleep(0.02)
    while parts() <= asked and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    assert process.wait(60) == -signal.SIGKILL
    monkeypatch.delenv("KILLE_TEST_WAITING")
    for out in ("killed", "whole"):
        assert begin(out).wait(120) == 0
    one, other = (tmp_path / out / "results.npz" for out in ("killed", "whole"))
    assert one.read_bytes() == other.read_bytes()


MANY = {f"e{number}": "uniform" for number in range(17)}


def test_the_plan_comes_first_and_too_many_lineups_are_drawn_at_random(tmp_path):
    said = []
    table, few = {"num_players": 4}, {"deals": 2}
    with Here() as pool:
        content = settings(entrants=MANY, table=table, matchmaking=few, batch_tables=10_000)
        tournament = Tournament(Folder(tmp_path / "a"), content, pool)
        with tournament.store:
            tournament.play(lambda *_: said.append("played"), said.append)
    assert "17 entrants, random, 2 deals" in said[0]
    assert "22 lineups of 2,380 in every deal. That is 44 observations" in " ".join(said[0].split())
    assert said[1] == "played" and said[-1] == "played"
    kept = Folder(tmp_path / "a").settings().matchmaking
    assert (kept.format, kept.lineups) == ("random", 5)
    more = {"table": table, "batch_tables": 10_000}
    play(tmp_path / "a", entrants=MANY, matchmaking={"deals": 3}, **more)  # it stays random
    with pytest.raises(ConfigError, match="format 'random' instead of 'round_robin'"):
        play(tmp_path / "a", entrants=MANY, matchmaking={"format": "round_robin"}, **more)
    play(tmp_path / "b", entrants=FIVE, matchmaking=few, **more)
    assert Folder(tmp_path / "b").settings().matchmaking.format == "round_robin"


def test_from_python_the_plan_is_said_and_ctrl_c_says_how_to_resume(tmp_path, monkeypatch, capsys):
    words = {"game": "byteskille", "num_players": 2, "deals": 5}
    play_tournament(["rule_of_thumb", "uniform"], **words)
    said = " ".join(capsys.readouterr().err.split())
    assert "Plan: 2 entrants, round robin, 5 deals, each from all 2 seats: 1 lineup in" in said

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Tournament, "play", interrupt)
    for out, how in ((tmp_path / "t", "the same call, with out='.*t', resumes"), (None, "out=")):
        with pytest.raises(KeyboardInterrupt, match=how):
            play_tournament(["rule_of_thumb", "uniform"], out=out, **words)


def test_the_command_takes_seats_and_suggests_where_a_key_stands(tmp_path, capsys):
    assert command(tmp_path, "--players", "2", matchmaking={"deals": 4}) == 0
    assert "2 seats" in capsys.readouterr().out
    assert command(tmp_path, deals=4) == 1
    assert "deals is an unknown key. Did you mean 'matchmaking.deals'?" in capsys.readouterr().err
