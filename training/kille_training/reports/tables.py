"""What a player earns and what it could gain, as tables for the terminal."""

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from kille_env.words.text import counted, printable
from kille_training.evaluation.api import Evaluation
from kille_training.evaluation.duplicate import DETERMINISTIC, Row
from kille_training.evaluation.exact import ExactNashConv
from kille_training.evaluation.losses import Loss
from kille_training.labels import measure_of, plural_of, position_names, score_of, unit_of

MOST_POSITIONS = 5
"""Seats up to which a table has a column for each position."""


def table(title: str, columns: Iterable[str], rows: Iterable[Sequence[str]]) -> Table:
    """Returns a table; names in it may hold what rich takes for markup.

    On a narrow terminal texts are broken into lines, figures are not.

    Args:
        title: What stands above it.
        columns: Headings; a heading that begins with ">" stands above figures.
        rows: A text for each column.
    """
    made = Table(title=Text(title), title_justify="left")
    for column in columns:
        figures = column.startswith(">")
        made.add_column(
            Text(column.removeprefix(">")),
            justify="right" if figures else "left",
            no_wrap=figures,
            overflow="fold",
        )
    for row in rows:
        made.add_row(*(Text(printable(cell)) for cell in row))
    return made


def payoff_table(rows: Sequence[Row], game: str, episode: str, num_players: int) -> Table:
    """Returns what a player earns against others."""
    measure, unit = measure_of(game, episode), unit_of(episode)
    title = f"{measure.capitalize()}, {score_of(game)}, 95% interval"
    positions = position_names(num_players) if num_players <= MOST_POSITIONS else []
    figures = (f">{name}" for name in (measure, *positions, plural_of(unit)))
    made = table(
        title,
        ["against", "play", *figures],
        [
            (
                row.against,
                row.play,
                str(row.estimate),
                *(f"{part.mean:+.4f}" for part in row.by_position[: len(positions)]),
                f"{row.estimate.groups:,}",
            )
            for row in rows
        ],
    )
    if any(row.play == DETERMINISTIC for row in rows):
        made.caption = f"{DETERMINISTIC}: greedy and sampled play are the same"
    return made


def exact_table(rows: Sequence[ExactNashConv], unit: str = "deal") -> Table:
    """Returns how far a policy is from an equilibrium."""
    names = (f">{name}" for name in position_names(len(rows[0].value)))
    cells = []
    for row in rows:
        gains = (f"{max(gain, 0.0):.5f}" for gain in row.improvement)
        cells.append((row.play, "earns", *(f"{value:+.5f}" for value in row.value), "", ""))
        cells.append(("", "could gain", *gains, f"{row.nash_conv:.5f}", f"{row.stakes:.5f}"))
    head = ["play", "each seat", *names, ">NashConv", ">in stakes"]
    return table(f"Units per {unit}, exactly", head, cells)


def loss_table(losses: Sequence[Loss], num_players: int) -> Table:
    """Returns the information sets where a policy loses most, in words."""
    names = position_names(num_players)
    rows = []
    for one in losses:
        plays = ", ".join(f"{a} {100 * c:.0f}%" for a, c in one.plays.items() if c > 0)
        seat, often = names[one.seat], f"{100 * one.reach:.3f}%"
        if one.granted:
            seat += f" after {counted(one.granted, 'granted question', 'granted questions')}"
        rows.append((f"{one.loss:.5f}", often, seat, one.seen, plays, one.best))
    head = [">units per deal", ">comes up", "seat", "sees", "plays", "best"]
    return table("Where it loses most", head, rows)


def evaluation_tables(found: Evaluation) -> list[Table | str]:
    """Returns a measurement as lines and tables for the terminal."""
    made = [f"{name}: transferred from {home}" for name, home in found.transferred.items()]
    shown: list[Table | str] = [str(found.table), *made]
    shown += [payoff_table(found.rows, found.game, str(found.rules["episode"]), found.num_players)]
    if found.exact:
        shown.append(exact_table(found.exact))
    if found.losses:
        shown.append(loss_table(found.losses, found.num_players))
    return shown
