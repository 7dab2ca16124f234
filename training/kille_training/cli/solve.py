"""`kille solve`: a deal or a whole pot solved exactly."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kille_training.cli import console

GIB = 2**30
ITERATIONS = 100_000


@click.command(epilog="Example: kille solve byteskille --players 3 --rules wikipedia")
@console.game_argument
@click.option(
    "--players", type=int, default=2, show_default=True, help="Seats; 2 to 4 fit into memory."
)
@click.option("--match", is_flag=True, help="A whole pot instead of a single deal; 2 or 3 seats.")
@console.rules_option
@click.option(
    "--target", type=float,
    help="NashConv at which it is solved, in units a deal or a match; 1e-9, with 4 seats 1e-7, "
    "of a match 1e-4 of its pot.",
)  # fmt: skip
@click.option(
    "--iterations", type=click.IntRange(min=1), show_default=f"{ITERATIONS:,}",
    help="At most so many in each hand of a deal.",
)  # fmt: skip
@click.option(
    "--method", type=click.Choice(["cfr", "cfr+", "dcfr", "pcfr+"]), default="dcfr",
    show_default=True, help="How regrets are counted.",
)  # fmt: skip
@click.option(
    "--memory", type=click.FloatRange(min=0, min_open=True), default=4.0, show_default=True,
    help="GiB that the tree may take.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path),
    help="Folder of the solution; the default is runs/solved-GAME-PLAYERS.",
)  # fmt: skip
@console.json_option
def solve(
    game: str,
    players: int,
    match: bool,
    rules: dict[str, Any],
    target: float | None,
    iterations: int | None,
    method: str,
    memory: float,
    out: Path | None,
    as_json: bool,
) -> None:
    """Solve a single deal of GAME, or a whole pot: an equilibrium, and how far from one it is.

    With 2 seats nobody can beat the strategy. With more, no seat alone gains anything by leaving
    it; what two could do together is another question. The folder holds it as a player
    (`kille evaluate FOLDER`) and in words (strategy.md). Interrupted, it goes on when it is called
    again; finished, it shows what came out.
    """
    from kille_env.registry import spec
    from kille_training.cli.jobs import solve_folder
    from kille_training.evaluation.exact import ExactRow
    from kille_training.reports.tables import exact_table
    from kille_training.solving.byteskille.solution import Folder, SolveSettings

    episode = "match" if match else rules.get("episode", "deal")
    if match and rules.get("episode", episode) != episode:
        raise click.UsageError(
            f"--match and the rule episode={rules['episode']} exclude each other"
        )
    if iterations is not None and episode == "match":
        raise click.UsageError("--iterations is of a deal's hands; a match ends at its --target")
    resolved = spec(game).resolve(rules, episode=episode)
    settings = SolveSettings.of(
        spec(game).check_players(players), resolved,
        method=method, target=target, iterations=iterations or ITERATIONS,
    )  # fmt: skip
    name = f"solved-{game}-{players}{'-match' if episode == 'match' else ''}"
    folder = Folder(out or Path("runs") / name)
    found = solve_folder(folder, settings, memory_limit=int(memory * GIB))
    row = ExactRow(
        str(folder.path), "sampled", found.nash_conv, tuple(found.improvement), tuple(found.value)
    )
    sets = " + ".join(f"{number:,}" for number in found.information_sets)
    console.report(
        asdict(found),
        [
            exact_table([row], episode),
            f"{found.deals:,} ways to deal, {found.nodes:,} nodes, {sets} information sets; "
            f"{found.iterations:,} iterations in {found.seconds:.1f} s",
            f"The strategy lies in {folder.path}; for people: {folder.path / 'strategy.md'}",
        ],
        as_json,
    )
