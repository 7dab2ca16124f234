"""`kille bench`: how fast everything is on this machine."""

import sys

import click
from rich.table import Table

from kille_env.registry import list_games, spec
from kille_training.cli.console import json_option, report
from kille_training.cli.speed import BENCHES, Row, as_object, machine

SLOW = ("train", "solve")


@click.command(epilog="Example: kille bench batch aec --players 4")
@click.argument("what", nargs=-1, type=click.Choice([*BENCHES, "all"]))
@click.option("--game", type=click.Choice(list_games()), default=list_games()[0], show_default=True)
@click.option("--players", type=int, help="Seats; the game's default if not given.")
@click.option(
    "--repeats", type=click.IntRange(1), default=5, show_default=True, help="Runs per figure."
)
@json_option
def bench(
    what: tuple[str, ...], game: str, players: int | None, repeats: int, as_json: bool
) -> None:
    """Measure WHAT; print medians and their spread.

    Without WHAT, everything but `train` and `solve` is measured.
    """
    names = list(BENCHES) if "all" in what else what or [n for n in BENCHES if n not in SLOW]
    seats = spec(game).check_players(players)
    rows: list[Row] = []
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr)
        rows += BENCHES[name](game, seats, repeats)
    report(as_object(rows), [_table(rows, game), _machine()], as_json)


def _table(rows: list[Row], game: str) -> Table:
    title = f"Medians of several runs; of {game} where no game is named"
    table = Table(title=title, title_justify="left", pad_edge=False)
    table.add_column("what")
    table.add_column("median", justify="right")
    table.add_column("spread", justify="right")
    table.add_column("unit", no_wrap=True)
    table.add_column("target", no_wrap=True)
    for row in rows:
        spread = "" if row.low == row.high else f"{row.low:.3g} to {row.high:.3g}"
        table.add_row(row.what, f"{row.value:.4g}", spread, row.unit, row.target)
    return table


def _machine() -> str:
    return ", ".join(f"{name} {value}" for name, value in machine().items())
