"""`kille tournament`: who is better, by how much, and how sure that is."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kille_training.arena.settings import EXECUTORS
from kille_training.cli import console


@click.command(epilog="Example: kille tournament configs/tournament/byteskille.yaml")
@click.argument("config", type=click.Path(path_type=Path, exists=True))
@console.name_option
@console.out_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the deals.")
@console.set_option("matchmaking.deals=5000")
@click.option("--executor", type=click.Choice(EXECUTORS), help="Where it is played.")
@click.option("--workers", type=click.IntRange(min=0), help="Processes; 0: see the settings.")
@click.option("--address", help="Address of the Ray cluster; the default is one on this machine.")
@click.option(
    "--cell",
    nargs=2,
    default=None,
    metavar="ROW COLUMN",
    help="Play again only where these two entrants of a tournament met, and compare.",
)
@click.option(
    "--readmit", multiple=True, metavar="NAME", help="Let an entrant who is out in again."
)
@console.trust_option
@console.json_option
def tournament(
    config: Path,
    name: str | None,
    out: Path,
    overrides: tuple[str, ...],
    cell: tuple[str, str] | None,
    readmit: tuple[str, ...],
    trust: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Play a tournament and show the standings.

    CONFIG is a file of settings, or the folder of a tournament. What lies in the folder already is
    not played again: interrupted, it goes on; with more entrants or deals, only those are played.
    """
    from kille_training.arena.replay import cells_renderable
    from kille_training.arena.settings import load_tournament
    from kille_training.arena.tournament import Folder
    from kille_training.cli.jobs import play_again, play_tournament

    address = values.pop("address")
    if config.is_dir():
        if name or values["seed"] is not None:
            raise click.UsageError(f"{config} is a tournament; it keeps its name and its seed.")
        folder = Folder(config)
        folder.settings()
        settings = load_tournament(folder.config, overrides, **values)
    else:
        settings = load_tournament(config, overrides, name=name, **values)
        folder = Folder(out / settings.name)
    if cell is not None:
        cells = play_again(folder, settings, *cell, address=address, trust=trust)
        console.report(
            {"cells": [asdict(each) for each in cells]}, cells_renderable(cells), as_json
        )
        if not all(each.same for each in cells):
            raise click.ClickException(
                f"{folder.path} holds other results than these; were the versions in its "
                "config.yaml others?"
            )
        return
    played = play_tournament(folder, settings, address=address, readmit=readmit, trust=trust)
    console.report(
        {"run": str(folder.path), **played.as_dict()},
        [*played.renderables(), f"The report: kille report {shlex.quote(str(folder.path))}"],
        as_json,
    )
