import io
import json

import numpy as np
import pytest
import yaml
from rich.console import Console

from kille_env.errors import ConfigError, KilleError
from kille_training.arena.entrants import fingerprint
from kille_training.arena.executors.processes import HereExecutor
from kille_training.arena.results import TournamentResult
from kille_training.arena.settings import TournamentSettings, load_tournament
from kille_training.arena.store import Store, StoreError
from kille_training.arena.tournament import Folder, Tournament
from kille_training.arena.work import Failure, Outcome, WorkUnit
from kille_training.cli.main import main
from kille_training.cli.progress import TournamentDisplay
from kille_training.settings import build
from reference.tallies import same

TRIO = {"rule": "rule_of_thumb", "luck": "uniform", "bold": {"player": "uniform", "play": "greedy"}}

FIVE = {**TRIO, "tipsy": "byteskille/tipsy", "chance": "uniform"}


def settings(**changes):
    content = {
        "table": {"num_players": [3]},
        "entrants": TRIO,
        "matchmaking": {"deals": 6},
        "batch_tables": 30,
        "workers": 0,
    }
    return build(TournamentSettings, {**content, **changes}, "the test")


class Spy:
    """Counts what is played; interrupts after some units."""

    def __init__(self, units=None):
        self.left, self.deals, self.total, self.done = units, 0, 0, 0

    def begin(self, left, done):
        self.done = sum(done.values())
        self.total = self.done + sum(left.values())

    def played(self, outcome):
        self.deals += outcome.unit.deals
        self.left = None if self.left is None else self.left - 1
        if self.left == 0:
            raise KeyboardInterrupt


def play(path, watcher=None, **changes):
    watcher = watcher or Spy()
    tournament = Tournament(Folder(path), settings(**changes))
    try:
        with HereExecutor() as executor:
            tournament.play(executor, watcher)
    finally:
        tournament.close()
    return watcher


def kept(path):
    with Store(path, readonly=True) as store:
        return store.tallies()


def rows(path):
    """Every lineup that was played: table size, deal and members, with what was earned."""
    with Store(path, readonly=True) as store:
        found = {}
        for result in store.results():
            for deal, row in np.argwhere(result.members[:, :, 0] >= 0).tolist():
                members = tuple(result.members[deal, row].tolist())
                key = (len(members), result.block.first_deal + deal, members)
                assert key not in found, "a lineup was played twice at a deal"
                found[key] = result.earned[deal, row].tobytes()
    return found


def shown(path):
    """The standings, as they are shown."""
    with Store(path, readonly=True) as store:
        return TournamentResult.of(store, "deal", None).as_dict()


def test_everything_is_played_once(tmp_path):
    spy = play(tmp_path / "a", table={"num_players": [2, 3]})
    found = kept(tmp_path / "a")
    assert {seats: each.observations for seats, each in found.items()} == {2: 3 * 6, 3: 6}
    assert spy.deals == spy.total == 24
    assert play(tmp_path / "a", table={"num_players": [2, 3]}).deals == 0


@pytest.mark.parametrize("batch_tables", [1, 9, 1000])
def test_the_same_is_played_in_whatever_units(tmp_path, batch_tables):
    whole = {"table": {"num_players": [2, 3]}, "entrants": FIVE}
    play(tmp_path / "a", **whole)
    play(tmp_path / "b", **whole, batch_tables=batch_tables)
    assert rows(tmp_path / "a") == rows(tmp_path / "b")
    assert same(kept(tmp_path / "a"), kept(tmp_path / "b"))


def test_interrupted_anywhere_it_ends_the_same(tmp_path):
    whole = {"table": {"num_players": [2, 3]}, "batch_tables": 8}
    play(tmp_path / "whole", **whole)
    times = 0
    while True:
        try:
            play(tmp_path / "parts", Spy(2), **whole)
            break
        except KeyboardInterrupt:
            times += 1
    assert times > 3
    assert rows(tmp_path / "whole") == rows(tmp_path / "parts")
    assert same(kept(tmp_path / "whole"), kept(tmp_path / "parts"))


@pytest.mark.parametrize(
    ("matchmaking", "new"),
    [
        ({"format": "round_robin"}, 6),
        ({"format": "round_robin", "fill": "copies"}, 8),
        ({"format": "gauntlet", "hero": "luck"}, 3),
        ({"format": "random", "lineups": 2}, 4.5),
    ],
)
def test_a_new_entrant_plays_only_what_is_new(tmp_path, matchmaking, new):
    matchmaking = {**matchmaking, "deals": 40}
    entrants = {**TRIO, "chance": "uniform"}
    play(tmp_path / "a", entrants=entrants, matchmaking=matchmaking)
    before = rows(tmp_path / "a")
    play(tmp_path / "a", entrants=FIVE, matchmaking=matchmaking)
    after = rows(tmp_path / "a")
    assert before.items() <= after.items()
    late = [members for _, _, members in after.keys() - before.keys()]
    assert all(4 in members for members in late)
    assert len(late) == pytest.approx(40 * new, abs=0 if new != 4.5 else 20)


