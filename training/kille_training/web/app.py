"""The application: which address leads where."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from kille_env.core.spec import is_whole
from kille_env.errors import KilleError, shortened
from kille_env.pictures.cards import symbols
from kille_env.pictures.style import style
from kille_env.records import format_record
from kille_env.registry import list_games, spec
from kille_training.people.names import check_name
from kille_training.reports.palette import css
from kille_training.web.guard import Guard, refused
from kille_training.web.hall import Hall
from kille_training.web.limits import HEARTBEAT, SESSION_IDLE, Refusal
from kille_training.web.orders import known_players, read_order
from kille_training.web.sessions import Session, Sessions
from kille_training.web.states import draw, state_of, title_of
from kille_training.web.tables import Table
from kille_training.web.templates import page

STATIC = Path(__file__).parent / "static"


class Ticket(NamedTuple):
    """What seats the browser that shows it first, at a table that a command has made.

    Attributes:
        table: The table.
        name: What the person is called.
    """

    table: Table
    name: str


class House:
    """The server's state, and what it does at each address.

    Attributes:
        hall: The tables.
        sessions: The browsers.
        cookie: The name of their cookie. It has the port in it, because browsers share the cookies
            of all servers of a machine.
        tickets: Tickets that nobody has shown yet.
        first: The table of the command that runs the server; its matches are asked for at the end.
    """

    def __init__(
        self,
        join: str | None = None,
        cookie: str = "kille",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up a server without tables.

        Args:
            join: The secret that newcomers have to show; None lets everybody in.
            cookie: See the attribute.
            clock: Seconds, by which requests are counted and silent browsers forgotten.
        """
        self.hall, self.sessions, self.cookie = Hall(), Sessions(join, clock), cookie
        self.tickets: dict[str, Ticket] = {}
        self.first: Table | None = None

    def issue(self, table: Table, name: str) -> str:
        """Returns the secret of a new ticket."""
        secret = secrets.token_urlsafe(24)
        self.tickets[secret] = Ticket(table, name)
        return secret

    # Pages.

    async def lobby(self, request: Request) -> Response:
        """Shows the tables, or takes in a newcomer with a link."""
        session = request.state.session
        secret = request.query_params.get("ticket", "")
        ticket = self.tickets.pop(secret, None)
        if session is None:
            shown = self.sessions.join if ticket else request.query_params.get("join")
            session = self.sessions.begin(shown)
        if ticket is not None:
            session.name = session.name or ticket.name
            await ticket.table.sit(session, ticket.table.order.yours)
            answer: Response = RedirectResponse(f"/tables/{ticket.table.name}", 303)
        elif request.query_params:  # the secret leaves the address
            answer = RedirectResponse("/", 303)
        else:
            self.hall.clear()
            answer = page(
                "lobby.html.j2",
                title="Tables",
                token=session.token,
                name=session.name,
                games=[_facts(name) for name in list_games()],
                tables=[_listed(table, session) for table in self.hall.tables.values()],
            )
        return self._remember(answer, session)

    async def table(self, request: Request) -> Response:
        """Shows a table."""
        session = request.state.session or self.sessions.begin(request.query_params.get("join"))
        table = self._table(request)
        answer = page(
            "table.html.j2",
            title=title_of(table),
            game=title_of(table),
            token=session.token,
            table=table.name,
            cards=Markup(symbols(spec(table.game).pack.codes)),
        )
        return self._remember(answer, session)

    # What pages ask for.

    async def make(self, request: Request) -> Response:
        """Makes a table and seats its maker."""
        session, said = request.state.session, request.state.said
        order = read_order(said)
        _call(session, said)
        table = await self.hall.make(order, session)
        await table.sit(session, order.yours)
        return JSONResponse({"id": table.name}, 201)

    async def state(self, request: Request) -> Response:
        """Answers how a table stands."""
        session, table = _known(request), self._table(request)
        state = state_of(table, session, _since(request.query_params.get("since")))
        return JSONResponse(await draw(table, state))

    async def events(self, request: Request) -> Response:
        """Streams how a table stands, whenever that changes."""
        session, table = _known(request), self._table(request)
        since = request.headers.get("last-event-id") or request.query_params.get("since")
        self.hall.check_streams(session)

        async def stream() -> AsyncIterator[str]:
            with self.hall.stream(session, table) as news:
                async for event in _events(table, session, _since(since), news):
                    yield event

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def sit(self, request: Request) -> Response:
        """Seats the person."""
        session, said = request.state.session, request.state.said
        table, seat = self._table(request), _number(said, "seat")
        _call(session, said)
        await table.sit(session, [seat])
        return _version(table, session)

    async def leave(self, request: Request) -> Response:
        """Frees the person's seats."""
        table = self._table(request)
        table.leave(request.state.session)
        return _version(table, request.state.session)

    async def act(self, request: Request) -> Response:
        """Plays an action."""
        table, said = self._table(request), request.state.said
        session, version = request.state.session, _number(said, "version")
        await table.act(session, version, _number(said, "action"))
        return _version(table, session)

    async def undo(self, request: Request) -> Response:
        """Takes back a decision."""
        table, session = self._table(request), request.state.session
        await table.undo(session, _number(request.state.said, "version"))
        return _version(table, session)

    async def again(self, request: Request) -> Response:
        """Begins another match."""
        table, session = self._table(request), request.state.session
        await table.again(session, _number(request.state.said, "version"))
        return _version(table, session)

    async def hint(self, request: Request) -> Response:
        """Answers what players would do."""
        table, session = self._table(request), request.state.session
        advice = await table.hint(session, _number(request.state.said, "version"))
        return JSONResponse({"choices": advice})

    async def record(self, request: Request) -> Response:
        """Gives the matches that were played to the end to those who sit at the table."""
        session, table = _known(request), self._table(request)
        if not table.place(session).seats:
            raise Refusal("the record is for those who sit at the table; sit down first", 403)
        records = table.records()
        if not records:
            raise Refusal("no match has been played to the end yet; its record comes then")
        name = f"{table.game}-{table.name}.jsonl"
        return Response(
            "".join(f"{format_record(record)}\n" for record in records),
            media_type="application/jsonl",
            headers={"content-disposition": f'attachment; filename="{name}"'},
        )

    async def colours(self, request: Request) -> Response:
        """Gives the colours of pages and cards."""
        return Response(f"{css()}\n{style('both')}", media_type="text/css")

    def _table(self, request: Request) -> Table:
        return self.hall.find(request.path_params["name"])

    def _remember(self, answer: Response, session: Session) -> Response:
        answer.set_cookie(
            self.cookie, session.key, max_age=int(SESSION_IDLE), httponly=True, samesite="strict"
        )
        return answer


