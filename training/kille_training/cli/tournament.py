"""`kille tournament`: which player earns most, by how much, and how sure that is."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kille_training import recipes
from kille_training.arena.kinds import EXECUTORS
from kille_training.cli import console

if TYPE_CHECKING:
    from rich.table import Table

    from kille_training.arena.replay import Cell
    from kille_training.arena.settings import TournamentSettings
    from kille_training.arena.tournament import Folder


@click.command(epilog="Example: kille tournament byteskille --set matchmaking.deals=100")
@click.argument("config")
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
    help="Replay the tables at which these two entrants met, and compare the results.",
)
@click.option("--readmit", multiple=True, metavar="NAME", help="Let an entrant that is out play.")
@console.trust_option
@console.json_option
def tournament(
    config: str,
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

    CONFIG is the name of a recipe (`kille recipes` lists them), a file of settings, or the folder
    of a tournament. Run it again to resume; with more entrants or deals in the settings, only
    those are played.
    """
    from kille_training.arena.api import play_in_folder
    from kille_training.arena.settings import load_tournament
    from kille_training.arena.tournament import Folder
    from kille_training.cli.live import LiveStandings
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
    if cell is not None:
        _replay(folder, settings, cell, address, trust, as_json)
        return
    with console.resumable():
        result = play_in_folder(
            folder, settings, LiveStandings, address=address, readmit=readmit, trust=trust
        )
    console.report(
        {"run": str(folder.path), **result.as_dict()},
        [*renderables(result), f"For the report: kille report {shlex.quote(str(folder.path))}"],
        as_json,
    )


def _replay(
    folder: "Folder",
    settings: "TournamentSettings",
    pair: tuple[str, str],
    address: str | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Replays a cell of the crosstable; complains if it earned something else than before."""
    from kille_training.arena.replay import replay_cells
    from kille_training.arena.store import Store
    from kille_training.arena.tournament import executor_of
    from kille_training.cli.live import LiveStandings
    from kille_training.labels import unit_of

    with (
        Store(folder.results, readonly=True) as store,
        executor_of(settings, folder, address=address) as executor,
        LiveStandings(store, "", standings=False) as progress,
    ):
        cells = replay_cells(store, settings, *pair, executor, progress, trust=trust)
    shown = cells_table(cells, f"units per {unit_of(settings.table.episode)}")
    console.report({"cells": [asdict(each) for each in cells]}, [shown], as_json)
    if not all(each.same for each in cells):
        raise click.ClickException(
            f"the results stored in {folder.path} are others; was it played with other versions "
            "than those in its config.yaml?"
        )


def cells_table(cells: "list[Cell]", measure: str) -> "Table":
    """Returns replayed cells for the terminal.

    Args:
        cells: The cells.
        measure: What their means hold, as "units per deal".
    """
    from kille_training.reports.tables import table

    return table(
        f"What {cells[0].row} earns where {cells[0].column} also sits",
        [">seats", f">{measure}", ">observations", ">tables", ">as stored"],
        [
            (
                str(cell.num_players),
                f"{cell.mean:+.4f}" + ("" if cell.half is None else f" ± {cell.half:.4f}"),
                f"{cell.deals:,}",
                f"{cell.tables:,}",
                "bit for bit" if cell.same else "NO",
            )
            for cell in cells
        ],
    )
