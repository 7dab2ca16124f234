"""Players behind one protocol: a batch of observations and masks in, probabilities out.

Modules are imported at first use, and torch only with a player that needs it.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kille_agents.catalog import as_policy
    from kille_agents.export import save_policy
    from kille_agents.search import FlatSearch

_NAMES = {
    "FlatSearch": "kille_agents.search",
    "as_policy": "kille_agents.catalog",
    "save_policy": "kille_agents.export",
}
"""Public names and their modules."""

__all__ = [
    "FlatSearch",
    "as_policy",
    "save_policy",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _NAMES:
        raise AttributeError(f"module 'kille_agents' has no attribute {name!r}")
    return getattr(importlib.import_module(_NAMES[name]), name)


def __dir__() -> list[str]:
    """List all names, those imported later included."""
    return sorted([*globals(), *_NAMES])
