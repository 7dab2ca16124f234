"""The table behind a page: what it shows, keeps, and tells nobody."""

import asyncio
import json
import threading

import numpy as np
import pytest

from kille_env.play.policy import UniformPolicy
from kille_env.records import replay
from kille_env.registry import list_games
from kille_training.table import online
from kille_training.table.online import Refusal, Table, kept_table, players_for, read_order
from kille_training.table.sitting import Sitting


def order(game="byteskille", **more):
    return read_order({"game": game, "players": 4, "seed": 3, **more})


def at_a_table(play, made=None, keep=None, kept=None, players=None):
    """Run `play` with an open table, once its person is asked or its match is over."""

    async def run():
        wanted = made or order()
        table = Table(wanted, players or players_for(wanted), keep)
        table.open(kept)
        try:
            await asked(table)
            return await play(table)
        finally:
            table.close()

    return asyncio.run(run())


async def asked(table):
    for _ in range(6000):
        if table.asked or table.over or table.failed:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("nobody was asked")


async def finish(table):
    while not table.over:
        assert not table.failed, table.failed
        await table.act(table.state(None)["version"], table.asked["choices"][0]["action"])
        await asked(table)


@pytest.mark.parametrize("game", list_games())
def test_a_match_from_its_first_frame_to_its_results(game):
    async def play(table):
        await finish(table)
        return table, table.state(None)

    table, state = at_a_table(play, order(game, rules={"episode": "match"}))
    (record,) = table.records()
    assert replay(record).differences == []
    assert state["results"]["rows"][0][2] == max(record["returns"])
    assert " win" in state["results"]["text"] or " lose" in state["results"]["text"]
    ends = [frame["verdict"] for frame in table.frames if frame["verdict"]]
    assert len(ends) >= len(record["deals"]) - sum(
        deal["result"].get("redeal") is not None for deal in record["deals"]
    )
    told = json.dumps([table.frames], ensure_ascii=False)
    assert "units" not in told


def test_a_page_that_comes_back_gets_what_it_lacks():
    async def play(table):
        whole = table.state(None)
        epoch, version = whole["epoch"], whole["version"]
        later = table.state((epoch, version - 1))
        return whole, later, table.state((epoch, version)), table.state((epoch + 7, version))

    whole, later, nothing, other = at_a_table(play)
    assert whole["fresh"] and whole["frames"][0]["dealt"]
    assert (later["fresh"], later["frames"]) == (False, whole["frames"][-1:])
    assert (nothing["fresh"], nothing["frames"]) == (False, [])
    assert other["frames"] == whole["frames"]


def test_a_stale_or_repeated_click_plays_nothing():
    async def play(table):
        version, action = table.state(None)["version"], table.asked["choices"][0]["action"]
        with pytest.raises(Refusal, match="moved on"):
            await table.act(version + 1, action)
        await table.act(version, action)
        with pytest.raises(Refusal):
            await table.act(version, action)
        with pytest.raises(Refusal, match="still being played"):
            await table.again()

    at_a_table(play, order(rules={"episode": "match"}))


def test_a_table_that_is_closed_keeps_nothing_more(tmp_path):
    keep = tmp_path / "table.json"

    async def play(table):
        version, action = table.state(None)["version"], table.asked["choices"][0]["action"]
        table.close()
        keep.write_text("another table's")
        await table.act(version, action)
        await asked(table)

    at_a_table(play, order(rules={"episode": "match"}), keep)
    assert keep.read_text() == "another table's"


def test_a_restart_goes_on_with_its_deals_however_many_there_were(tmp_path, monkeypatch):
    monkeypatch.setattr(online, "MOST_MATCHES", 2)
    keep, made = tmp_path / "table.json", order("knack")

    async def play(table):
        for _ in range(4):
            await finish(table)
            await table.again()
            await asked(table)
        return table.state(None)

    async def look(table):
        return table.state(None)

    before = at_a_table(play, made, keep)
    again, matches = kept_table(keep) or (None, [])
    assert again == made and len(matches) == 2
    after = at_a_table(look, again, keep, matches)
    assert (after["asked"], after["frames"]) == (before["asked"], before["frames"])


