"""The leaderboard's script: a measured line is not played again."""

import pytest

import kille_training as kt
from kille_env.errors import ConfigError
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
    against = list(BOARD.tracks()[TRACK].against)
    found = kt.evaluate(
        "rule_of_thumb", "knack", 4, baselines=against, deals=10, seed=BOARD.SEED, play="sampled"
    )
    means = [row.estimate.mean for row in found.rows]
    assert line["score"]["mean"] == pytest.approx(sum(means) / len(means), abs=1e-5)
    assert line["parts"]["rule_of_thumb"]["mean"] == 0  # against itself
    assert line["score"]["low"] < line["score"]["mean"] < line["score"]["high"]


def test_a_measured_line_stays_and_its_name_and_conditions_too(data, monkeypatch):
    BOARD.add("byteskille/solved", "solved", "us", [EXACT])
    before = data.read_bytes()
    assert 0 <= BOARD.read()[0]["score"]["mean"] < 1e-5
    monkeypatch.setattr(BOARD, "measure", None)
    BOARD.add("byteskille/solved", "solved", "us", [EXACT])
    assert data.read_bytes() == before
    with pytest.raises(ConfigError, match="choose another --name"):
        BOARD.add("uniform", "solved", "us", [EXACT])
    monkeypatch.setattr(BOARD, "VERSION", BOARD.VERSION + 1)
    with pytest.raises(ConfigError, match="under other conditions"):
        BOARD.read()
