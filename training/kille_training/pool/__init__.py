"""Jobs on many items: in this process, in monitored processes, or on a Ray cluster."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kille_training.pool.jobs import Pool


def pool_of(settings: Any, log: Path | None = None) -> "AbstractContextManager[Pool]":
    """Return where jobs are done, to be opened as a context.

    Args:
        settings: With `executor`, `workers` and `address`, as a tournament's and a benchmark's.
        log: File for what players print in processes of this machine.
    """
    if settings.executor == "ray":
        from kille_training.pool.cluster import Ray

        return Ray(settings.address or None, settings.workers or None)
    if settings.workers:
        from kille_training.pool.processes import Processes

        return Processes(settings.workers, log=log)
    from kille_training.pool.jobs import Here

    return Here()
