"""The games under the names by which other libraries know them.

    gymnasium.make("kille_env/byteskille-v0")               # one seat
    gymnasium.make_vec("kille_env/byteskille-v0", num_envs=64)
    pettingzoo.make("aec", "kille_env/byteskille-v0")       # PettingZoo has a registry since 1.27
    kille_env.byteskille_v0.env(num_players=3)              # PettingZoo's modules

`import kille_env` is enough, before or after the other library, and loads neither.

PettingZoo's names make a `KilleAEC`, which checks the order of calls, the bounds of actions and
their legality by itself, several times as fast as PettingZoo's wrappers. An illegal action ends the
game of `env()`, as there, and raises in `raw_env()`.
"""

import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kille_env.adapters import make
from kille_env.registry import list_games, on_register, version_of

if TYPE_CHECKING:
    from kille_env.adapters.aec import KilleAEC


def env_id(game: str) -> str:
    """Return the id in every registry, "kille_env/byteskille-v0" for version 0 of "byteskille"."""
    return f"kille_env/{game}-v{version_of(game)}"


def register_games() -> None:
    """Register all games, present and future, with Gymnasium and PettingZoo.

    A library that is loaded learns them now, another one as soon as it is imported.
    """
    for library in _REGISTER:
        if library not in sys.modules:
            sys.meta_path.insert(0, _AfterImport(library, partial(_register_all, library)))
    on_register(_register)


def _register(game: str) -> None:
    """Register a game with the libraries that are loaded."""
    for library, register in _REGISTER.items():
        if library in sys.modules:
            register(env_id(game), game)


def _register_all(library: str) -> None:
    for game in list_games():
        _REGISTER[library](env_id(game), game)


def _register_with_gymnasium(name: str, game: str) -> None:
    import gymnasium

    if name not in gymnasium.registry:
        gymnasium.register(
            name,
            entry_point="kille_env.adapters.gym:KilleEnv",
            vector_entry_point="kille_env.adapters.vector:SeatVectorEnv",
            kwargs={"game": game},
        )


def _register_with_pettingzoo(name: str, game: str) -> None:
    import pettingzoo

    known = getattr(pettingzoo, "aec_registry", None)  # since PettingZoo 1.27
    if known is not None and name not in known:
        entry_point = "kille_env.adapters.registration:env"
        pettingzoo.register("aec", name, entry_point=entry_point, kwargs={"game": game})


_REGISTER = {"gymnasium": _register_with_gymnasium, "pettingzoo": _register_with_pettingzoo}


class _AfterImport:
    """A finder that calls a function once the other finders have imported a module."""

    # Gymnasium has no entry points for environments since 1.0, and importing it here would take
    # most of the time of `import kille_env`.

    def __init__(self, module: str, then: Callable[[], None]) -> None:
        self.module, self.then = module, then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the module's spec, with a loader that calls the function at its end."""
        if name != self.module:
            return None
        # Before the real search, which would ask this finder again.
        sys.meta_path.remove(self)
        found = importlib.util.find_spec(name)
        if found is not None and found.loader is not None:
            load = found.loader.exec_module

            def load_and_call(module: ModuleType) -> None:
                load(module)
                self.then()

            found.loader.exec_module = load_and_call  # type: ignore[method-assign]
        return found


def env(game: str, num_players: int | None = None, **options: Any) -> "KilleAEC":
    """Make a game as `kille_env.make` does; by default an illegal action loses, as PettingZoo's."""
    return make(game, num_players, **{"illegal": "lose", **options})


def env_and_raw_env(game: str) -> "tuple[Callable[..., KilleAEC], Callable[..., KilleAEC]]":
    """Return the two functions of a module under PettingZoo's name."""
    return partial(env, game), partial(make, game)
