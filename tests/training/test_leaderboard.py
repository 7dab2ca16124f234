"""The leaderboard: what is measured once is not played again, and what was edited is noticed."""

import json
from pathlib import Path

import pytest

from kille_env.errors import ConfigError
from kille_training.arena.entrants import fingerprint
from kille_training.arena.leaderboard import api, board, measure
from kille_training.arena.leaderboard.tracks import SEED, tracks
from kille_training.evaluation.duplicate import payoff
from kille_training.reports.leaderboard import leaderboard_page
from reference.scripts import script

DOCS = Path(__file__).parents[2] / "docs"
TRACK, EXACT = "knack", "byteskille-nashconv-2"
DEALS = 10
WORDS = "leaderboard", "add", "rule_of_thumb", "--name", "rule", "--by", "us", "--docs", "."


@pytest.fixture(autouse=True)
def few_deals(monkeypatch):
    for module in ("arena.leaderboard.tracks", "arena.leaderboard.measure", "reports.leaderboard"):
        monkeypatch.setattr(f"kille_training.{module}.DEALS", DEALS)


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data" / "leaderboard.jsonl"


@pytest.fixture
def never_plays(monkeypatch):
    def fail(*_):
        raise AssertionError("it was measured before")

    return lambda: monkeypatch.setattr(measure, "measure", fail)


def entry(name="rule", player="rule_of_thumb", by="us"):
    return api.Entry(name, by, player, f"kille leaderboard add {player} --name {name} --by {by}")


def test_the_second_time_nothing_is_played_and_no_byte_changes(
    kille, answer, data, never_plays, tmp_path
):
    first = answer(*WORDS, "--track", TRACK)
    page = tmp_path / "leaderboard.md"
    before = data.read_bytes(), page.read_bytes()
    assert list(first["measured"]) == [TRACK]
    never_plays()
    again = answer(*WORDS, "--track", TRACK)
    assert (again["measured"], again["known"]) == ({}, [TRACK])
    kille("leaderboard", "page", "--docs", ".")
    assert before == (data.read_bytes(), page.read_bytes())


def test_a_score_is_the_mean_of_what_kille_evaluate_measures(data):
    (line,) = api.add(data, entry(), [TRACK]).lines
    track = tracks()[TRACK]
    rows = [
        payoff(
            measure.player_at("rule_of_thumb", track, False),
            measure.player_at(name, track, False),
            track.num_players,
            track.rules,
            deals=DEALS,
            seed=SEED,
        ).estimate
        for name in track.against
    ]
    assert line.score.mean == pytest.approx(sum(row.mean for row in rows) / len(rows), abs=1e-5)
    assert line.parts["rule_of_thumb"].mean == 0  # against itself
    assert line.score.low < line.score.mean < line.score.high


def test_nash_conv_is_exact(data):
    (line,) = api.add(data, entry("solved", "byteskille/solved"), [EXACT]).lines
    assert 0 <= line.score.mean < 1e-5
    assert line.score.low == line.score.mean == line.score.high
    assert "deals" not in line.conditions


def test_a_player_of_one_game_is_measured_on_its_tracks_only(data):
    added = api.add(data, entry("tipsy", "knack/tipsy"), [TRACK, "krypkille"])
    assert [line.track for line in added.lines] == [TRACK]
    assert list(added.skipped) == ["krypkille"]
    with pytest.raises(ConfigError, match="plays on none of these tracks"):
        api.add(data, entry("tipsy", "knack/tipsy"), ["krypkille"])


def test_another_version_of_the_game_is_refused(data, monkeypatch):
    api.add(data, entry(), [TRACK])
    before = data.read_bytes()
    conditions = tracks()[TRACK].conditions()
    newer = {**conditions, "game_version": conditions["game_version"] + 1}
    monkeypatch.setattr("kille_training.arena.leaderboard.tracks.Track.conditions", lambda _: newer)
    with pytest.raises(ConfigError, match="game_version"):
        api.add(data, entry("second", "uniform"), [TRACK])
    assert data.read_bytes() == before


