"""Descriptions: what a player is, how it was made and how strong it is."""

import json

import pytest

import kille_env
from kille_agents.catalog import (
    BASELINES,
    baselines,
    describe_player,
    measured,
    measured_lines,
    players_of,
)
from kille_agents.population import ROSTER, population
from kille_agents.rules_of_thumb import RULES_OF_THUMB
from kille_agents.trained import trained
from kille_env.errors import PolicyError


def test_a_game_without_a_rule_of_thumb_has_uniform_play_only():
    assert baselines("hogkort") == ["uniform"]
    assert baselines("knack") == list(BASELINES)


def test_every_player_of_the_suite_is_described(game):
    for name in players_of(game):
        about = describe_player(name, game)
        assert about.name == name
        assert all(isinstance(word, str) and word for word in (about.what, about.made))
        assert about.strength
        assert len(about.lines()) == 4


def test_every_player_was_measured_at_the_default_table(game):
    everybody = {"uniform", "rule_of_thumb", *trained(game), *population(game)}
    for name in everybody:
        assert set(measured_lines(name, game)) == {"rule_of_thumb", "uniform"}
        assert f"kille evaluate {name} --game {game}" in describe_player(name, game).strength
    told = measured()["games"][game]
    assert set(told["earned"]) == everybody
    spec = kille_env.spec(game)
    assert told["num_players"] == spec.default_players
    # Switches that are younger than the measurement have their defaults.
    assert spec.resolve(told["rules"]) == spec.resolve(episode="deal")


@pytest.mark.parametrize(
    "name",
    [
        "knack/tipsy",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("byteskille/maniac", "krypkille/bold")),
    ],
)
def test_the_figure_is_what_the_command_measures(name, capfd):
    from kille_training.cli.main import main

    told = describe_player(name).strength
    words = told[told.index("(kille evaluate") + 7 : -1].split()
    assert words[words.index("--deals") + 1] == str(measured()["deals"])
    assert main([*words, "--baselines", "rule_of_thumb", "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    row = next(row for row in rows if row["play"] != "greedy")
    game = ROSTER[name].game
    found = measured()["games"][game]["earned"][name]["rule_of_thumb"]
    assert [round(row["estimate"][key], 6) for key in ("mean", "low", "high")] == found


def test_every_game_has_its_own_rule_of_thumb():
    told = {describe_player("rule_of_thumb", game).what for game in RULES_OF_THUMB}
    assert len(told) == len(RULES_OF_THUMB)


def test_what_is_no_player_of_the_suite_is_measured_instead(tmp_path):
    with pytest.raises(PolicyError, match=r"`kille evaluate` measures files and players of your"):
        describe_player(str(tmp_path))
