"""Browsers that the server knows, each by a secret in a cookie."""

import hmac
import secrets
import time
from collections.abc import Callable

from kille_training.web.limits import (
    NEWCOMERS_AT_ONCE,
    NEWCOMERS_PER_SECOND,
    REQUESTS_AT_ONCE,
    REQUESTS_PER_SECOND,
    SESSION_IDLE,
    SESSIONS,
    Bucket,
    Refusal,
)


class Session:
    """A browser, and so the people in front of it.

    Attributes:
        key: The secret in its cookie, which no page can read.
        token: The secret in its pages, which no other site can read; every POST shows it.
        name: What the person wants to be called, "" until they have said it.
        used: When it was last heard of, in seconds of the clock.
        streams: How many event streams it has open.
        made: How many tables it has made that are still there.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.key, self.token = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.name, self.used, self.streams, self.made = "", clock(), 0, 0
        self._requests = Bucket(REQUESTS_PER_SECOND, REQUESTS_AT_ONCE, clock)

    def check_rate(self) -> None:
        """Counts a request.

        Raises:
            Refusal: There were too many.
        """
        if not self._requests.take():
            raise Refusal("too many requests from this browser; wait a second, then try again", 429)


class Sessions:
    """All of them.

    Attributes:
        join: The secret that newcomers have to show, None where everybody may come in.
    """

    def __init__(
        self, join: str | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.join, self._clock = join, clock
        self._known: dict[str, Session] = {}
        self._newcomers = Bucket(NEWCOMERS_PER_SECOND, NEWCOMERS_AT_ONCE, clock)

    def find(self, key: str | None) -> Session | None:
        """Returns the session of a cookie; None for a browser that is not known."""
        session = self._known.get(key or "")
        if session is not None:
            session.used = self._clock()
        return session

    def check_newcomer(self) -> None:
        """Counts a request of a browser that is not known.

        Raises:
            Refusal: There were too many.
        """
        if not self._newcomers.take():
            raise Refusal("too many newcomers at once; wait a second, then try again", 429)

    def begin(self, shown: str | None = None) -> Session:
        """Returns a new session, and forgets the one that has been silent longest for it.

        Args:
            shown: The secret that the newcomer shows.

        Raises:
            Refusal: It is not the right one, or everybody who is known is here.
        """
        if self.join is not None and not same(shown, self.join):
            raise Refusal(
                "this table is open to people with its link; ask whoever runs the server for the "
                "whole address, which ends with ?join= and a word",
                403,
            )
        self.forget()
        session = Session(self._clock)
        self._known[session.key] = session
        return session

    def forget(self) -> None:
        """Forgets sessions that have been silent too long, and makes room for one more.

        Raises:
            Refusal: Everybody who is known has a page open.
        """
        silent = sorted(
            (one for one in self._known.values() if not one.streams), key=lambda one: one.used
        )
        surplus = len(self._known) - SESSIONS + 1
        for number, session in enumerate(silent):
            if number < surplus or self._clock() - session.used > SESSION_IDLE:
                del self._known[session.key]
        if len(self._known) >= SESSIONS:
            raise Refusal("the house is full; try again when somebody has left", 429)


def same(shown: str | None, secret: str) -> bool:
    """Returns whether somebody shows a secret, in a time that does not tell how much of it."""
    return hmac.compare_digest((shown or "").encode(), secret.encode())
