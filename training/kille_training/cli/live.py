"""Shows a tournament while it is played: standings and time left, or lines without a terminal.

The time left follows from what has been played since the start. What was played before, when the
tournament is resumed, says nothing of how fast this machine is now. A deal of P players counts P
squared: each of its P rotations has decisions of P seats.

Standings are computed again only after ten times as long as it took last time.
"""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable

from kille_env.core.text import printable
from kille_training.arena.results import TournamentResult
from kille_training.arena.store import Store
from kille_training.arena.work import Failure, Outcome
from kille_training.labels import plural_of
from kille_training.reports.standings import renderable

LINE_SECONDS = 10.0
SHARE = 10.0
"""How many times longer standings are shown than they take to compute."""
LEAST_SECONDS = 1.0


class Pace:
    """How long the rest takes, at the pace since the start.

    Attributes:
        done: Deals that have been played, before the start too.
        total: All deals.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts with the first `begin`.

        Args:
            clock: Returns the seconds since some moment.
        """
        self.done = self.total = 0
        self._clock = clock
        self._since: float | None = None
        self._last = 0.0
        self._played = self._left = 0

    def begin(self, left: Mapping[int, int], done: Mapping[int, int]) -> None:
        """Learns how many deals are still to be played and how many are done, by table size."""
        self.done = sum(done.values())
        self.total = self.done + sum(left.values())
        self._left = sum(deals * seats**2 for seats, deals in left.items())
        if self._since is None:
            self._since = self._clock()

    def played(self, seats: int, deals: int) -> None:
        """Learns that deals have been played at tables of one size."""
        self.done += deals
        self._played += deals * seats**2
        self._left -= deals * seats**2
        self._last = self._clock()

    def left(self) -> str:
        """Returns the time left, as "0:01:30"; empty until something has been played."""
        if self._since is None or not self._played:
            return ""
        expected = (self._last - self._since) * self._left / self._played
        seconds = expected - (self._clock() - self._last)
        return str(timedelta(seconds=max(0, round(seconds))))


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
        self._many = plural_of(episode)
        self.console = console or Console(stderr=True)
        self._pace = Pace()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn(f"{{task.completed:,.0f}} / {{task.total:,.0f}} {self._many}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=self.console,
        )
        self._task = self._progress.add_task("playing", total=1, left="")
        self._tables: list[RichTable] = []
        self._out: set[str] = set()
        self._live = Live(
            console=self.console,
            get_renderable=self._renderable,
            refresh_per_second=4,
            transient=True,
        )
        self._next = 0.0

    def __enter__(self) -> "LiveStandings":
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.console.is_terminal:
            self._live.stop()

    def begin(self, left: Mapping[int, int], done: Mapping[int, int]) -> None:
        """See `arena.tournament.Progress`."""
        self._pace.begin(left, done)

    def played(self, outcome: Outcome) -> None:
        """See `arena.tournament.Progress`."""
        if outcome.failure is not None:
            self._say_out(outcome.failure)
        else:
            self._pace.played(outcome.unit.num_players, outcome.unit.deals)
        now = time.monotonic()
        if now < self._next or (self.console.is_terminal and not self._with_standings):
            return
        if self.console.is_terminal:
            self._tables = self._standings()
            self._next = time.monotonic() + max(LEAST_SECONDS, SHARE * (time.monotonic() - now))
        else:
            self._say(self._line())
            self._next = now + LINE_SECONDS

    def _renderable(self) -> RenderableType:
        left = self._pace.left()
        self._progress.update(
            self._task,
            completed=self._pace.done,
            total=self._pace.total or 1,
            left=f"{left} left" if left else "",
        )
        return Group(*self._tables, self._progress)

    def _line(self) -> str:
        text = f"{self._pace.done:,} of {self._pace.total:,} {self._many}"
        left = self._pace.left()
        return f"{text}, {left} left" if left else text

    def _standings(self) -> list[RichTable]:
        most = max(5, self.console.size.height // max(1, len(self._tables)) - 8)
        result = TournamentResult.of(self._store, self._episode, self._store.path.parent)
        return [
            renderable(rows, f"{seats} seats", result.measure, most)
            for seats, rows in result.ranked.items()
        ]

    def _say_out(self, failure: Failure) -> None:
        name = self._store.entrants()[failure.entrant].name
        if name not in self._out:  # several processes may play with it at that moment
            self._out.add(name)
            self._say(printable(f"{name} is out: {failure.reason}"))

    def _say(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)
