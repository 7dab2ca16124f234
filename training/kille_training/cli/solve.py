"""`kille solve`: solve a deal or a whole pot exactly."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from kille_env.registry import Table
from kille_training.cli import command

SET = ("iterations", "method", "memory")  # arguments for `--set`


@click.command(epilog="Example: kille solve byteskille --players 3 --rules wikipedia")
@click.argument("game", metavar="GAME")
@command.players_option
@command.rules_option
@click.option(
    "--target", type=float,
    help="Target NashConv, in units per deal or match.  [default: 1e-9; with 4 seats 1e-7; of a "
    "match 1e-4 of its pot; for games other than byteskille 1e-4 with 2 seats and 2e-3 with more]",
)  # fmt: skip
@command.set_option("memory=8 (GiB that the tree may take), iterations=1000 or method=cfr+")
@click.option(
    "--efg", type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the exact tree of a deal in Gambit's format, for OpenSpiel, and beside it the "
    "solution by information set (.policy), for truth/check.py.",
)  # fmt: skip
@command.out_option
@command.json_option
def solve(
    game: str,
    num_players: int | None,
    rules: dict[str, Any],
    efg: Path | None,
    out: Path | None,
    target: float | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compute an equilibrium of a single deal of GAME, or of a whole pot (--rules episode=match).

    GAME may be a table of the truth set, with its seats and rules, such as krypkille-tiny-2.

    Byteskille is solved with up to 4 seats, whole pots with 2 or 3; other games if the tree fits
    into memory, such as krypkille with 2 or 3 seats under --rules small.

    With 2 seats the strategy is unbeatable. With more, no single seat gains by deviating, but two
    colluding seats may. The folder holds the strategy as a policy (`kille evaluate FOLDER`) and as
    text (strategy.md). Run it again to resume; once solved, it prints the results. A smaller
    --target refines the solution of a deal.
    """
    from kille_training.progress import Bars
    from kille_training.solving.export import export_efg
    from kille_training.solving.solution import SolveError, default_name
    from kille_training.solving.solve import solve as solve_it
    from kille_training.solving.truth import named

    game, num_players, rules = named(game, num_players, rules)
    asked = command.arguments_of(solve_it, overrides, *SET)
    table = Table.of(game, rules=rules)
    seats = table.num_players if num_players is None else num_players  # `solve` checks them
    if efg is not None and table.rules["episode"] == "match":
        raise click.UsageError("--efg writes the tree of a single deal, not of a match")
    folder = out or Path("runs") / default_name(replace(table, num_players=seats))
    try:
        begun = (folder / "settings.json").is_file
        with command.resumable(begun=begun), Bars(lines=True) as display:
            found = solve_it(
                game, num_players, rules=rules, target=target, out=folder,
                observer=display.described, **asked,
            )  # fmt: skip
            if efg is not None:
                memory = {key: asked[key] for key in asked if key == "memory"}
                export_efg(game, seats, efg, rules=rules, **memory).write_policy(found.policy)
    except SolveError as error:
        where = "--set" if error.argument in SET else "--rules"
        given = (each for each in solve.params if each.name == error.argument)
        hint = next((each.metavar or each.opts[0] for each in given), f"{where} {error.argument}")
        raise click.BadParameter(error.problem, param_hint=hint) from None
    text = folder / "strategy.md"
    shown = [found, f"Policy: {folder}; readable strategy: {text}"]
    command.report(found.as_dict(), shown, as_json)
