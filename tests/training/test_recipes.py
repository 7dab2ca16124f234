"""Every recipe, and every example in its comments, can be used."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import kille_training as kt
from kille_agents.catalog import load_policy
from kille_agents.network import save_network
from kille_env import make_batch
from kille_env.errors import ConfigError
from kille_env.play.policy import resolve
from kille_env.registry import list_games
from kille_training.arena.settings import load_tournament
from kille_training.learn.settings import load_settings
from kille_training.settings import KINDS, find_settings, recipes
from reference.scripts import script
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


@pytest.mark.parametrize("name", ["ppo", "mappo"])
def test_it_learns(name: str) -> None:
    recipe = script(f"training/recipes/{name}.py")
    player = recipe.train(num_players=2, decisions=40_000, tables=128)
    assert kt.nash_conv(player, "byteskille", 2).stakes < 0.15


def test_same_seed_same_player_in_every_game(game: str) -> None:
    ppo = script("training/recipes/ppo.py")
    batch = make_batch(game, 16, 3, seed=1)
    batch.reset()
    seen = batch.observation.copy(), batch.mask.copy()
    players = [ppo.train(game, 3, 800, seed, tables=128) for seed in (1, 1, 2)]
    found = [resolve(each, game, 3, batch.rules).probabilities(*seen) for each in players]
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


RECIPES = {"sb3_maskable_ppo": 9_000, "sb3_ppo": 9_000, "sb3_dqn": 22_000}
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "recipe", ["sb3_maskable_ppo", pytest.param("sb3_ppo", marks=SLOW), "sb3_dqn"]
)
@pytest.mark.parametrize(
    ("game", "seats"), [("byteskille", 2), pytest.param("knack", 3, marks=SLOW)]
)
def test_a_recipe_trains_a_player(recipe, game, seats):
    train = script(f"training/recipes/{recipe}.py").train
    model = train(game, seats, decisions=RECIPES[recipe], seed=3)
    assert model.num_timesteps >= RECIPES[recipe]
    assert model._n_updates > 0
    found = kt.evaluate(model, game, seats, episode="deal", baselines=["uniform"], deals=50)
    assert len(found.rows) == (1 if "dqn" in recipe else 2)