def test_more_deals_play_only_what_is_new(tmp_path):
    play(tmp_path / "a")
    assert play(tmp_path / "a", matchmaking={"deals": 9}).deals == 3
    assert play(tmp_path / "a", matchmaking={"deals": 4}).deals == 0
    play(tmp_path / "b", matchmaking={"deals": 9})
    assert same(kept(tmp_path / "a"), kept(tmp_path / "b"))


@pytest.mark.parametrize("orders", [1, 2])
@pytest.mark.parametrize("format", ["round_robin", "random", "swiss"])
def test_the_order_of_naming_entrants_means_nothing(tmp_path, format, orders):
    turned = dict(reversed(FIVE.items()))
    matchmaking = {"format": format, "deals": 6, "rounds": 3, "lineups": 2}
    table = {"num_players": [2, 3] if orders == 1 else [3], "orders": orders}
    for name, each in (("a", FIVE), ("b", turned)):
        play(tmp_path / name, table=table, entrants=each, matchmaking=matchmaking)
    assert same(kept(tmp_path / "a"), kept(tmp_path / "b"))
    assert rows(tmp_path / "a") == rows(tmp_path / "b")
    one, other = ((tmp_path / name / "config.yaml").read_bytes() for name in "ab")
    assert one == other


def test_the_standings_are_a_function_of_the_set_of_entrants(tmp_path):
    """Also where they have other numbers: what is drawn follows from the names."""
    play(tmp_path / "a", entrants=FIVE, matchmaking={"deals": 50})
    found = settings(entrants=FIVE, matchmaking={"deals": 50})
    turned = [found.taking_part()[place] for place in (3, 1, 4, 0, 2)]
    object.__setattr__(found, "taking_part", lambda: turned)
    tournament = Tournament(Folder(tmp_path / "b"), found)
    with tournament.store, HereExecutor() as executor:
        tournament.play(executor)
        names = [each.name for each in tournament.store.entrants()]
    assert names == [each.name for each in turned] != sorted(names)
    assert shown(tmp_path / "a") == shown(tmp_path / "b")


def test_who_is_readmitted_plays_exactly_what_was_left_out(tmp_path):
    play(tmp_path / "whole", entrants=FIVE)
    play(tmp_path / "a", entrants=FIVE, matchmaking={"deals": 2})

    def leave(number):
        with Store(tmp_path / "a") as store:
            unit = WorkUnit("byteskille", 3, {}, 1, (), ())
            store.keep(Outcome(unit, failure=Failure(number, "it left", 1, 0)))

    def readmit(name):
        with Store(tmp_path / "a") as store:
            store.forget_failures([name])

    leave(1)
    play(tmp_path / "a", entrants=FIVE, matchmaking={"deals": 4})
    assert sum(1 in members for _, _, members in rows(tmp_path / "a")) == 6 * 2
    leave(3)
    readmit(name_of(tmp_path / "a", 1))
    play(tmp_path / "a", entrants=FIVE)
    found = rows(tmp_path / "a")
    assert sum(1 in members for _, _, members in found) == 6 * 2 + 3 * 4
    readmit(name_of(tmp_path / "a", 3))
    play(tmp_path / "a", entrants=FIVE)
    assert rows(tmp_path / "a") == rows(tmp_path / "whole")
    assert same(kept(tmp_path / "a"), kept(tmp_path / "whole"))
    assert play(tmp_path / "a", entrants=FIVE).deals == 0


def test_who_is_not_in_the_settings_plays_what_it_missed_when_it_is_again(tmp_path):
    play(tmp_path / "whole", entrants=FIVE)
    play(tmp_path / "a", entrants=FIVE, matchmaking={"deals": 2})
    four = {name: player for name, player in FIVE.items() if name != "bold"}
    play(tmp_path / "a", entrants=four)
    before = rows(tmp_path / "a")
    assert {deal for _, deal, members in before if 0 in members} == {0, 1}  # the numbers by name
    play(tmp_path / "a", entrants=FIVE)
    assert before.items() <= rows(tmp_path / "a").items()
    assert rows(tmp_path / "a") == rows(tmp_path / "whole")


def name_of(path, number):
    with Store(path, readonly=True) as store:
        return store.entrants()[number].name


