from pathlib import Path

import pytest

from kille_env.errors import CardError, IllegalActionError, RecordError
from kille_env.testing.playthrough import (
    check_playthrough,
    main,
    read_playthrough,
    write_playthrough,
)

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
PLAYTHROUGHS = sorted(GOLDEN.glob("*.txt"))


def test_every_registered_game_has_a_golden_playthrough(game):
    assert list(GOLDEN.glob(f"{game}_*.txt")), f"write tests/golden/{game}_*.txt"


@pytest.mark.parametrize("path", PLAYTHROUGHS, ids=lambda path: path.stem)
def test_a_replay_gives_every_line(path):
    check_playthrough(path)


@pytest.mark.parametrize("path", PLAYTHROUGHS, ids=lambda path: path.stem)
def test_the_file_is_named_after_its_game_and_says_what_it_shows(path):
    comment, record = read_playthrough(path.read_text(encoding="utf-8"))
    assert path.stem.startswith(record["game"])
    assert comment


@pytest.mark.parametrize("preset", ["svensk", "wikipedia"])
def test_byteskille_is_shown_under_both_presets(preset):
    texts = [path.read_text(encoding="utf-8") for path in GOLDEN.glob("byteskille_*.txt")]
    assert any(f"preset={preset}" in text for text in texts)


def golden() -> str:
    return (GOLDEN / "byteskille_killemote.txt").read_text(encoding="utf-8")


def test_a_changed_line_is_named_with_what_a_replay_gives(tmp_path):
    path = tmp_path / "changed.txt"
    path.write_text(
        golden().replace("seat 2 keeps the card.", "seat 2 eats the card."), encoding="utf-8"
    )
    with pytest.raises(AssertionError, match=r"(?s)changed.txt, line .*eats.*keeps"):
        check_playthrough(path)


def test_a_missing_end_is_noticed(tmp_path):
    path = tmp_path / "short.txt"
    path.write_text(golden().rsplit("\n", 2)[0] + "\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"\(nothing\)"):
        check_playthrough(path)


def test_writing_again_fills_in_what_a_replay_gives(tmp_path):
    path = tmp_path / "bare.txt"
    bare = [
        line for line in golden().splitlines() if not line.startswith((" ", "result", "returns"))
    ]
    path.write_text("\n".join(bare), encoding="utf-8")
    main([str(path)])
    assert path.read_text(encoding="utf-8") == golden()


def test_a_playthrough_may_stop_anywhere():
    comment, record = read_playthrough(golden())
    record["deals"][0]["actions"] = record["deals"][0]["actions"][:2]
    assert write_playthrough(record, comment).splitlines()[-1] == (
        "stops: seat 2 is to decide (stand, swap)"
    )


def test_a_match_under_way_says_how_it_stands_and_who_drew():
    text = (GOLDEN / "knack_without_play.txt").read_text(encoding="utf-8")
    comment, record = read_playthrough(text)
    assert record["start"] == {"bets": [6, 9]}
    record["remainder_to"] = 3
    assert read_playthrough(write_playthrough(record, comment))[1] == record


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("first dealer: 3", "first dealer: 3\nstart: six", RecordError, "'start' is 'six'"),
        ("deal 0:", "deal 1:", RecordError, "line 8.*'deal 0: cards'"),
        ("players: 4", "playes: 4", RecordError, "line 4.*not understood"),
        ("players: 4", "players: four", RecordError, "num_players is 'four'"),
        ("preset=svensk", "preset=norsk", RecordError, "'norsk'"),
        ("KI KI L4", "KI KI KI", CardError, "one KI too many"),
        ("seat 1: swap", "seat 1: call", IllegalActionError, "'call' is not legal for seat 1"),
    ],
)
def test_nonsense_is_refused(old, new, error, message):
    with pytest.raises(error, match=message):
        write_playthrough(read_playthrough(golden().replace(old, new), "x.txt")[1], [])