def application(house: House, names: Collection[str] = ()) -> Starlette:
    """Returns the application.

    Args:
        house: Its state.
        names: Names of this machine by which it may be asked, besides localhost and addresses.
    """
    at = "/tables/{name:str}"
    pages = [
        Route("/", house.lobby),
        Route(at, house.table),
        Route(f"{at}/state", house.state),
        Route(f"{at}/events", house.events),
        Route(f"{at}/record", house.record),
        Route("/static/colours.css", house.colours),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    asked = {
        "/tables": house.make,
        f"{at}/sit": house.sit,
        f"{at}/leave": house.leave,
        f"{at}/act": house.act,
        f"{at}/undo": house.undo,
        f"{at}/again": house.again,
        f"{at}/hint": house.hint,
    }
    posts = [Route(path, do, methods=["POST"]) for path, do in asked.items()]

    return Starlette(
        routes=[*pages, *posts],
        middleware=[Middleware(Guard, sessions=house.sessions, cookie=house.cookie, names=names)],
        exception_handlers={KilleError: _refuse, HTTPException: _not_found},
    )


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, KilleError)
    return refused(request, error)


async def _not_found(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refused(request, Refusal("there is nothing here; go to the list of tables, /",
                                    error.status_code))  # fmt: skip


async def _events(
    table: Table, session: Session, since: int | None, news: asyncio.Event
) -> AsyncIterator[str]:
    """Yields events as browsers read them: states that are new, or a sign of life.

    A sign of life comes a fixed time after the last event that was sent: what wakes this up without
    being told, such as a decision in secret, moves nothing.
    """
    told: dict[str, Any] | None = None
    clock = asyncio.get_running_loop().time
    beat = clock() + HEARTBEAT
    while not table.gone:
        news.clear()
        state = state_of(table, session, since)
        since = state.said["version"]
        if state.shown or state.said != told:
            told = state.said
            yield _event("state", await draw(table, state), since)
            beat = clock() + HEARTBEAT
        if state.more:
            continue
        try:
            async with asyncio.timeout_at(beat):
                await news.wait()
        except TimeoutError:
            yield ": still here\n\n"
            beat = clock() + HEARTBEAT
    yield _event("gone", {"error": table.gone})


def _event(kind: str, said: dict[str, Any], number: int | None = None) -> str:
    line = "" if number is None else f"id: {number}\n"
    return f"event: {kind}\n{line}data: {json.dumps(said, ensure_ascii=False)}\n\n"


def _known(request: Request) -> Session:
    if request.state.session is None:
        raise Refusal("this page is not signed in, or no longer; reload it", 403)
    return request.state.session


def _call(session: Session, said: dict[str, Any]) -> None:
    """Takes the name by which a person wants to be called, if the message has one."""
    name = said.get("name")
    if name is None or name == "":
        return
    if not isinstance(name, str):
        raise Refusal(f"the name is {shortened(name, 40)}, expected a text", 400)
    session.name = check_name(name)


def _number(said: dict[str, Any], key: str) -> int:
    value = said.get(key)
    if not is_whole(value) or not 0 <= value < 2**53:
        raise Refusal(f"{key} is {shortened(value, 40)}, expected a whole number", 400)
    return int(value)


def _since(word: str | None) -> int | None:
    return int(word) if word is not None and word.isdecimal() and len(word) < 16 else None


def _version(table: Table, session: Session) -> Response:
    return JSONResponse({"version": table.place(session).version})


def _listed(table: Table, session: Session) -> dict[str, Any]:
    """Returns a table as the list of tables shows it."""
    return {
        "id": table.name,
        "game": table.game,
        "title": title_of(table),
        "free": len(table.free),
        "people": len(table.people),
        "names": table.names,
        "yours": bool(table.place(session).seats),
    }


def _facts(game: str) -> dict[str, Any]:
    """Returns a game as the form for a new table needs it."""
    facts = spec(game)
    return {
        "name": game,
        "title": facts.title,
        "least": facts.min_players,
        "most": facts.max_players,
        "usual": facts.default_players,
        "presets": list(facts.presets),
        "switches": [
            {
                "name": switch.name,
                "meaning": switch.meaning,
                "possible": switch.possible(),
                "values": list(switch.values),
                "nullable": switch.nullable,
            }
            for switch in facts.switches
        ],
        "players": known_players(game),
    }
