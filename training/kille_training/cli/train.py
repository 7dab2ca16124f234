"""`kille train`: a policy by self-play."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kille_training import recipes
from kille_training.cli import console

if TYPE_CHECKING:
    from kille_training.learn.runs import Run


@click.command(epilog="Example: kille train byteskille --set learner.decisions=500000")
@click.argument("config")
@console.name_option
@console.out_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the run.")
@console.set_option("learner.form=seats")
@console.json_option
def train(
    config: str,
    name: str | None,
    out: Path,
    seed: int | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Train a policy by self-play and measure it.

    CONFIG is the name of a recipe (`kille recipes` lists them) or a file of settings, which begin a
    run; or the folder of a run, which resumes exactly where it stopped.
    """
    recipes.find(config, "train")  # says what is missing before libraries are loaded for seconds
    from kille_training.learn.api import open_run

    run, settings = open_run(config, name=name, out=out, seed=seed, set=overrides)
    console.finish_run(run, settings, resume=f"kille train {shlex.quote(str(run.folder))}")
    last = f"The policy is in {run.folder}. Its report: kille report {run.folder}"
    speed = learning_speed(run)
    console.report_run(run, f"{speed}\n{last}", as_json, speed=speed)


def learning_speed(run: "Run") -> str:
    """Returns how fast a run has learned, as a sentence."""
    from kille_training.learn.metrics import PROGRESS, Table

    rows = Table(run.progress, PROGRESS).read()
    if not rows:
        return "How fast it learned is not known: progress.csv is gone."
    rate = int(rows[-1]["decisions"]) / float(rows[-1]["seconds"])
    return f"It learned from {rate:,.0f} decisions per second."
