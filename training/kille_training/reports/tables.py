"""What a player earns and what it could gain, as tables for the terminal."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from kille_env.core.text import printable
from kille_env.errors import ConfigError
from kille_env.registry import spec
from kille_training.evaluation.duplicate import DETERMINISTIC, Row
from kille_training.evaluation.exact import ExactRow
from kille_training.labels import measure_of, plural_of, position_names, unit_of
from kille_training.learning.runs import Run

MOST_POSITIONS = 5
"""Seats up to which a table has a column for each position."""


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
    if any(row.play == DETERMINISTIC for row in rows):
        table.caption = f"{DETERMINISTIC}: greedy and sampled play are the same"
    for row in rows:
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
    for row in rows:
        gains = (f"{max(gain, 0.0):.5f}" for gain in row.improvement)
        table.add_row(row.play, "earns", *(f"{value:+.5f}" for value in row.value), "")
        table.add_row("", "could gain", *gains, f"{row.nash_conv:.5f}")
    return table


def run_tables(run: Run) -> list[Table]:
    """Returns the tables of a run that has been measured."""
    table, found = run.settings().table, run.read_evaluation()
    if found is None:
        raise ConfigError(f"{run.folder} has not been measured; first: kille train {run.folder}")
    shown = [payoff_table(found.rows, table.game, table.episode, table.num_players)]
    if found.exact:
        shown.append(exact_table(found.exact))
    return shown
