"""How long jobs report their progress."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with the name of a job, the parts done since the last call, and the parts in all."""


def ignore(*progress: object) -> None:
    """Stands for nobody who wants to know."""


def part_of(progress: Progress | None, job: str, total: int) -> Callable[[int], None]:
    """Returns a function that is called with parts done of one job."""
    if progress is None:
        return ignore
    progress(job, 0, total)
    return lambda parts: progress(job, parts, total)
