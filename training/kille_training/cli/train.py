"""`kille train`: a policy by self-play."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kille_training import recipes
from kille_training.cli import console, options

if TYPE_CHECKING:
    from kille_training.evaluation.duplicate import Row
    from kille_training.learn.runs import Run
    from kille_training.learn.settings import TrainSettings
    from kille_training.progress import Bars


@click.command(epilog="Example: kille train demo")
@click.argument("config")
@options.out_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the run, or of the first one.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    help="Runs with so many seeds, side by side, below runs/NAME-seeds.",
)
@options.set_option("learner.form=seats")
@options.json_option
def train(
    config: str,
    out: Path | None,
    seed: int | None,
    seeds: int | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Train a policy by self-play, measure it and write a report.

    CONFIG is the name of a recipe (every game has one), a file of settings, or the folder of a run
    or of runs by seed. Run it again to resume exactly where it stopped; once finished, it prints
    the results. With --seeds as many runs learn at a time as there are cores, each in a process
    with one thread; `kille compare` compares two such folders.
    """
    path = recipes.find(config, "train")  # says what is missing before libraries are loaded
    from kille_training.learn.runs import open_run, seed_runs

    if seeds is not None or seed_runs(path):
        _train_seeds(config, seeds, as_json, out=out, seed=seed, set=overrides)
    else:
        finish(*open_run(config, out=out, seed=seed, set=overrides), as_json)


def _train_seeds(config: str, seeds: int | None, as_json: bool, **given: Any) -> None:
    """Train runs of several seeds to their end, and print what they earn together."""
    from kille_training.learn.seeds import open_seeds, train_seeds
    from kille_training.progress import Bars

    runs = open_seeds(config, seeds, **given)
    with console.resumable(), Bars(lines=True) as display:
        found = train_seeds(runs, display, display.say, finish=_finish_seed)
    console.report(found.as_dict(), [found], as_json)


def _finish_seed(run: "Run") -> None:
    """Measure a run and write its page, in its own process."""
    from kille_training.learn.page import write_run_page
    from kille_training.learn.runs import measure_run

    measure_run(run)
    if not run.report.is_file():
        write_run_page(run)


def finish(run: "Run", settings: "TrainSettings | None", as_json: bool) -> None:
    """Train a run to its end, measure it, write its report, and print what it earns.

    Args:
        run: Its folder.
        settings: Settings of the run; None resumes the run in the folder.
        as_json: Whether to print one JSON object.
    """
    from kille_training.labels import measure_of
    from kille_training.learn.runs import measure_run
    from kille_training.learn.training import train
    from kille_training.progress import Bars

    if settings is not None and run.config.exists():
        run.check_same(settings)
    if not (run.evaluation.is_file() and run.report.is_file()):
        table = (settings or run.settings()).table
        measure = measure_of(table.game, table.episode)
        with console.resumable(begun=run.config.is_file), Bars(lines=True) as progress:
            train(
                run, settings, progress=progress, measured=partial(_show, progress, measure),
                warn=lambda text: click.echo(f"kille: {text}", err=True),
            )  # fmt: skip
            from kille_training.learn.page import write_run_page  # loads matplotlib

            measure_run(run, progress)
            write_run_page(run)
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


def _show(bars: "Bars", measure: str, decisions: int, rows: "Sequence[Row]") -> None:
    """Show what a policy earns while it learns."""
    found = [row for row in rows if row.play != "sampled"]
    earned = "   ".join(f"{row.against} {row.estimate}" for row in found)
    bars.say(f"after {decisions:>10,} decisions, {measure} against {earned}")


def learning_speed(run: "Run") -> str:
    """Returns how fast a run has learned, as a sentence."""
    from kille_training.learn.runs import PROGRESS, Table

    rows = Table(run.progress, PROGRESS).read()
    if not rows:
        return "How fast it learned is not known: progress.csv is gone."
    rate = int(rows[-1]["decisions"]) / float(rows[-1]["seconds"])
    said = f"It learned from {rate:,.0f} decisions per second."
    if len(rows) == 1 and float(rows[0].get("learning_rate") or 1.0) == 0.0:
        said += (
            " Nothing came of it: its one rollout had a learning rate of 0, that of the end. "
            "Give it more decisions than a rollout makes."
        )
    return said
