"""What every request has to pass before a page or a table hears of it.

The server trusts a request to act for a session if it has the session's cookie, which browsers send
with requests of this site only (`SameSite=Strict`), and, where it changes something, the token that
stands in the session's pages, this site as its origin, and JSON as its content, which a form cannot
send. The name that the browser knows the server by has to be its own: otherwise another site could
let its name point to this machine and be "this site" (DNS rebinding).
"""

import asyncio
import ipaddress
import socket
from collections.abc import Collection
from typing import Any
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kille_env.errors import KilleError
from kille_env.files import parse_json
from kille_training.web.limits import BODY_BYTES, BODY_SECONDS, Refusal
from kille_training.web.sessions import Session, Sessions, same
from kille_training.web.templates import page

TOKEN = "x-kille-token"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of every answer: own scripts only, in nobody's frame, read by nobody else."""
FOREIGN = ("cross-site", "same-site")
"""What browsers say of requests that pages of others have caused, other ports included."""


class Guard:
    """Middleware that refuses what is not the request of a known browser's own page.

    Behind it `request.state.session` is the session, None for a newcomer who asks for a page, and
    `request.state.said` is the JSON object of a POST.
    """

    def __init__(
        self, app: ASGIApp, sessions: Sessions, cookie: str, names: Collection[str] = ()
    ) -> None:
        """Guards an application.

        Args:
            app: The application.
            sessions: The sessions.
            cookie: The name of their cookie.
            names: Names of this machine, besides localhost and addresses in numbers.
        """
        self._app, self._sessions, self._cookie = app, sessions, cookie
        self._names = {"localhost", *(name.lower() for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or answers it with a sentence."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            answer = await self._check(request)
        except Refusal as error:
            answer = refused(request, error)
        except ClientDisconnect:
            return
        await (answer or self._app)(scope, receive, send_guarded)

    async def _check(self, request: Request) -> Response | None:
        """Checks a request, and returns what to answer instead of passing it on."""
        self._check_host(request)
        session = self._sessions.find(request.cookies.get(self._cookie))
        if session is None:
            self._sessions.check_newcomer()
        else:
            session.check_rate()
        request.state.session, request.state.said = session, {}
        if request.method == "POST":
            _check_post(request, session)
            request.state.said = await _read(request)
        elif request.method not in ("GET", "HEAD"):
            raise Refusal(f"{request.method} is not done here; pages use GET and POST", 405)
        elif request.headers.get("sec-fetch-site") in FOREIGN:
            return _come_again(request)
        return None

    def _check_host(self, request: Request) -> None:
        name = _host_name(request.headers.get("host", ""))
        if name in self._names or _is_address(name):
            return
        raise Refusal(
            "the server is not known by this name; use the address that it printed, or start it "
            "with --host and the name",
            403,
        )


def _check_post(request: Request, session: Session | None) -> None:
    """Refuses a POST that is not from a page of the session's own."""
    origin = request.headers.get("origin", "")
    if origin not in (f"{scheme}://{request.headers['host']}" for scheme in ("http", "https")):
        raise Refusal("another site has sent this request; use the table's own page", 403)
    if request.headers.get("sec-fetch-site") in FOREIGN:
        raise Refusal("another site has sent this request; use the table's own page", 403)
    if session is None or not same(request.headers.get(TOKEN), session.token):
        raise Refusal("this page is not signed in, or no longer; reload it", 403)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal("the content is not JSON; send Content-Type: application/json", 415)


async def _read(request: Request) -> dict[str, Any]:
    """Returns the JSON object of a POST."""
    too_large = Refusal(f"a message has at most {BODY_BYTES:,} bytes", 413)
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > BODY_BYTES:
        raise too_large
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > BODY_BYTES:
                    raise too_large
    except TimeoutError:
        raise Refusal("the message took too long to arrive; try again", 408) from None
    try:
        said = parse_json(body or b"{}")
    except KilleError:
        said = None
    if not isinstance(said, dict):
        raise Refusal('the content is no JSON object, such as {"version": 3, "action": 1}', 400)
    return said


def _come_again(request: Request) -> Response:
    """Answers a page that a link on another site has opened: browsers hold the cookie back then.

    The page that is sent asks for the same address again by itself, now with the cookie. So a link
    in a message neither makes a second session nor costs the first its seat. Nothing but pages is
    given to other sites.
    """
    if request.headers.get("sec-fetch-mode") != "navigate":
        raise Refusal("another site has sent this request; use the table's own page", 403)
    url = "/" + quote(request.url.path.lstrip("/"))  # "//name" would be another site
    url += f"?{request.url.query}" if request.url.query else ""
    return page("message.html.j2", title="Kille", sentence="One moment.", again=url)


def refused(request: Request, error: KilleError) -> Response:
    """Returns the answer to a request that is refused: a page for a browser, JSON for a script."""
    status = error.status if isinstance(error, Refusal) else 400
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return page("message.html.j2", status, title="Kille", sentence=str(error), again="")
    return JSONResponse({"error": str(error)}, status)


def own_names() -> set[str]:
    """Returns the names by which other machines may know this one."""
    name = socket.gethostname()
    return {name, f"{name}.local", socket.getfqdn()}


def _host_name(host: str) -> str:
    """Returns the name or address in a Host header, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    """Returns whether a name is an address in numbers, which no other site's name can be."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
