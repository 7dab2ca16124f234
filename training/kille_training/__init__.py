"""Train, measure, solve and compare players of Swedish card games, from Python.

    import kille_training as kt

    kt.evaluate("rule_of_thumb", game="knack", num_players=4, deals=1_000)
    kt.nash_conv("uniform", "byteskille", 2)

Each function does what the `kille` command of its name does; `docs/python.md` shows them all.
`NashConvCallback` watches a model of Stable-Baselines3: `docs/training.md`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kille_training.arena.compare import compare
    from kille_training.arena.tournament import play_tournament
    from kille_training.evaluation.api import evaluate
    from kille_training.evaluation.exact import nash_conv
    from kille_training.learn.best_response import best_response
    from kille_training.learn.callbacks import NashConvCallback
    from kille_training.learn.training import train
    from kille_training.solving.export import export_efg
    from kille_training.solving.solve import solve

_NAMES = {
    "train": "kille_training.learn.training:train",
    "evaluate": "kille_training.evaluation.api:evaluate",
    "nash_conv": "kille_training.evaluation.exact:nash_conv",
    "best_response": "kille_training.learn.best_response:best_response",
    "export_efg": "kille_training.solving.export:export_efg",
    "solve": "kille_training.solving.solve:solve",
    "play_tournament": "kille_training.arena.tournament:play_tournament",
    "compare": "kille_training.arena.compare:compare",
    "NashConvCallback": "kille_training.learn.callbacks:NashConvCallback",
}
"""Everything and where it is defined ("module:name"); imported when it is first used."""

__all__ = [
    "NashConvCallback",
    "best_response",
    "compare",
    "evaluate",
    "export_efg",
    "nash_conv",
    "play_tournament",
    "solve",
    "train",
]


def __getattr__(name: str) -> Any:
    """Imports what it is asked for."""
    if name not in _NAMES:
        raise AttributeError(f"module 'kille_training' has no attribute {name!r}")
    module, _, function = _NAMES[name].partition(":")
    from kille_env.extras import needs  # importing this package imports nothing heavy

    with needs("train"):
        found = getattr(importlib.import_module(module), function)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Names everything, what is imported later included."""
    return sorted([*globals(), *_NAMES])
