import itertools
import json
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import kille_env
from env.language_model_server import serving
from kille_agents import as_policy
from kille_agents.llm import LanguageModel, Settings, service
from kille_agents.llm.player import Answers, LimitError
from kille_env.adapters.text import decision_prompt
from kille_env.errors import ConfigError, PolicyError
from kille_env.play.decisions import Decisions
from kille_env.play.policy import decide
from kille_env.play.seating import SeatedPolicies, play_out


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    waited = []
    monkeypatch.setattr(service, "sleep", waited.append)
    return waited


@pytest.fixture
def ask(tmp_path):
    """Returns a function that makes a player of a service."""

    def make(service, **changes):
        return LanguageModel("m", url=service.url, folder=str(tmp_path / "answers"), **changes)

    return make


def tables(number=2, game="byteskille", players=3):
    rules = kille_env.spec(game).resolve(episode="deal")
    batch = kille_env.make_batch(
        game, num_tables=number, num_players=players, rules=rules.as_dict(), seed=3, restart=False
    )
    batch.reset()
    return batch


def search(player, batch):
    rows = np.flatnonzero(batch.seat >= 0)
    return decide(player, Decisions(batch, rows, np.zeros(len(rows), dtype=np.uint64)))


def log(player):
    return [json.loads(line) for line in player.answers.path.read_text().splitlines()]


def test_it_plays_what_the_model_answers_and_is_told_rules_and_table(ask):
    batch = tables()
    with serving(lambda messages: "I keep it.\nAnswer: stand") as service:
        player = ask(service, key="secret", body={"temperature": 0})
        found = search(player, batch)
    stand = kille_env.spec("byteskille").actions.index("stand")
    assert (found[:, stand] == 1).all() and found.sum() == 2
    assert service.headers[0]["Authorization"] == "Bearer secret"
    request = service.requests[0]
    assert (request["path"], request["model"]) == ("/v1/chat/completions", "m")
    assert request["temperature"] == 0
    system, user = (message["content"] for message in request["messages"])
    assert system.startswith("Byteskille") and "1. stand" in user and "(you)" in user


def test_nothing_is_asked_twice_even_by_another_process(ask):
    batch = tables(4)
    with serving(lambda messages: "2") as service:
        first = search(ask(service, asks=2), batch)
        asked = len(service.requests)
        again = search(pickle.loads(pickle.dumps(ask(service, asks=2))), batch)
    assert asked == len({(r["messages"][1]["content"]) for r in service.requests}) * 2
    assert len(service.requests) == asked
    assert np.array_equal(first, again)


def test_several_asks_are_played_in_their_shares(ask):
    turn = iter(["stand", "swap", "swap", "stand"] * 8)
    lock = threading.Lock()

    def answer(messages):
        with lock:
            return next(turn)

    with serving(answer) as service:
        found = search(ask(service, asks=4), tables(1))
    assert sorted(found[0].tolist())[-2:] == [0.5, 0.5]


def test_nonsense_is_asked_again_and_then_costs_a_uniform_action(ask):
    batch = tables(1)
    with serving(lambda messages: "I would rather play chess.") as service:
        player = ask(service, attempts=2)
        found = search(player, batch)
    legal = batch.mask[0] != 0
    assert np.allclose(found[0][legal], 1 / legal.sum())
    assert len(service.requests) == 2
    last = service.requests[1]["messages"][-1]["content"]
    assert 'has no line "Answer: ..."' in last and "1. stand" in last
    lines = log(player)
    assert [line["done"] for line in lines] == [False, True]
    assert [line["action"] for line in lines] == [None, None]
    assert player.account["uniform"] == 1 and "1 were not legal" in player.summary


def test_a_second_attempt_counts(ask):
    with serving(lambda messages: "swap" if len(messages) > 2 else "?") as service:
        player = ask(service)
        found = search(player, tables(1))
    assert found.max() == 1
    assert player.account == {
        "answers": 1,
        "uniform": 0,
        "calls": 2,
        "tokens": 220,
        "transcript": str(player.answers.path),
    }


