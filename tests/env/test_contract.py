"""Every game keeps the contract."""

from collections.abc import Callable

import pytest

import kille_env
from kille_env.core.jit import PLAIN


def test_every_game_keeps_the_contract(game: str, scale: Callable[..., int]) -> None:
    spec = kille_env.spec(game)
    # As plain Python, tables with more seats would take most of the time.
    players = (spec.min_players,) if PLAIN else (spec.min_players, spec.max_players)
    kille_env.testing.check_game(game, players=players, decisions=scale(100, 5))


@pytest.mark.slow
@pytest.mark.compiled
def test_every_game_keeps_the_contract_for_long(game: str) -> None:
    kille_env.testing.check_game(game)
