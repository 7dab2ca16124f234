"""The server: one person, one token, this machine alone."""

import asyncio
import json
import threading
from contextlib import contextmanager
from dataclasses import replace

import httpx
import numpy as np
import pytest

from kille_agents.catalog import as_policy
from kille_env.errors import KilleError, PolicyError
from kille_env.play.policy import UniformPolicy
from kille_env.registry import list_games, spec
from kille_training.table import online, server
from kille_training.table.lineup import matches_of
from kille_training.table.online import read_order
from reference.served import served


@pytest.mark.parametrize("game", list_games())
def test_the_start_page_says_how_long_a_match_is(game):
    rules = spec(game).resolve({"episode": "match"})
    steady = as_policy("rule_of_thumb", game, 4, rules)
    played = [len(m["deals"]) for m in matches_of(game, rules, [steady] * 4, range(200))]
    least, most, _ = server.MATCHES[game]
    assert [least, most] == np.percentile(played, [10, 90], method="nearest").tolist()
    assert server._length(2, 3, 1) == "2 to 3 deals, about 1 minute"
    assert server._length(1, 1, 6) == "1 deal, about 6 minutes"


@contextmanager
def at_home(*options):
    """Run a server beside this thread; yields its house and a browser that has the token."""
    with (
        served(*options) as (url, house),
        httpx.Client(base_url=url, headers={"origin": url}, timeout=120) as browser,
    ):
        browser.get("/", params={"token": house.token}, follow_redirects=True)
        yield house, browser


@pytest.fixture(scope="module")
def table():
    with at_home() as (house, browser):
        assert browser.post("/new", json={"game": "byteskille", "seed": 3}).status_code == 200
        yield house, browser