@pytest.mark.parametrize(
    ("matchmaking", "observations"),
    [
        ({"format": "gauntlet", "hero": "luck", "deals": 4}, 3 * 4),
        ({"format": "round_robin", "fill": "copies", "deals": 4}, 12 * 4),
        ({"format": "round_robin", "deals": 4}, 4 * 4),
        ({"format": "swiss", "rounds": 3, "deals": 4}, 3 * 4),
    ],
)
def test_every_format_is_played(tmp_path, matchmaking, observations):
    entrants = {**TRIO, "more luck": "uniform"}
    play(tmp_path / "a", entrants=entrants, matchmaking=matchmaking)
    assert kept(tmp_path / "a")[3].observations == observations


@pytest.mark.parametrize("orders", [1, 2, "all"])
def test_orders_are_played_at_every_deal(tmp_path, orders):
    play(tmp_path / "a", table={"num_players": [4], "orders": orders}, entrants=FIVE)
    found = rows(tmp_path / "a")
    count = 6 if orders == "all" else orders
    assert len(found) == 6 * 5 * count
    turned = {
        (deal, members[turn:] + members[:turn])
        for _, deal, members in found for turn in range(4)
    }  # fmt: skip
    assert len(turned) == 4 * len(found)  # no order is another one turned


def test_a_swiss_tournament_whose_first_tables_all_failed_goes_on(tmp_path):
    entrants = {f"luck {n}": "uniform" for n in range(3)} | {"worse": "training.bad_players:Raises"}
    rounds = {"format": "swiss", "rounds": 4, "deals": 4}
    for seed in range(4):  # it sits at the only table of the first round, or rests
        play(tmp_path / f"{seed}", entrants=entrants, matchmaking=rounds, seed=seed)
        found = kept(tmp_path / f"{seed}")[3]
        assert not found.count[:, 3].any() and found.observations >= 3 * 4


def test_swiss_rounds_follow_the_standings_and_go_on_with_more(tmp_path):
    entrants = {"rule": "rule_of_thumb", **{f"luck {n}": "uniform" for n in range(11)}}
    rounds = {"format": "swiss", "rounds": 2, "deals": 30}
    table = {"num_players": [2]}
    play(tmp_path / "a", table=table, entrants=entrants, matchmaking=rounds)
    spy = play(tmp_path / "a", table=table, entrants=entrants, matchmaking={**rounds, "rounds": 4})
    assert spy.deals == 2 * 6 * 30
    assert {deal // 30 for _, deal, _ in rows(tmp_path / "a")} == {0, 1, 2, 3}
    with Store(tmp_path / "a", readonly=True) as store:
        drawn = store.meta()["swiss"]["2"]
    assert len({frozenset(pair) for each in drawn for pair in each}) == 24  # nobody meets twice
    play(tmp_path / "b", table=table, entrants=entrants, matchmaking={**rounds, "rounds": 4})
    assert same(kept(tmp_path / "a"), kept(tmp_path / "b"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 2}, "seed is 1, not 2"),
        ({"table": {"num_players": [3], "orders": 2}}, "orders is 1, not 2"),
        ({"table": {"num_players": [3], "game": "knack"}}, "game is 'byteskille', not 'knack'"),
        ({"table": {"num_players": [3], "episode": "match"}}, "episode is 'deal', not 'match'"),
        ({"table": {"num_players": [3], "rules": {"stake": 4}}}, "stake is 2, not 4"),
        ({"matchmaking": {"format": "swiss"}}, "format is 'round_robin', not 'swiss'"),
        ({"matchmaking": {"fill": "copies"}}, "fill is 'distinct', not 'copies'"),
    ],
)
def test_another_tournament_does_not_go_on_in_the_folder(tmp_path, changes, words):
    play(tmp_path / "a")
    before = (tmp_path / "a" / "config.yaml").read_bytes()
    with pytest.raises(ConfigError, match=words):
        play(tmp_path / "a", **changes)
    assert (tmp_path / "a" / "config.yaml").read_bytes() == before


def test_another_player_of_the_same_name_is_refused(tmp_path):
    play(tmp_path / "a")
    with pytest.raises(StoreError, match="'bold'"):
        play(tmp_path / "a", entrants={**TRIO, "bold": "uniform"})
    with pytest.raises(StoreError, match="'luck' has changed"):
        play(tmp_path / "a", entrants={**TRIO, "luck": "rule_of_thumb"})


