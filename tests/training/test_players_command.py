"""`kille players`: lists, and the description of one."""

import pytest

from kille_agents.population import ROSTER, population
from kille_agents.trained import TRAINED
from kille_env.registry import list_games


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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["knack/manic"], "Did you mean 'knack/maniac'"),
        (["rule_of_thumb"], "kille players rule_of_thumb --game"),
        (["--game", "knck"], "knack"),
        (["knack", "--game", "krypkille"], "name one of them"),
        (["knack/tight", "--game", "krypkille"], "knack/tight plays knack, not krypkille"),
    ],
)
def test_what_cannot_be_listed_is_refused(refused, words, says):
    assert says in refused("players", *words)
