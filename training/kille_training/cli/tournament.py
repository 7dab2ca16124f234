"""`kille tournament`: which player earns most, by how much, and how sure that is."""

import shlex
from pathlib import Path
from typing import Any

import click

from kille_training import recipes
from kille_training.cli import console, options


@click.command(epilog="Example: kille tournament byteskille --set matchmaking.deals=100")
@click.argument("config")
@options.out_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the deals.")
@options.set_option("matchmaking.deals=5000")
@click.option("--keep-results", is_flag=True, help="Keep what every seat earned, as Parquet files.")
@click.option(
    "--transfer", is_flag=True, help="Let players take part that were made for other tables."
)
@options.trust_option
@options.json_option
def tournament(
    config: str,
    out: Path,
    overrides: tuple[str, ...],
    keep_results: bool,
    transfer: bool,
    trust: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Play a tournament and show the standings.

    CONFIG is the name of a recipe (each game has one), a file of settings, or the folder
    of a tournament. Run it again to resume; with more entrants or deals in the settings, only
    those are played.
    """
    from kille_training.arena.settings import load_tournament
    from kille_training.arena.tournament import Folder, play_in_folder
    from kille_training.cli.progress import ProgressDisplay
    from kille_training.reports.standings import renderables

    values |= {"keep_results": keep_results or None, "transfer": transfer or None}
    path = recipes.find(config, "tournament")
    if path.is_dir():
        if values["seed"] is not None:
            raise click.UsageError(f"{path} is a tournament; it keeps its seed.")
        folder = Folder(path)
        folder.settings()
        settings = load_tournament(folder.config, overrides, **values)
    else:
        settings = load_tournament(path, overrides, **values)
        folder = Folder(out / settings.name)
    with console.resumable(), ProgressDisplay() as display:
        result = play_in_folder(folder, settings, display, display.say, trust=trust)
    console.report(
        {"run": str(folder.path), **result.as_dict()},
        [*renderables(result), f"For the report: kille report {shlex.quote(str(folder.path))}"],
        as_json,
    )
