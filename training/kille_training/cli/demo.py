"""`kille demo`: the main job, once through."""

from pathlib import Path

import click

from kille_training import recipes
from kille_training.cli import console


@click.command(epilog="Example: kille demo --match")
@click.option("--match", is_flag=True, help="Play for whole pots instead of single deals.")
@click.option(
    "--config", type=click.Path(path_type=Path), help="Settings; the default is the recipe demo."
)
@console.out_option
@console.set_option("learner.decisions=200000")
@console.json_option
def demo(
    match: bool, config: Path | None, out: Path, overrides: tuple[str, ...], as_json: bool
) -> None:
    """Train a policy for three-seat Byteskille, measure it, and write a report.

    Run it again to resume; once finished, it prints the results.
    """
    from kille_training.learn.runs import Run
    from kille_training.learn.settings import load_settings

    path = config or recipes.recipe(recipes.DEMO)
    if match:  # last, so that it also wins over a file of other settings
        settings = load_settings(path, (*overrides, "table.episode=match"), name="demo-match")
    else:
        settings = load_settings(path, overrides)
    run = Run(out / settings.name)
    if run.evaluation.is_file() and run.report.is_file():
        run.check_same(settings)
    else:
        console.finish_run(run, settings, resume=None, page=True)
    console.report_run(run, f"The report is in {run.report}", as_json, report=str(run.report))
