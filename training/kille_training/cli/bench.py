"""`kille bench`: how fast everything is on this machine."""

import sys
from dataclasses import asdict

import click
from rich.table import Table

from kille_env.registry import list_games, spec
from kille_training.cli.console import json_option, report
from kille_training.speed.benches import BENCHES
from kille_training.speed.rows import Row, machine

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
    about = machine()
    result = {"machine": about, "rows": [asdict(row) for row in rows]}
    measured_on = ", ".join(f"{name} {value}" for name, value in about.items())
    report(result, [_table(rows, game), measured_on], as_json)


def _table(rows: list[Row], game: str) -> Table:
    from kille_training.reports.tables import table

    cells = []
    for row in rows:
        spread = "" if row.low == row.high else f"{row.low:.3g} to {row.high:.3g}"
        cells.append((row.what, f"{row.value:.4g}", spread, row.unit, row.target))
    title = f"Medians of several runs; of {game} where no game is named"
    return table(title, ["what", ">median", ">spread", "unit", "target"], cells)
