"""The page about the notation, and a game of somebody else."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import kille_env
from kille_env.cards.pack import KILLE_PACK
from kille_env.errors import RecordError
from kille_env.records import Recorder, describe, format_record, parse_record, replay
from kille_env.records.notation import KEYS

# The page about it

PAGE = Path(__file__).parents[2] / "docs" / "records.md"


def section(title: str) -> str:
    """What stands under a heading of the page, up to the next one of any level."""
    text = PAGE.read_text(encoding="utf-8")
    (found,) = re.findall(
        rf"^#+ {re.escape(title)}$(.*?)(?=^#+ |\Z)", text, re.DOTALL | re.MULTILINE
    )
    return found


def row(title: str, name: str) -> list[str]:
    """The cells behind the first one of a row that begins with a name."""
    (found,) = re.findall(rf"^\| `{name}` \|(.*)\|$", section(title), flags=re.MULTILINE)
    return found.split(" | ")


def first_column(text: str) -> list[str]:
    """The names that stand in the first column of tables."""
    rows = re.findall(r"^\| (`[^|]*`) \|", text, flags=re.MULTILINE)
    return [name for names in rows for name in re.findall(r"`(\w+)`", names)]


def test_the_page_of_the_notation_is_right(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    lines = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)
    assert len(lines) == 2
    for line in lines:
        game = replay(json.loads(line))
        assert (game.differences, game.steps[-1].action is None) == ([], False)
        assert game.returns is not None
    read, *writes = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    names: dict = {}
    for write in writes:
        exec(write, names)
    exec(read, names)
    assert "turn ['stand', 'swap'] stand" in capsys.readouterr().out
    assert first_column(section("The file")) == [*KEYS]


def test_the_page_of_the_notation_has_every_game(game):
    assert first_column(section(f"`{game}`")) == [*(kille_env.spec(game).result_keys or ())]
    loaded = kille_env.load_game(game)
    (texts,) = row("Actions by game", game)
    named = re.findall(r"`(.*?)`", texts)
    words = {text.partition(" ")[0] for text in loaded.spec.actions}
    assert {text.partition(" ")[0] for text in named} == words
    start = json.loads(row("Starts by game", game)[0].strip(" `"))
    seats = {len(value) for key, value in start.items() if key in ("owed", "scores")}
    kille_env.make_batch(game, 1, *seats).reset(start=start)


def test_the_page_of_the_notation_names_every_card():
    named = re.findall(r"`(.*?)`", section("Cards"))
    for code in (*KILLE_PACK.codes[:4], "L12", *KILLE_PACK.codes[15:]):
        assert code in named
    ranks, suits, example = named[-3:]
    codes = [rank + suit for suit in suits.split() for rank in ranks.split()]
    assert codes == [*kille_env.spec("knack").pack.codes]
    assert example in codes


# A game of somebody else, with nothing but a result and a description


@pytest.fixture
def record(hogkort):
    batch = kille_env.make_batch(hogkort, 1, restart=False)
    recorder = Recorder(batch)
    recorder.reset(seed=1)
    while batch.seat[0] >= 0:
        recorder.step(np.array([batch.mask[0].argmax()]))
    return recorder.record()


def test_a_game_needs_nothing_more_than_a_result(record):
    assert parse_record(format_record(record)) == record
    game, lines = describe(record)
    assert (game.differences, game.returns) == ([], record["returns"])
    assert lines


def test_an_unknown_key_of_its_result_is_refused_in_the_replay(record):
    record["deals"][0]["result"]["trump"] = "S"
    with pytest.raises(RecordError, match="deal 0: a result has no key 'trump'"):
        replay(record)
