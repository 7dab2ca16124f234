"""Serve a person's table on the loopback: one person, one token.

The token in the printed address becomes a cookie with `SameSite=Strict`. A request with side
effects must also come from this site's own page and contain JSON, which a form cannot send. The
`Host` must be the loopback: otherwise another site could point its own name at this machine (DNS
rebinding).
"""

import asyncio
import errno
import ipaddress
import json
import secrets
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from kille_env.extras import missing

try:
    import uvicorn
    from starlette.applications import Starlette
except ModuleNotFoundError as error:
    raise missing(error, "web") from error
from markupsafe import Markup
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kille_agents.catalog import describe_player, players_of
from kille_env.core.spec import is_whole
from kille_env.errors import KilleError, shortened
from kille_env.files import parse_json, read_json, write_whole
from kille_env.pictures.cards import symbols
from kille_env.pictures.style import style
from kille_env.play.policy import Policy
from kille_env.records import Record
from kille_env.registry import list_games, spec
from kille_env.words.text import counted
from kille_training.names import LABELS, label_of
from kille_training.pages.page import css, render
from kille_training.table.online import (
    Order,
    Refusal,
    Table,
    in_thread,
    kept_table,
    players_for,
    read_order,
)
from kille_training.table.rules import SENTENCES, both_names, faces, rules_for

