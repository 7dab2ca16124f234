"""What is shown while a tournament is played, and while a report is made."""

import io
import json

import pytest
from rich.console import Console

import kille_training as kt
from kille_training.arena.executors.processes import HereExecutor
from kille_training.arena.settings import MatchmakingSettings, TablesSettings, TournamentSettings
from kille_training.arena.tournament import Folder, Tournament
from kille_training.cli.live import LiveStandings, Pace
from kille_training.cli.progress import StepDisplay

PLAYERS = {"rule": "rule_of_thumb", "chance": "uniform", "tipsy": "byteskille/tipsy"}


class Clock:
    now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_the_time_left_is_that_of_the_rest_at_the_pace_since_the_start(clock):
    pace = Pace(clock)
    pace.begin({3: 900}, {3: 100})
    assert pace.left() == "" and (pace.done, pace.total) == (100, 1000)
    clock.now += 10
    pace.played(3, 100)
    assert pace.left() == "0:01:20" and pace.done == 200
    clock.now += 20  # while the next unit is played
    assert pace.left() == "0:01:00"


def test_what_was_played_before_does_not_count(clock):
    lefts = []
    for done in (0, 100_000):
        pace = Pace(clock)
        pace.begin({2: 500}, {2: done})
        clock.now += 5
        pace.played(2, 50)
        lefts.append(pace.left())
    assert lefts == ["0:00:45", "0:00:45"]


def test_deals_of_larger_tables_take_longer(clock):
    pace = Pace(clock)
    pace.begin({2: 100, 4: 100}, {})
    clock.now += 4
    pace.played(2, 100)
    assert pace.left() == "0:00:16"  # four times as many decisions
    clock.now += 8
    pace.played(4, 50)
    assert pace.left() == "0:00:08"


def test_a_new_round_does_not_start_the_clock_again(clock):
    pace = Pace(clock)
    pace.begin({2: 100}, {})
    clock.now += 10
    pace.played(2, 50)
    pace.begin({2: 150}, {2: 50})  # an entrant is back
    assert (pace.left(), pace.total) == ("0:00:30", 200)


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
def test_a_terminal_shows_standings_and_a_log_shows_lines(tmp_path, terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    tournament = Tournament(Folder(tmp_path / "a"), settings(tmp_path))
    with (
        tournament.store as store,
        HereExecutor() as executor,
        LiveStandings(store, "match", console=console) as live,
    ):
        tournament.play(executor, live)
    shown = console.file.getvalue()
    assert "matches" in shown and " left" in shown
    assert ("chance" in shown) == terminal
    assert terminal or all(" of " in line for line in shown.splitlines())


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
