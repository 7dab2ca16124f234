"""`kille train`: a policy by self-play."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kille_training import recipes
from kille_training.cli import console, options

if TYPE_CHECKING:
    from kille_training.learn.runs import Run
    from kille_training.learn.settings import TrainSettings


@click.command(epilog="Example: kille train demo")
@click.argument("config")
@options.out_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the run.")
@options.set_option("learner.form=seats")
@options.json_option
def train(
    config: str,
    out: Path | None,
    seed: int | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Train a policy by self-play, measure it and write a report.

    CONFIG is the name of a recipe (every game has one), a file of settings, or the folder of a run.
    Run it again to resume exactly where it stopped; once finished, it prints the results.
    """
    recipes.find(config, "train")  # says what is missing before libraries are loaded for seconds
    from kille_training.learn.api import open_run

    finish(*open_run(config, out=out, seed=seed, set=overrides), as_json)


def finish(run: "Run", settings: "TrainSettings | None", as_json: bool) -> None:
    """Train a run to its end, measure it, write its report, and print what it earns.

    Args:
        run: Its folder.
        settings: Settings of the run; None resumes the run in the folder.
        as_json: Whether to print one JSON object.
    """
    from kille_training.cli.progress import ProgressDisplay
    from kille_training.labels import measure_of
    from kille_training.learn.api import measure_run
    from kille_training.learn.training import train

    if settings is not None and run.config.exists():
        run.check_same(settings)
    if not (run.evaluation.is_file() and run.report.is_file()):
        table = (settings or run.settings()).table
        measure = measure_of(table.game, table.episode)
        with console.resumable(begun=run.config.is_file), ProgressDisplay(measure) as progress:
            train(
                run, settings, progress=progress, measured=progress.measured,
                warn=lambda text: click.echo(f"kille: {text}", err=True),
            )  # fmt: skip
            from kille_training.reports.training import write_run_page  # loads matplotlib

            measure_run(run, progress)
            write_run_page(run, progress=progress)
    found, speed = measure_run(run), learning_speed(run)
    console.report(
        {"run": str(run.folder), "report": str(run.report), "speed": speed, **found.as_dict()},
        [
            str(found),
            speed,
            f"The policy is in {run.folder}, its report in {run.report}",
        ],
        as_json,
    )


def learning_speed(run: "Run") -> str:
    """Returns how fast a run has learned, as a sentence."""
    from kille_training.learn.metrics import PROGRESS, Table

    rows = Table(run.progress, PROGRESS).read()
    if not rows:
        return "How fast it learned is not known: progress.csv is gone."
    rate = int(rows[-1]["decisions"]) / float(rows[-1]["seconds"])
    return f"It learned from {rate:,.0f} decisions per second."
