"""The recipes of Stable-Baselines3 learn a little of two games, and what has learned can play."""

import pytest

pytest.importorskip("sb3_contrib")

import kille_training as kt
from reference.scripts import script

RECIPES = {"sb3_maskable_ppo": 9_000, "sb3_ppo": 9_000, "sb3_dqn": 22_000}


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "recipe",
    [
        pytest.param(name, marks=SLOW) if name not in ("sb3_maskable_ppo", "sb3_dqn") else name
        for name in RECIPES
    ],
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
