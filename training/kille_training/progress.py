"""Progress of long jobs: the callback, and the bars that show it by default."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Self

from tqdm import tqdm

from kille_env.streams import fitted, is_terminal, standard_error
from kille_env.words.text import printable

Progress = Callable[[str, int, int], None]
"""Callback with the name of a job, the parts done since the last call, and the total.

The first call of a resumed job has the parts done earlier.
"""
SECONDS_BEFORE_BAR = 0.5  # minimum seconds of a job with a bar
SECONDS_BETWEEN = 0.1, 10.0
"""Minimum seconds between two updates on a terminal, and between two lines elsewhere."""

NOTHING_WRITTEN = "nothing was written"  # message of an interruption without stored results


def ignore(*progress: object) -> None:
    """Do nothing: a progress callback."""


@contextmanager
def resumable(how: str, begun: Callable[[], bool] = lambda: True) -> Generator[None]:
    """Make Ctrl-C say how to resume, if there is anything to resume."""
    try:
        yield
    except KeyboardInterrupt as error:
        nothing = error.args == (NOTHING_WRITTEN,) or not begun()
        raise KeyboardInterrupt(NOTHING_WRITTEN if nothing else how) from None


def part_of(
    progress: Progress | None, job: str, total: int, done: int = 0
) -> Callable[[int], None]:
    """Return a callback for the parts of one job; `done` were done before."""
    if progress is None:
        return ignore
    progress(job, done, total)
    return lambda parts: progress(job, parts, total)


def teller(progress: Progress | None) -> Callable[[str], None]:
    """Return the callback's method `say`, which shows a sentence, or one that ignores it."""
    return getattr(progress, "say", ignore)


def shown(progress: Progress | None) -> Progress:
    """Return a progress callback: for None, bars in terminals and notebooks, nothing elsewhere."""
    return Bars() if progress is None else progress


class Bars:
    """Progress bars on standard error, one job after another; a context manager.

    Outside terminals and notebooks they show nothing, unless `lines` is set.
    """

    def __init__(self, lines: bool = False) -> None:
        """Show nothing until the first call."""
        stream = standard_error()
        notebook = type(stream).__module__.startswith("ipykernel")
        self.visible, self.lines = notebook or is_terminal(stream), lines
        self._job, self._done, self._said = "", 0, 0.0
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def __call__(self, job: str, parts: int, total: int) -> None:
        """Show that more parts of a job are done; a new job begins with its first call."""
        begins = job != self._job
        if begins:
            self._end()
            self._job, self._said = job, time.monotonic()
            if self.visible:
                # Parts from before a resume would distort the rate.
                self._bar = tqdm(
                    total=total, initial=parts, desc=job, leave=self.lines,
                    unit="", delay=SECONDS_BEFORE_BAR, dynamic_ncols=True,
                )  # fmt: skip
            elif self.lines:
                self.say(f"{job} ...")
        self._done += parts
        if self._bar is not None:
            self._bar.total = total
            self._bar.update(0 if begins else parts)
        elif self.lines and parts and self._is_time():
            self.say(f"{job}: {self._done:,} of {total:,}")
        if self._done >= total and not self.lines:
            self._end()

    def described(self, found: Any) -> None:
        """Show an intermediate result, by its `describe()`, in place of a bar, or as a line."""
        if not self._is_time():
            return
        if not self.visible:
            self.say(found.describe())
            return
        if self._job or self._bar is None:
            self._end()
            self._bar = tqdm(bar_format="{desc}", leave=False, dynamic_ncols=True)
        self._bar.set_description_str(f"{printable(found.describe())} ...")

    def say(self, line: str) -> None:
        """Show a line above the bar, if bars or lines are shown."""
        stream = standard_error()
        if stream is not None and (self.visible or self.lines):
            tqdm.write(fitted(line, stream), file=stream)

    def _is_time(self) -> bool:
        now, between = time.monotonic(), SECONDS_BETWEEN[not self.visible]
        if now - self._said < between:
            return False
        self._said = now
        return True

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar, self._job, self._done = None, "", 0
