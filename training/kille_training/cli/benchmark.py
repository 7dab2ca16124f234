"""`kille benchmark`: methods at the same tables with the same budget, and what they reached."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kille_training import recipes
from kille_training.cli import console, options

if TYPE_CHECKING:
    from kille_training.benchmark.grid import Grid
    from kille_training.benchmark.tuning import Tuning


@click.command(epilog="Example: kille benchmark exact --set workers=2")
@click.argument("config")
@options.out_option
@options.set_option("workers=2 (processes, one per run) or executor=ray")
@options.json_option
def benchmark(config: str, out: Path | None, overrides: tuple[str, ...], as_json: bool) -> None:
    """Let methods learn at the same tables with the same budget, and report what they reached.

    CONFIG is the name of a recipe (exact, games, tune), a file of settings, or the folder of a
    benchmark whose results are wanted. Where the settings hold candidates, each method learns with
    all of its own, and the best is chosen. Run it again to resume: no finished run is repeated.
    """
    path = recipes.find(config, "benchmark")
    if path.is_dir():
        _report(out or path, as_json, runs=path)
        return
    from kille_training.benchmark.tuning import Tuning
    from kille_training.benchmark.workers import do_grid, do_tuning
    from kille_training.pool import pool_of

    settings = _settings(path, overrides)
    folder = out or Path("runs") / settings.name
    with console.resumable(), pool_of(settings) as pool:
        if not isinstance(settings, Tuning):
            do_grid(settings, folder, pool, _told)
            _report(folder, as_json, runs=folder)
            return
        lines = do_tuning(settings, folder, pool, _told)
    _report_tuning(lines, folder, as_json)


def _settings(path: Path, overrides: Sequence[str]) -> "Grid | Tuning":
    """Read a grid, or a tuning, which has candidates."""
    from kille_training.benchmark.grid import Grid
    from kille_training.benchmark.tuning import Tuning
    from kille_training.settings import load, parse

    content = parse(path.read_bytes(), str(path))
    tunes = isinstance(content, Mapping) and "candidates" in content
    return load(Tuning, path, overrides) if tunes else load(Grid, path, overrides)


def _told(text: str) -> None:
    click.echo(text, err=True)


def _report(folder: Path, as_json: bool, *, runs: Path) -> None:
    """Write the results of runs as one file, with pictures; print what was reached."""
    from kille_training.benchmark.results import gather
    from kille_training.reports.benchmark import reached_tables, write_pictures

    results = gather(runs)
    written = results.write(folder / "results.jsonl")
    write_pictures(results, folder)
    console.report(
        {"results": str(written), "runs": len(results.runs)},
        [*reached_tables(results), f"Results and pictures are in {folder}."],
        as_json,
    )


def _report_tuning(lines: list[Any], folder: Path, as_json: bool) -> None:
    """Write what candidates reached, and print it with the best of each method."""
    from kille_training.benchmark.tuning import write_tried
    from kille_training.reports.benchmark import tuned_table

    written = write_tried(lines, folder / "tuning.jsonl")
    best = {line.method: dict(line.settings) for line in lines if line.best}
    console.report(
        {"tuning": str(written), "settings": best},
        [tuned_table(lines), f"All candidates are in {written}."],
        as_json,
    )
