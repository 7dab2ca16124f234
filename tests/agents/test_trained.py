"""The trained networks, as strong as their cards say, and what players say of themselves."""

import hashlib
import json

import gymnasium
import numpy as np
import pytest

import kille_env
from env.players import decisions
from kille_agents.catalog import (
    BASELINES,
    baselines,
    describe_player,
    game_of,
    load_policy,
    measured,
    measured_lines,
    players_of,
)
from kille_agents.network import WEIGHTS
from kille_agents.population import ROSTER, population
from kille_agents.rules_of_thumb import RULES_OF_THUMB
from kille_agents.trained import CARDS, FOLDER, TRAINED, cards, trained
from kille_env.errors import PolicyError
from kille_env.registry import spec
from kille_training import evaluate
from kille_training.evaluation.duplicate import payoff
from kille_training.tables import seat

MOST_BYTES = 2_000_000


def test_all_of_them_together_are_small():
    files = [file for file in FOLDER.rglob("*") if file.suffix in (".safetensors", ".json")]
    assert len(files) == 2 * len(TRAINED) + len([CARDS])
    assert sum(file.stat().st_size for file in files) < MOST_BYTES


def test_every_game_has_one(game):
    assert trained(game) == [f"{game}/trained"]
    assert players_of(game).index(f"{game}/trained") > 0
    assert game_of(f"{game}/trained") == game
    assert trained("hogkort") == []


def test_it_plays_at_every_table(game):
    name, found = f"{game}/trained", spec(game)
    for seats in range(found.min_players, found.max_players + 1):
        for episode in ("deal", "match"):
            rules = found.resolve(episode=episode)
            policy = load_policy(name, game, seats, rules)
            observation, mask = decisions(game, seats, rules, 4, 8)
            chances = policy.probabilities(observation, mask)
            assert policy.name == name
            assert np.allclose(chances.sum(axis=1), 1.0)
            assert not chances[mask == 0].any()


def test_its_card_is_of_its_weights_and_its_table(game):
    card = cards()["games"][game]
    weights = (TRAINED[f"{game}/trained"] / WEIGHTS).read_bytes()
    assert card["weights_sha256"] == hashlib.sha256(weights).hexdigest()
    assert card["num_players"] == spec(game).default_players
    sizes = [str(n) for n in range(spec(game).min_players, spec(game).max_players + 1)]
    assert all(list(card["by_table"][episode]) == sizes for episode in ("deal", "match"))


def test_at_the_default_table_it_beats_everybody_by_more_than_the_interval(game):
    card = cards()["games"][game]
    assert set(card["against"]) == {"rule_of_thumb", *population(game, "held_out")}
    assert all(low > 0 for _, low, _ in card["against"].values())


def test_a_figure_of_a_card_is_what_playing_gives(game):
    told, rules = cards(), spec(game).resolve(episode="deal")
    seats, other = spec(game).default_players, population(game, "held_out")[0]
    network, bot = (load_policy(name, game, seats, rules) for name in (f"{game}/trained", other))
    mean, low, high = told["games"][game]["against"][other]
    found = payoff(network, bot, seats, rules, deals=1_000, seed=7).estimate
    # Other deals, fewer: two intervals that are right nearly always meet.
    assert abs(found.mean - mean) < (found.high - found.low) + (high - low)


def test_it_is_described_with_its_card(game):
    about = describe_player(f"{game}/trained", game)
    assert f"kille train {game}_trained" in about.made
    assert f"kille evaluate {game}/trained --game {game}" in about.strength
    with pytest.raises(PolicyError, match=f"plays {game}, not hogkort"):
        describe_player(f"{game}/trained", "hogkort")


def test_it_is_a_player_by_name_everywhere():
    table = seat(["knack/trained"]).table
    seats, rules = table.num_players, table.rules
    assert (rules.game, seats, rules["episode"]) == ("knack", 4, "deal")
    row = evaluate("knack/trained", deals=50, play="sampled", baselines="uniform").rows[0]
    assert row.estimate.groups == 50
    env = gymnasium.make("kille_env/knack-v0", opponents="knack/trained", episode="deal")
    env.reset(seed=1)


# Descriptions


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
