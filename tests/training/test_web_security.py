"""The web table under attack: nobody sees or does what is not theirs, and nobody floods it."""

import itertools
import re
import socket
from typing import Any

import httpx
import pytest

from kille_env.errors import KilleError
from kille_env.policy import UniformPolicy
from kille_training.web import guard, hall, limits
from kille_training.web.guard import own_names
from kille_training.web.limits import (
    BODY_BYTES,
    NEWCOMERS_AT_ONCE,
    REQUESTS_AT_ONCE,
    REQUESTS_PER_SECOND,
)
from kille_training.web.serving import is_loopback, listen
from web_tables import PATIENCE, Browser, Served


@pytest.fixture(scope="module")
def served():
    with Served() as server:
        yield server


@pytest.fixture
def ada(served):
    return served.browser()


@pytest.fixture
def eve(served):
    return served.browser()


def cards_in(state) -> set[str]:
    """Returns the codes of all cards that a state shows, in its pictures or its texts."""
    text = str(state)
    return set(re.findall(r"#card-(\w+)", text)) - {"back"}


def test_nobody_sees_the_cards_of_others(served, ada, eve):
    table = ada.make("knack", players=3, people=1, rules={"episode": "deal"})
    seat = {0: ada, 1: eve}
    assert eve.post(f"{table}/sit", {"seat": 1}).status_code == 200
    sitting = served.house.hall.tables[table.split("/")[-1]]
    looked = 0
    while not ada.state(table)["over"]:
        if not any(one.state(table)["choices"] for one in seat.values()):
            continue  # a player plays, and the table may change while we look
        states = {number: one.state(table) for number, one in seat.items()}
        batch = sitting.sitting.batch
        for number, state in states.items():
            view = batch.game.view(batch.tables[0], batch.rules, number)
            known = {
                batch.spec.pack.code(card.face)
                for one in view.seats
                for card in (*one.hand, *one.played)
                if card.face is not None
            } | {batch.spec.pack.code(pile.top) for pile in view.piles if pile.top is not None}
            assert cards_in(state["frames"][-1]) <= known
            looked += 1
        asked = [number for number, state in states.items() if state["to_act"] == number]
        for number in asked:
            assert not states[1 - number]["choices"]
            seat[number].act(table, states[number])
    assert looked > 4


def test_an_onlooker_sees_no_cards_and_no_seed(ada, eve):
    table = ada.make("knack")
    ada.asked(table)
    state = eve.state(table)
    assert (state["frames"], state["view"], state["choices"], state["seed"]) == ([], None, [], None)
    assert "hand" not in str(state["question"])
    with eve.listening(table) as events:
        assert next(events)["frames"] == []
    assert eve.http.get(f"{table}/record").status_code == 403
    for what in ("hint", "undo", "again"):
        assert eve.post(f"{table}/{what}", {"version": state["version"]}).status_code == 403


def test_nobody_acts_for_another_seat(ada, eve):
    table = ada.make("knack", players=3, people=1)
    assert eve.post(f"{table}/sit", {"seat": 1}).status_code == 200
    both = {0: ada, 1: eve}
    states = {seat: one.state(table) for seat, one in both.items()}
    while not any(state["choices"] for state in states.values()):
        states = {seat: one.state(table) for seat, one in both.items()}
    (asked,) = (seat for seat, state in states.items() if state["choices"])
    action, other = states[asked]["choices"][0]["action"], 1 - asked
    for version in {state["version"] for state in states.values()}:
        refused = both[other].post(f"{table}/act", {"version": version, "action": action})
        assert refused.status_code == 409
        assert re.search("not your turn|moved on", refused.json()["error"])
    assert both[asked].state(table) == states[asked]
    assert both[asked].act(table, states[asked]).status_code == 200


def test_a_seat_is_taken_once(ada, eve):
    table = ada.make("knack", players=3, people=1)
    for seat, sentence in ((0, "somebody else has taken seat 0; free are seat 1"),
                           (2, "seat 2 is not for people; free are seat 1")):  # fmt: skip
        refused = eve.post(f"{table}/sit", {"seat": seat})
        assert (refused.status_code, refused.json()["error"]) == (409, sentence)
    assert ada.state(table)["waiting"] == 1


