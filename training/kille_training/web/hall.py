"""The tables of the server: made, found, and cleared away when nobody needs them any more."""

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from kille_agents.catalog import describe_player
from kille_env.errors import KilleError
from kille_env.policy import Player, name_of
from kille_env.words.text import counted
from kille_training.people.advice import advisers_at
from kille_training.people.lineup import players_named
from kille_training.web.limits import (
    LEFT_TABLE_IDLE,
    STREAMS,
    STREAMS_PER_SESSION,
    TABLE_IDLE,
    TABLES,
    TABLES_PER_SESSION,
    Refusal,
)
from kille_training.web.orders import Order
from kille_training.web.sessions import Session
from kille_training.web.tables import Lineup, Table, in_thread


class Hall:
    """All tables.

    Attributes:
        tables: The tables by name.
    """

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self._streams = 0

    def find(self, name: str) -> Table:
        """Returns a table.

        Raises:
            Refusal: There is no such table, or no longer.
        """
        self.clear()
        if name not in self.tables:
            raise Refusal(
                "there is no such table, or no longer; go to the list of tables and make one", 404
            )
        return self.tables[name]

    async def make(
        self, order: Order, maker: Session | None = None, *, trust: bool = False
    ) -> Table:
        """Makes a table; whoever has made it still has to sit down.

        Args:
            order: What is wanted.
            maker: Who makes it; None is whoever has started the server.
            trust: Whether model files that can run code may be loaded.

        Raises:
            Refusal: There are too many tables, of this browser or in all.
            PolicyError: There is no such player, or it was made for another table.
        """
        self.clear()
        self._check_room(maker)
        if maker is not None:
            maker.made += 1
        try:
            lineup = await in_thread(lambda: _lineup(order, trust))
            table = Table(secrets.token_urlsafe(9), order, lineup, maker)
        except BaseException:
            if maker is not None:
                maker.made -= 1
            raise
        self.tables[table.name] = table
        return table

    def clear(self) -> None:
        """Clears away the tables that nobody has needed for long."""
        now = asyncio.get_running_loop().time()
        for table in list(self.tables.values()):
            idle = TABLE_IDLE if _is_open(table) else LEFT_TABLE_IDLE
            if now - table.used > idle:
                self._remove(table, "this table was cleared away: nobody has played for long")

    def check_streams(self, session: Session) -> None:
        """Refuses one more event stream where there are too many.

        Raises:
            Refusal: There are too many, of this browser or in all.
        """
        if session.streams >= STREAMS_PER_SESSION or self._streams >= STREAMS:
            raise Refusal("too many open pages; close one, then reload", 429)

    @contextmanager
    def stream(self, session: Session, table: Table) -> Iterator[asyncio.Event]:
        """Counts an event stream of a browser while it is open, and yields its event of news."""
        news = asyncio.Event()
        session.streams += 1
        self._streams += 1
        table.keep_place(session).news.add(news)
        table.tell()
        try:
            yield news
        finally:
            session.streams -= 1
            self._streams -= 1
            table.place(session).news.discard(news)
            table.clear_place(session)
            table.tell()

    def close(self) -> None:
        """Ends all tables, and with them the event streams, before the server ends."""
        for table in self.tables.values():
            table.close("the server has been stopped; your matches are over")

    def _check_room(self, maker: Session | None) -> None:
        if maker is not None and maker.made >= TABLES_PER_SESSION:
            tables = counted(TABLES_PER_SESSION, "table", "tables")
            raise Refusal(f"you have {tables} already; play on at one of them", 429)
        if len(self.tables) >= TABLES:
            left = [table for table in self.tables.values() if not _is_open(table)]
            if not left:
                raise Refusal("all tables are taken; try again when one is free", 429)
            oldest = min(left, key=lambda table: table.used)
            self._remove(oldest, "this table was cleared away: others needed the room")

    def _remove(self, table: Table, why: str) -> None:
        del self.tables[table.name]
        if table.maker is not None:
            table.maker.made -= 1
        table.close(why)


def _is_open(table: Table) -> bool:
    """Returns whether anybody has a table open."""
    return any(place.news for place in table.places.values())


def _lineup(order: Order, trust: bool) -> Lineup:
    """Returns who plays at a table."""
    people = {*order.yours, *order.people}
    players = iter(_players(order, order.opponents, trust))
    names = iter(order.opponents)
    by_seat = [None if seat in people else next(players) for seat in range(order.num_players)]
    about = [
        "" if seat in people else _about(next(names), order.game) for seat in range(len(by_seat))
    ]
    advisers = advisers_at(order.game, order.num_players, order.rules)
    if order.advisers:
        advisers = {name_of(player): player for player in _players(order, order.advisers, trust)}
    return Lineup(by_seat, about, advisers)


def _players(order: Order, names: Sequence[str], trust: bool) -> list[Player]:
    table = order.game, order.num_players, order.rules
    return players_named(",".join(names), len(names), *table, trust=trust) if names else []


def _about(name: str, game: str) -> str:
    """Returns who a player is, for its card."""
    with suppress(KilleError):  # a player may come without a description
        return "\n".join(describe_player(name, game).lines())
    return name
