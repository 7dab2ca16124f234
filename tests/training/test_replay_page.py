"""The page of recorded matches, what it holds and what it refuses, and the review behind it."""

import base64
import hashlib
import html
import json
import re
import zlib

import numpy as np
import pytest

from kille_agents.catalog import as_policy
from kille_env.errors import PolicyError, RecordError
from kille_env.pictures.frame import frame
from kille_env.records import check_record, read_records, replay, write_records
from kille_env.registry import list_games, load_game
from kille_training.evaluation import replay as page_of
from kille_training.evaluation.replay import ComparedPolicies, Numbered, replay_page, review
from kille_training.evaluation.worth import worth
from kille_training.names import FIRST_NAMES
from reference.matches import match


def paged(*records, **options):
    """The page of records, and the data in it."""
    numbered = [Numbered(line, record) for line, record in enumerate(records, start=1)]
    text = replay_page(numbered, source="m.jsonl", **options).decode()
    packed = re.search(r'<script type="application/octet-stream" id="data">(.*?)</script>', text)
    return text, json.loads(zlib.decompress(base64.b64decode(packed[1])))


# The review


def test_a_review_follows_the_match_and_knows_what_was_chosen():
    record = match(seats=4, seed=5)
    rules = check_record(record)[1]
    player = as_policy("rule_of_thumb", "byteskille", 4, rules)
    played, moments = review(record, {"thumb": player})
    steps = [step for step in played.steps if step.action is not None]
    decided = [moment.decision for moment in moments if moment.decision]
    assert len(decided) == len(steps) > 0
    for decision, step in zip(decided, steps, strict=True):
        assert decision["seat"] == step.seat
        assert len(decision["choices"]) == len(step.legal)
        assert step.legal[decision["chosen"]] == step.action
        assert sum(choice["shares"][0] for choice in decision["choices"]) == pytest.approx(1)
    assert moments[-1].decision is None


def test_a_loss_is_what_the_best_choice_is_worth_more():
    seen = []

    def look(batch, action):
        if action is not None and (units := worth(batch)) is not None:
            legal = np.flatnonzero(batch.mask[0]).tolist()
            seen.append(units.max() - units[legal.index(action)])

    records = [match(seed=seed) for seed in range(5)]
    for record in records:
        replay(record, look=look)
    found = [moment.decision for record in records for moment in review(record, {})[1]]
    losses = [each["loss"] for each in found if each and each["loss"] is not None]
    assert losses == pytest.approx(seen, abs=page_of.LEAST_LOSS)
    assert max(losses) > 0.1 and min(losses) == 0


def test_the_solution_makes_no_mistakes_on_the_page():
    text, data = paged(*(match(seed=seed, player="byteskille/solved") for seed in range(4)))
    assert "There are no mistakes." in text
    assert {choice["decision"]["loss"] for choice in data["moments"] if choice["decision"]} == {0}
    assert data["matches"][0]["asked"] == ["rule_of_thumb", "byteskille/solved"]


def test_the_largest_mistakes_come_first_and_lead_to_their_moments():
    text, data = paged(*(match(seed=seed) for seed in range(5)))
    links = [int(number) - 1 for number in re.findall(r'<li><a href="#(\d+)">', text)]
    losses = [data["moments"][number]["decision"]["loss"] for number in links]
    assert len(losses) > 2 and losses == sorted(losses, reverse=True) and losses[-1] > 0
    everything = [each["decision"]["loss"] or 0 for each in data["moments"] if each["decision"]]
    assert losses[0] == max(everything)


# The page