def test_half_a_character_is_kept_in_the_log(ask):
    with serving(lambda messages: "\ud83d\nAnswer: stand") as service:
        player = ask(service)
        search(player, tables(1))
        (line,) = log(player)
        again = ask(service)
        search(again, tables(1))
    assert line["answer"] == "\ud83d\nAnswer: stand"
    assert line["action"] == "stand"
    assert len(service.requests) == 1


def test_errors_of_the_service_are_waited_for(ask, pauses):
    replies = iter([429, 500, b"<html>", "1"])
    with serving(lambda messages: next(replies)) as service:
        player = ask(service)
        search(player, tables(1))
    assert pauses == [3.0, 3.0, 4.0]  # what the service asks for, or 1, 2, 4, ...
    errors = [line["error"] for line in log(player)]
    assert errors[0].startswith("HTTP 429") and errors[1].startswith("HTTP 500")
    assert "no chat completion" in errors[2] and errors[3] == ""


def test_a_service_that_stays_away_ends_the_command_and_says_how_to_resume(ask):
    with serving(lambda messages: 503) as service:
        player = ask(service, retries=2)
        with pytest.raises(PolicyError, match=r"HTTP 503.*run the same command again to resume"):
            search(player, tables(1))
        assert len(service.requests) == 3
    with pytest.raises(PolicyError, match="does not answer"):  # now nobody listens
        search(player, tables(1))


def test_a_refusal_is_not_repeated(ask):
    with serving(lambda messages: 401) as service:
        with pytest.raises(PolicyError, match=r"HTTP 401.*KILLE_LLM_KEY"):
            search(ask(service), tables(1))
        assert len(service.requests) == 1


def test_a_redirect_does_not_take_the_key_along(ask):
    with serving(lambda messages: 302) as service, pytest.raises(PolicyError, match="HTTP 404"):
        search(ask(service, key="secret"), tables(1))
    assert ["Authorization" in sent for sent in service.headers] == [True, False]


def test_a_service_that_hangs_is_given_up(ask):
    hangs = threading.Event()
    with serving(lambda messages: "1" if hangs.is_set() else hangs.set() or 0.3) as service:
        player = ask(service, timeout=0.1, parallel=1)
        search(player, tables(1))
    assert "timed out" in log(player)[0]["error"]


@pytest.mark.parametrize("body", [b"x" * 1_000, 500])
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("MOST_BODY", 9, "longer than 9 bytes"),
        ("monotonic", itertools.count(0.0, 200.0).__next__, "not whole after 120 seconds"),
    ],
)
def test_an_answer_that_does_not_end_is_given_up(ask, monkeypatch, name, value, words, body):
    monkeypatch.setattr(service, name, value)
    with serving(lambda messages: body) as running, pytest.raises(PolicyError, match=words):
        search(ask(running, retries=0), tables(1))


def test_a_limit_ends_the_command_and_keeps_what_was_answered(ask):
    batch = tables(6)
    with serving(lambda messages: "1") as service:
        with pytest.raises(LimitError, match=r"the limit of 1 calls is reached.*to resume"):
            search(ask(service, parallel=1, calls=1), batch)
        assert len(service.requests) == 1
        search(ask(service, parallel=1), batch)  # resumes
        assert len(service.requests) == len({r["messages"][1]["content"] for r in service.requests})


def test_requests_under_way_count_against_the_limit(tmp_path):
    log = Answers(tmp_path, Settings(url="http://x", calls=2))
    log.begin()
    log.begin()
    with pytest.raises(LimitError, match="2 calls"):
        log.begin()


@pytest.mark.parametrize("names", [("a/b", "a-b"), ("a/b", "a%2Fb"), ("..", "."), ("m", "-m")])
def test_two_models_never_share_a_folder(names, monkeypatch):
    monkeypatch.delenv("KILLE_LLM_FOLDER", raising=False)
    paths = [LanguageModel(name, Settings(url="http://x")).answers.path for name in names]
    assert len(set(paths)) == 2
    assert all(path.parents[1] == Path("runs", "llm") for path in paths)