def test_a_name_stands_for_one_policy(data):
    api.add(data, entry(), [TRACK])
    with pytest.raises(ConfigError, match="choose another --name"):
        api.add(data, entry(player="uniform"), [TRACK])


def test_an_entry_point_is_known_by_its_file(data, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "my_entry.py"
    code = "def even(observation, mask):\n    return mask / mask.sum(axis=1, keepdims=True)\n"
    module.write_text(code)
    mine = entry("even", "my_entry:even")
    (line,) = api.add(data, mine, [TRACK]).lines
    chance = api.add(data, entry("chance", "uniform"), [TRACK]).lines[0]
    assert line.parts == chance.parts
    module.write_text(code + "# changed\n")
    with pytest.raises(ConfigError, match="with other files"):
        api.add(data, mine, [TRACK])


def test_the_page_is_a_function_of_the_lines(data):
    for name, player in (("rule", "rule_of_thumb"), ("chance", "uniform")):
        api.add(data, entry(name, player), [TRACK])
    lines = board.read(data)
    page = leaderboard_page(lines)
    assert page == leaderboard_page(lines[::-1])
    assert page.index(b"`rule`") < page.index(b"`chance`")  # sorted by earnings
    assert board.encode(lines[::-1]) == data.read_bytes()


def test_an_edited_line_is_noticed(data):
    api.add(data, entry(), [TRACK])
    found = json.loads(data.read_text())
    found["score"]["mean"] += 1
    data.write_text(json.dumps(found) + "\n")
    with pytest.raises(ConfigError, match=r"line 1 was changed after it was measured"):
        board.read(data)
    data.write_text("<<<<<<< HEAD\n")
    with pytest.raises(ConfigError, match=r"line 1 is no line of a leaderboard"):
        board.read(data)


def test_two_lines_of_one_entry_on_one_track_are_noticed(data):
    api.add(data, entry(), [TRACK])
    data.write_bytes(data.read_bytes() * 2)
    with pytest.raises(ConfigError, match="two lines of 'rule'"):
        board.read(data)


def test_an_interrupted_call_leaves_what_was_measured(data, monkeypatch):
    whole = measure.measure

    def interrupted(player, track, progress):
        if track.name != TRACK:
            raise KeyboardInterrupt
        return whole(player, track, progress)

    monkeypatch.setattr(measure, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        api.add(data, entry(), [TRACK, "femkortskille"])
    assert [line.track for line in board.read(data)] == [TRACK]
    assert list(data.parent.iterdir()) == [data]


@pytest.mark.parametrize("name", ["", "a|b", "<b>", "x" * 61, "two\nlines"])
def test_names_that_the_page_cannot_show_are_refused(name):
    with pytest.raises(ConfigError, match="the name is"):
        entry(name)


def test_the_published_page_is_that_of_the_published_data(monkeypatch):
    monkeypatch.undo()  # it says how many deals were played
    lines = board.read(DOCS / "data" / "leaderboard.jsonl")
    assert leaderboard_page(lines) == (DOCS / "leaderboard.md").read_bytes()
    assert {line.name for line in lines} >= {"uniform", "rule_of_thumb", "byteskille/solved"}


def test_the_best_run_of_every_method_is_on_the_published_board():
    lines = board.read(DOCS / "data" / "leaderboard.jsonl")
    script_of, found = script("docs/leaderboard.py"), {(line.track, line.name) for line in lines}
    assert script_of.tracks_of("byteskille-4") == ["byteskille-nashconv-4", "byteskille"]
    assert script_of.tracks_of("byteskille-2-match") == []
    for grid in ("exact", "games"):
        results = script_of.results(grid)
        for table in results.tables:
            for track in script_of.tracks_of(table):
                assert found >= {(track, f"{method} at {table}") for method in results.methods}


def test_trained_players_are_opponents_and_another_network_is_another_condition():
    for track in tracks().values():
        if not track.exact:
            name = f"{track.game}/trained"
            assert name in track.against
            assert track.conditions()["networks"] == {name: fingerprint(name)}
