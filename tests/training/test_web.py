"""The web table as people use it: sitting down, playing, coming back, several at one table."""

import asyncio
import threading
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

from kille_env.policy import UniformPolicy
from kille_env.records import parse_record, read_records, replay
from kille_env.registry import spec
from kille_training.people.sitting import Sitting
from kille_training.web import app, hall, limits, states, tables
from kille_training.web.limits import Refusal
from kille_training.web.states import State
from web_tables import PATIENCE, Browser, Served

DEAL = {"episode": "deal"}


@pytest.fixture(scope="module")
def served():
    with Served() as server:
        yield server


@pytest.fixture
def ada(served):
    return served.browser()


@pytest.fixture
def bo(served):
    return served.browser()


class Slow(UniformPolicy):
    """Thinks until it is let go."""

    def __init__(self):
        self.asked, self.go = threading.Event(), threading.Event()

    def probabilities(self, observation, mask):
        self.asked.set()
        self.go.wait()
        return super().probabilities(observation, mask)


class Broken(UniformPolicy):
    name = "broken"

    def probabilities(self, observation, mask):
        raise RuntimeError("out of cards")


def test_a_match_from_the_first_click_to_its_record(ada, game):
    table = ada.make(game, rules=DEAL, name="Ada", seed=7)
    state = ada.asked(table)
    assert (state["you"], state["view"], state["seed"]) == ([0], 0, 7)
    assert [seat["person"] for seat in state["seats"]].count(True) == 1
    assert "rule_of_thumb" in state["seats"][1]["about"]
    while not state["over"]:
        assert state["to_act"] == 0
        assert ada.act(table, state).json()["version"] > state["version"]
        state = ada.asked(table, state["version"])
        assert state["frames"][-1]["version"] == state["version"]
    (result,) = state["results"]
    assert (result["match"], result["seed"], len(result["returns"])) == (1, 7, len(state["seats"]))
    answer = ada.http.get(f"{table}/record")
    assert "attachment" in answer.headers["content-disposition"]
    record = parse_record(answer.text.strip())
    assert record["names"][0] == "Ada"
    assert replay(record).differences == []


def test_another_match_has_the_next_seed(ada):
    table = ada.make("knack", rules=DEAL, players=2, seed=7)
    state = ada.asked(table)
    refused = ada.post(f"{table}/again", {"version": state["version"]})
    assert (refused.status_code, "still being played" in refused.text) == (409, True)
    for match in (1, 2):
        state = ada.asked(table)
        while not state["over"]:
            ada.act(table, state, -1)
            state = ada.asked(table)
        assert (state["match"], state["records"], state["seed"]) == (match, match, 6 + match)
        assert ada.post(f"{table}/again", {"version": state["version"]}).status_code == 200
    lines = ada.http.get(f"{table}/record").text.splitlines()
    assert [parse_record(line)["seed"] for line in lines] == [7, 8]


def test_the_balance_counts_matches_that_a_page_shows_no_longer(ada, monkeypatch):
    monkeypatch.setattr(states, "RESULTS", 1)
    monkeypatch.setattr(tables, "MATCHES", 1)
    table = ada.make("knack", rules=DEAL, seed=7)
    state, sum_of_all = ada.asked(table), 0.0
    assert state["balance"] is None
    for match in (1, 2, 3):
        while not state["over"]:
            ada.act(table, state)
            state = ada.asked(table)
        assert [result["match"] for result in state["results"]] == [match]
        sum_of_all += state["results"][0]["returns"][0]
        assert state["balance"] == pytest.approx(sum_of_all)
        ada.post(f"{table}/again", {"version": state["version"]})
        state = ada.asked(table)


def test_a_reload_shows_the_same_table(ada):
    table = ada.make("krypkille")
    state = ada.asked(table)
    again = ada.state(table)
    assert again == state
    assert ada.http.get(table).status_code == 200
    assert ada.state(table, state["version"]) == {**state, "frames": []}


def test_a_lost_stream_goes_on_where_it_stopped(ada):
    table = ada.make("knack", players=2)
    state = ada.asked(table)
    with ada.listening(table) as events:
        first = next(events)
        assert first["frames"][-1]["version"] == state["version"]
    state = ada.asked(table)
    assert ada.act(table, state, 0).status_code == 200  # nobody listens
    later = ada.asked(table, state["version"])
    with ada.listening(table, state["version"]) as events:
        seen = [frame["version"] for frame in next(events)["frames"]]
    assert seen == list(range(state["version"] + 1, later["version"] + 1))
    assert [frame["version"] for frame in later["frames"]] == seen


def test_who_was_away_for_too_long_sees_how_the_table_stands(ada):
    table = ada.make("knack", players=2)
    state = ada.asked(table)
    for since in (None, state["version"] + 9):
        (frame,) = ada.state(table, since)["frames"]
        assert (frame["version"], frame["moves"]) == (state["version"], [])


