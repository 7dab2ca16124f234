"""What is shown while something is played, measured or solved."""

import io

import pytest

import kille_training as kt
from kille_training.arena.settings import Folder, MatchmakingSettings, TournamentSettings
from kille_training.arena.tournament import Tournament
from kille_training.pool.jobs import Here
from kille_training.progress import Bars
from kille_training.settings import TableSettings

PLAYERS = {"rule": "rule_of_thumb", "chance": "uniform", "tipsy": "byteskille/tipsy"}


def settings(folder, **matchmaking):
    return TournamentSettings(
        table=TableSettings("byteskille", 2),
        entrants=PLAYERS,
        matchmaking=MatchmakingSettings(**{"deals": 8, **matchmaking}),
        batch_tables=16,
        workers=0,
    )


class Spy:
    def __init__(self, stop=None):
        self.calls, self.stop = [], stop

    @property
    def played(self):
        return sum(deals for deals, _ in self.calls[1:])

    def __call__(self, job, deals, total):
        self.calls.append((deals, total))
        if self.stop is not None and self.played >= self.stop:
            raise KeyboardInterrupt


def play(folder, spy, **matchmaking):
    with Here() as pool:
        tournament = Tournament(Folder(folder), settings(folder, **matchmaking), pool)
        with tournament.store:
            tournament.play(spy)
    return spy


def test_progress_knows_what_was_done_before(tmp_path):
    whole = play(tmp_path / "a", Spy())
    assert whole.calls[0] == (0, whole.played)
    spy = Spy(stop=16)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path / "b", spy)
    rest = play(tmp_path / "b", Spy())
    assert rest.calls[0] == (spy.played, whole.played)
    assert rest.played == whole.played - spy.played > 0


def test_rounds_to_come_are_part_of_what_is_left(tmp_path):
    spy = play(tmp_path / "a", Spy(), format="swiss", rounds=4)
    assert {total for _, total in spy.calls} == {spy.played}


def standard_error(monkeypatch, terminal):
    """Puts a file in its place, which may say that it is a terminal."""
    monkeypatch.setattr("kille_training.progress.SECONDS_BEFORE_BAR", 0)
    monkeypatch.setattr("kille_training.progress.SECONDS_BETWEEN", (0, 0))
    file = io.StringIO()
    file.isatty = lambda: terminal
    monkeypatch.setattr("sys.stderr", file)
    return file


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_shows_a_bar_and_a_log_shows_lines(tmp_path, terminal, monkeypatch):
    file = standard_error(monkeypatch, terminal)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path / "a", Spy(stop=16))
    with Bars(lines=True) as display:
        play(tmp_path / "a", display)
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