@pytest.mark.parametrize("game", list_games())
def test_the_page_of_every_game_shows_its_frames(game):
    seats = load_game(game).spec.min_players
    record = match(game, seats, episode="match")
    text, data = paged(record)
    tables = []
    replay(record, look=lambda batch, _: tables.append(batch.tables[0].copy()))
    assert len(data["moments"]) == len(tables) - 1
    rules = check_record(record)[1]
    for number in (1, 2, len(tables) // 2, len(tables) - 1):
        wanted = frame(
            load_game(game), tables[number - 1], tables[number], rules, None, FIRST_NAMES[:seats]
        )
        assert data["moments"][number - 1]["frame"] == json.loads(json.dumps(wanted))
    views = [moment["frame"] for moment in data["moments"]]
    used = {card[1] for view in views for seat in view["seats"] for card in seat["cards"]}
    assert used - {None} <= set(re.findall(r'id="card-(\w+)"', text))
    assert "http://" not in text.replace("http://www.w3.org/", "") and "https://" not in text


def test_names_of_strangers_are_only_text():
    evil = [
        "</script><script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "a\u202eb\x1b[2J",
    ]
    text, data = paged(match(names=evil))
    outside = text.replace(re.search(r'id="data">(.*?)</script>', text)[1], "")
    assert "alert(1)" in html.unescape(outside)  # the name is there, as text
    assert "<script>alert" not in text and "<img" not in text and "\x1b" not in text
    assert "\u202e" not in text + json.dumps(data, ensure_ascii=False)


@pytest.mark.parametrize(
    ("names", "shown", "bots"),
    [
        (None, ["Astrid", "Bertil", "Cecilia"], "3 players"),
        (["You", "Bertil (search)", "Cecilia (search)"], ["You", "Bertil", "Cecilia"],
         "You, Bertil and Cecilia (search)"),
        (["runs/demo", "uniform", "rule_of_thumb"], ["Astrid", "Bertil", "Cecilia"],
         "Astrid (demo), Bertil (Random), Cecilia (Steady, a rule of thumb)"),
        (["Bertil", "byteskille/tipsy", "Eva"], ["Bertil", "byteskille/tipsy", "Eva"], "3 players"),
    ],
)  # fmt: skip
def test_policies_are_called_by_first_names(names, shown, bots):
    text, data = paged(match(names=names))
    assert data["matches"][0]["names"] == shown
    assert f"deal 1 · {bots} · svensk" in text
    assert data["moments"][0]["frame"]["title"] == "", "the number of a deal stands there once"


def test_the_page_runs_its_own_script_and_no_other():
    text, _ = paged(match())
    policy = html.unescape(re.search(r'Content-Security-Policy" content="(.*?)"', text)[1])
    for tag in ("script", "style"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"<[^>]* (style|on\w+)=", text)


def test_what_does_not_fit_on_a_page_is_refused_with_advice(monkeypatch):
    monkeypatch.setattr(page_of, "MOST_MOMENTS", 3)
    with pytest.raises(RecordError, match=r"at most 3; choose one with --match 1"):
        paged(match("femkortskille", 3, episode="match"))


def test_a_record_that_stops_within_a_deal():
    record = match(seats=3, seed=1)
    record["deals"][0]["actions"].pop()
    del record["returns"], record["truncated"], record["deals"][0]["result"]
    _, data = paged(record)
    assert data["moments"][-1]["decision"]["chosen"] is None
    assert data["moments"][-1]["decision"]["loss"] is None


def test_a_name_in_a_record_is_never_loaded_as_a_player():
    record = match(names=["evil:player", "evil.zip", "uniform"])
    _, data = paged(record)
    assert "evil.zip" not in data["matches"][0]["asked"]
    with pytest.raises(PolicyError, match="nobody"):
        paged(record, compared=ComparedPolicies(["nobody"]))


# The command


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "m.jsonl"
    write_records([match(seed=seed) for seed in range(3)], path)
    return path


def test_the_command_writes_the_page(kille, answer, recorded, tmp_path):
    out = tmp_path / "out.html"
    assert f"The page is in {out}" in kille("replay", recorded, "--html", out).out
    assert out.read_bytes() == replay_page(
        [Numbered(*each) for each in enumerate(read_records(recorded), 1)], source="m.jsonl"
    )
    told = answer("replay", recorded, "--html", out, "--match", 2, "--policies", "uniform")
    assert told["matches"] == 1 and told["bytes"] == out.stat().st_size
    assert "deal 2 · 3 players · svensk" in out.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--policies", "uniform"], "need --html"),
        (["--html", "x.html", "--check"], "use either --check or --html"),
        (["--html", "x.html", "--policies", "unifrom"], "Did you mean 'uniform'"),
        (
            ["--html", "no/such/x.html"],
            "cannot be written: No such file or directory; name another place",
        ),
        (["--html", "x.html", "--match", "4"], "has 3 lines"),
    ],
)
def test_the_command_refuses_and_writes_nothing(words, message, refused, recorded, tmp_path):
    assert message in refused("replay", recorded, *words)
    assert not (tmp_path / "x.html").exists()


def test_a_record_that_differs_leaves_the_old_page(refused, recorded, tmp_path):
    page = tmp_path / "x.html"
    page.write_text("before")
    records = read_records(recorded)
    records[1]["returns"] = [1, -1, 0]
    write_records(records, recorded)
    said = refused("replay", recorded, "--html", page)
    assert "match 2 is not what was played" in said and "--check" in said
    assert page.read_text() == "before"