def test_who_comes_back_is_told_what_has_happened_in_the_deal(ada):
    table = ada.make("knack", players=4, practice=True, rules=DEAL)
    state = ada.asked(table)
    told = [state["frames"][-1]["lines"]]
    assert told[0][0].startswith("Deal 1: ")
    assert any(line.startswith("You get ") for line in told[0])
    ada.act(table, state)
    later = ada.asked(table, state["version"])
    told += [frame["lines"] for frame in later["frames"]]
    (anew,) = ada.state(table)["frames"]
    assert anew["lines"] == [line for lines in told for line in lines]
    ada.post(f"{table}/undo", {"version": later["version"]})
    assert ada.asked(table)["frames"][-1]["lines"] == told[0]


def test_long_news_come_in_parts(served, ada):
    table = ada.make("knack", players=2)
    state = ada.asked(table)
    (place,) = served.house.hall.tables[table.split("/")[-1]].places.values()
    last = place.shown[-1]

    def add():
        for _ in range(limits.FRAMES + 1):
            place._add(last.before, last.after)

    served.do(add)
    with ada.listening(table, state["version"]) as events:
        one, two = next(events), next(events)
    assert (len(one["frames"]), one["choices"], one["to_act"]) == (limits.FRAMES, [], -1)
    assert (len(two["frames"]), two["choices"]) == (1, state["choices"])


def test_two_people_at_one_table(ada, bo):
    table = ada.make("byteskille", players=3, people=1, rules=DEAL, name="Ada")
    waiting = ada.state(table)
    assert (waiting["waiting"], waiting["frames"], waiting["choices"]) == (1, [], [])
    assert bo.post(f"{table}/sit", {"seat": 1, "name": "Bo"}).status_code == 200
    both = {0: ada, 1: bo}
    with ada.listening(table) as events:
        assert next(events)["waiting"] == 0
    for _ in range(50):
        states = {seat: one.state(table) for seat, one in both.items()}
        if states[0]["over"] and states[0]["match"]:
            break
        asked = [seat for seat, state in states.items() if state["to_act"] == seat]
        assert len(asked) <= 1
        for seat in asked:
            assert both[seat].act(table, states[seat]).status_code == 200
    assert [seat["name"] for seat in ada.state(table)["seats"][:2]] == ["Ada", "Bo"]
    assert parse_record(bo.http.get(f"{table}/record").text.strip())["names"][:2] == ["Ada", "Bo"]


def test_several_seats_at_one_browser(ada):
    table = ada.make("knack", players=3, yours=[0, 2], rules=DEAL)
    seen = set()
    state = ada.asked(table)
    while not state["over"]:
        assert state["to_act"] == state["view"]
        seen.add(state["view"])
        ada.act(table, state)
        state = ada.asked(table)
    assert seen == {0, 2}


def test_a_seat_that_was_left_waits_for_the_same_cards(ada, bo):
    table = ada.make("knack", players=2)
    state = ada.asked(table)
    assert ada.post(f"{table}/leave").status_code == 200
    assert ada.state(table)["frames"] == []
    assert ada.act(table, state).status_code == 403
    assert ada.post(f"{table}/sit", {"seat": 0}).status_code == 200
    back = ada.state(table)
    assert [choice["text"] for choice in back["choices"]] == [
        choice["text"] for choice in state["choices"]
    ]


def test_a_record_has_the_names_that_the_page_shows(served, ada, bo):
    path = ada.make("knack", players=3, people=1, rules=DEAL, name="Ada")
    bo.post(f"{path}/sit", {"seat": 1, "name": "Cecilia"})
    table = served.house.hall.tables[path.rpartition("/")[2]]
    ada.until(path, lambda state: state["version"])
    assert table.names == table.sitting.names == ["Ada", "Cecilia", "Astrid"]
    bo.post(f"{path}/leave")
    served.browser().post(f"{path}/sit", {"seat": 1, "name": "Ada"})
    assert table.names == table.sitting.names == ["Ada", "Ada 1", "Cecilia"]


def test_practice_takes_back_and_gives_hints(ada):
    table = ada.make("knack", players=2, practice=True, rules=DEAL)
    state = ada.asked(table)
    nothing = ada.post(f"{table}/undo", {"version": state["version"]})
    assert (nothing.status_code, "nothing to take back" in nothing.text) == (409, True)
    hint = ada.post(f"{table}/hint", {"version": state["version"]}).json()["choices"]
    assert [one["text"] for one in hint] == [one["text"] for one in state["choices"]]
    assert sum(one["probabilities"]["rule_of_thumb"] for one in hint) == pytest.approx(1)
    ada.act(table, state)
    later = ada.asked(table)
    assert later["can_undo"]
    assert ada.post(f"{table}/undo", {"version": later["version"]}).status_code == 200
    back = ada.asked(table)
    assert back["choices"] == state["choices"]
    assert back["version"] > later["version"]
    assert back["frames"][-1]["moves"] == []


