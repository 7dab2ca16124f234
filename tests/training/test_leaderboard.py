"""The leaderboard's script: what is measured once is not played again."""

import pytest

from kille_env.errors import ConfigError
from kille_training.evaluation.duplicate import payoff
from reference.scripts import script

BOARD = script("docs/leaderboard.py")
TRACK, EXACT = "knack", "byteskille-nashconv-2"


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    path = tmp_path / "leaderboard.jsonl"
    path.touch()
    monkeypatch.setattr(BOARD, "DATA", path)
    monkeypatch.setattr(BOARD, "DEALS", 10)
    return path


def test_a_score_is_the_mean_of_what_kille_evaluate_measures():
    BOARD.add("rule_of_thumb", "rule", "us", [TRACK])
    (line,) = BOARD.read()
    track = BOARD.tracks()[TRACK]
    means = [
        payoff(
            BOARD._player("rule_of_thumb", track, False), BOARD._player(name, track, False),
            track.num_players, track.rules, deals=10, seed=BOARD.SEED,
        ).estimate.mean
        for name in track.against
    ]  # fmt: skip
    assert line["score"]["mean"] == pytest.approx(sum(means) / len(means), abs=1e-5)
    assert line["parts"]["rule_of_thumb"]["mean"] == 0  # against itself
    assert line["score"]["low"] < line["score"]["mean"] < line["score"]["high"]


def test_what_was_measured_is_not_played_again(data, monkeypatch):
    BOARD.add("byteskille/solved", "solved", "us", [EXACT])
    before = data.read_bytes()
    assert 0 <= BOARD.read()[0]["score"]["mean"] < 1e-5
    monkeypatch.setattr(BOARD, "measure", None)
    BOARD.add("byteskille/solved", "solved", "us", [EXACT])
    assert data.read_bytes() == before


def test_a_name_stands_for_one_policy():
    BOARD.add("rule_of_thumb", "rule", "us", [EXACT])
    with pytest.raises(ConfigError, match="choose another --name"):
        BOARD.add("uniform", "rule", "us", [EXACT])


def test_a_line_of_other_conditions_is_refused(monkeypatch):
    BOARD.add("rule_of_thumb", "rule", "us", [EXACT])
    monkeypatch.setattr(BOARD, "VERSION", BOARD.VERSION + 1)
    with pytest.raises(ConfigError, match="under other conditions"):
        BOARD.read()


def test_the_best_run_of_every_method_is_on_the_published_board(monkeypatch):
    monkeypatch.undo()
    found = {(line["track"], line["name"]) for line in BOARD.read()}
    assert BOARD.tracks_of("byteskille-4") == ["byteskille-nashconv-4", "byteskille"]
    assert BOARD.tracks_of("byteskille-2-match") == []
    for grid in ("exact", "games"):
        results = BOARD.benchmark.results(grid)
        for table in results.tables:
            for track in BOARD.tracks_of(table):
                assert found >= {(track, f"{method} at {table}") for method in results.methods}