def test_nobody_changes_to_another_seat_in_a_match(ada, eve):
    table = ada.make("knack", players=3, people=1)
    eve.post(f"{table}/sit", {"seat": 1})
    eve.until(table, lambda state: state["frames"])
    ada.post(f"{table}/leave")
    eve.post(f"{table}/leave")
    refused = eve.post(f"{table}/sit", {"seat": 0})
    assert (refused.status_code, "you have seen the cards of seat 1" in refused.text) == (409, True)
    assert eve.post(f"{table}/sit", {"seat": 1}).status_code == 200


def test_a_stale_or_repeated_click_plays_nothing(ada):
    table = ada.make("knack", players=2)
    state = ada.asked(table)
    assert ada.act(table, state).status_code == 200
    later = ada.asked(table)
    repeated = ada.act(table, state)
    assert (repeated.status_code, "moved on" in repeated.json()["error"]) == (409, True)
    assert ada.state(table) == later
    illegal = ada.post(f"{table}/act", {"version": later["version"], "action": 99})
    assert illegal.status_code == 400
    assert ada.state(table) == later


def test_the_seed_of_several_people_is_secret_and_follows_from_none(ada, eve):
    table = ada.make("knack", players=2, people=1, opponents=[], rules={"episode": "deal"})
    eve.post(f"{table}/sit", {"seat": 1})
    for one in (ada, eve):
        assert one.state(table)["seed"] is None
    for _ in range(2):
        while not ada.state(table)["over"]:
            for one in (ada, eve):
                if (state := one.state(table))["choices"]:
                    one.act(table, state)
        one = ada.post(f"{table}/again", {"version": ada.state(table)["version"]})
        assert one.status_code == 200
    first, second = (result["seed"] for result in ada.state(table)["results"])
    assert abs(second - first) > 1
    refused = ada.post("/tables", {"game": "knack", "people": 1, "seed": 3})
    assert (refused.status_code, "a seed tells the cards" in refused.text) == (400, True)


def test_several_people_take_nothing_back(served, ada, eve):
    refused = ada.post("/tables", {"game": "knack", "people": 1, "practice": True})
    assert (refused.status_code, "one person alone" in refused.text) == (400, True)


FORGED = {
    "no token": ({"x-kille-token": ""}, 403),
    "a wrong token": ({"x-kille-token": "x" * 43}, 403),
    "a foreign origin": ({"origin": "https://example.com"}, 403),
    "no origin of a page": ({"origin": "null"}, 403),
    "another port's origin": ({"origin": "http://127.0.0.1:1"}, 403),
    "a foreign name": ({"host": "example.com", "origin": "http://example.com"}, 403),
    "a name that looks like an address": ({"host": "127.0.0.1.example.com"}, 403),
    "a form": ({"content-type": "application/x-www-form-urlencoded"}, 415),
    "a text": ({"content-type": "text/plain"}, 415),
    "no content type": ({"content-type": ""}, 415),
    "another site": ({"sec-fetch-site": "cross-site"}, 403),
    "another port": ({"sec-fetch-site": "same-site"}, 403),
    "no cookie": ({"cookie": "kille=guess"}, 403),
}


@pytest.mark.parametrize("forged", FORGED)
def test_forged_requests_are_refused(ada, forged):
    table = ada.make("knack", players=2)
    state = ada.asked(table)
    headers, status = FORGED[forged]
    said = {"version": state["version"], "action": state["choices"][0]["action"]}
    answer = ada.post(f"{table}/act", said, **headers)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert ada.state(table) == state


def test_the_token_of_another_session_is_no_token(ada, eve):
    table = ada.make("knack", players=2)
    state = ada.asked(table)
    eve.token, own = ada.token, eve.token
    assert eve.act(table, state).status_code == 403
    eve.token = own
    assert eve.act(table, state).status_code == 403  # signed in, but without a seat


@pytest.mark.parametrize("path", ["/", "/tables/x/state", "/static/table.js"])
def test_a_foreign_name_gets_nothing(ada, path):
    answer = ada.http.get(path, headers={"host": "example.com"})
    assert (answer.status_code, "not known by this name" in answer.text) == (403, True)


def test_other_sites_get_a_page_that_asks_again_and_nothing_else(ada):
    table = ada.make("knack")
    for site in guard.FOREIGN:
        headers = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}
        assert ada.http.get(f"{table}/state", headers=headers).status_code == 403
        assert ada.http.get(f"{table}/events", headers=headers).status_code == 403
        page = ada.http.get(f"{table}?a=b", headers={**headers, "sec-fetch-mode": "navigate"})
        assert (page.status_code, page.headers.get("set-cookie")) == (200, None)
        assert f'content="0; url={table}?a=b"' in page.text
        assert ada.token not in page.text
        away = ada.http.get("//example.com", headers={**headers, "sec-fetch-mode": "navigate"})
        assert "url=//" not in away.text


