"""A socket, a server on it, and the browser that is opened."""

import asyncio
import errno
import ipaddress
import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable

import h11
import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from kille_env.errors import KilleError
from kille_training.web import limits

LOOPBACK, PORT = "127.0.0.1", 8765
"""Where the server is unless told otherwise: on this machine alone."""
HEADER_BYTES = 16 * 1024
"""Size of a request's first lines; the longest that a browser sends have about 2 kB."""
REPLAY_CSP = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For a page that has everything in it, scripts too, and asks for nothing else."""


class _Connection(H11Protocol):
    """A connection that is closed if the first lines of a request do not arrive in time."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._rest()

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._rest()
        elif self._limit is None:
            self._limit = self.loop.call_later(limits.HEAD_SECONDS, self.transport.close)

    def _rest(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
        self._limit = None


class _Server(uvicorn.Server):
    """A server that prepares before it listens, and lets go of its streams before it ends."""

    def __init__(
        self,
        config: uvicorn.Config,
        prepare: Callable[[], Awaitable[None]],
        ready: Callable[[], None],
        close: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._prepare, self._ready, self._close = prepare, ready, close

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self._prepare()
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._close()
        await asyncio.sleep(0)
        await super().shutdown(sockets)


def listen(host: str = LOOPBACK, port: int = PORT) -> socket.socket:
    """Returns a socket that listens.

    Args:
        host: The address, or a name of this machine.
        port: The port; 0 is any that is free.

    Raises:
        KilleError: The port is in use, or the address is not this machine's.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        server = socket.socket(family, kind, protocol)
        try:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(address)
        except OSError:
            server.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise KilleError(
                f"port {port} is in use, perhaps by another table; choose another with --port, or "
                "--port 0 for any that is free"
            ) from None
        raise KilleError(
            f"cannot listen at {host} port {port} ({error.strerror}); --host takes an address of "
            "this machine, such as 0.0.0.0 for all of them"
        ) from None
    return server


def is_loopback(host: str) -> bool:
    """Returns whether only this machine can reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address_of(server: socket.socket, host: str) -> str:
    """Returns the address of a server for a browser, "http://127.0.0.1:8765"."""
    port = server.getsockname()[1]
    name = socket.gethostname() if host in ("0.0.0.0", "::") else host
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def open_browser(url: str) -> None:
    """Opens a page in the person's browser, if there is one."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


async def _nothing() -> None:
    """Prepares nothing."""


def serve(
    app: ASGIApp,
    server: socket.socket,
    *,
    prepare: Callable[[], Awaitable[None]] = _nothing,
    ready: Callable[[], None] = lambda: None,
    close: Callable[[], None] = lambda: None,
) -> None:
    """Serves an application until it is interrupted.

    Args:
        app: The application.
        server: A socket that listens.
        prepare: Awaited in the server's event loop before it answers anybody.
        ready: Called when it answers.
        close: Called when it is told to end; ends what streams.

    Raises:
        KeyboardInterrupt: It was interrupted; everything has been closed.
    """
    with server:
        make_server(app, prepare, ready, close).run([server])


def make_server(
    app: ASGIApp,
    prepare: Callable[[], Awaitable[None]],
    ready: Callable[[], None],
    close: Callable[[], None],
) -> uvicorn.Server:
    """Returns the server of `serve`, which has the same arguments."""
    config = uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=2 * limits.STREAMS,
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_keep_alive=int(limits.BODY_SECONDS),
        timeout_graceful_shutdown=2,
    )
    return _Server(config, prepare, ready, close)


def serve_page(
    page: bytes, server: socket.socket, *, ready: Callable[[], None] = lambda: None
) -> None:
    """Serves one page that has everything in it, to this machine, until it is interrupted.

    Args:
        page: HTML.
        server: A socket that listens on a loopback address.
        ready: Called when it answers.

    Raises:
        KeyboardInterrupt: It was interrupted.
    """

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        found = scope["path"] == "/" and scope["method"] in ("GET", "HEAD")
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        if not is_loopback(host.rpartition(":")[0].strip("[]") or host):
            answer = Response("use the address that the server printed", 403)
        elif not found:
            answer = Response("there is one page here, at /", 404)
        else:
            answer = Response(page, media_type="text/html")
        answer.headers["content-security-policy"] = REPLAY_CSP
        answer.headers["x-content-type-options"] = "nosniff"
        answer.headers["cache-control"] = "no-store"
        await answer(scope, receive, send)

    serve(app, server, ready=ready)