LOOPBACK, PORT = "127.0.0.1", 8765
STATIC = Path(__file__).parent / "static"
BODY_BYTES = 16 * 1024
HEARTBEAT = 15.0  # seconds after an event until a stream sends a keep-alive; only events reset them
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
REPLAY_CSP = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of a self-contained page: inline scripts, and no requests."""
FACES = {
    "byteskille": ("BL", "GO", "KI"), "kungsholmskille": ("L1", "KA", "SV"),
    "krypkille": ("KR", "L8", "HU"), "knack": ("9C", "KH", "AS"),
    "femkortskille": ("L5", "VH", "KI"),
}  # fmt: skip
MATCHES = {
    "byteskille": (2, 3, 1), "kungsholmskille": (1, 2, 1), "krypkille": (8, 14, 6),
    "knack": (4, 4, 1), "femkortskille": (1, 1, 1),
}  # fmt: skip
"""Fewest and most deals of 80% of matches among four steady players, and minutes."""


class House:
    """The server's state: the table, the token and their files."""

    def __init__(self, keep: Path | None = None, cookie: str = "kille") -> None:
        """Read the token kept in the folder `keep`, if given."""
        self._keep, self.cookie = keep, cookie  # named by the port: servers of a machine share them
        self.table: Table | None = None
        self.last: Table | None = None  # the table when the server ended
        self.token = secrets.token_urlsafe(24)
        self.heartbeat = HEARTBEAT
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            with suppress(KilleError, OSError):
                self.token = str(read_json(keep / "token.json")["token"])
            write_whole(keep / "token.json", json.dumps({"token": self.token}).encode())
            (keep / "token.json").chmod(0o600)

    @property
    def _file(self) -> Path | None:
        return None if self._keep is None else self._keep / "table.json"

    def set_up(
        self, order: Order, opponents: list[Policy] | None = None, *, go_on: bool = False
    ) -> None:
        """Open a table in place of the current one."""
        matches: list[Record] = []
        kept = kept_table(self._file) if go_on and self._file is not None else None
        if kept is not None and kept[1] and kept[1][-1]["returns"] is None:
            if replace(order, seed=kept[0].seed) != kept[0]:
                opponents = _players_again(kept[0])
            order, matches = kept
        players = players_for(order) if opponents is None else opponents
        if self.table is not None:
            self.table.close()
        old, self.table = self.table, Table(order, players, self._file)
        self.table.open(matches)
        if old is not None:
            old.tell()

    def go_on(self) -> None:
        """Open the stored table, unless one is open; ignore a damaged one."""
        kept = None if self._file is None or self.table is not None else kept_table(self._file)
        if kept is not None:
            order, matches = kept
            self.table = Table(order, players_for(order), self._file)
            self.table.open(matches)

    def close(self) -> None:
        """Close the table and end the streams."""
        self.last, table, self.table = self.table, self.table, None
        if table is not None:
            table.close()
            table.tell()

    # Pages.

    async def start(self, request: Request) -> Response:
        """Show the games, and the waiting table."""
        if request.query_params.get("token"):  # the token leaves the address
            answer = RedirectResponse("/table" if self.table is not None else "/", 303)
            answer.set_cookie(
                self.cookie, self.token, max_age=90 * 86400, httponly=True, samesite="strict"
            )
            return answer
        self.go_on()
        waits = self.table if self.table is not None and self.table.standing else None
        return page(
            "start.html.j2",
            games=[_facts(name) for name in list_games()],
            waits=None if waits is None else {
                "title": waits.game.spec.title,
                "state": waits.standing,
            },
        )  # fmt: skip

    async def sit(self, request: Request) -> Response:
        """Show the table."""
        self.go_on()
        if self.table is None:
            return RedirectResponse("/", 303)
        game, order = self.table.game.spec, self.table.order
        rules = rules_for(self.table.game, order.rules, len(order.opponents) + 1)
        return page(
            "table.html.j2",
            title=game.title,
            cards=Markup(symbols(game.pack.codes)),
            names=both_names(game.pack),
            told=faces(game.pack, rules),
            rules=rules,
        )

    async def colors(self, request: Request) -> Response:
        """Send the colors of pages and cards."""
        return Response(f"{css()}\n{style('both')}", media_type="text/css")

    # Requests of pages

    async def events(self, request: Request) -> Response:
        """Stream the states of the table."""
        table, word = self._open(), request.headers.get("last-event-id", "")
        since = request.query_params.get("since", word) or word
        epoch, _, number = since.partition(":")
        last = (int(epoch), int(number)) if epoch.isdecimal() and number.isdecimal() else None
        return StreamingResponse(self._stream(table, last), media_type="text/event-stream")

    async def _stream(self, table: Table, since: tuple[int, int] | None) -> AsyncIterator[str]:
        """Yield server-sent events: new states, and keep-alive messages."""
        # A wake-up without news, such as a secret decision, must not delay the keep-alive.
        news = asyncio.Event()
        table.news.add(news)
        told: dict[str, Any] = {}
        clock = asyncio.get_running_loop().time
        beat = clock() + self.heartbeat
        try:
            while table is self.table:
                news.clear()
                state = table.state(since)
                since = state["epoch"], state["version"]
                rest = {**state, "fresh": False, "frames": []}
                if state["fresh"] or state["frames"] or rest != told:
                    told, data = rest, json.dumps(state, ensure_ascii=False)
                    yield f"id: {since[0]}:{since[1]}\ndata: {data}\n\n"
                    beat = clock() + self.heartbeat
                try:
                    async with asyncio.timeout_at(beat):
                        await news.wait()
                except TimeoutError:
                    yield ": still here\n\n"
                    beat = clock() + self.heartbeat
            if self.table is not None:  # another one was opened; else the server ends
                yield 'event: gone\ndata: ""\n\n'
        finally:
            table.news.discard(news)

    async def new(self, request: Request) -> Response:
        """Open another table."""
        self.set_up(read_order(request.state.said))
        return JSONResponse({})

    async def act(self, request: Request) -> Response:
        """Play an action."""
        said = request.state.said
        await self._open().act(_number(said, "version"), _number(said, "action"))
        return JSONResponse({})

    async def again(self, request: Request) -> Response:
        """Begin another match."""
        await self._open().again()
        return JSONResponse({})

    async def see(self, request: Request) -> Response:
        """Note the last frame shown by the page."""
        self._open().see(_number(request.state.said, "version"))
        return JSONResponse({})

    async def replay(self, request: Request) -> Response:
        """Show the last finished match."""
        from kille_training.evaluation.replay import Numbered, replay_page

        records = self._open().records()
        if not records:
            raise Refusal("no match has been played to the end yet")
        last = [Numbered(1, records[-1])]
        made = await in_thread(
            lambda: replay_page(last, source=self._open().game.spec.title, back="/table")
        )
        headers = {"content-security-policy": REPLAY_CSP}
        return HTMLResponse(made, headers=headers)

    def _open(self) -> Table:
        self.go_on()
        if self.table is None:
            raise Refusal("there is no table yet; choose a game on the start page", 404)
        return self.table


class Guard:
    """Middleware that admits only requests of the person's browser from the table's own page."""

    def __init__(self, app: ASGIApp, house: House) -> None:
        self._app, self._house = app, house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it with a sentence."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {**HEADERS, "cache-control": "no-store"}.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        try:
            await self._check(request)
        except Refusal as error:
            await refused(request, error)(scope, receive, send_guarded)
        except ClientDisconnect:
            return
        else:
            await self._app(scope, receive, send_guarded)

    async def _check(self, request: Request) -> None:
        house = self._house
        if not is_loopback(request.headers.get("host", "")):
            raise Refusal("use the address that the server printed", 403)
        shown = request.query_params.get("token") if request.url.path == "/" else None
        shown = shown or request.cookies.get(house.cookie, "")
        if not secrets.compare_digest(shown.encode(), house.token.encode()):
            raise Refusal("open the address that `kille play` has printed", 403)
        if request.method == "GET":  # changes nothing, and no other origin may read the answer
            return
        if request.headers.get("origin") != f"http://{request.headers['host']}":
            raise Refusal("another site has sent this request; use the table's own page", 403)
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            raise Refusal("the content is not JSON; send Content-Type: application/json", 415)
        request.state.said = await _read(request)


