"""Makes games known to Gymnasium's and PettingZoo's own registries, when kille-env is imported.

    gymnasium.make("kille_env/Byteskille-v0")               # one seat against policies
    gymnasium.make_vec("kille_env/Byteskille-v0", num_envs=64)
    pettingzoo.make("aec", "kille_env/byteskille-v0")       # where PettingZoo has a registry (1.27)

Only what registering needs is imported here: no numba, no game.
"""

import gymnasium
import pettingzoo

VERSION = 0
"""Version of the environments; it rises when code that uses one has to change."""


def gymnasium_id(game: str) -> str:
    """Returns the id in Gymnasium's registry, "kille_env/Byteskille-v0" for "byteskille"."""
    return f"kille_env/{game.title().replace('_', '')}-v{VERSION}"


def pettingzoo_id(game: str) -> str:
    """Returns the id in PettingZoo's registry, "kille_env/byteskille-v0" for "byteskille"."""
    return f"kille_env/{game}-v{VERSION}"


def make_known(game: str) -> None:
    """Registers a game with both libraries, once."""
    if gymnasium_id(game) not in gymnasium.registry:
        gymnasium.register(
            gymnasium_id(game),
            entry_point="kille_env.adapters.gym:KilleEnv",
            vector_entry_point="kille_env.adapters.vector:SeatVectorEnv",
            kwargs={"game": game},
        )
    known = getattr(pettingzoo, "aec_registry", None)  # since PettingZoo 1.27
    if known is not None and pettingzoo_id(game) not in known:
        pettingzoo.register(
            "aec",
            pettingzoo_id(game),
            entry_point="kille_env.adapters.aec:KilleAEC",
            kwargs={"game": game},
        )
