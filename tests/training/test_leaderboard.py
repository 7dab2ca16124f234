"""The leaderboard's script: what is measured once is not played again, and edits are noticed."""

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


def test_an_edited_line_and_one_of_other_conditions_are_refused(data, monkeypatch):
    BOARD.add("rule_of_thumb", "rule", "us", [EXACT])
    whole = data.read_text()
    data.write_text(whole.replace('"by": "us"', '"by": "me"'))
    with pytest.raises(ConfigError, match="line 1 was changed"):
        BOARD.read()
    data.write_text(whole)
    monkeypatch.setattr(BOARD, "VERSION", BOARD.VERSION + 1)
    with pytest.raises(ConfigError, match="under other conditions"):
        BOARD.read()


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "[free](javascript:alert(1))"},
        {"name": "a`b"},
        {"name": "x" * 61},
        {"name": 5},
        {"by": "![x](https://example.org/x.png)"},
        {"by": "a | b"},
        {"by": "<script>"},
        {"by": "a\nb"},
        {"track": "bridge"},
        {"track": ["knack"]},
        {"digest": 5},
        {"versions": {"kille-env": "[x](y)"}},
        {"versions": None},
        {"parts": {}},
        {"score": {"low": 0.0, "mean": 0.0}},
        {"score": {"low": -1e308, "mean": -1e308, "high": 0.0}},
        {"score": {"low": 0.5, "mean": 0.0, "high": 1.0}},
        {"score": {"low": 0.0, "mean": True, "high": 1.0}},
        {"score": None},
    ],
)
def test_a_crafted_line_is_refused_before_anything_is_written(data, changes):
    BOARD.add("rule_of_thumb", "rule", "us", [EXACT])
    (line,) = BOARD.read()
    crafted = {**line, **changes}
    data.write_text(BOARD._text({**crafted, "check": BOARD._check(crafted)}))
    key = next(iter(changes))
    with pytest.raises(ConfigError, match=rf"line 1: (a )?{key} is"):
        BOARD.read()


def test_names_of_makers_are_escaped_and_bad_ones_refused():
    assert BOARD._escaped("a_b-c.d") == r"a\_b-c.d"
    with pytest.raises(ConfigError, match="no name for the page"):
        BOARD.add("uniform", "a|b", "us", [EXACT])


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
