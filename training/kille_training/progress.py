"""How long jobs report their progress, and the bars that show it by default."""

import sys
from collections.abc import Callable
from typing import Any

Progress = Callable[[str, int, int], None]
"""Called with the name of a job, the parts done since the last call, and the parts in all."""
SECONDS_BEFORE_BAR = 0.5
"""Jobs that are done sooner show no bar."""


def ignore(*progress: object) -> None:
    """Stands for nobody who wants to know."""


def part_of(progress: Progress | None, job: str, total: int) -> Callable[[int], None]:
    """Returns a function that is called with parts done of one job."""
    if progress is None:
        return ignore
    progress(job, 0, total)
    return lambda parts: progress(job, parts, total)


def shown(progress: Progress | None) -> Progress:
    """Returns a progress callback: for None, bars in terminals and notebooks, nothing elsewhere."""
    if progress is not None:
        return progress
    notebook = type(sys.stderr).__module__.startswith("ipykernel")
    return Bars() if notebook or sys.stderr.isatty() else ignore


class Bars:
    """A progress callback that shows one job after another as a bar on standard error."""

    def __init__(self) -> None:
        """Shows nothing until the first call."""
        self._job = ""
        self._bar: Any = None

    def __call__(self, job: str, parts: int, total: int) -> None:
        """Shows that more parts of a job are done; a new job begins with its first call."""
        from tqdm import tqdm

        if self._bar is None or job != self._job:
            self._close()
            self._job = job
            self._bar = tqdm(
                total=total, desc=job, leave=False, delay=SECONDS_BEFORE_BAR, dynamic_ncols=True
            )
        self._bar.total = total
        self._bar.update(parts)
        if self._bar.n >= total:
            self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = None
