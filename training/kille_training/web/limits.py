"""What the server bounds, and why: nobody can make it slow, large or deaf for the others."""

import time
from collections.abc import Callable

from kille_env.errors import KilleError

TABLES = 128
"""Tables at once. A hundred of them take less than 300 MB (`benchmarks/web_tables.py`)."""
TABLES_PER_SESSION = 8
"""Tables that one browser may have made: nobody needs more, and nobody can take them all."""
SESSIONS = 512
"""Browsers that the server remembers; the one that has been silent longest is forgotten first."""
STREAMS = 512
"""Open event streams. Each is a connection, of which a process has about a thousand."""
STREAMS_PER_SESSION = 4
"""Open event streams of a browser, which itself opens no more than six connections."""
THREADS = 3 * TABLES
"""Threads for what happens at tables: at each one player thinks, one thing changes and one hint is
worked out at a time, so nobody ever waits for another table's."""
DRAWERS = 2
"""Threads that draw pictures; more would only take turns."""

BODY_BYTES = 16 * 1024
"""Size of a message. The largest that a page sends, all switches of a game, has about 2 kB."""
BODY_SECONDS = 5.0
"""How long a message may take to arrive."""
HEAD_SECONDS = 5.0
"""How long the first lines of a request may take to arrive; silent connections would fill up."""
REQUESTS_PER_SECOND, REQUESTS_AT_ONCE = 20.0, 80.0
"""Requests of one browser: a page takes about ten, a quick player two each second."""
NEWCOMERS_PER_SECOND, NEWCOMERS_AT_ONCE = 10.0, 160.0
"""Requests of browsers that the server does not know, all of them together."""

FRAMES = 24
"""Frames in one message, about 1 MB; the next message has the rest."""
MOMENTS = 256
"""Moments that a table keeps for browsers that come back; who was away longer sees the last one."""
MATCHES = 200
"""Records that a table keeps, the newest."""
RESULTS = 20
"""Results of matches that a page shows, the newest."""
HEARTBEAT = 15.0
"""Seconds after which a silent stream says that it is there, which finds lost connections."""

TABLE_IDLE = 6 * 3600.0
"""Seconds after which a table goes at which nothing has happened."""
LEFT_TABLE_IDLE = 15 * 60.0
"""The same for a table that nobody has open: long enough for a computer that was asleep."""
SESSION_IDLE = 24 * 3600.0
"""Seconds after which a silent browser is forgotten."""


class Refusal(KilleError):
    """A request that is not granted, with a sentence that says what to do.

    Attributes:
        status: HTTP's number for it; 409 for what came too late or out of turn.
    """

    def __init__(self, sentence: str, status: int = 409) -> None:
        super().__init__(sentence)
        self.status = status


class Bucket:
    """Counts requests: so many at once, and so many per second after that."""

    def __init__(
        self, per_second: float, at_once: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._most, self._clock = per_second, at_once, clock
        self._left, self._seen = at_once, clock()

    def take(self) -> bool:
        """Returns whether one more request is within the bounds, and counts it if it is."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._seen) * self._rate)
        self._seen = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