def test_another_player_of_the_same_module_is_refused(tmp_path, monkeypatch):
    (tmp_path / "twins.py").write_text("def one(*_):\n    raise ValueError\n\n\ntwo = one\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert fingerprint("twins:one") != fingerprint("twins:two")


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
        ({"table": {"num_players": []}}, "each table size once"),
        ({"table": {"num_players": [3, 3]}}, "each table size once"),
        ({"table": {"num_players": [21]}}, "21"),
        ({"table": {"num_players": [4]}}, "do not fill a table of 4"),
        ({"table": {"num_players": [3], "orders": 5}}, "orders is 5"),
        ({"table": {"game": "kille"}}, "kille"),
        ({"table": {"rules": {"episode": "deal"}}}, "table.episode"),
        ({"matchmaking": {"format": "cup"}}, "format is 'cup'"),
        ({"matchmaking": {"deals": 1}}, "at least 2"),
        ({"matchmaking": {"format": "gauntlet"}}, "needs a hero"),
        ({"matchmaking": {"hero": "rule"}}, "needs a hero"),
        ({"matchmaking": {"format": "gauntlet", "hero": "rul"}}, "is no entrant"),
        ({"matchmaking": {"rouds": 3}}, "matchmaking.rouds is an unknown key"),
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


def test_a_module_that_ends_its_process_ends_no_tournament(tmp_path, monkeypatch):
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        ConfigError, match=r"'x' cannot play at 3 seats: .*'leaves'.*: SystemExit: 3"
    ):
        play(tmp_path / "a", entrants={**TRIO, "x": "leaves:Player"})
    assert not (tmp_path / "a").exists()


def test_the_bots_of_a_game_take_part():
    found = settings(population="all").taking_part()
    halves = [settings(population=split).taking_part() for split in ("train", "held_out")]
    assert {e.name for e in found} == {e.name for half in halves for e in half}
    assert len(found) > 8 and [each.number for each in found] == list(range(len(found)))


def test_settings_are_read_with_overrides_and_written_resolved(tmp_path):
    file = tmp_path / "t.yaml"
    file.write_text(yaml.safe_dump({"entrants": TRIO, "seed": 4}))
    found = load_tournament(file, ["matchmaking.deals=7", "table.num_players=[2]"], workers=0)
    assert (found.matchmaking.deals, found.table.num_players, found.seed) == (7, (2,), 4)
    tournament = Tournament(Folder(tmp_path / "a"), found)
    tournament.close()
    assert Folder(tmp_path / "a").settings() == found


def command(folder, *words, **content):
    """Runs `kille tournament` with these settings."""
    file = folder / "t.yaml"
    usual = {"name": "t", "table": {"num_players": [3]}, "entrants": TRIO, "workers": 0}
    file.write_text(yaml.safe_dump({**usual, **content}))
    return main(["tournament", str(file), "--out", str(folder), *words])


def test_ctrl_c_says_once_how_to_resume(tmp_path, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Tournament, "play", interrupt)
    monkeypatch.setattr("kille_training.arena.api.TournamentResult.of", interrupt)
    compare = ["compare", "rule_of_thumb", "uniform", "--workers", "0", "--out", str(tmp_path)]
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
    rows = content["standings"]["3"]
    assert rows[0]["name"] == "rule" and rows[0]["place"] == 1 and rows[0]["observations"] == 40
    again = ["tournament", str(tmp_path / "t"), "--set", "matchmaking.deals=50"]
    assert main([*again, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["standings"]["3"][0]["observations"] == 50
    assert main(["tournament", str(tmp_path / "t"), "--seed", "5"]) == 1
    assert "keeps its name and its seed" in capsys.readouterr().err


def test_where_all_fail_it_is_said_who_and_why(tmp_path, capsys):
    bad = {"bad": "training.bad_players:Raises", "sad": "training.bad_players:Raises"}
    words = {"table": {"num_players": [2]}, "entrants": bad}
    for _ in range(2):  # resumed, it is no other
        assert command(tmp_path, **words) == 1
        said = capsys.readouterr().err
        assert "nobody is left to play (bad: RuntimeError" in said and "readmit" in said


def test_names_are_no_markup(tmp_path):
    file = io.StringIO()
    entrants = {"[/nobody]": "rule_of_thumb", "[red]luck": "training.bad_players:Raises"}
    tournament = Tournament(
        Folder(tmp_path / "a"), settings(entrants=entrants, table={"num_players": [2]})
    )
    with (
        tournament.store as store,
        HereExecutor() as executor,
        TournamentDisplay(store, "deal") as watcher,
    ):
        watcher.console = Console(file=file)
        with pytest.raises(ConfigError, match="nobody is left to play"):
            tournament.play(executor, watcher)
    assert "[red]luck is out: " in file.getvalue()


def test_a_tournament_that_ended_before_its_first_write_begins(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "results.sqlite").touch()
    assert play(tmp_path / "a").deals == 6


def test_what_players_print_is_no_output_of_the_command(tmp_path, capsys):
    entrants = {"rule": "rule_of_thumb", "chatters": "training.bad_players:Chatters"}
    words = {"table": {"num_players": [2]}, "matchmaking": {"deals": 5}}
    assert command(tmp_path, "--json", entrants=entrants, **words) == 0
    assert json.loads(capsys.readouterr().out)["standings"]["2"][0]["observations"] == 5
