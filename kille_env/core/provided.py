"""Parts that rooms above the core provide; it asks for them here and imports none of them."""

from collections.abc import Callable
from typing import Any

_loaders: dict[str, Callable[[], Any]] = {}


def provide(part: str, load: Callable[[], Any]) -> None:
    """Name the loader of a part: "table", "texts" or "drawing"; see `kille_env`."""
    _loaders[part] = load


def provided(part: str) -> Any:
    """Return a part; it is loaded when it is first needed."""
    return _loaders[part]()
