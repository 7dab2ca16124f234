"""`kille solve`: solves a deal or a whole pot exactly."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kille_env.registry import Table
from kille_training.cli import console, options

ITERATIONS = 100_000
LINE_SECONDS = 5.0
"""Seconds between two lines about the progress."""


@click.command(epilog="Example: kille solve byteskille --players 3 --rules wikipedia")
@options.game_argument
@click.option(
    "--players", "num_players", type=int,
    help="Seats; 2 to 4 fit into memory. Default: the game's.",
)  # fmt: skip
@click.option("--match", is_flag=True, help="A whole pot instead of a single deal; 2 or 3 seats.")
@options.rules_option
@click.option(
    "--target", type=float,
    help="NashConv at which it is solved, in units per deal or match. Default: 1e-9, with 4 seats "
    "1e-7, of a match 1e-4 of its pot.",
)  # fmt: skip
@click.option(
    "--iterations", type=int,
    help=f"At most this many in each hand of a deal. Default: {ITERATIONS:,}.",
)  # fmt: skip
@click.option(
    "--method", type=click.Choice(["cfr", "cfr+", "dcfr", "pcfr+"]), default="dcfr",
    show_default=True, help="The variant of counterfactual regret minimisation.",
)  # fmt: skip
@click.option(
    "--memory", type=float, default=4.0, show_default=True, help="GiB that the tree may take."
)  # fmt: skip
@click.option(
    "--efg", type=click.Path(path_type=Path, dir_okay=False),
    help="Of a deal: also write its exact tree here, in Gambit's format, for OpenSpiel.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path),
    help="Folder of the solution. Default: runs/solved-GAME-PLAYERS.",
)  # fmt: skip
@options.json_option
def solve(
    game: str,
    num_players: int | None,
    match: bool,
    rules: dict[str, Any],
    efg: Path | None,
    out: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Solve a single deal of GAME, or a whole pot: an equilibrium, measured exactly.

    With 2 seats nobody can beat the strategy. With more, no seat alone gains by leaving it; two
    seats that act together may. The folder holds the strategy as a policy (`kille evaluate FOLDER`)
    and as text (strategy.md). Run it again to resume; once finished, it prints the results.
    """
    from kille_training.evaluation.exact import ExactNashConv
    from kille_training.reports.solutions import write_pictures
    from kille_training.solving.byteskille.export import export_efg
    from kille_training.solving.byteskille.solution import SolveError
    from kille_training.solving.byteskille.solve import solve as solve_it

    if efg is not None and match:
        raise click.UsageError("--efg writes the tree of a single deal; leave out --match.")
    table = Table.of(game, rules=rules, episode="match" if match else None)
    seats = table.num_players if num_players is None else num_players
    episode = str(table.rules["episode"])
    name = f"solved-{game}-{seats}{'-match' if episode == 'match' else ''}"
    folder = out or Path("runs") / name
    try:
        with console.resumable(begun=(folder / "settings.json").is_file):
            found = solve_it(
                game, num_players, rules=rules, match=match, out=folder,
                observer=_show_now_and_then(), **asked,
            )  # fmt: skip
            write_pictures(found, folder)
            if efg is not None:
                export_efg(game, seats, efg, rules=rules, memory=asked["memory"])
    except SolveError as error:
        (given,) = (each for each in solve.params if each.name == error.argument)
        hint = given.metavar or given.opts[0]
        raise click.BadParameter(error.problem, param_hint=hint) from None
    row = ExactNashConv(
        policy=str(folder),
        play="sampled",
        nash_conv=found.nash_conv,
        improvement=tuple(found.improvement),
        value=tuple(found.value),
        stake=found.table.rules.number("stake"),
        table=found.table,
    )
    sets = " + ".join(f"{number:,}" for number in found.information_sets)
    console.report(
        found.as_dict(),
        [
            str(row),
            f"{found.deals:,} ways to deal, {found.nodes:,} nodes, {sets} information sets; "
            f"{found.iterations:,} iterations in {found.seconds:.1f} s",
            f"The policy is in {folder}; for people: {folder / 'strategy.md'}",
        ],
        as_json,
    )


def _show_now_and_then() -> Callable[[Any], None]:
    """Returns a function that prints progress on standard error, now and then."""
    last = -LINE_SECONDS

    def show(progress: Any) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            click.echo(progress.describe(), err=True)

    return show
