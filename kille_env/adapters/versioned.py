"""The games under PettingZoo's names: modules such as `byteskille_v0`, with `env` and `raw_env`.

    from kille_env import byteskille_v0

    env = byteskille_v0.env(num_players=3)

Both make a `KilleAEC`, which checks the order of calls, the bounds of actions and their legality by
itself, several times as fast as PettingZoo's wrappers. They differ in what an illegal action does:
it ends the game of `env()`, as there, and raises in `raw_env()`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from kille_env.adapters import make
from kille_env.adapters.aec import KilleAEC


def env(game: str, num_players: int | None = None, **options: Any) -> KilleAEC:
    """Makes a game in which an illegal action ends the game, as PettingZoo's `env()` does.

    Args:
        game: Name of the game.
        num_players: Number of seats; None is the game's default.
        **options: As `kille_env.make` takes them; `illegal` is "lose" by default.

    Raises:
        UnknownGameError: No such game.
        RulesError: An option, switch or number of seats that does not exist.
    """
    return make(game, num_players, **{"illegal": "lose", **options})


def doors(game: str) -> tuple[Callable[..., KilleAEC], Callable[..., KilleAEC]]:
    """Returns `env` and `raw_env` of a game's module under PettingZoo's name."""
    return partial(env, game), partial(make, game)
