"""Every recipe, and every example in its comments, can be used."""

import re
import shlex
from pathlib import Path

import pytest

from kille_agents.catalog import load_policy
from kille_agents.network import save_network
from kille_env.errors import ConfigError
from kille_env.registry import list_games
from kille_training.arena.settings import load_tournament
from kille_training.learn.settings import load_settings
from kille_training.settings import KINDS, find_settings, recipes
from speed.learning import random_network

TOURNAMENTS = recipes("tournament")
FILES = [path for kind in KINDS for path in recipes(kind).values()]

MODULE = """
class MyPlayer:
    name = "mine"

    def __init__(self, num_players, rules):
        pass

    def probabilities(self, observation, mask):
        return mask / mask.sum(axis=1, keepdims=True)
"""


def found_commands(text):
    """The command lines in a recipe's comments."""
    return [
        shlex.split(line, comments=True)
        for line in re.findall(r"^# +kille (.*)$", text, re.MULTILINE)
    ]


def untrained(folder, game):
    """Save what `kille train GAME` would leave, before it has learnt anything."""
    table = load_settings(find_settings(game, "train")).table
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
    table = settings.table.table()
    for entrant in settings.taking_part():
        if entrant.player.startswith(("runs/", "my_module")):
            load_policy(entrant.player, table.game, table.num_players, table.rules)


@pytest.mark.parametrize("name", TOURNAMENTS)
def test_entrants_in_comments_can_play(desk, name):
    text = TOURNAMENTS[name].read_text()
    examples = re.findall(r"^  # (?=[\w ]+: )", text, re.MULTILINE)
    assert len(examples) == 2
    Path("mine.yaml").write_text(re.sub(r"^  # (?=[\w ]+: )", "  ", text, flags=re.MULTILINE))
    settings = load_tournament(Path("mine.yaml"))
    assert len(settings.entrants) == 4
    check_entrants(settings)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_commands_in_comments_can_be_used(desk, path):
    text = path.read_text()
    assert found_commands(text)
    for verb, config, *words in found_commands(text):
        overrides = [word for word in words if word != "--set"]
        if verb == "train":
            load_settings(find_settings(config, verb), overrides)
        elif verb == "tournament":
            check_entrants(load_tournament(find_settings(config, verb), overrides))


def test_every_game_has_its_recipes():
    games = set(list_games())
    assert set(recipes("tournament")) == games
    trained = {f"{game}_trained" for game in games}
    assert set(recipes("train")) == {*games, *trained, "demo", "byteskille_every_table"}


def test_names_and_paths_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind in KINDS:
        for name, path in recipes(kind).items():
            assert find_settings(name, kind) == find_settings(f"{kind}/{name}", kind) == path
    Path("knack").mkdir()
    assert find_settings("knack", "train") == Path("knack")
    with pytest.raises(ConfigError, match=r"recipe of kille tournament\. Did you mean 'krypkil"):
        find_settings("krypkile", "tournament")


def test_recipes_are_found_in_an_installed_package(tmp_path, monkeypatch):
    (tmp_path / "configs/train").mkdir(parents=True)
    (tmp_path / "configs/train/mine.yaml").touch()
    monkeypatch.setattr("kille_training.settings._FOLDERS", (tmp_path / "configs", tmp_path))
    assert list(recipes("train")) == ["mine"]
    monkeypatch.setattr("kille_training.settings._FOLDERS", (tmp_path,))
    with pytest.raises(ConfigError, match="install kille-env again"):
        recipes("train")
