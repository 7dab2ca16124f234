"""`kille players`: lists, and the description of one."""

import json

import pytest

from kille_agents.population import ROSTER, population
from kille_env.registry import list_games
from kille_training.cli.main import main


def run(capfd, *words):
    """What the command prints."""
    assert main(["players", *words]) == 0
    return capfd.readouterr().out


def refused(capfd, *words):
    """Why the command refuses."""
    assert main(["players", *words]) == 1
    captured = capfd.readouterr()
    assert not captured.out
    return captured.err


def test_all_players_are_listed_by_game(capfd):
    shown = run(capfd)
    for name in (*ROSTER, "rule_of_thumb", "uniform"):
        assert name in shown
    told = json.loads(run(capfd, "--json"))["games"]
    assert list(told) == list(list_games())
    for game, players in told.items():
        names = [player["name"] for player in players]
        assert names[-len(population(game)) :] == population(game)
        assert all(player[word] for player in players for word in ("what", "made", "strength"))


@pytest.mark.parametrize("words", [["knack"], ["--game", "knack"], ["knack", "--game", "knack"]])
def test_a_game_is_listed_alone(capfd, words):
    told = json.loads(run(capfd, *words, "--json"))["games"]
    assert list(told) == ["knack"]


def test_a_split_is_listed_alone(capfd):
    told = json.loads(run(capfd, "knack", "--split", "held_out", "--json"))["games"]["knack"]
    assert [player["name"] for player in told] == population("knack", "held_out")
    assert {player["split"] for player in told} == {"held_out"}


def test_the_list_shows_what_they_earn(capfd):
    shown = run(capfd, "byteskille", "--split", "train")
    row = next(line for line in shown.splitlines() if line.startswith("byteskille/maniac"))
    assert row.count("±") == 2


def test_one_player_is_described(capfd):
    lines = run(capfd, "knack/tight").splitlines()
    assert lines[0] == "knack/tight"
    assert [line.split()[0] for line in lines[1:]] == ["what", "made", "strength"]
    thumb = json.loads(run(capfd, "rule_of_thumb", "--game", "krypkille", "--json"))["player"]
    assert "declares" in thumb["what"]
    assert "kille evaluate rule_of_thumb --game krypkille" in thumb["strength"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["knack/manic"], "Did you mean 'knack/maniac'"),
        (["rule_of_thumb"], "kille players rule_of_thumb --game"),
        (["--game", "knck"], "knack"),
        (["knack", "--game", "krypkille"], "name one of them"),
        (["knack/tight", "--split", "train"], "leave it out"),
        (["knack/tight", "--game", "krypkille"], "knack/tight plays knack, not krypkille"),
    ],
)
def test_what_cannot_be_listed_is_refused(capfd, words, says):
    assert says in refused(capfd, *words)
