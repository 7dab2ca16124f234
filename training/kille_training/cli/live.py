"""Shows a tournament while it is played: standings and time left, or lines without a terminal.

Standings are computed from the stored results, which takes longer the more there are; so they are
computed again only after ten times as long as it took last time.
"""

import time
from datetime import timedelta

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from kille_env.core.text import printable
from kille_training.arena.results import TournamentResult
from kille_training.arena.store import Store
from kille_training.arena.work import Outcome
from kille_training.reports.standings import renderable

LINE_SECONDS = 10.0
SHARE = 10.0
"""How many times longer standings are shown than they take to compute."""
LEAST_SECONDS = 1.0


class LiveStandings:
    """Shows the progress of a tournament (`arena.tournament.Progress`); open it as a context."""

    def __init__(
        self,
        store: Store,
        episode: str,
        *,
        standings: bool = True,
        console: Console | None = None,
    ) -> None:
        """Shows nothing before it is opened.

        Args:
            store: The results.
            episode: What is played, "deal" or "match".
            standings: Whether to show the standings.
            console: Where; None is standard error.
        """
        self._store, self._episode, self._with_standings = store, episode, standings
        self.console = console or Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} / {task.total:,.0f} deals"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self.console,
        )
        self._task = self._progress.add_task("playing", total=1)
        self._tables: list[RichTable] = []
        self._out: set[str] = set()
        self._live = Live(
            console=self.console,
            get_renderable=lambda: Group(*self._tables, self._progress),
            refresh_per_second=4,
            transient=True,
        )
        self._next, self._began, self._done, self._before, self._total = 0.0, 0.0, 0, 0, 1

    def __enter__(self) -> "LiveStandings":
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.console.is_terminal:
            self._live.stop()

    def begin(self, deals: int, done: int) -> None:
        """See `arena.tournament.Progress`."""
        if not self._began:
            self._began, self._before = time.monotonic(), done
        self._total, self._done = deals, done
        self._progress.update(self._task, total=deals, completed=done)

    def played(self, outcome: Outcome) -> None:
        """See `arena.tournament.Progress`."""
        if outcome.failure is not None:
            name = self._store.entrants()[outcome.failure.entrant].name
            if name not in self._out:  # several processes may play with it at that moment
                self._out.add(name)
                self._say(printable(f"{name} is out: {outcome.failure.reason}"))
        else:
            self._done += outcome.unit.deals
        self._progress.update(self._task, completed=self._done)
        now = time.monotonic()
        if now < self._next or (self.console.is_terminal and not self._with_standings):
            return
        if self.console.is_terminal:
            self._tables = self._standings()
            self._next = time.monotonic() + max(LEAST_SECONDS, SHARE * (time.monotonic() - now))
        else:
            text = f"{self._done:,} of {self._total:,} deals"
            if done := self._done - self._before:
                left = (now - self._began) * (self._total - self._done) / done
                text += f", {timedelta(seconds=round(left))} left"
            self._say(text)
            self._next = now + LINE_SECONDS

    def _standings(self) -> list[RichTable]:
        most = max(5, self.console.size.height // max(1, len(self._tables)) - 8)
        result = TournamentResult.of(self._store, self._episode, None)
        return [
            renderable(rows, f"{seats} seats", result.measure, most)
            for seats, rows in result.standings.items()
        ]

    def _say(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)
