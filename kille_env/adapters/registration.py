"""Makes games known to Gymnasium's and PettingZoo's own registries.

    gymnasium.make("kille_env/byteskille-v0")               # one seat
    gymnasium.make_vec("kille_env/byteskille-v0", num_envs=64)
    pettingzoo.make("aec", "kille_env/byteskille-v0")       # where PettingZoo has a registry (1.27)

`import kille_env` is enough for these, before or after the other library.
"""

import gymnasium
import pettingzoo

from kille_env.registry import version_of


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
        entry_point = "kille_env.adapters.versioned:env"
        pettingzoo.register("aec", name, entry_point=entry_point, kwargs={"game": game})
