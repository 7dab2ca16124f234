"""What the tests of the web table share: a server on a free port, and browsers without pictures."""

import asyncio
import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx

from kille_env.policy import Player
from kille_env.registry import spec
from kille_training.web.app import House, application
from kille_training.web.orders import Order
from kille_training.web.serving import listen, make_server
from kille_training.web.tables import Lineup, Table

PATIENCE = 60.0
"""Seconds after which a test gives up waiting."""


class Served:
    """A server in a thread, and its state."""

    def __init__(self, join: str | None = None, clock: Callable[[], float] | None = None) -> None:
        """Serve by a clock; by default each look at it is a second later, so no bound is met."""
        clock = clock or partial(next, itertools.count())
        self.house = House(join, clock=clock)
        self._socket = listen(port=0)
        self.address: tuple[str, int] = self._socket.getsockname()
        self.url = f"http://127.0.0.1:{self.address[1]}"
        self._ready = threading.Event()
        self._browsers: list[Browser] = []
        self._loop: asyncio.AbstractEventLoop | None = None

        async def prepare() -> None:
            self._loop = asyncio.get_running_loop()

        self._server = make_server(
            application(self.house), prepare, self._ready.set, self.house.hall.close
        )
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))

    def __enter__(self) -> "Served":
        self._thread.start()
        assert self._ready.wait(PATIENCE)
        return self

    def __exit__(self, *error: object) -> None:
        for browser in self._browsers:
            browser.http.close()
        self._server.should_exit = True
        self._thread.join()

    def browser(self, path: str = "/") -> "Browser":
        """Opens a page in a browser that the server does not know yet."""
        self._browsers.append(Browser(self.url, path))
        return self._browsers[-1]

    def do(self, call: Callable[[], Any]) -> Any:
        """Returns what `call` returns, or the awaitable that it returns, in the server's loop."""

        async def called() -> Any:
            result = call()
            return await result if asyncio.iscoroutine(result) else result

        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(called(), self._loop).result(PATIENCE)

    def table(self, game: str, players: list[Player | None]) -> Table:
        """Makes a table with these players; None is a seat for people."""
        seats = tuple(seat for seat, player in enumerate(players) if player is None)
        rules = spec(game).resolve()
        names = tuple("uniform" for player in players if player is not None)
        made = Order(game, len(players), seats[:1], seats[1:], names, rules, seed=3)

        def make() -> Table:
            lineup = Lineup(players, [""] * len(players), {})
            table = Table(f"own-{len(self.house.hall.tables)}", made, lineup)
            self.house.hall.tables[table.name] = table
            return table

        return self.do(make)


class Browser:
    """A browser without pictures: a session, its token, and what a page would send."""

    def __init__(self, url: str, path: str = "/") -> None:
        self.http = httpx.Client(base_url=url, headers={"origin": url}, timeout=PATIENCE)
        page = self.http.get(path, headers={"accept": "text/html"}, follow_redirects=True)
        assert page.status_code == 200, page.text
        self.page = page
        found = re.search(r'data-token="([^"]+)"', page.text)
        assert found is not None
        self.token = found[1]

    def post(self, path: str, said: Any = None, **headers: str) -> httpx.Response:
        """Sends what a page sends."""
        return self.http.post(
            path, json=said or {}, headers={"x-kille-token": self.token, **headers}
        )

    def make(self, game: str = "byteskille", **order: Any) -> str:
        """Makes a table, with the same cards each time for a person alone; returns its address."""
        if not {"people", "yours"} & set(order):
            order = {"seed": 3, **order}
        answer = self.post("/tables", {"game": game, **order})
        assert answer.status_code == 201, answer.text
        return f"/tables/{answer.json()['id']}"

    def state(self, table: str, since: int | None = None) -> dict[str, Any]:
        """Returns how a table stands."""
        query = "" if since is None else f"?since={since}"
        answer = self.http.get(f"{table}/state{query}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def until(
        self, table: str, enough: Callable[[dict[str, Any]], Any], since: int | None = None
    ) -> dict[str, Any]:
        """Returns the first state of a table with which `enough` is content."""
        end, pause = time.monotonic() + PATIENCE, 0.005
        while not enough(state := self.state(table, since)):
            assert time.monotonic() < end, state
            time.sleep(pause)
            pause = min(2 * pause, 0.1)
        return state

    def asked(self, table: str, since: int | None = None) -> dict[str, Any]:
        """Waits until the person is asked or the match is over, and returns the state."""
        return self.until(table, lambda state: state["choices"] or _has_ended(state), since)

    def act(self, table: str, state: dict[str, Any], number: int = 0) -> httpx.Response:
        """Plays one of the choices of a state."""
        action = state["choices"][number]["action"]
        return self.post(f"{table}/act", {"version": state["version"], "action": action})

    @contextmanager
    def listening(self, table: str, since: int = -1) -> Iterator[Iterator[dict[str, Any]]]:
        """Opens the event stream of a table, and yields its events."""
        url = f"{table}/events?since={since}"
        with self.http.stream("GET", url) as answer:
            assert answer.status_code == 200
            yield _events(answer.iter_lines())


def _has_ended(state: dict[str, Any]) -> bool:
    return state["match"] > 0 and (state["over"] or state["failed"])


def _events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    kind = ""
    for line in lines:
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield {"event": kind, **json.loads(line.removeprefix("data: "))}
