"""Shows on standard error how a job is doing: a bar on a terminal, elsewhere some lines."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from kille_training.evaluation.duplicate import Row

LINE_SECONDS = 10.0
"""Seconds between two lines where there is no terminal."""


class Watch:
    """Tells people about one long job after the other; a `train.Watcher`."""

    def __init__(self, console: Console | None = None, measure: str = "units per deal") -> None:
        """Writes to a console, standard error by default; `measure` is what estimates tell."""
        self.measure = measure
        self.console = console or Console(stderr=True)
        self._last = 0.0
        self._progress: Progress | None = None
        self._done = 0

    @contextmanager
    def job(self, what: str, total: int, done: int = 0) -> Iterator["Watch"]:
        """Opens a job of so many parts, some of which may be done already."""
        self._done, self._total, self._what = done, total, what
        self._last = time.monotonic()
        if not self.console.is_terminal:
            self.console.print(f"{what} ...", highlight=False, soft_wrap=True)
            yield self
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} / {task.total:,.0f}"),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.console) as self._progress:
            self._task = self._progress.add_task(what, total=total, completed=done, note="")
            try:
                yield self
            finally:
                self._progress = None

    def advance(self, parts: int, note: str = "") -> None:
        """So many more parts are done."""
        self._done += parts
        if self._progress is not None:
            self._progress.update(self._task, completed=min(self._done, self._total), note=note)
        elif time.monotonic() - self._last > LINE_SECONDS:
            self._last = time.monotonic()
            self.console.print(
                f"{self._what}: {self._done:,} of {self._total:,}  {note}".rstrip(),
                highlight=False,
                soft_wrap=True,
            )

    def updated(self, row: dict[str, Any], total: int) -> None:
        """An update of a run is done."""
        note = f"{row['decisions_per_second'] / 1000:.0f} k/s"
        self.advance(int(row["decisions"]) - self._done, note)

    def measured(self, decisions: int, rows: list[Row]) -> None:
        """The agent has been measured: says what it earns."""
        earned = "   ".join(f"{row.against} {row.estimate}" for row in rows if row.play == "argmax")
        self.console.print(
            f"after {decisions:>10,} decisions, {self.measure} against {earned}",
            highlight=False,
            soft_wrap=True,
        )
