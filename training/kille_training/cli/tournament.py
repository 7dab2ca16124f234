"""`kille tournament`: rank players by their earnings, with intervals."""

from pathlib import Path
from typing import Any

import click

from kille_training.cli import command
from kille_training.settings import find_settings


@click.command(epilog="Example: kille tournament byteskille --set matchmaking.deals=100")
@click.argument("config")
@command.out_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the deals.")
@command.set_option("matchmaking.deals=5000")
@command.players_option
@click.option("--transfer", is_flag=True, help="Allow players trained for other tables.")
@command.trust_option
@command.json_option
def tournament(
    config: str,
    out: Path | None,
    overrides: tuple[str, ...],
    num_players: int | None,
    transfer: bool,
    trust: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Play a tournament, show the standings and write its page.

    CONFIG is the name of a recipe (each game has one), a file of settings, or the folder of a
    tournament. Run it again to resume; added entrants or deals are played, stored results stay. A
    finished tournament is shown without loading any player.
    """
    from kille_training.arena.page import write_tournament_page
    from kille_training.arena.settings import Folder, load_tournament
    from kille_training.arena.tournament import finished, play_in_folder
    from kille_training.progress import Bars

    values |= {"transfer": transfer or None}
    if num_players is not None:
        overrides += (f"table.num_players={num_players}",)
    path = find_settings(config, "tournament")
    result = None
    if path.is_dir():
        if values["seed"] is not None or out is not None:
            raise click.UsageError(
                f"{path} is a tournament with its own folder and seed: leave out --out and --seed"
            )
        folder = Folder(path)
        folder.settings()
        settings = load_tournament(folder.config, overrides, **values)
        result = finished(folder, settings)
    else:
        name = None if out is None else out.resolve().name
        settings = load_tournament(path, overrides, name=name, **values)
        folder = Folder(out or Path("runs") / settings.name)
    with command.resumable(), Bars(lines=True) as display:
        if result is None:
            result = play_in_folder(folder, settings, display, display.say, trust=trust)
        else:
            write_tournament_page(folder)
    command.report(
        {"run": str(folder.path), "report": str(result.report), **result.as_dict()},
        [result, f"The report is in {result.report}"],
        as_json,
    )