@pytest.mark.parametrize("text", ["", "{", '{"order": {}}', '{"order": {"game": "x"}}', "[1]"])
def test_a_damaged_table_is_none(tmp_path, text):
    (tmp_path / "table.json").write_text(text)
    assert kept_table(tmp_path / "table.json") is None


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({}, "there is no game None"),
        ({"game": "bytskille"}, "Did you mean 'byteskille'"),
        ({"game": "byteskille", "players": 99}, "99"),
        ({"game": "byteskille", "opponents": ["/etc/passwd"]}, "no player"),
        ({"game": "byteskille", "opponents": "uniform"}, "list of names"),
        (
            {"game": "byteskille", "players": 4, "opponents": ["uniform"] * 2},
            "2 players are named for 3 seats",
        ),
        ({"game": "byteskille", "rules": {"moon": 1}}, "moon"),
        ({"game": "byteskille", "seed": -1}, "seed is -1"),
    ],
)
def test_orders_are_checked(said, words):
    from kille_env.errors import KilleError

    with pytest.raises(KilleError, match=words):
        read_order(said)


class Failing(UniformPolicy):
    """Cannot play."""

    def probabilities(self, observation, mask):
        raise RuntimeError("out of ideas")


def test_a_player_that_fails_ends_the_match_with_a_sentence():
    async def play(table):
        if not table.failed:
            await table.act(table.state(None)["version"], table.asked["choices"][0]["action"])
            await asked(table)
        return table.state(None)

    state = at_a_table(play, players=[Failing()] * 3)
    assert "RuntimeError: out of ideas" in state["failed"] and state["asked"] is None


def asks_first(game, seed):
    """Return the match of a seed at its first question; None if the person is not asked first."""
    made = order(game, rules={"episode": "match"}, seed=seed)
    sitting = Sitting(made.game, made.rules, [None, *players_for(made)], seed=seed)
    sitting.begin()
    while sitting.asks_in_secret and not sitting.waits:
        sitting.play()
    return sitting if sitting.waits else None


async def first_state(table):
    return table.state(None)


class DealtOtherwise(Sitting):
    """A match whose first deal differs in what its person does not see."""

    key = 0

    def begin(self):
        """Begin it, and tells of the other deal."""
        told, steps = self.watch, []
        self.watch = lambda before, after: steps.append(before.copy())
        super().begin()
        self.watch = told
        self.batch.resample(np.array([self.person]), np.array([self.key], np.uint64))
        if told is not None:
            told(steps[0], self.batch.tables[0])


@pytest.mark.parametrize("game", list_games())
def test_the_stream_is_the_same_whatever_is_hidden(game, monkeypatch):
    seed = next(seed for seed in range(50) if asks_first(game, seed))
    made = order(game, rules={"episode": "match"}, seed=seed)
    monkeypatch.setattr(online, "Sitting", DealtOtherwise)
    told, hidden = [], set()

    async def look(table):
        hidden.add(table._sitting.batch.tables.tobytes())
        return table.state(None)

    for key in range(6):
        monkeypatch.setattr(DealtOtherwise, "key", key)
        told.append(at_a_table(look, made))
    assert told[0]["asked"] and all(each == told[0] for each in told)
    assert len(hidden) > 3


def test_the_stream_does_not_tell_that_a_cuckoo_was_asked():
    """Two deals with the same own card: in one of them somebody has kept a cuckoo hidden."""
    found = {}
    for seed in range(400):
        if sitting := asks_first("byteskille", seed):
            batch = sitting.batch
            view = repr(batch.game.view(batch.tables[0], batch.rules, 0))
            cuckoo = bool(sitting.records(unfinished=True)[-1]["deals"][0]["actions"])
            found.setdefault(view, {}).setdefault(cuckoo, seed)
    both = next(seeds for seeds in found.values() if len(seeds) == 2)
    rules = {"episode": "match"}
    told = [
        at_a_table(first_state, order("byteskille", rules=rules, seed=seed))
        for seed in both.values()
    ]
    assert told[0]["asked"] and told[0] == told[1]


def test_a_server_ends_while_a_kernel_compiles():
    assert asyncio.run(online.in_thread(threading.current_thread)).daemon
    with pytest.raises(Refusal, match="there is no game"):
        asyncio.run(online.in_thread(lambda: read_order({"game": "poker"})))
