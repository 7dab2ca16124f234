# pyright: reportMissingImports=false
"""Tianshou: the recipe."""

import pytest

pytest.importorskip("tianshou", reason="pip install tianshou")

from reference.recipes import check_recipe

pytestmark = pytest.mark.filterwarnings("ignore")  # it warns of its own insides


@pytest.mark.parametrize("game", ["byteskille", "knack"])
def test_the_recipe_learns_a_player(game, monkeypatch):
    check_recipe("tianshou_ppo", game, monkeypatch, TABLES=16, STEPS=16)
