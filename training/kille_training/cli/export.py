"""`kille export`: a tournament's results for other programs."""

from pathlib import Path

import click

from kille_training.cli import console


@click.command(epilog="Example: kille export runs/tournament --parquet results.parquet")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--parquet", type=click.Path(path_type=Path), help="A row a member of each table.")
@click.option("--jsonl", type=click.Path(path_type=Path), help="A line of JSON a table.")
@click.option(
    "--records",
    type=click.Path(path_type=Path),
    help="Card by card and action by action, for kille replay; played again for it.",
)
@click.option(
    "--deals",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Deals of each lineup in --records, the first ones.",
)
@console.trust_option
@console.json_option
def export(
    run: Path,
    parquet: Path | None,
    jsonl: Path | None,
    records: Path | None,
    deals: int,
    trust: bool,
    as_json: bool,
) -> None:
    """Write what was played in RUN, the folder of a tournament, to files.

    --parquet and --jsonl hold what everybody earned at every table.
    """
    from kille_training.arena.export import export_jsonl, export_parquet
    from kille_training.arena.replay import export_records
    from kille_training.arena.store import Store
    from kille_training.arena.tournament import Folder

    if parquet is None and jsonl is None and records is None:
        raise click.UsageError("Name a file: --parquet FILE, --jsonl FILE, --records FILE.")
    written = {}
    with Store(run, readonly=True) as store:
        for path, write in ((parquet, export_parquet), (jsonl, export_jsonl)):
            if path is not None:
                written[str(path)] = write(store, path)
        if records is not None:
            settings = Folder(run).settings()
            written[str(records)] = export_records(store, settings, records, deals, trust=trust)
    lines = [f"{rows:,} rows lie in {path}" for path, rows in written.items()]
    console.report({"written": written}, lines, as_json)
