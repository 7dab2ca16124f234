"""The command line: the games, recording and replaying, and how a command ends."""

import json
import subprocess
import sys

import pytest

import kille_env
from kille_agents.population import ROSTER, population
from kille_agents.trained import TRAINED
from kille_env.records import read_records, replay
from kille_env.registry import list_games
from kille_training.cli import command
from kille_training.cli import main as cli


@pytest.fixture
def recorded(kille, tmp_path):
    """A file with three matches."""
    path = tmp_path / "matches.jsonl"
    kille("record", "byteskille", "--deals", 3, "--out", path)
    return path


# The command itself


def test_every_verb_has_a_line_in_the_help(kille):
    out = kille("--help").out
    assert all(f"  {verb}" in out and text in out for verb, (_, text) in cli.COMMANDS.items())
    assert "Example: kille " in out


@pytest.mark.parametrize("verb", cli.COMMANDS)
def test_the_help_of_a_verb_shows_an_example(verb, kille):
    out = kille(verb, "--help").out
    assert f"Example: kille {verb}" in out
    assert "--json" in out


def test_an_interrupted_command_ends_with_130_and_leaves_nothing(kille, tmp_path, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("kille_env.play.seating.SeatedPolicies.run", interrupt)
    printed = kille("record", "byteskille", "--out", "x", ends=130)
    assert printed.out == ""
    assert "interrupted" in printed.err
    assert not any(tmp_path.iterdir())


def test_a_missing_package_is_named_with_the_way_to_install_it(refused, monkeypatch):
    monkeypatch.setitem(cli.COMMANDS, "train", ("kille_training.no_such_module:train", ""))
    assert 'pip install ".[train]"' in refused("train")


def test_a_reader_who_has_enough_is_no_error(recorded):
    command = [sys.executable, "-m", "kille_training.cli.main", "replay", str(recorded)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait() in (0, 1)


# kille games


def test_games_for_people(kille):
    out = kille("games").out
    lines = out.splitlines()
    assert len(lines) == len(kille_env.list_games()) + 3
    for game in kille_env.list_games():
        (line,) = [line for line in lines if line.startswith(f"{game} ")]
        assert kille_env.spec(game).title in line
    out = kille("games", "byteskille").out
    spec = kille_env.spec("byteskille")
    assert "2 to 20 seats, 4 by default" in out
    assert ", ".join(spec.actions) in out
    assert all(switch.name in out for switch in spec.switches)


def test_the_manual_of_a_game(kille, answer):
    table = ("games", "byteskille", "--manual")
    text = kille_env.registry.describe_rules("byteskille", {"stake": 6})
    assert kille(*table, "--rules", "stake=6").out.strip() == text
    assert answer(*table, "--rules", "stake=6")["manual"] == text


def test_games_for_programs(answer):
    games = answer("games", "byteskille")["games"]
    assert list(games) == ["byteskille"]
    one = games["byteskille"]
    assert one["players"] == {"min": 2, "max": 20, "default": 4}
    assert one["switches"]["gok_call"]["defaults"] == {"svensk": "any_time", "wikipedia": "off"}
    assert one["switches"]["gok_call"]["values"] == ["any_time", "own_turn", "off"]
    assert one["switches"]["pots"]["possible"] == "a whole number from 1"


# Rules on the command line


def test_rules_are_given_as_in_json():
    words = ["wikipedia", "gok_call=off", "pots=2", "stock_redraw=true", "deals=null", "x=[1]"]
    assert command.parse_rules(words) == {
        "preset": "wikipedia",
        "gok_call": "off",
        "pots": 2,
        "stock_redraw": True,
        "deals": None,
        "x": "[1]",
    }


# kille record


def test_the_same_command_writes_the_same_bytes(kille, tmp_path):
    words = ["--players", 3, "--deals", 20, "--seed", 5]
    words += ["rule_of_thumb", "uniform", "uniform"]
    for path in ("a", "b"):
        kille("record", "byteskille", *words, "--out", path)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    records = read_records("a")
    assert [record["seed"] for record in records] == list(range(5, 25))
    assert records[0]["names"] == ["rule_of_thumb", "uniform", "uniform"]


def test_a_match_does_not_depend_on_the_others(kille, recorded, tmp_path, monkeypatch):
    alone = tmp_path / "alone"
    kille("record", "byteskille", "--seed", 2, "--out", alone)
    assert recorded.read_bytes().splitlines()[2] == alone.read_bytes().strip()
    monkeypatch.setattr("kille_training.table.lineup.TABLES_AT_ONCE", 2)
    kille("record", "byteskille", "--deals", 3, "--out", alone)
    assert recorded.read_bytes() == alone.read_bytes()


def test_recorded_rules_are_those_of_the_command(kille, tmp_path):
    path = tmp_path / "x"
    rules = ["--rules", "wikipedia", "--rules", "pots=2", "--rules", "episode=match"]
    out = kille("record", "byteskille", *rules, "--out", path, "--json").out
    told = json.loads(out)
    (record,) = read_records(path)
    assert (record["rules"]["preset"], record["rules"]["pots"]) == ("wikipedia", 2)
    assert told["mean_returns"] == record["returns"]
    assert told["deals"] == len(record["deals"])
    assert told["decisions"] == len(replay(record).steps)
    assert (told["matches"], told["out"]) == (1, str(path))


# kille replay


def test_one_match_of_a_file(kille, refused, recorded):
    out = kille("replay", recorded, "--match", 2).out
    assert out.startswith("Deal 2:")
    assert out.count("End of the deal:") == 1
    assert "has 3 lines" in refused("replay", recorded, "--match", 4)


def test_a_check_names_each_difference(kille, recorded):
    text = recorded.read_text(encoding="utf-8").splitlines()
    first, last = json.loads(text[0]), json.loads(text[2])
    first["deals"][0]["result"]["turns"] = []
    last["returns"][3] += 1
    recorded.write_text("\n".join([json.dumps(first), text[1], json.dumps(last)]), encoding="utf-8")
    lines = kille("replay", recorded, "--check", ends=1).out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("line 1, deal 0: 'turns' is recorded as [], but the replay gives")
    assert lines[1].startswith("line 3, 'returns' is recorded as")
    out = kille("replay", recorded, "--check", "--json", ends=1).out
    assert json.loads(out)["differences"] == 2
    out = kille("replay", recorded).out
    assert out.count("The record differs: ") == 2


def test_a_record_that_stops_says_which_seat_is_to_decide(kille, tmp_path):
    path = tmp_path / "stopped.jsonl"
    record = {
        "format": "kille-record/1",
        "game": "byteskille",
        "num_players": 3,
        "first_dealer": 2,
        "deals": [{"deck": ["L1", "L2", "L3"], "actions": [[0, "ask"]]}],
    }
    path.write_text(json.dumps(record), encoding="utf-8")
    out = kille("replay", path).out
    assert "Here the record stops: seat 2 is to decide (no or defer)." in out
    record["deals"] = []
    path.write_text(json.dumps(record), encoding="utf-8")
    assert "Here the record stops.\n" in kille("replay", path).out


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[: len(text) // 2], "it is cut off"),
        (
            lambda text: text.replace('"game": "byteskille"', '"game": "bridge"', 1),
            "no game 'bridge'",
        ),
        (lambda text: text.replace('"deck": ["', '"deck": ["XX", "', 1), "'XX' is not a card"),
        (lambda text: text + "rubbish\n", "line 4: it is not JSON"),
        (lambda text: text.replace('"stand"]', '"call"]', 1), "'call' is not legal"),
        (lambda text: "", "holds no record"),
    ],
)
def test_a_bad_file_is_refused_whole(damage, message, refused, recorded):
    recorded.write_text(damage(recorded.read_text(encoding="utf-8")), encoding="utf-8")
    for words in ([], ["--check"], ["--json"]):
        why = refused("replay", recorded, *words)
        assert message in why and recorded.name in why


# players


def test_all_players_are_listed_by_game(kille, answer):
    shown = kille("players").out
    for name in (*ROSTER, *TRAINED, "rule_of_thumb", "uniform"):
        assert name in shown
    told = answer("players")["games"]
    assert list(told) == list(list_games())
    for game, players in told.items():
        names = [player["name"] for player in players]
        assert names[-len(population(game)) :] == population(game)
        assert all(player[word] for player in players for word in ("what", "made", "strength"))


@pytest.mark.parametrize("words", [["knack"], ["--game", "knack"], ["knack", "--game", "knack"]])
def test_a_game_is_listed_alone(answer, words):
    told = answer("players", *words)["games"]
    assert list(told) == ["knack"]


def test_the_list_shows_what_they_earn(kille):
    shown = kille("players", "byteskille").out
    row = next(line for line in shown.splitlines() if line.startswith("byteskille/maniac"))
    assert row.count("±") == 2


def test_one_player_is_described(kille, answer):
    lines = kille("players", "knack/tight").out.splitlines()
    assert lines[0] == "knack/tight"
    assert [line.split()[0] for line in lines[1:]] == ["what", "made", "strength"]
    thumb = answer("players", "rule_of_thumb", "--game", "krypkille")["player"]
    assert "declares" in thumb["what"]
    assert "kille evaluate rule_of_thumb --game krypkille" in thumb["strength"]
