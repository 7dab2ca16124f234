"""`kille export`: a tournament's results for other programs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kille_training.cli import console

if TYPE_CHECKING:
    from kille_training.arena.store import Store

MOST_BYTES = 100_000_000
"""Size of a JSON Lines file above which the command asks."""


@click.command(epilog="Example: kille export runs/tournament --parquet results.parquet")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--parquet", type=click.Path(path_type=Path), help="One row per seat of each table.")
@click.option("--jsonl", type=click.Path(path_type=Path), help="One line of JSON per table.")
@click.option(
    "--records",
    type=click.Path(path_type=Path),
    help="Card by card and action by action, for kille replay; the tables are replayed for it.",
)
@click.option(
    "--deals",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many deals --records writes, the first ones.",
)
@click.option("--yes", is_flag=True, help="Write a large --jsonl file without asking.")
@console.trust_option
@console.json_option
def export(
    run: Path,
    parquet: Path | None,
    jsonl: Path | None,
    records: Path | None,
    deals: int,
    yes: bool,
    trust: bool,
    as_json: bool,
) -> None:
    """Write what was played in RUN, the folder of a tournament, to files.

    --parquet and --jsonl hold what every seat earned at every table. Parquet is dozens of times
    smaller. Above 100 MB --jsonl says how large the file will be and asks; without a terminal it
    needs --yes.
    """
    from kille_training.arena.export import export_jsonl, export_parquet
    from kille_training.arena.replay import export_records
    from kille_training.arena.store import Store
    from kille_training.arena.tournament import Folder

    if parquet is None and jsonl is None and records is None:
        raise click.UsageError("Name a file: --parquet FILE, --jsonl FILE, --records FILE.")
    written = {}
    with Store(run, readonly=True) as store:
        if jsonl is not None and not yes:
            _confirm(store, jsonl)
        for path, write in ((parquet, export_parquet), (jsonl, export_jsonl)):
            if path is not None:
                written[str(path)] = write(store, path)
        if records is not None:
            settings = Folder(run).settings()
            written[str(records)] = export_records(store, settings, records, deals, trust=trust)
    lines = [f"{rows:,} rows are in {path}" for path, rows in written.items()]
    console.report({"written": written}, lines, as_json)


def _confirm(store: "Store", path: Path) -> None:
    """Asks before a large file is written, and ends the command if the answer is no."""
    from kille_training.arena.export import jsonl_size

    size = jsonl_size(store)
    if size <= MOST_BYTES:
        return
    large = f"{path} will have about {size / 1e6:,.0f} MB; --parquet is dozens of times smaller"
    if not sys.stdin.isatty():
        raise click.ClickException(f"{large}. Add --yes to write it anyway.")
    click.confirm(f"{large}. Write it?", abort=True, err=True)
