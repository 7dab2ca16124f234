"""`kille solve`: solves a deal or a whole pot exactly."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from kille_env.registry import Table
from kille_training.cli import command

SET = ("iterations", "method", "memory")
"""Arguments that `--set` gives."""


@click.command(epilog="Example: kille solve byteskille --players 3 --rules wikipedia")
@click.argument("game", metavar="GAME")
@command.players_option
@command.rules_option
@click.option(
    "--target", type=float,
    help="NashConv at which it is solved, in units per deal or match. Default: 1e-9, with 4 seats "
    "1e-7, of a match 1e-4 of its pot; of other games than byteskille 1e-4 with 2 seats and 2e-3 "
    "with more.",
)  # fmt: skip
@command.set_option("memory=8 (GiB that the tree may take), iterations=1000 or method=cfr+")
@click.option(
    "--efg", type=click.Path(path_type=Path, dir_okay=False),
    help="Of a deal: also write its exact tree here, in Gambit's format, for OpenSpiel, and "
    "beside it the solution in its information sets (.policy), for docs/certificates/check.py.",
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
    """Solve a single deal of GAME, or a whole pot (--rules episode=match), exactly.

    Byteskille is solved with up to 4 seats, whole pots with 2 or 3; of other games the small tables
    that fit into memory, as krypkille with 2 or 3 seats by --rules small.

    With 2 seats nobody can beat the strategy. With more, no seat alone gains by leaving it; two
    seats that act together may. The folder holds the strategy as a policy (`kille evaluate FOLDER`)
    and as text (strategy.md). Run it again to resume; once it is solved, it prints the results, and
    a smaller --target sharpens a deal.
    """
    from kille_training.progress import Bars
    from kille_training.solving.export import export_efg
    from kille_training.solving.pictures import write_pictures
    from kille_training.solving.solution import SolveError, default_name
    from kille_training.solving.solve import solve as solve_it

    asked = command.arguments_of(solve_it, overrides, *SET)
    table = Table.of(game, rules=rules)
    seats = table.num_players if num_players is None else num_players  # `solve` checks them
    if efg is not None and table.rules["episode"] == "match":
        raise click.UsageError("--efg writes the tree of a single deal, and no match")
    folder = out or Path("runs") / default_name(replace(table, num_players=seats))
    try:
        begun = (folder / "settings.json").is_file
        with command.resumable(begun=begun), Bars(lines=True) as display:
            found = solve_it(
                game, num_players, rules=rules, target=target, out=folder,
                observer=display.described, **asked,
            )  # fmt: skip
            write_pictures(found, folder)
            if efg is not None:
                memory = {key: asked[key] for key in asked if key == "memory"}
                export_efg(game, seats, efg, rules=rules, **memory).write_policy(found.policy)
    except SolveError as error:
        where = "--set" if error.argument in SET else "--rules"
        given = (each for each in solve.params if each.name == error.argument)
        hint = next((each.metavar or each.opts[0] for each in given), f"{where} {error.argument}")
        raise click.BadParameter(error.problem, param_hint=hint) from None
    text = folder / "strategy.md"
    shown = [found, f"The policy is in {folder}; for people: {text}"]
    command.report(found.as_dict(), shown, as_json)
