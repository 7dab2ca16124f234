"""A table on the server while much happens at once: slow players, taking back, many requests."""

import asyncio
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from kille_env.policy import UniformPolicy
from kille_env.records import replay
from kille_training.people.advice import Question
from kille_training.web.limits import Refusal
from web_tables import Browser, Served, Table


class Slow(UniformPolicy):
    """Thinks until it is let go."""

    def __init__(self):
        self.asked, self.go = threading.Semaphore(0), threading.Event()

    def probabilities(self, observation, mask):
        self.asked.release()
        assert self.go.wait(60)
        return super().probabilities(observation, mask)


class Restless(UniformPolicy):
    """Thinks for some milliseconds or not at all."""

    def probabilities(self, observation, mask):
        time.sleep(random.Random(int(observation.sum())).choice((0.0, 0.0, 0.004)))
        return super().probabilities(observation, mask)


@pytest.fixture(scope="module")
def served():
    with Served() as server:
        yield server


def practice_with(served: Served, player, browser: Browser) -> tuple[Table, str]:
    """Sits down at a table for practice, where one person plays against a player."""
    table = served.table("knack", [None, player, player])
    table.order = replace(table.order, practice=True)
    path = f"/tables/{table.name}"
    assert browser.post(f"{path}/sit", {"seat": 0}).status_code == 200
    return table, path


def test_what_is_taken_back_while_a_player_thinks_is_never_answered(served):
    slow, ada = Slow(), served.browser()
    slow.go.set()
    table, path = practice_with(served, slow, ada)
    ada.asked(path)
    slow.go.clear()
    while slow.asked.acquire(blocking=False):
        pass
    ada.act(path, ada.state(path))
    assert slow.asked.acquire(timeout=60)  # it thinks now
    thinking = ada.state(path)
    assert thinking["can_undo"] and not thinking["choices"]
    undone = ada.post(f"{path}/undo", {"version": thinking["version"]})
    assert undone.status_code == 200
    back = ada.state(path)
    assert back["choices"]
    slow.go.set()
    ada.act(path, back)
    state = ada.asked(path)
    while not state["over"]:
        ada.act(path, state)
        state = ada.asked(path)
    assert (table.failed, replay(table.records()[0]).differences) == ("", [])


def test_many_requests_at_once_leave_a_match_that_is_whole(served):
    ada = served.browser()
    table, path = practice_with(served, Restless(), ada)

    def press(seed: int) -> set[int]:
        rng, seen = random.Random(seed), set()
        for _ in range(40):
            state = ada.state(path)
            if state["over"] or table.failed:
                break
            verb = rng.choice(("act", "act", "act", "undo", "hint", "act"))
            said = {"version": state["version"]}
            if verb == "act":
                said["action"] = rng.choice(state["choices"] or [{"action": 0}])["action"]
            seen.add(ada.post(f"{path}/{verb}", said).status_code)
        return seen

    with ThreadPoolExecutor(4) as pool:
        seen = set().union(*pool.map(press, range(4)))
    assert seen == {200, 409}
    assert table.failed == ""
    state = ada.asked(path)
    while not state["over"]:
        ada.act(path, state)
        state = ada.asked(path)
    assert replay(table.records()[-1]).differences == []


def test_two_clicks_work_out_one_hint(served, monkeypatch):
    ada, asked = served.browser(), list[Question]()
    table, path = practice_with(served, UniformPolicy(), ada)
    state = ada.asked(path)
    monkeypatch.setattr(Question, "advise", lambda question: asked.append(question))

    async def twice():
        session = table.sitters[0]
        both = asyncio.gather(
            *(table.hint(session, state["version"]) for _ in range(2)), return_exceptions=True
        )
        async with table._changes:  # something else changes the table meanwhile
            await asyncio.sleep(0)
        return await both

    _, second = served.do(twice)
    assert len(asked) == 1 and isinstance(second, Refusal)
