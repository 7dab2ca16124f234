"""What is shown while something is played, measured or solved."""

import io
import sys

import pytest

import kille_training as kt
from kille_training.cli.main import main
from kille_training.progress import Bars


def standard_error(monkeypatch, terminal):
    """Put a file in its place, which may say that it is a terminal."""
    monkeypatch.setattr("kille_training.progress.SECONDS_BEFORE_BAR", 0)
    monkeypatch.setattr("kille_training.progress.SECONDS_BETWEEN", (0, 0))
    file = io.StringIO()
    file.isatty = lambda: terminal
    monkeypatch.setattr("sys.stderr", file)
    return file


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_shows_a_bar_and_a_log_shows_lines(tmp_path, terminal, monkeypatch):
    file = standard_error(monkeypatch, terminal)
    players = ["rule_of_thumb", "uniform", "byteskille/tipsy"]
    words = {"num_players": 2, "deals": 8, "batch_tables": 16, "out": tmp_path / "a"}

    def stop(job, parts, total):
        if parts:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kt.play_tournament(players, progress=stop, **words)
    with Bars(lines=True) as display:
        kt.play_tournament(players, progress=display, **words)
    shown = file.getvalue()
    assert ("playing observations ..." in shown) != terminal
    assert ("24/24" in shown) == terminal  # what was played before the interrupt counts


def test_what_was_done_before_a_job_resumed_counts_for_no_rate(monkeypatch):
    standard_error(monkeypatch, True)
    with Bars(lines=True) as display:
        display("playing", 90, 100)
        display("playing", 5, 100)
        state = display._bar.format_dict
        assert (state["initial"], state["n"], state["total"]) == (90, 95, 100)


WORK = {
    "measuring:": lambda: kt.evaluate(
        "uniform", "knack", 2, baselines="rule_of_thumb", deals=4, exact=False
    ),
    "NashConv": lambda: kt.solve("byteskille", 2, rules={"fraga": "off"}, iterations=50),
    "deals:": lambda: kt.compare("rule_of_thumb", "uniform", "byteskille", 2, by=0.3),
}


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("said", WORK)
def test_progress_is_shown_by_default_on_a_terminal_only(terminal, said, monkeypatch):
    file = standard_error(monkeypatch, terminal)
    WORK[said]()
    shown = file.getvalue()
    assert (said in shown) == terminal
    assert terminal or shown == ""


# Streams


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
