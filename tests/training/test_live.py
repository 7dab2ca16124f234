"""What is shown while a tournament is played, and while a report is made."""

import io
import json

import pytest
from rich.console import Console

import kille_training as kt
from kille_training.arena.executors.processes import HereExecutor
from kille_training.arena.settings import MatchmakingSettings, TablesSettings, TournamentSettings
from kille_training.arena.tournament import Folder, Tournament
from kille_training.cli.progress import StepDisplay, TournamentDisplay

PLAYERS = {"rule": "rule_of_thumb", "chance": "uniform", "tipsy": "byteskille/tipsy"}


def settings(folder, **matchmaking):
    return TournamentSettings(
        table=TablesSettings("byteskille", (2, 3)),
        entrants=PLAYERS,
        matchmaking=MatchmakingSettings(**{"deals": 8, **matchmaking}),
        batch_tables=16,
        workers=0,
    )


class Spy:
    def __init__(self, stop=None):
        self.begun, self.deals, self.stop = [], 0, stop

    def begin(self, left, done):
        self.begun.append((dict(left), dict(done)))

    def played(self, outcome):
        self.deals += outcome.unit.deals
        if self.stop is not None and self.deals >= self.stop:
            raise KeyboardInterrupt


def play(folder, spy, **matchmaking):
    tournament = Tournament(Folder(folder), settings(folder, **matchmaking))
    with tournament.store, HereExecutor() as executor:
        tournament.play(executor, spy)
    return spy


def test_progress_knows_what_was_done_before(tmp_path):
    whole = play(tmp_path / "a", Spy())
    ((left, done),) = whole.begun
    assert done == {2: 0, 3: 0} and sum(left.values()) == whole.deals
    spy = Spy(stop=16)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path / "b", spy)
    ((rest, before),) = play(tmp_path / "b", Spy()).begun
    assert sum(before.values()) == spy.deals > 0
    assert {seats: rest[seats] + before[seats] for seats in rest} == left


def test_rounds_to_come_are_part_of_what_is_left(tmp_path):
    spy = play(tmp_path / "a", Spy(), format="swiss", rounds=4)
    totals = {sum(left.values()) + sum(done.values()) for left, done in spy.begun}
    assert len(spy.begun) == 4 and totals == {spy.deals}


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_shows_a_bar_and_a_log_shows_lines(tmp_path, terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path / "a", Spy(stop=16))
    tournament = Tournament(Folder(tmp_path / "a"), settings(tmp_path))
    with (
        tournament.store as store,
        HereExecutor() as executor,
        TournamentDisplay(store, "match") as display,
    ):
        display.console = console
        tournament.play(executor, display)
    shown = console.file.getvalue()
    assert "playing matches" in shown
    assert ("32 / 32" in shown) == terminal  # what was played before the interrupt counts


@pytest.mark.parametrize("terminal", [True, False])
def test_steps_are_shown_on_a_terminal_only(terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal)
    with StepDisplay(console) as told:
        told("reading [b]results[/b]")
        told("writing the page")
    shown = console.file.getvalue()
    assert ("writing the page" in shown) == terminal
    assert terminal or shown == ""


def test_a_report_says_what_it_does_and_a_pipe_gets_nothing(tmp_path, kille):
    kt.play_tournament(PLAYERS, num_players=[2, 3], deals=5, out="t")
    steps = []
    kt.report("t", told=steps.append)
    assert steps[0] == "reading the results" and steps[-1] == "writing the page"
    assert any("3 seats" in step for step in steps)
    printed = kille("report", "t", "--json")
    assert json.loads(printed.out)["report"].endswith("report.html") and printed.err == ""