def test_every_answer_has_the_headers_that_protect_it(ada):
    table = ada.make("knack")
    for path in ("/", table, f"{table}/state", "/static/table.js", "/nothing", "/tables/x"):
        headers = ada.http.get(path).headers
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
    cookie = httpx.get(f"{ada.http.base_url}").headers["set-cookie"].lower()
    for word in ("httponly", "samesite=strict", "path=/"):
        assert word in cookie


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"x" * (BODY_BYTES + 1), 413),
        (b"[" * 10_000, 400),
        (b"[1]", 400),
        (b'{"version": "one"}', 400),
        (b'{"version": true, "action": 0}', 400),
        (b'{"version": 1e400}', 400),
        (b"\xff", 400),
    ],
)
def test_messages_are_checked(ada, content, status):
    table = ada.make("knack", players=2)
    headers = {"x-kille-token": ada.token, "content-type": "application/json"}
    for body in (content, iter([content])):  # with a length, and without
        answer = ada.http.post(f"{table}/act", content=body, headers=headers)
        assert (answer.status_code, bool(answer.json()["error"])) == (status, True)


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ({"game": "poker"}, "there is no game 'poker'"),
        ({"game": ["knack"]}, "there is no game"),
        ({"game": "knack", "players": 40}, "knack is played by"),
        ({"game": "knack", "players": "4"}, "num_players is '4'"),
        ({"game": "knack", "yours": [9]}, "the seats are 9"),
        ({"game": "knack", "yours": [0, 0]}, "the seats are 0 and 0"),
        ({"game": "knack", "yours": []}, "a table needs a seat for a person"),
        ({"game": "knack", "yours": 0}, "expected a list"),
        ({"game": "knack", "opponents": ["uniform"] * 9}, "name one for all of them"),
        ({"game": "knack", "opponents": ["/etc/passwd"]}, "there is no player"),
        ({"game": "knack", "opponents": ["os:system"]}, "there is no player"),
        ({"game": "knack", "opponents": ["llm:any"]}, "there is no player"),
        ({"game": "knack", "opponents": [{}]}, "there is no player"),
        ({"game": "knack", "rules": {"nothing": 1}}, "knack has no switch"),
        ({"game": "knack", "rules": []}, "no object of switches"),
        ({"game": "knack", "practice": 1}, "expected true or false"),
        ({"game": "knack", "seed": -1}, "a seed is -1"),
        ({"game": "knack", "trust": True}, "an order has no 'trust'"),
        ({"game": "knack", "name": "x" * 99}, "a name has 1 to"),
        ({"game": "knack", "name": ["x"]}, "expected a text"),
    ],
)  # fmt: skip
def test_orders_are_checked(ada, order, sentence):
    answer = ada.post("/tables", order)
    assert (answer.status_code, sentence in answer.json()["error"]) == (400, True), answer.text


def test_too_many_requests_wait():
    now = [0.0]
    with Served(clock=lambda: now[0]) as server:
        ada, eve = server.browser(), server.browser()

        def asked(times: int) -> list[int]:
            return [ada.http.get("/tables/x/state").status_code for _ in range(times)]

        assert set(asked(int(REQUESTS_AT_ONCE))) == {404}
        assert asked(2) == [429, 429]
        assert eve.http.get("/").status_code == 200
        now[0] = 1.0
        assert set(asked(int(REQUESTS_PER_SECOND))) == {404}
        assert asked(1) == [429]


def test_too_many_newcomers_wait():
    with Served(clock=lambda: 0.0) as server:
        known = server.browser()  # the first newcomer
        with httpx.Client(base_url=server.url) as newcomer:
            answers = []
            for _ in range(int(NEWCOMERS_AT_ONCE)):
                newcomer.cookies.clear()
                answers.append(newcomer.get("/tables/x/state").status_code)
        assert answers == [403] * (int(NEWCOMERS_AT_ONCE) - 1) + [429]
        assert known.http.get("/").status_code == 200


