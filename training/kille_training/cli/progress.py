"""Shows on standard error how far a job is: a bar on a terminal, a line now and then elsewhere.

Steps of a short job are shown on a terminal only.
"""

import time
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.status import Status

from kille_env.words.text import printable

if TYPE_CHECKING:
    from kille_training.evaluation.duplicate import Row

LINE_SECONDS = 10.0
"""Seconds between two lines where there is no terminal."""


class ProgressDisplay:
    """Shows one job after another; open it as a context.

    It can be passed wherever `kille_training.progress.Progress` or `RunProgress` is asked for.
    """

    def __init__(self, measure: str = "units per deal") -> None:
        """Writes to standard error; `measure` names what estimates are."""
        self.measure = measure
        self.console = Console(stderr=True)
        self._job = self._note = ""
        self._done = self._total = 0
        self._said = 0.0
        self._bar: Progress | None = None
        self._steps = StepDisplay(self.console)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()

    def __call__(self, job: str, parts: int, total: int) -> None:
        """Shows that more parts of a job are done; a new job begins with its first call."""
        if job != self._job:
            self._begin(job, total)
        self._done += parts
        self._total = total
        if self._bar is not None:
            done = min(self._done, self._total)
            self._bar.update(self._task, completed=done, total=total, note=self._note)
        elif parts and time.monotonic() - self._said > LINE_SECONDS:
            self._said = time.monotonic()
            self.say(f"{job}: {self._done:,} of {total:,}  {self._note}".rstrip())

    def step(self, step: str) -> None:
        """Shows a step that is not counted, in place of a job; see `StepDisplay`."""
        self._stop()
        self._job = ""
        self._steps(step)

    def updated(self, row: dict[str, Any], total: int) -> None:
        """Shows from now on how fast a run learns."""
        self._note = f"{row['decisions_per_second'] / 1000:.0f} k/s"

    def measured(self, decisions: int, rows: "list[Row]") -> None:
        """Shows what a policy earns while it learns."""
        found = [row for row in rows if row.play != "sampled"]
        earned = "   ".join(f"{row.against} {row.estimate}" for row in found)
        self.say(f"after {decisions:>10,} decisions, {self.measure} against {earned}")

    def _begin(self, job: str, total: int) -> None:
        self._stop()
        self._job, self._note, self._done, self._total = job, "", 0, total
        self._said = time.monotonic()
        if not self.console.is_terminal:
            self.say(f"{job} ...")
            return
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} / {task.total:,.0f}"),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self.console,
        )
        self._bar.start()
        self._task = self._bar.add_task(job, total=total, note="")

    def say(self, line: str) -> None:
        """Shows a line above the bar."""
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def _stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        self._steps.stop()


class StepDisplay:
    """Shows on a terminal which step of a job is being done; open it as a context.

    It can be passed wherever a function is asked for that is told what is done next.
    """

    def __init__(self, console: Console | None = None) -> None:
        """Writes to standard error, or to another console."""
        self.console = console or Console(stderr=True)
        self._status: Status | None = None

    def __enter__(self) -> "StepDisplay":
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Takes the step off the terminal."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __call__(self, step: str) -> None:
        """Shows a step until the next one."""
        if not self.console.is_terminal:
            return
        if self._status is None:
            self._status = self.console.status("")
            self._status.start()
        self._status.update(f"{escape(printable(step))} ...")