def test_a_torn_line_of_the_log_is_passed_over(tmp_path):
    settings = Settings(url="http://x")
    line = {"key": "a", "done": True, "action": "stand"}
    line.update(input_tokens=1, output_tokens=2)
    log = Answers(tmp_path, settings)
    log.begin()
    log.add(line)
    with log.path.open("a") as file:
        file.write('{"key": "b", "do')
    other = Answers(tmp_path, settings)
    other.begin()
    other.add({**line, "key": "c", "action": None})
    log.refresh()
    for each in (log, other):
        assert (each.find("a"), each.find("b"), each.find("c")) == (("stand",), None, (None,))
        assert (each.calls, each.tokens) == (2, 6)


def test_settings_come_from_the_environment():
    found = Settings.from_environment(
        {
            "KILLE_LLM_URL": "http://localhost/v1",
            "KILLE_LLM_ASKS": "3",
            "KILLE_LLM_TIMEOUT": "2.5",
            "KILLE_LLM_BODY": '{"temperature": 0}',
            "HOME": "/",
        }
    )
    assert (found.asks, found.timeout) == (3, 2.5)
    assert found.body == {"temperature": 0}
    assert "secret" not in repr(Settings(url="http://x", key="secret"))


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "needs an address; KILLE_LLM_URL"),
        ({"KILLE_LLM_URL": "localhost:80"}, "expected one like http"),
        ({"KILLE_LLM_URL": "http://x", "KILLE_LLM_CALS": "3"}, "Did you mean 'KILLE_LLM_CALLS'"),
        ({"KILLE_LLM_URL": "http://x", "KILLE_LLM_CALLS": "few"}, "expected a whole number"),
        ({"KILLE_LLM_URL": "http://x", "KILLE_LLM_BODY": "[1]"}, "expected an object of JSON"),
        ({"KILLE_LLM_URL": "http://x", "KILLE_LLM_ASKS": "0"}, "asks is 0"),
        ({"KILLE_LLM_URL": "http://x", "KILLE_LLM_RETRIES": "-1"}, "retries is -1"),
        ({"KILLE_LLM_URL": "http://x", "KILLE_LLM_TIMEOUT": "nan"}, "timeout is nan"),
        ({"KILLE_LLM_URL": "http://x", "KILLE_LLM_TIMEOUT": "inf"}, "timeout is inf"),
    ],
)
def test_impossible_settings_are_refused(variables, message):
    with pytest.raises(ConfigError, match=message):
        Settings.from_environment(variables)


def test_it_is_a_player_by_name_and_is_never_asked_without_an_address(monkeypatch):
    rules = kille_env.spec("knack").resolve()
    monkeypatch.delenv("KILLE_LLM_URL", raising=False)
    with pytest.raises(ConfigError, match="KILLE_LLM_URL"):
        as_policy("llm:some/model-1.5", "knack", 3, rules)
    monkeypatch.setenv("KILLE_LLM_URL", "http://localhost:9/v1")
    player = as_policy("llm:some/model-1.5", "knack", 3, rules)
    assert player.name == "llm:some/model-1.5"
    assert str(player.answers.path).endswith("runs/llm/some%2Fmodel-1.5/answers.jsonl")
    with pytest.raises(ConfigError, match="needs a name"):
        as_policy("llm:", "knack", 3, rules)


@pytest.mark.parametrize("game", kille_env.list_games())
def test_it_plays_every_game_to_the_end(ask, game):
    batch = tables(1, game)
    with serving(lambda messages: "Answer: 1") as service:
        players = [ask(service), as_policy("uniform", game, 3, batch.rules)]
        play_out(SeatedPolicies(batch, players, np.array([0, 1, 1])))
    assert batch.over.all() and service.requests


@pytest.mark.parametrize("game", kille_env.list_games())
def test_every_determinization_gives_the_same_prompt(game):
    batch = tables(8, game)
    rows = np.flatnonzero(batch.seat >= 0)
    keys = np.arange(len(rows), dtype=np.uint64)
    for row, table in enumerate(rows.tolist()):
        drawn = [Decisions(batch, rows, keys + shift).draw(1) for shift in (0, 70)]
        assert {decision_prompt(one, row) for one in drawn} == {decision_prompt(batch, table)}