def test_too_many_streams_are_refused(ada, monkeypatch):
    monkeypatch.setattr(hall, "STREAMS_PER_SESSION", 1)
    table = ada.make("knack")
    with ada.listening(table) as events:
        next(events)
        refused = ada.http.get(f"{table}/events")
        assert (refused.status_code, "close one" in refused.text) == (429, True)


@pytest.mark.parametrize("path", ["/tables/none", "/tables/none/state", "/tables/none/record"])
def test_a_table_that_is_none(ada, path):
    answer = ada.http.get(path)
    assert (answer.status_code, "list of tables" in answer.text) == (404, True)
    page = ada.http.get(path, headers={"accept": "text/html"})
    assert page.headers["content-type"].startswith("text/html")


def test_static_files_are_those_of_the_folder(ada):
    for path in ("/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py"):
        assert ada.http.get(path).status_code == 404


def test_other_methods_are_refused(ada):
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert ada.http.request(method, "/").status_code == 405


def test_a_table_for_others_needs_the_link():
    with Served(join="secret-word") as server:
        for path in ("/", "/?join=wrong", "/?join="):
            answer = httpx.get(server.url + path, headers={"accept": "text/html"})
            assert (answer.status_code, "?join=" in answer.text) == (403, True)
            assert "set-cookie" not in answer.headers
        with httpx.Client(base_url=server.url, timeout=PATIENCE) as newcomer:
            assert newcomer.get("/tables/x/state").status_code == 403
        guest = server.browser("/?join=secret-word")
        assert guest.page.url.path == "/"
        assert not guest.page.url.query
        assert guest.http.get(guest.make("knack")).status_code == 200


def test_a_ticket_seats_once(served):
    table = served.table("knack", [None, None])
    ticket = served.house.issue(table, "Ada")
    first = Browser(served.url, f"/?ticket={ticket}")
    second = Browser(served.url, f"/?ticket={ticket}")
    assert first.page.url.path == f"/tables/{table.name}"
    assert first.state(f"/tables/{table.name}")["you"] == [0]
    assert second.page.url.path == "/"
    assert second.state(f"/tables/{table.name}")["you"] == []
    for one in (first, second):
        one.http.close()


def test_a_port_in_use_is_said_to_be():
    with listen(port=0) as taken:
        taken.listen()
        with pytest.raises(KilleError, match=r"in use.*--port"):
            listen(port=taken.getsockname()[1])
    with pytest.raises(KilleError, match="--host takes an address of this machine"):
        listen("203.0.113.1", 0)


def test_what_only_this_machine_reaches():
    assert all(map(is_loopback, ("127.0.0.1", "::1", "localhost", "127.3.2.1")))
    assert not any(map(is_loopback, ("0.0.0.0", "192.168.1.2", "example.com", "::")))
    assert own_names()


@pytest.mark.parametrize(
    "before", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"], ids=["first", "second"]
)
def test_a_connection_that_asks_for_nothing_is_closed(before, monkeypatch):
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.2)
    with (
        Served() as server,
        socket.create_connection(server.address, timeout=PATIENCE) as silent,
    ):
        silent.sendall(before)
        answered = silent.recv(1 << 16) if before else b""
        assert answered.startswith(b"HTTP/1.1 200" if before else b"")
        silent.sendall(b"GET / HTTP/1.1\r\n")
        while silent.recv(1 << 16):
            pass


def test_events_do_not_tell_that_somebody_is_asked_in_secret(served, ada):
    """Each event shows something new: a gok holder who is asked and waits adds none."""
    table = served.table("byteskille", [None, *[UniformPolicy()] * 3])
    path = f"/tables/{table.name}"
    secret = 0
    with ada.listening(path) as events:
        next(events)
        assert ada.post(f"{path}/sit", {"seat": 0}).status_code == 200
        versions = [(0, 0)]
        for _ in range(40):  # single deals, most of them without a gok that waits
            state: dict[str, Any] = {}
            for state in events:
                assert not state["failed"]
                if state["choices"]:
                    assert ada.act(path, state).status_code == 200
                if state["match"] > 0 and state["version"] > 0:
                    versions.append((state["match"], state["version"]))
                if state["over"] and state["results"]:
                    break
            match = table.records()[-1]
            secret += sum(text == "wait" for deal in match["deals"] for _, text in deal["actions"])
            if secret >= 3:
                break
            ada.post(f"{path}/again", {"version": state["version"]})
    assert secret >= 3
    again = [before for before, after in itertools.pairwise(versions) if after <= before]
    assert not again