def news(browser, since="", most=400):
    """Yield the states of a stream."""
    with browser.stream("GET", f"/events{since}") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: {"):
                yield json.loads(line[6:])


def test_a_match_is_played_over_the_stream(table):
    house, browser = table
    results = None
    for state in news(browser):
        if state["over"]:
            results = state["results"]
            break
        if state["asked"]:
            body = {"version": state["version"], "action": state["asked"]["choices"][0]["action"]}
            assert browser.post("/act", json=body).status_code == 200
    assert results is not None and results["rows"]
    assert [record["names"][0] for record in house.table.records()] == ["You"]
    replay = browser.get("/replay").text
    assert "<title>Byteskille</title>" in replay and 'href="/table"' in replay
    assert browser.post("/again", json={}).status_code == 200


def test_a_cold_start_shows_the_table_before_anything_is_compiled(monkeypatch):
    """Rules and cards are there while nothing of the game runs yet."""
    compiled, sit_down = threading.Event(), online.Sitting
    monkeypatch.setattr(online, "Sitting", lambda *a, **k: compiled.wait() and sit_down(*a, **k))
    with at_home() as (_, browser):
        browser.post("/new", json={"game": "knack", "players": 3, "seed": 1})
        page = browser.get("/table").text
        first = next(news(browser))
        assert "Opening the table" in page and "The dealer pays for each trick" in page
        assert (first["preparing"], first["asked"]) == (True, None)
        compiled.set()
        asked = next(state for state in news(browser) if state["asked"])
        assert asked["frames"] and not asked["preparing"]


def test_an_order_that_is_refused_leaves_the_table_alone():
    async def play():
        house = server.House()
        house.set_up(read_order({"game": "byteskille", "seed": 3}))
        table = house.table
        trained = {"opponents": ["byteskille/trained"], "rules": {"preset": "wikipedia"}}
        with pytest.raises(PolicyError, match="does not fit this table"):
            house.set_up(read_order({"game": "byteskille", **trained}))
        async with asyncio.timeout(60):
            while not (table.asked or table.over or table.failed):
                await asyncio.sleep(0.01)
        assert house.table is table and not table.failed
        house.close()

    asyncio.run(play())


@pytest.mark.parametrize(
    ("changed", "go_on", "goes"),
    [
        ({}, True, True), ({}, False, False), ({"opponents": ["uniform"]}, True, True),
        ({"game": "byteskille"}, True, True), ({"game": "byteskille"}, False, False),
    ],
)  # fmt: skip
def test_a_command_goes_on_with_whatever_match_waits(tmp_path, changed, go_on, goes):
    async def asked(house):
        async with asyncio.timeout(60):
            while not house.table.asked:
                assert not house.table.failed and not house.table.over
                await asyncio.sleep(0.01)
        return house.table.asked

    async def play():
        said = {"game": "knack", "players": 3, "rules": {"episode": "match"}}
        house = server.House(tmp_path)
        house.set_up(read_order({**said, "seed": 1}))
        before = await asked(house)
        house.close()
        house = server.House(tmp_path)
        house.set_up(read_order({**said, **changed, "seed": 2}), go_on=go_on)
        after = await asked(house)
        assert (house.table.order.seed, after == before) == ((1, True) if goes else (2, False))
        house.close()

    asyncio.run(play())


def test_a_match_against_a_player_that_is_gone_is_not_replaced(tmp_path):
    made = read_order({"game": "knack", "players": 2, "seed": 1})

    async def play():
        house = server.House(tmp_path)
        house.set_up(replace(made, opponents=("gone.npz",)), [UniformPolicy()])
        async with asyncio.timeout(60):
            while not house.table.asked:
                await asyncio.sleep(0.01)
        house.close()
        with pytest.raises(KilleError, match=r"a match of knack waits, but .*gone.npz"):
            server.House(tmp_path).set_up(made, go_on=True)

    asyncio.run(play())


def test_pages_say_who_plays_what(table):
    _, browser = table
    assert "Byteskille" in browser.get("/").text
    page = browser.get("/table").text
    assert "Everybody holds one card" in page and 'href="#card-KI"' in page


@pytest.mark.parametrize("path", ["/", "/table", "/events", "/static/table.js"])
def test_without_the_token_nothing_is_given(table, path):
    _, browser = table
    stranger = httpx.get(f"{browser.base_url}{path}", headers={"accept": "text/html"})
    assert stranger.status_code == 403 and "open the address" in stranger.text.lower()
    assert httpx.get(f"{browser.base_url}/?token=wrong").status_code == 403


@pytest.mark.parametrize(
    ("status", "headers", "content"),
    [
        *((403, {"host": host}, b"{}") for host in ("evil.example", "evil.example:8765")),
        *((403, {"origin": origin}, b"{}") for origin in ("https://evil.example", "")),
        (415, {"content-type": "text/plain"}, b"{}"),
        (413, {}, b"x" * 20_000),
        *((400, {}, text) for text in (b"", b"[]", b"{", b'{"version": "x"}', b'{"version": -1}')),
    ],
)
def test_forged_large_and_odd_messages_are_refused(table, status, headers, content):
    _, browser = table
    sent = {"content-type": "application/json", **headers}
    assert browser.post("/act", content=content, headers=sent).status_code == status


def test_every_answer_has_the_headers_that_protect_it(table):
    _, browser = table
    for path in ("/", "/table", "/static/table.js", "/nothing"):
        answer = browser.get(path)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert browser.get("/static/../server.py").status_code == 404


def test_a_sign_of_life_comes_a_fixed_time_after_what_was_sent():
    """What wakes a stream without being told to it, a decision in secret, moves no sign of life."""
    with at_home(None, 0, 0.6) as (house, browser):
        browser.post("/new", json={"game": "krypkille", "players": 2, "seed": 1})
        stop = threading.Event()

        def wake():
            while not stop.wait(0.05):
                if house.table is not None:
                    house.table.tell()

        threading.Thread(target=wake, daemon=True).start()
        with browser.stream("GET", "/events") as stream:
            for line in stream.iter_lines():
                if line.startswith(": still here"):
                    break
        stop.set()


def test_the_token_and_the_match_outlive_the_server(tmp_path):
    with at_home(tmp_path) as (house, browser):
        token = house.token
        browser.post("/new", json={"game": "knack", "players": 3, "seed": 1})
        asked = next(state["asked"] for state in news(browser) if state["asked"])
    with at_home(tmp_path) as (house, browser):
        assert house.token == token
        assert "Continue: " in browser.get("/").text
        assert next(state["asked"] for state in news(browser) if state["asked"]) == asked


def test_a_port_in_use_is_left_alone():
    first = server.listen(0)
    with first, server.listen(first.getsockname()[1]) as second:
        assert second.getsockname()[1] != first.getsockname()[1]


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True), ("localhost:8765", True), ("127.0.0.1:1", True), ("[::1]:8765", True),
        ("10.0.0.1:8765", False), ("example.org", False), ("", False),
    ],
)  # fmt: skip
def test_what_only_this_machine_reaches(host, here):
    assert server.is_loopback(host) == here


def test_the_command_serves_a_table_and_writes_its_matches(kille, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    opened = []

    def browse(url):
        opened.append(url)

        def play():
            base = url.partition("/?")[0]
            with httpx.Client(base_url=base, headers={"origin": base}, timeout=120) as browser:
                browser.get(url, follow_redirects=True)
                for state in news(browser):
                    if state["asked"]:
                        action = state["asked"]["choices"][0]["action"]
                        body = {"version": state["version"], "action": action}
                        browser.post("/act", json=body)
                    if state["over"]:
                        break
            running[0].should_exit = True

        threading.Thread(target=play, daemon=True).start()

    running = []
    made = server.Server.__init__

    def init(self, *arguments):
        made(self, *arguments)
        running.append(self)

    monkeypatch.setattr(server.Server, "__init__", init)
    monkeypatch.setattr(server, "open_browser", browse)
    out = tmp_path / "mine.jsonl"
    printed = kille("play", "byteskille", "--web", "--seed", 3, "--out", out)
    assert opened and "Your table: http://127.0.0.1:" in printed.out
    assert len(out.read_text().splitlines()) == 1


def test_an_order_of_the_page_plays_what_it_says():
    made = read_order({"game": "knack", "players": 3, "opponents": ["uniform"], "seed": 1})
    assert read_order(made.as_dict()) == made
