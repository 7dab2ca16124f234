"""Jobs on many items: in this process, in monitored processes, or on a Ray cluster."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kille_training.pool.jobs import Pool


def pool_of(
    workers: int,
    *,
    executor: str = "local",
    address: str = "",
    log: Path | None = None,
    tick: Callable[[], None] | None = None,
) -> "AbstractContextManager[Pool]":
    """Return a pool, a context manager."""
    if executor == "ray":
        from kille_training.pool.cluster import Ray

        return Ray(address or None, workers or None)
    if workers:
        from kille_training.pool.processes import Processes

        return Processes(workers, log=log, tick=tick)
    from kille_training.pool.jobs import Here

    return Here()
