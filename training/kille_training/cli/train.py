"""`kille train`: a policy by self-play."""

import shlex
from pathlib import Path

import click

from kille_training import recipes
from kille_training.cli import console


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
    from kille_training.learning.api import open_run

    run, settings = open_run(config, name=name, out=out, seed=seed, set=overrides)
    console.finish_run(run, settings, resume=f"kille train {shlex.quote(str(run.folder))}")
    console.report_run(
        run, f"The policy is in {run.folder}. Its report: kille report {run.folder}", as_json
    )
