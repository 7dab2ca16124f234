"""`kille export`: a tournament's results for other programs."""

from pathlib import Path

import click

from kille_training import console


@click.command(epilog="Example: kille export runs/tournament --parquet results.parquet")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--parquet", type=click.Path(path_type=Path), help="A row a member of each table.")
@click.option("--jsonl", type=click.Path(path_type=Path), help="A line of JSON a table.")
@console.json_option
def export(run: Path, parquet: Path | None, jsonl: Path | None, as_json: bool) -> None:
    """Write everything that was played in RUN, the folder of a tournament, to files."""
    from kille_training.arena.export import export_jsonl, export_parquet
    from kille_training.arena.store import Store

    if parquet is None and jsonl is None:
        raise click.UsageError("Name a file: --parquet FILE, --jsonl FILE, or both.")
    written = {}
    with Store(run, readonly=True) as store:
        for path, write in ((parquet, export_parquet), (jsonl, export_jsonl)):
            if path is not None:
                written[str(path)] = write(store, path)
    lines = [f"{rows:,} rows lie in {path}" for path, rows in written.items()]
    console.report({"written": written}, lines, as_json)
