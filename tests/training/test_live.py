"""What is shown while something is played, measured or solved."""

import io

import pytest

import kille_training as kt
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
