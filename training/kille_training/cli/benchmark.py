"""`kille benchmark`: methods at the same tasks with the same budgets."""

from pathlib import Path

import click

from kille_env.extras import needs
from kille_training.cli import command


@click.command(epilog="Example: kille benchmark quick --set methods=[ppo]")
@click.argument("config")
@command.out_option
@command.set_option("workers=2 (runs at a time) or executor=ray")
@command.json_option
def benchmark(config: str, out: Path | None, overrides: tuple[str, ...], as_json: bool) -> None:
    """Train methods at the same tasks with the same budgets, and report their NashConv.

    CONFIG is the name of a recipe (quick, rules, spaces, fixed, tune), a file of settings, or the
    folder of a benchmark, whose results it prints. Each run is one of `kille train`, in its own
    folder; run the command again to resume.
    """
    with needs("train"):
        from kille_training.learn.benchmark import Benchmark, finish, gather, tables_of
        from kille_training.learn.grid import run_grid
        from kille_training.learn.grid_plots import write_pictures
        from kille_training.progress import Bars
        from kille_training.settings import find_settings, load

    path = find_settings(config, "benchmark")
    folder = path
    if path.is_dir() and overrides:
        raise click.UsageError(f"{path} is a folder of results; --set needs a recipe or settings")
    if not path.is_dir():
        grid = load(Benchmark, path, overrides)
        folder = out or Path("runs") / grid.name
        with command.resumable(), Bars(lines=True) as progress:
            run_grid(
                grid.items(folder), folder, finish, workers=grid.workers, executor=grid.executor,
                address=grid.address, progress=progress,
            )  # fmt: skip
    results, out = gather(folder), out or folder
    written = results.write(out / "results.jsonl")
    write_pictures(results, out)
    command.report(
        {"results": str(written), "runs": len(results.lines)},
        [*tables_of(results), f"Results and pictures are in {out}."],
        as_json,
    )
