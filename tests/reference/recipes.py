"""How a recipe of another library is tested."""

from typing import Any

import numpy as np
import pytest

import kille_env
from kille_env.play.policy import as_decider, resolve
from reference.scripts import script


def check_recipe(
    name: str, game: str, monkeypatch: pytest.MonkeyPatch, seeds: int = 2, **changes: Any
) -> None:
    """Train for some hundred decisions: the player keeps to the rules, and equal seeds agree."""
    recipe = script(f"training/recipes/{name}.py")
    options = {key: changes.pop(key) for key in [*changes] if key.islower()}
    for constant, value in changes.items():
        monkeypatch.setattr(recipe, constant, value)
    batch = kille_env.make_batch(game, 4, 3, seed=1)
    batch.reset()
    found = []
    for _ in range(seeds):
        trained = recipe.train(game, 3, decisions=600, seed=3, **options)
        player: Any = as_decider(resolve(trained, game, 3, batch.rules))
        found.append(player.probabilities(batch.observation, batch.mask))
    np.testing.assert_allclose(found[0].sum(axis=1), 1.0)
    assert not found[0][batch.mask == 0].any()
    assert all(np.array_equal(found[0], each) for each in found)