async def _read(request: Request) -> dict[str, Any]:
    """Return the JSON object of a POST."""
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length) > BODY_BYTES:
        raise Refusal(f"a message needs a Content-Length of at most {BODY_BYTES:,} bytes", 413)
    try:
        said = parse_json(await request.body())
    except KilleError:
        said = None
    if not isinstance(said, dict):
        raise Refusal('the content is not a JSON object such as {"version": 3, "action": 1}', 400)
    return said


def application(house: House) -> Starlette:
    """Return the application."""
    gets = {
        "/": house.start, "/table": house.sit, "/events": house.events,
        "/replay": house.replay, "/static/colors.css": house.colors,
    }  # fmt: skip
    posts = {
        "/new": house.new, "/act": house.act, "/again": house.again, "/see": house.see,
    }  # fmt: skip

    async def refuse(request: Request, error: Exception) -> Response:
        return refused(request, error)

    async def nothing(request: Request, error: Exception) -> Response:
        return refused(request, Refusal("there is nothing here; go to the start page, /", 404))

    return Starlette(
        routes=[
            *(Route(path, do) for path, do in gets.items()),
            *(Route(path, do, methods=["POST"]) for path, do in posts.items()),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, house=house)],
        exception_handlers={KilleError: refuse, HTTPException: nothing},
    )


def refused(request: Request, error: Exception) -> Response:
    """Return the answer to a refused request: a page for a browser, JSON for a script."""
    status = error.status if isinstance(error, Refusal) else 400
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return page("message.html.j2", status, sentence=str(error))
    return JSONResponse({"error": str(error)}, status)


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(render(f"table/pages/{template}", **values), status)


def _facts(game: str) -> dict[str, Any]:
    """Return the facts of a game for the start page."""
    facts = spec(game)
    codes = FACES.get(game, ("L7", "HU", "KI"))
    usual, more = [], []
    for name in players_of(game):
        known = name.rpartition("/")[2] in LABELS
        (usual if known else more).append((name, label_of(name), describe_player(name, game).what))
    return {
        "name": game,
        "title": facts.title,
        "sentence": SENTENCES.get(game, ("",))[0],
        "match": _length(*MATCHES[game]) if game in MATCHES else "",
        "least": facts.min_players,
        "most": facts.max_players,
        "usual": min(4, facts.max_players),
        "presets": list(facts.presets),
        "opponents": [("Usual", usual), ("More", more)],
        "cards": Markup(symbols(codes)),
        "codes": codes,
    }


def _length(least: int, most: int, minutes: int) -> str:
    """Return the length of a match as text, "2 to 3 deals, about 1 minute"."""
    deals = f"{least} to {most}" if least < most else str(least)
    spent = counted(minutes, "minute", "minutes")
    return f"{deals} {'deal' if most == 1 else 'deals'}, about {spent}"


def _players_again(order: Order) -> list[Policy]:
    """Return the players of a waiting match."""
    try:
        return players_for(order)
    except KilleError as error:
        then = "repeat the command that began it, or begin another match with --seed"
        raise KilleError(f"a match of {order.game} waits, but {error}; {then}") from None


def _number(said: dict[str, Any], key: str) -> int:
    value = said.get(key)
    if not is_whole(value) or not 0 <= value < 2**53:
        raise Refusal(f"{key} is {shortened(value, 40)}, expected a whole number", 400)
    return int(value)


# The socket


def is_loopback(host: str) -> bool:
    """Return whether a Host header names this machine's loopback."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    try:
        return name == "localhost" or ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def listen(port: int = PORT) -> socket.socket:
    """Return a socket on the loopback, at another port if the given one is in use."""
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((LOOPBACK, port))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise KilleError(f"cannot listen at {LOOPBACK}: {error.strerror}") from None
        server.bind((LOOPBACK, 0))
    server.listen()
    return server


def address_of(server: socket.socket) -> str:
    """Return the address of a server: "http://127.0.0.1:8765"."""
    return f"http://{LOOPBACK}:{server.getsockname()[1]}"


def open_browser(url: str) -> None:
    """Open a page in the person's browser, if there is one."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


class Server(uvicorn.Server):
    """A server with callbacks when it is ready and to end its streams."""

    def __init__(self, app: Any, ready: Callable[[], None], close: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app, ws="none", loop="asyncio", lifespan="off", log_config=None, access_log=False,
                server_header=False, timeout_graceful_shutdown=2,
            )
        )  # fmt: skip
        self._ready, self._close = ready, close

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and call `ready`."""
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then the server."""
        self._close()
        await asyncio.sleep(0)
        await super().shutdown(sockets)
