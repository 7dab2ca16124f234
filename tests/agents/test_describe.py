"""Cards: everybody says what he is, how he was made and how strong he is."""

import json
import zipfile

import numpy as np
import pytest

import kille_env
from kille_agents import NetworkPolicy, NetworkMetadata, save_network
from kille_agents.about import NOT_MEASURED, About
from kille_agents.catalog import BASELINES, RULES_OF_THUMB
from kille_agents.describe import describe_player, measured, measured_lines
from kille_agents.population import ROSTER, population
from kille_agents.tabular import TabularMetadata, TabularPolicy, save_tabular
from kille_env.core.spec import width
from kille_env.errors import PolicyError


def test_everybody_who_comes_with_the_suite_has_a_whole_card(game):
    for name in (*BASELINES, *population(game)):
        card = describe_player(name, game)
        assert card.name == name
        assert all(isinstance(word, str) and word for word in (card.what, card.made))
        assert card.strength
        assert len(card.lines()) == 4


def test_everybody_was_measured_at_the_default_table(game):
    for name in ("uniform", "rule_of_thumb", *population(game)):
        assert set(measured_lines(name, game)) == {"rule_of_thumb", "uniform"}
        assert f"kille evaluate {name} --game {game}" in describe_player(name, game).strength
    told = measured()["games"][game]
    assert set(told["earned"]) == {"uniform", "rule_of_thumb", *population(game)}
    spec = kille_env.spec(game)
    assert told["num_players"] == spec.default_players
    assert told["rules"] == spec.resolve(episode="deal").as_dict()


@pytest.mark.parametrize("name", ["byteskille/maniac", "knack/tipsy", "krypkille/bold"])
def test_the_figure_is_what_the_command_measures(name, capfd):
    from kille_training.cli.main import main

    told = describe_player(name).strength
    words = told[told.index("(kille evaluate") + 7 : -1].split()
    assert words[words.index("--deals") + 1] == str(measured()["deals"])
    assert main([*words, "--against", "rule_of_thumb", "--json"]) == 0
    row = json.loads(capfd.readouterr().out)["rows"][0]
    game = ROSTER[name].game
    found = measured()["games"][game]["earned"][name]["rule_of_thumb"]
    assert [round(row["estimate"][key], 6) for key in ("mean", "low", "high")] == found


def test_the_rule_of_thumb_is_another_in_every_game():
    told = {describe_player("rule_of_thumb", game).what for game in RULES_OF_THUMB}
    assert len(told) == len(RULES_OF_THUMB)
    assert describe_player("threshold").what == describe_player("rule_of_thumb", "byteskille").what


def network(folder):
    spec = kille_env.spec("knack")
    features = width(spec.observation(3))
    rules = spec.resolve(episode="deal").as_dict()
    made = {"by": "hand", "seed": 12345, "decisions": 12345, "with": {"python": "3"}}
    card = NetworkMetadata("knack", 0, 3, rules, features, spec.num_actions, (4,), "tanh", made)
    weights = {
        "weight.0": np.zeros((4, features), np.float32),
        "bias.0": np.zeros(4, np.float32),
        "weight.1": np.zeros((spec.num_actions, 4), np.float32),
        "bias.1": np.zeros(spec.num_actions, np.float32),
    }
    save_network(NetworkPolicy(card, weights), folder)
    return str(folder)


def test_a_networks_card_reads_what_lies_beside_it(tmp_path):
    name = network(tmp_path)
    card = describe_player(name)
    assert card == About(
        name,
        "a network with layers of 4 units (tanh) for single deals of knack with 3 seats, "
        "preset standard",
        "by hand, decisions 12,345, seed 12345",
        NOT_MEASURED,
    )
    row = {
        "policy": "x",
        "play": "argmax",
        "against": "uniform",
        "estimate": {"mean": 0.5, "low": 0.25, "high": 0.75, "groups": 9},
    }
    told = {"deals": 9, "rules": {"episode": "deal"}, "rows": [row]}
    (tmp_path / "evaluation.json").write_text(json.dumps(told))
    assert describe_player(name).strength == (
        "+0.5000 ± 0.2500 against uniform (argmax); units a deal, 95 % intervals "
        f"(kille evaluate {name} --deals 9)"
    )


@pytest.mark.parametrize("text", ["{", "[]", '{"rows": [{}], "deals": 1, "rules": {}}', "{}"])
def test_a_broken_evaluation_is_named(tmp_path, text):
    name = network(tmp_path)
    (tmp_path / "evaluation.json").write_text(text)
    with pytest.raises(PolicyError, match=r"evaluation.json.* broken .*delete it"):
        describe_player(name)


def test_a_tables_card_says_how_far_it_is_from_an_equilibrium(tmp_path):
    rules = kille_env.spec("byteskille").resolve(episode="deal").as_dict()
    card = TabularMetadata("byteskille", 0, 2, rules, {"method": "dcfr", "iterations": 12345})
    table = TabularPolicy(card, np.zeros((1, 3), np.uint8), np.ones((1, 1)))
    file = save_tabular(table, tmp_path / "policy")
    found = describe_player(file)
    assert found.what == (
        "a table that holds every decision of single deals of byteskille with 2 seats, "
        "preset svensk"
    )
    assert found.made == "solved with kille solve: iterations 12,345, method dcfr"
    assert found.strength == NOT_MEASURED
    (tmp_path / "solution.json").write_text('{"nash_conv": 1.5e-9}')
    assert describe_player(tmp_path).strength.startswith("NashConv 1.5e-09 units")
    assert describe_player(file).strength.startswith("NashConv")


def test_a_library_models_card_needs_no_trust(tmp_path):
    file = tmp_path / "model.zip"
    module = "sb3_contrib.common.maskable.policies"
    told = {"policy_class": {"__module__": module}, "num_timesteps": 12345}
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data", json.dumps(told))
    card = describe_player(file)
    assert card.what == "a model of Stable-Baselines3: MaskablePPO"
    assert "12,345 steps" in card.made
    assert card.strength == NOT_MEASURED


def test_who_does_not_exist_has_no_card():
    with pytest.raises(PolicyError, match="Did you mean 'knack/maniac'"):
        describe_player("knack/manic")