def test_a_decision_is_taken_back_on_a_page_that_has_not_seen_what_players_did_since(ada):
    table = ada.make("knack", players=4, practice=True, rules=DEAL)
    state = ada.asked(table)
    ada.act(table, state)
    later = ada.asked(table, state["version"])
    decided = later["frames"][0]["version"]
    assert decided < later["version"]
    before = ada.post(f"{table}/undo", {"version": state["version"]})
    assert (before.status_code, "moved on" in before.text) == (409, True)
    assert ada.post(f"{table}/undo", {"version": decided}).status_code == 200
    assert ada.asked(table)["choices"] == state["choices"]


def test_a_slow_player_makes_nobody_else_wait(served, ada, bo):
    slow = Slow()
    waiting = served.table("knack", [None, slow])
    table = f"/tables/{waiting.name}"
    assert ada.post(f"{table}/sit", {"seat": 0}).status_code == 200
    state = ada.until(table, lambda state: state["choices"] or slow.asked.is_set())
    if state["choices"]:
        ada.act(table, state)
    assert slow.asked.wait(60)
    other = bo.make("knack", players=2, rules=DEAL)
    state = bo.asked(other)
    while not state["over"]:
        bo.act(other, state)
        state = bo.asked(other)
    thinking = ada.state(table)
    assert (thinking["choices"], thinking["seats"][1]["thinking"]) == ([], True)
    slow.go.set()
    assert ada.asked(table)


def test_a_player_that_fails_ends_its_table_alone(served, ada, caplog):
    broken = served.table("knack", [None, Broken(), Broken()])
    table = f"/tables/{broken.name}"
    ada.post(f"{table}/sit", {"seat": 0})
    state = ada.asked(table)
    if not state["failed"]:
        ada.act(table, state)
        state = ada.until(table, lambda state: state["failed"])
    assert "RuntimeError: out of cards" in state["failed"]
    refused = ada.post(f"{table}/act", {"version": state["version"], "action": 0})
    assert (refused.status_code, "out of cards" in refused.text) == (409, True)
    assert ada.asked(ada.make("knack"))["choices"]


def test_tables_that_nobody_needs_are_cleared_away(served, ada, monkeypatch):
    table = ada.make("knack")
    ada.asked(table)
    with ada.listening(table) as events:
        next(events)
        monkeypatch.setattr(hall, "LEFT_TABLE_IDLE", -1.0)
        assert ada.http.get("/").status_code == 200  # somebody has it open
        assert ada.http.get(f"{table}/state").status_code == 200
        monkeypatch.setattr(hall, "TABLE_IDLE", -1.0)
        gone = ada.http.get(f"{table}/state")
        assert (gone.status_code, "list of tables" in gone.text) == (404, True)
        assert [event["event"] for event in events][-1] == "gone"


def test_a_table_forgets_those_who_only_looked(served, ada, bo):
    path = ada.make("knack", players=3, people=1, rules=DEAL)
    table = served.house.hall.tables[path.rpartition("/")[2]]
    bo.state(path)
    assert len(table.places) == 1
    with bo.listening(path) as events:
        next(events)
        assert len(table.places) == 2
    ada.until(path, lambda state: len(table.places) == 1)
    assert table.sitters[0] in table.places


def test_orders_are_bounded(served, ada, monkeypatch):
    monkeypatch.setattr(hall, "TABLES_PER_SESSION", 1)
    ada.make("knack")
    refused = ada.post("/tables", {"game": "knack"})
    assert (refused.status_code, "you have 1 table already" in refused.text) == (429, True)


def test_the_oldest_table_that_nobody_has_open_goes_first(monkeypatch):
    monkeypatch.setattr(hall, "TABLES", 2)
    with Served() as server:
        ada, bo = server.browser(), server.browser()
        kept, lost = ada.make("knack"), bo.make("knack")
        with ada.listening(kept) as events:
            next(events)
            made = bo.make("knack")
            assert [f"/tables/{name}" for name in server.house.hall.tables] == [kept, made]
            assert bo.http.get(f"{lost}/state").status_code == 404
            with bo.listening(made) as others:
                next(others)
                full = bo.post("/tables", {"game": "knack"})
                assert (full.status_code, "all tables are taken" in full.text) == (429, True)


