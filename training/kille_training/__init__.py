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
    from kille_training.evaluation.nash_conv import nash_conv
    from kille_training.learn.best_response import best_response
    from kille_training.learn.callbacks import NashConvCallback
    from kille_training.learn.training import train
    from kille_training.solving.export import export_efg
    from kille_training.solving.solve import solve
    from kille_training.solving.truth import load_tree

_NAMES = {
    "train": ("learn.training", "train"),
    "evaluate": ("evaluation.api", "measure"),
    "nash_conv": ("evaluation.nash_conv", "measure"),
    "best_response": ("learn.best_response", "train"),
    "export_efg": ("solving.export", "measure"),
    "solve": ("solving.solve", "measure"),
    "load_tree": ("solving.truth", "measure"),
    "play_tournament": ("arena.tournament", "measure"),
    "compare": ("arena.compare", "measure"),
    "NashConvCallback": ("learn.callbacks", "train"),
}
"""Module and required extra of each public name, imported at first use."""

__all__ = [
    "NashConvCallback",
    "best_response",
    "compare",
    "evaluate",
    "export_efg",
    "load_tree",
    "nash_conv",
    "play_tournament",
    "solve",
    "train",
]


def __getattr__(name: str) -> Any:
    """Import a public name at its first use."""
    if name not in _NAMES:
        raise AttributeError(f"module 'kille_training' has no attribute {name!r}")
    module, extra = _NAMES[name]
    from kille_env.extras import needs  # importing this package imports nothing heavy

    with needs(extra):
        public = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    globals()[name] = public
    return public


def __dir__() -> list[str]:
    """Return all public names, imported or not."""
    return sorted([*globals(), *_NAMES])
