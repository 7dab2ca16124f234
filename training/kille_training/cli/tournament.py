"""`kille tournament`: which player earns most, by how much, and how sure that is."""

import shlex
from pathlib import Path
from typing import Any

import click

from kille_training import recipes
from kille_training.arena.kinds import EXECUTORS
from kille_training.cli import console, options


@click.command(epilog="Example: kille tournament byteskille --set matchmaking.deals=100")
@click.argument("config")
@options.name_option
@options.out_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the deals.")
@options.set_option("matchmaking.deals=5000")
@click.option("--executor", type=click.Choice(EXECUTORS), help="Where it is played.")
@click.option("--workers", type=click.IntRange(min=0), help="Processes; 0: see the settings.")
@click.option("--address", help="Address of the Ray cluster; the default is one on this machine.")
@click.option("--readmit", multiple=True, metavar="NAME", help="Let an entrant that is out play.")
@options.trust_option
@options.json_option
def tournament(
    config: str,
    name: str | None,
    out: Path,
    overrides: tuple[str, ...],
    readmit: tuple[str, ...],
    trust: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Play a tournament and show the standings.

    CONFIG is the name of a recipe (each game has one), a file of settings, or the folder
    of a tournament. Run it again to resume; with more entrants or deals in the settings, only
    those are played.
    """
    from kille_training.arena.api import play_in_folder
    from kille_training.arena.settings import load_tournament
    from kille_training.arena.tournament import Folder
    from kille_training.cli.progress import TournamentDisplay
    from kille_training.reports.standings import renderables

    address = values.pop("address")
    path = recipes.find(config, "tournament")
    if path.is_dir():
        if name or values["seed"] is not None:
            raise click.UsageError(f"{path} is a tournament; it keeps its name and its seed.")
        folder = Folder(path)
        folder.settings()
        settings = load_tournament(folder.config, overrides, **values)
    else:
        settings = load_tournament(path, overrides, name=name, **values)
        folder = Folder(out / settings.name)
    with console.resumable():
        result = play_in_folder(
            folder, settings, TournamentDisplay, address=address, readmit=readmit, trust=trust
        )
    console.report(
        {"run": str(folder.path), **result.as_dict()},
        [*renderables(result), f"For the report: kille report {shlex.quote(str(folder.path))}"],
        as_json,
    )