def test_what_nobody_else_learns_is_shown_to_nobody_else(scale):
    """A `wait` in the secret phase of Byteskille changes nothing for the others."""
    moments, rng = [], np.random.default_rng(0)
    rules = spec("byteskille").resolve(episode="match")
    sitting = Sitting("byteskille", rules, [None] * 4, names=list("abcd"), seed=1)
    sitting.watch = lambda before, after: moments.append((before, after))
    sitting.begin()
    batch, met = sitting.batch, 0
    for _ in range(scale(300)):
        seat, action = sitting.seat, int(rng.choice(np.flatnonzero(batch.mask[0])))
        moments.clear()
        sitting.act(seat, action)
        for before, after in moments[: action in batch.spec.secret_actions]:
            assert tables._seen(batch.game, rules, before, after, range(4)) <= {seat}
            met += 1
        if sitting.over:
            sitting.begin()
    assert met or scale(300) < 300


def test_players_are_named_once_for_all_or_one_each(ada):
    table = ada.make("knack", players=3, opponents=["uniform", "rule_of_thumb"])
    about = [seat["about"].splitlines()[:1] for seat in ada.state(table)["seats"]]
    assert about == [[], ["uniform"], ["rule_of_thumb"]]


def test_a_bucket_fills_again():
    now = [0.0]
    bucket = limits.Bucket(2.0, 3.0, lambda: now[0])
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now[0] = 0.5
    assert [bucket.take() for _ in range(2)] == [True, False]


def test_sessions_that_are_silent_longest_go_first(monkeypatch):
    from kille_training.web import sessions

    now = [0.0]
    monkeypatch.setattr(sessions, "SESSIONS", 3)
    known = sessions.Sessions(None, lambda: now[0])
    made = []
    for now[0] in range(3):
        made.append(known.begin())
    made[0].streams = 1
    made.append(known.begin())
    assert [known.find(one.key) is one for one in made] == [True, False, True, True]
    for one in made:
        one.streams = 1
    with pytest.raises(Refusal, match="full"):
        known.begin()


def test_the_command_serves_a_table_and_writes_its_matches(kille, monkeypatch, tmp_path):
    """Interrupted, as people end it, after the owner's browser has played a deal."""
    from kille_training.web import serving

    def serve(app, server, *, prepare, ready, close):
        started = threading.Event()
        running = serving.make_server(app, prepare, started.set, close)
        thread = threading.Thread(target=running.run, args=([server],), daemon=True)
        thread.start()
        assert started.wait(60)
        ready()
        port = server.getsockname()[1]
        (page,) = opened
        browser = Browser(f"http://127.0.0.1:{port}", page.partition(str(port))[2])
        with closing(browser.http):
            table = browser.page.url.path
            state = browser.asked(table)
            assert (state["you"], state["practice"]) == ([1], True)
            browser.act(table, state)
            browser.asked(table)
        running.should_exit = True
        thread.join()
        raise KeyboardInterrupt

    opened: list[str] = []
    monkeypatch.setattr(serving, "serve", serve)
    monkeypatch.setattr(serving, "open_browser", opened.append)
    words = "--web --port 0 --players 3 --seat 1 --name Ada --practice --rules episode=deal"
    out = kille("play", "knack", *words.split(), "--seed", 3, "--out", "mine.jsonl").out
    assert "Your table: http://127.0.0.1:" in out
    (record,) = read_records(tmp_path / "mine.jsonl")
    assert (record["seed"], record["names"][1]) == (3, "Ada")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--port 1", "--port is for a page; add --web"),
        ("--port 0", "--port is for a page; add --web"),
        ("--seat 0,1", "several are for --web"),
        ("--web --seat 0,9", "your seat is 0,9, expected one from 0 to 3"),
        ("--web --people 1 --practice", "practice is for one person alone"),
        ("--web --opponents uniform,uniform", "2 players are named for 3 seats"),
    ],
)
def test_options_that_cannot_be(kille, words, sentence):
    assert sentence in kille("play", "byteskille", *words.split(), ends=1).err


def test_a_sign_of_life_does_not_wait_for_what_is_not_told(monkeypatch):
    """What wakes a stream without being told to it, a decision in secret, moves no sign of life."""
    state = State({"version": 1}, [], [], False)
    monkeypatch.setattr(app, "state_of", lambda *_: state)
    monkeypatch.setattr(app, "draw", lambda *_: asyncio.sleep(0, {}))
    monkeypatch.setattr(app, "HEARTBEAT", 0.2)

    async def signs() -> str:
        news = asyncio.Event()

        async def wake() -> None:
            while True:
                news.set()
                await asyncio.sleep(0.01)

        waking = asyncio.create_task(wake())
        events = app._events(SimpleNamespace(gone=""), None, None, news)  # type: ignore[arg-type]
        await anext(events)  # the state
        async with asyncio.timeout(PATIENCE):
            first = await anext(events)
        waking.cancel()
        return first

    assert asyncio.run(signs()) == ": still here\n\n"
