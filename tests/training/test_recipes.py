"""Every recipe, and every example in its comments, can be used."""

import re
import shlex
from pathlib import Path

import pytest

from kille_agents import load_policy
from kille_agents.network import save_network
from kille_env.errors import ConfigError
from kille_env.registry import list_games
from kille_training import recipes
from kille_training.arena.settings import load_tournament
from kille_training.learn.settings import load_settings
from speed.training import random_network

TOURNAMENTS = [name for name in recipes.names() if name.startswith("tournament/")]
TRAININGS = [name for name in recipes.names() if not name.startswith("tournament/")]
LEARNING = sorted((recipes.folder() / "learning").glob("*.yaml"))

MODULE = """
class MyPlayer:
    name = "mine"

    def __init__(self, num_players, rules):
        pass

    def probabilities(self, observation, mask):
        return mask / mask.sum(axis=1, keepdims=True)
"""


def commands(text):
    """The command lines in a recipe's comments."""
    return [shlex.split(line) for line in re.findall(r"^#   kille (.*)$", text, re.MULTILINE)]


def untrained(folder, game):
    """Saves what `kille train GAME` would leave, before it has learnt anything."""
    table = load_settings(recipes.recipe(f"train/{game}")).table
    save_network(random_network(table.num_players, table.resolve()), folder)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with a module of one's own and a run of every game."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("my_module.py").write_text(MODULE)
    for game in list_games():
        Path("runs", game).mkdir(parents=True)
        untrained(Path("runs", game), game)


def check_entrants(settings):
    rules = settings.table.resolve()
    for entrant in settings.taking_part():
        if entrant.player.startswith(("runs/", "my_module")):
            for seats in settings.table.num_players:
                load_policy(entrant.player, settings.table.game, seats, rules)


@pytest.mark.parametrize("name", TOURNAMENTS)
def test_entrants_in_comments_can_play(desk, name):
    text = recipes.recipe(name).read_text()
    examples = re.findall(r"^  # (?=[\w ]+: )", text, re.MULTILINE)
    assert len(examples) == 2
    Path("mine.yaml").write_text(re.sub(r"^  # (?=[\w ]+: )", "  ", text, flags=re.MULTILINE))
    settings = load_tournament(Path("mine.yaml"))
    assert len(settings.entrants) == 4
    check_entrants(settings)


@pytest.mark.parametrize("name", [*TRAININGS, *TOURNAMENTS])
def test_commands_in_comments_can_be_used(desk, name):
    found = commands(recipes.recipe(name).read_text())
    assert found or name == recipes.DEMO
    for verb, config, *words in found:
        overrides = [word for word in words if word != "--set"]
        path = recipes.find(config, verb)
        if verb == "train":
            load_settings(path, overrides)
        else:
            check_entrants(load_tournament(path, overrides))


@pytest.mark.parametrize("name", TOURNAMENTS)
def test_alternatives_in_comments_are_settings(name):
    path = recipes.recipe(name)
    for override in (
        ["table.episode=match"],
        ["matchmaking.format=round_robin"],
        ["matchmaking.format=gauntlet", "matchmaking.hero=chance"],
        ["matchmaking.format=swiss", "matchmaking.rounds=3"],
        *([f"population={split}"] for split in ("none", "train", "held_out", "all")),
        ["table.num_players=3"],
    ):
        load_tournament(path, override)


def test_alternatives_of_training_are_settings():
    path = recipes.recipe("train/byteskille")
    for override in (
        ["table.episode=match"],
        ["learner.form=seats"],
        ["table.rules={preset: wikipedia}"],
        ["table.rules={gok_call: own_turn}"],
        ["table.num_players=[3]"],
    ):
        load_settings(path, override)


@pytest.mark.parametrize("path", LEARNING, ids=lambda path: path.stem)
def test_recipes_of_benchmarks_are_settings(path):
    assert load_settings(path).measure.every


def test_every_game_has_its_recipes():
    kinds = {f"{kind}/{game}" for kind in recipes.KINDS for game in list_games()}
    kinds |= {f"train/{game}_trained" for game in list_games()}
    assert set(recipes.names()) == {recipes.DEMO, *kinds, "train/byteskille_every_table"}


def test_recipes_are_listed_shown_and_copied(kille, refused):
    listed = kille("recipes").out
    assert all(name in listed for name in recipes.names())
    text = recipes.recipe("train/knack").read_text()
    assert kille("recipes", "train/knack").out.strip() == text.strip()
    copy = ["recipes", "train/knack", "--out", "knack.yaml"]
    kille(*copy)
    assert Path("knack.yaml").read_text() == text
    assert "knack.yaml exists" in refused(*copy)
    assert "Did you mean 'train/knack'" in refused("recipes", "train/knak")


def test_names_and_paths_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert recipes.find("knack", "train") == recipes.recipe("train/knack")
    assert recipes.find("tournament/knack", "tournament") == recipes.recipe("tournament/knack")
    Path("knack").mkdir()
    assert recipes.find("knack", "train") == Path("knack")
    with pytest.raises(ConfigError, match=r"recipe for kille tournament\. Did you mean 'krypkil"):
        recipes.find("krypkile", "tournament")


def test_recipes_are_found_in_an_installed_package(tmp_path, monkeypatch):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "demo.yaml").write_text("# The demo.\n")
    monkeypatch.setattr(recipes, "_FOLDERS", (tmp_path / "configs", tmp_path / "other"))
    assert recipes.names() == ["demo"]
    assert recipes.about("demo") == "The demo."
    monkeypatch.setattr(recipes, "_FOLDERS", (tmp_path,))
    with pytest.raises(ConfigError, match="install kille-env again"):
        recipes.names()
