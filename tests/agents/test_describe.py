"""Descriptions: what a player is, how it was made and how strong it is."""

import json
import zipfile

import numpy as np
import pytest

import kille_env
from env.players import network_metadata, network_weights
from kille_agents.catalog import (
    BASELINES,
    NOT_MEASURED,
    About,
    baselines,
    describe_player,
    measured,
    measured_lines,
    players_of,
)
from kille_agents.metadata import Metadata
from kille_agents.network import NetworkPolicy, save_network
from kille_agents.population import ROSTER, population
from kille_agents.rules_of_thumb import RULES_OF_THUMB
from kille_agents.tabular import TabularPolicy, save_tabular
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


def network(folder):
    made = {"by": "hand", "seed": 12345, "decisions": 12345, "with": {"python": "3"}}
    rules = kille_env.spec("knack").resolve(episode="deal")
    metadata = network_metadata("knack", 3, rules, layers=(4,), made=made)
    save_network(NetworkPolicy(metadata, network_weights(metadata)), folder)
    return str(folder)


def tabular(file, rules=None, **made):
    metadata = Metadata("byteskille", 0, 2, rules or {}, made)
    policy = TabularPolicy(metadata, np.zeros((1, 3), np.uint8), np.ones((1, 1)))
    return save_tabular(policy, file)


def test_a_network_is_described_by_its_metadata(tmp_path):
    name = network(tmp_path)
    about = describe_player(name)
    assert about == About(
        name,
        "a network with layers of 4 units (tanh) for single deals of knack with 3 seats, "
        "preset standard",
        "by hand, decisions 12,345, seed 12345",
        NOT_MEASURED,
    )


def test_a_tabular_policy_says_how_it_was_solved(tmp_path):
    rules = kille_env.spec("byteskille").resolve(episode="deal").as_dict()
    file = tabular(tmp_path / "policy", rules, method="dcfr", iterations=12345)
    found = describe_player(file)
    assert found.what == (
        "a tabular policy with every decision for single deals of byteskille with 2 seats, "
        "preset svensk"
    )
    assert found.made == "solved with kille solve: iterations 12,345, method dcfr"
    assert found.strength == NOT_MEASURED


def test_a_library_model_is_described_without_trust(tmp_path):
    file = tmp_path / "model.zip"
    module = "sb3_contrib.common.maskable.policies"
    told = {"policy_class": {"__module__": module}, "num_timesteps": 12345}
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data", json.dumps(told))
    about = describe_player(file)
    assert about.what == "a model of Stable-Baselines3: MaskablePPO"
    assert "12,345 steps" in about.made
    assert about.strength == NOT_MEASURED


@pytest.mark.parametrize("data", [b"[" * 9_000, b"\xff", b"{"])
def test_a_model_with_a_broken_description_is_refused(tmp_path, data):
    file = tmp_path / "model.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data", data)
    with pytest.raises(PolicyError, match="no model of Stable-Baselines3"):
        describe_player(file)


@pytest.mark.parametrize("rules", [{"episode": "year"}, {"no": 1}, {"episode": ["deal"]}])
def test_a_policy_with_unknown_rules_is_refused(tmp_path, rules):
    file = tabular(tmp_path / "policy", rules)
    with pytest.raises(PolicyError, match=r"policy\.npz: the policy's rules do not exist"):
        describe_player(file)


def test_a_player_of_another_game_is_refused(tmp_path):
    with pytest.raises(PolicyError, match="byteskille/maniac plays byteskille, not knack"):
        describe_player("byteskille/maniac", "knack")
    with pytest.raises(PolicyError, match="plays knack, not byteskille"):
        describe_player(network(tmp_path / "network"), "byteskille")
    with pytest.raises(PolicyError, match="plays byteskille, not knack"):
        describe_player(tabular(tmp_path / "tabular"), "knack")
