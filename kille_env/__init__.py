"""kille-env: the games of the Swedish Kille deck as reinforcement-learning environments.

    env = kille_env.make("byteskille", num_players=5)
    batch = kille_env.make_batch("byteskille", num_tables=4096, seed=7)

`make` returns one table as a PettingZoo AEC environment; `make_batch` steps many in compiled calls.
"""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from kille_env import games  # noqa: F401  registers the built-in games
from kille_env.adapters import make
from kille_env.adapters.registration import register_games
from kille_env.core.provided import provide
from kille_env.errors import KilleError
from kille_env.registry import Table, list_games, make_batch, on_policy_lookup, spec, version_of
from kille_env.registry import load_game as load_game

if TYPE_CHECKING:
    from kille_env.adapters.vector import SeatVectorEnv as SeatVectorEnv
    from kille_env.core.rule_space import RuleSpace
    from kille_env.play.experience import Collector, collect
    from kille_env.play.functions import LiveOpponent
    from kille_env.records import Recorder, read_records, replay, write_records
    from kille_env.rule_spaces import list_rule_spaces, rule_space

__version__ = "0.1.0"
__all__ = [
    "Collector",
    "KilleError",
    "LiveOpponent",
    "Recorder",
    "RuleSpace",
    "Table",
    "collect",
    "list_games",
    "list_rule_spaces",
    "make",
    "make_batch",
    "read_records",
    "replay",
    "rule_space",
    "spec",
    "write_records",
]

register_games()


def _load_catalog() -> Any:
    """Return the function that finds policies by name, or None where kille_agents is missing."""
    if importlib.util.find_spec("kille_agents") is None:
        return None
    return importlib.import_module("kille_agents.catalog").as_policy


on_policy_lookup(_load_catalog)
provide("table", lambda: Table)
provide("texts", lambda: importlib.import_module("kille_env.words.texts").Texts)
provide("drawing", lambda: importlib.import_module("kille_env.pictures.svg").picture)

_LAZY = (
    "gym",
    "records",
    "sb3",
    "testing",
    *(f"{game}_v{version_of(game)}" for game in list_games()),
)
_LAZY_NAMES = {
    "Collector": "kille_env.play.experience",
    "LiveOpponent": "kille_env.play.functions",
    "Recorder": "kille_env.records",
    "RuleSpace": "kille_env.core.rule_space",
    "SeatVectorEnv": "kille_env.adapters.vector",
    "collect": "kille_env.play.experience",
    "list_rule_spaces": "kille_env.rule_spaces",
    "read_records": "kille_env.records",
    "replay": "kille_env.records",
    "rule_space": "kille_env.rule_spaces",
    "write_records": "kille_env.records",
}


def __getattr__(name: str) -> Any:
    """Import a module or name at its first use."""
    if name in _LAZY:
        return importlib.import_module(f"kille_env.{name}")
    if name in _LAZY_NAMES:
        return getattr(importlib.import_module(_LAZY_NAMES[name]), name)
    raise AttributeError(f"module 'kille_env' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all names, with those that are imported at their first use."""
    return sorted([*globals(), *_LAZY, *_LAZY_NAMES])
