"""The games under the names by which other libraries know them.

    gymnasium.make("kille_env/byteskille-v0")               # one seat
    gymnasium.make_vec("kille_env/byteskille-v0", num_envs=64)
    pettingzoo.make("aec", "kille_env/byteskille-v0")       # where PettingZoo has a registry (1.27)
    kille_env.byteskille_v0.env(num_players=3)              # PettingZoo's modules

`import kille_env` is enough for the registries, before or after the other library.

PettingZoo's names make a `KilleAEC`, which checks the order of calls, the bounds of actions and
their legality by itself, several times as fast as PettingZoo's wrappers. An illegal action ends the
game of `env()`, as there, and raises in `raw_env()`.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

from kille_env.adapters import make
from kille_env.registry import version_of

if TYPE_CHECKING:
    from kille_env.adapters.aec import KilleAEC


def env_id(game: str) -> str:
    """Returns the id in every registry, "kille_env/byteskille-v0" for version 0 of "byteskille"."""
    return f"kille_env/{game}-v{version_of(game)}"


def make_known(game: str) -> None:
    """Registers a game with both libraries, once."""
    name = env_id(game)
    if name not in gymnasium.registry:
        gymnasium.register(
            name,
            entry_point="kille_env.adapters.gym:KilleEnv",
            vector_entry_point="kille_env.adapters.vector:SeatVectorEnv",
            kwargs={"game": game},
        )
    known = getattr(pettingzoo, "aec_registry", None)  # since PettingZoo 1.27
    if known is not None and name not in known:
        entry_point = "kille_env.adapters.registration:env"
        pettingzoo.register("aec", name, entry_point=entry_point, kwargs={"game": game})


def env(game: str, num_players: int | None = None, **options: Any) -> "KilleAEC":
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


def env_and_raw_env(game: str) -> "tuple[Callable[..., KilleAEC], Callable[..., KilleAEC]]":
    """Returns what a module under PettingZoo's name consists of."""
    return partial(env, game), partial(make, game)
