"""`kille benchmark`: methods at the same tables with the same budget, and what they reached."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kille_training.cli import command
from kille_training.settings import find_settings

if TYPE_CHECKING:
    from kille_training.benchmark.grid import Grid


@click.command(epilog="Example: kille benchmark exact --set workers=2")
@click.argument("config")
@command.out_option
@command.set_option("workers=2 (processes, one per run) or executor=ray")
@command.json_option
def benchmark(config: str, out: Path | None, overrides: tuple[str, ...], as_json: bool) -> None:
    """Let methods learn at the same tables with the same budget, and report what they reached.

    CONFIG is the name of a recipe (exact, games, tune), a file of settings, or the folder of a
    benchmark whose results are wanted. Where the settings hold candidates, each method learns with
    all of its own, and the best is chosen. Run it again to resume: no finished run is repeated.
    """
    path = find_settings(config, "benchmark")
    if path.is_dir():
        _report(out or path, as_json, runs=path)
        return
    from kille_training.benchmark.grid import Grid
    from kille_training.benchmark.workers import do_grid
    from kille_training.pool import pool_of
    from kille_training.settings import load

    grid = load(Grid, path, overrides)
    folder = out or Path("runs") / grid.name
    with (
        command.resumable(),
        pool_of(grid.workers, executor=grid.executor, address=grid.address) as pool,
    ):
        do_grid(grid, folder, pool, _told)
    if grid.candidates:
        _report_candidates(grid, folder, as_json)
    else:
        _report(folder, as_json, runs=folder)


def _told(text: str) -> None:
    click.echo(text, err=True)


def _report(folder: Path, as_json: bool, *, runs: Path) -> None:
    """Write the results of runs as one file, with pictures; print what was reached."""
    from kille_training.benchmark.page import reached_tables, write_pictures
    from kille_training.benchmark.results import gather

    results = gather(runs)
    written = results.write(folder / "results.jsonl")
    write_pictures(results, folder)
    command.report(
        {"results": str(written), "runs": len(results.runs)},
        [*reached_tables(results), f"Results and pictures are in {folder}."],
        as_json,
    )


def _report_candidates(grid: "Grid", folder: Path, as_json: bool) -> None:
    """Write what candidates reached, and print it with the best of each method."""
    from kille_training.benchmark.page import tuned_table
    from kille_training.benchmark.tuning import tried, write_tried

    lines = tried(grid, folder)
    written = write_tried(lines, folder / "tuning.jsonl")
    best = {line.method: dict(line.settings) for line in lines if line.best}
    command.report(
        {"tuning": str(written), "settings": best},
        [tuned_table(lines), f"All candidates are in {written}."],
        as_json,
    )
