"""Makes games known to Gymnasium's and PettingZoo's own registries.

    gymnasium.make("kille_env/byteskille-v0")               # one seat; "kille/byteskille-v0" too
    gymnasium.make_vec("kille_env/byteskille-v0", num_envs=64)
    pettingzoo.make("aec", "kille_env/byteskille-v0")       # where PettingZoo has a registry (1.27)

`import kille_env` is enough for these. It imports neither library: importing both takes longer than
most commands need. A library that is imported later hears of the games at that moment.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from kille_env.registry import list_games, version_of


def env_id(game: str) -> str:
    """Returns the id in every registry, "kille_env/byteskille-v0" for version 0 of "byteskille"."""
    return f"kille_env/{game}-v{version_of(game)}"


def make_known(game: str) -> None:
    """Registers a game with those of both libraries that have been imported, once.

    The others are told when they are imported.
    """
    for library, tell in _TELL.items():
        if library in _FINDER.told:
            tell(sys.modules[library], game)


def _tell_gymnasium(gymnasium: ModuleType, game: str) -> None:
    for name in (env_id(game), env_id(game).replace("kille_env/", "kille/")):
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="kille_env.adapters.gym:KilleEnv",
                vector_entry_point="kille_env.adapters.vector:SeatVectorEnv",
                kwargs={"game": game},
            )


def _tell_pettingzoo(pettingzoo: ModuleType, game: str) -> None:
    known = getattr(pettingzoo, "aec_registry", None)  # since PettingZoo 1.27
    if known is not None and env_id(game) not in known:
        pettingzoo.register(
            "aec",
            env_id(game),
            entry_point="kille_env.adapters.versioned:env",
            kwargs={"game": game},
        )


_TELL: dict[str, Callable[[ModuleType, str], None]] = {
    "gymnasium": _tell_gymnasium,
    "pettingzoo": _tell_pettingzoo,
}


class _WhenImported:
    """Finds both libraries as the other finders do, and tells them of the games once they ran.

    Attributes:
        told: The libraries that know of the games, and are told of each new one at once.
    """

    def __init__(self) -> None:
        self.told = {library for library in _TELL if library in sys.modules}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns where a library is, its loader changed to tell it; None for all else."""
        if fullname not in _TELL or fullname in self.told:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((one for one in found if one is not None), None)
        if spec is not None and spec.loader is not None:
            self._tell_after(spec.loader, fullname)
        return spec

    def _tell_after(self, loader: Any, library: str) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self.told.add(library)
            for game in list_games():
                _TELL[library](module, game)

        loader.exec_module = exec_module  # the loader of this one module


_FINDER = _WhenImported()
sys.meta_path.insert(0, _FINDER)
