"""`kille benchmark`: methods at the same tables with the same budget, and what they reached."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from kille_training.cli import console, options

if TYPE_CHECKING:
    from kille_training.benchmark.workers import Workers


@click.group(
    epilog="Example: kille benchmark run configs/benchmark/exact.yaml. Every command takes --json."
)
def benchmark() -> None:
    """Let methods learn at the same tables with the same budget, and report what they reached."""


_config = click.argument("config", type=click.Path(path_type=Path, exists=True, dir_okay=False))
_runs_folder = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the runs.  [default: runs/NAME, by the name in CONFIG]",
)


def _workers(command: Callable[..., None]) -> Callable[..., None]:
    """Adds options that say where runs are done; the command receives them as `where`."""

    @wraps(command)
    def gathered(
        executor: Literal["local", "ray"], workers: int, address: str | None, **values: Any
    ) -> None:
        from kille_training.benchmark.workers import Workers

        if address is not None and executor != "ray":
            raise click.UsageError("--address is that of a Ray cluster; add --executor ray")
        command(where=Workers(executor, workers, address), **values)

    made: Callable[..., None] = gathered
    for option in (
        click.option("--address", help="Address of the Ray cluster, all of whose CPUs work; the "
                     "default is a cluster on this machine."),
        click.option("--workers", type=click.IntRange(1), default=1, show_default=True,
                     help="Processes, one per run."),
        click.option("--executor", type=click.Choice(["local", "ray"]), default="local",
                     show_default=True, help="Where runs are done."),
    ):  # fmt: skip
        made = option(made)
    return made


@benchmark.command(epilog="Example: kille benchmark run configs/benchmark/exact.yaml --workers 2")
@_config
@_runs_folder
@_workers
@options.json_option
def run(config: Path, out: Path | None, where: "Workers", as_json: bool) -> None:
    """Do the runs of CONFIG, a YAML file. Run it again to resume: no finished run is repeated."""
    from kille_training.benchmark.grid import Grid
    from kille_training.benchmark.workers import do_grid
    from kille_training.settings import load

    grid = load(Grid, config)
    folder = out or Path("runs") / grid.name
    with console.resumable():
        done = do_grid(grid, folder, where, lambda text: click.echo(text, err=True))
    console.report(
        {"out": str(folder), "done": [str(path) for path in done]},
        [f"All runs are in {folder}; kille benchmark report {folder} shows what they reached."],
        as_json,
    )


@benchmark.command(epilog="Example: kille benchmark tune configs/benchmark/tune.yaml")
@_config
@_runs_folder
@_workers
@options.json_option
def tune(config: Path, out: Path | None, where: "Workers", as_json: bool) -> None:
    """Let the candidates in CONFIG, a YAML file, learn, and choose the best one of each method.

    Every candidate has the same budget and every method as many candidates. Run it again to resume.
    """
    from kille_training.benchmark.tuning import Tuning, write_tried
    from kille_training.benchmark.workers import do_tuning
    from kille_training.reports.benchmark import tuned_table
    from kille_training.settings import load

    tuning = load(Tuning, config)
    folder = out or Path("runs") / tuning.name
    with console.resumable():
        lines = do_tuning(tuning, folder, where, lambda text: click.echo(text, err=True))
    written = write_tried(lines, folder / "tuning.jsonl")
    best = {line.method: dict(line.settings) for line in lines if line.best}
    console.report(
        {"tuning": str(written), "settings": best},
        [tuned_table(lines), f"All candidates are in {written}."],
        as_json,
    )


@benchmark.command(epilog="Example: kille benchmark report runs/exact")
@click.argument("runs", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of results and pictures.  [default: RUNS]",
)
@options.json_option
def report(runs: Path, out: Path | None, as_json: bool) -> None:
    """Write the results of RUNS as one file, with pictures; print tables of what was reached."""
    from kille_training.benchmark.results import gather
    from kille_training.reports.benchmark import reached_tables, write_pictures

    results = gather(runs)
    folder = out or runs
    written = results.write(folder / "results.jsonl")
    write_pictures(results, folder)
    console.report(
        {"results": str(written), "runs": len(results.runs)},
        [*reached_tables(results), f"Results and pictures are in {folder}."],
        as_json,
    )
