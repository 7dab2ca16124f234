"""Commands and functions run where standard output or standard error cannot be written."""

import io
import sys

import pytest

import kille_training as kt
from kille_training.cli.main import main


class Tee:
    """It only writes: no `isatty`, no `encoding`, no `closed`."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


STREAMS = pytest.mark.parametrize(
    "made", [lambda: None, closed, Tee], ids=["none", "closed", "tee"]
)


@STREAMS
@pytest.mark.parametrize(
    "words", [["games"], ["--version"], ["--help"], ["games", "knack", "--json"]]
)
def test_commands_end_well(monkeypatch, made, words):
    out, err = made(), made()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert main(words) == 0
    assert sys.stdout is out and sys.stderr is err
    assert not isinstance(out, Tee) or out.text


@STREAMS
def test_a_refusal_ends_with_status_1(monkeypatch, made):
    monkeypatch.setattr(sys, "stderr", made())
    assert main(["games", "no_such_game"]) == 1


@STREAMS
def test_measuring_goes_on(monkeypatch, capsys, made):
    monkeypatch.setattr(sys, "stderr", err := made())
    words = {"num_players": 2, "deals": 4}
    found = kt.evaluate("uniform", "knack", baselines="uniform", exact=False, **words)
    assert found.rows
    assert kt.play_tournament(["uniform", "rule_of_thumb"], "knack", **words).ranked
    assert kt.compare("uniform", "rule_of_thumb", "knack", 2, most=10).played == 10
    assert kt.play_tournament({"loud": loud, "b": "uniform"}, "knack", **words).out == {}
    assert capsys.readouterr().out == ""
    assert not isinstance(err, Tee) or "Plan: 2 entrants" in err.text


def loud(observation, mask):
    print("it is my turn")
    return mask / mask.sum(axis=1, keepdims=True)
