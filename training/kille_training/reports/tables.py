"""What a player earns and what it could gain, as tables for the terminal."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from rich.table import Table
from rich.text import Text

from kille_env.core.text import printable
from kille_env.registry import spec
from kille_training.evaluation.duplicate import Row, rows_from_dicts
from kille_training.evaluation.exact import ExactRow, exact_from_dicts
from kille_training.labels import measure_of, plural_of, position_names, unit_of
from kille_training.learning.runs import Run

R = TypeVar("R", Row, ExactRow)

DETERMINISTIC = "deterministic"
MOST_POSITIONS = 5
"""Seats up to which a table has a column for each position."""


def distinct(rows: Sequence[R]) -> list[R]:
    """Returns rows with one for a player that plays greedily and sampled alike."""
    shown: list[R] = []
    for row in rows:
        for place, other in enumerate(shown):
            if replace(other, play=row.play) == row:
                shown[place] = replace(other, play=DETERMINISTIC)
                break
        else:
            shown.append(row)
    return shown


def payoff_table(rows: Sequence[Row], game: str, episode: str, num_players: int) -> Table:
    """Returns what a player earns against others."""
    measure, unit = measure_of(game, episode), unit_of(episode)
    title = f"{measure.capitalize()}, 95% interval"
    if not spec(game).zero_sum:
        title += ": more than the other player earns in the same seat"
    table = Table(title=title, title_justify="left")
    table.add_column("against")
    table.add_column("play")
    table.add_column(measure, justify="right")
    positions = position_names(num_players) if num_players <= MOST_POSITIONS else []
    for name in positions:
        table.add_column(name, justify="right")
    table.add_column(plural_of(unit), justify="right")
    for row in distinct(rows):
        table.add_row(
            Text(printable(row.against)),
            row.play,
            str(row.estimate),
            *(f"{part.mean:+.4f}" for part in row.by_position[: len(positions)]),
            f"{row.estimate.groups:,}",
        )
    return table


def exact_table(rows: Sequence[ExactRow], unit: str = "deal") -> Table:
    """Returns how far a policy is from an equilibrium."""
    table = Table(title=f"Units per {unit}, exactly", title_justify="left")
    table.add_column("play")
    table.add_column("each seat")
    for name in position_names(len(rows[0].value)):
        table.add_column(name, justify="right")
    table.add_column("NashConv", justify="right")
    for row in distinct(rows):
        gains = (f"{max(gain, 0.0):.5f}" for gain in row.improvement)
        table.add_row(row.play, "earns", *(f"{value:+.5f}" for value in row.value), "")
        table.add_row("", "could gain", *gains, f"{row.nash_conv:.5f}")
    return table


def run_tables(run: Run) -> list[Table]:
    """Returns the tables of a run that has been measured."""
    table, found = run.settings().table, run.read_evaluation() or {}
    rows = rows_from_dicts(found["rows"])
    shown = [payoff_table(rows, table.game, table.episode, table.num_players)]
    if exact := exact_from_dicts(found.get("exact") or ()):
        shown.append(exact_table(exact))
    return shown
