import json
import subprocess
import sys
from pathlib import Path

import pytest

from kille_env.extras import EXTRAS
from kille_training.cli import recipe

ASKED = []


def train(game: str = "byteskille", num_players: int = 2, decisions: int = 1000, seed: int = 3):
    ASKED.append((game, num_players, decisions, seed))
    return "rule_of_thumb"


def run(monkeypatch, *words):
    ASKED.clear()
    monkeypatch.setattr(sys, "argv", ["train.py", *words])
    monkeypatch.setenv("COLUMNS", "120")  # tables in full
    with pytest.raises(SystemExit) as ended:
        recipe.run(train)
    return ended.value.code


def test_a_recipe_trains_with_its_defaults_and_says_what_came_of_it(monkeypatch, capsys):
    assert run(monkeypatch, "--deals", "20", "--json") == 0
    assert ASKED == [("byteskille", 2, 1000, 3)]
    told = json.loads(capsys.readouterr().out)
    assert (told["seed"], told["decisions"], told["evaluation"]["deals"]) == (3, 1000, 20)
    assert told["processor_seconds"] >= 0
    (exact,) = told["evaluation"]["exact"]
    assert 0.1 < exact["nash_conv"] < 0.3 and exact["stake"] == 2


def test_another_game_is_measured_without_a_tree(monkeypatch, capsys):
    assert run(monkeypatch, "--game", "knack", "--players", "3", "--seed", "9", "--deals", "5") == 0
    assert ASKED == [("knack", 3, 1000, 9)]
    said = capsys.readouterr().out
    assert "1,000 decisions in" in said and "rule_of_thumb" in said and "NashConv" not in said


def test_what_cannot_be_is_refused_before_anything_is_trained(monkeypatch, capsys):
    assert run(monkeypatch, "--game", "nack") == 1
    assert run(monkeypatch, "--players", "1") == 1
    assert run(monkeypatch, "--decisions", "0") == 1
    assert not ASKED
    said = capsys.readouterr().err
    assert "Did you mean 'knack'?" in said and "played by 2 to 20" in said


def test_a_recipe_runs_as_a_program(tmp_path):
    file = tmp_path / "nothing.py"
    file.write_text(
        '"""Learns nothing."""\n'
        "from kille_training.cli.recipe import run\n"
        'def train(game="byteskille", num_players=3, decisions=10, seed=0, num_helpers=2):\n'
        '    return "uniform"\n'
        "run(train)\n"
    )
    found = subprocess.run([sys.executable, file, "--help"], capture_output=True, text=True)
    assert found.returncode == 0 and "Learns nothing." in found.stdout
    assert "Usage: nothing.py" in found.stdout and "--num-helpers" in found.stdout


RECIPES = sorted(Path("training/recipes").glob("*.py"))
LIBRARIES = {name.partition(".")[0] for brought in EXTRAS.values() for name in brought.values()}
WITHOUT = f"""
import runpy, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {LIBRARIES}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
for recipe in sys.argv[1:]:
    sys.argv = [recipe, "--decisions", "1"]
    try:
        runpy.run_path(recipe, run_name="__main__")
    except (ModuleNotFoundError, SystemExit) as ended:
        print(recipe, ended)
"""


def test_a_recipe_without_its_library_says_what_to_install():
    brings = {"sb3": "train", "ppo": "train", "open": "openspiel"}
    words = [sys.executable, "-c", WITHOUT, *map(str, RECIPES)]
    found = subprocess.run(words, capture_output=True, text=True, check=True)
    said = found.stdout + found.stderr
    for path in RECIPES:
        library = path.stem.split("_")[0]
        line = f'which is not installed: pip install "kille-env[{brings.get(library, library)}]"'
        assert line in said
    assert said.count("which is not installed") == len(RECIPES) > 10


def test_recipes_are_short():
    assert all(len(path.read_text().splitlines()) <= 80 for path in RECIPES)
