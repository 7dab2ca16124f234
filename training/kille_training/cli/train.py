"""`kille train`: an agent by self-play."""

from pathlib import Path

import click

from kille_training.cli import console
from kille_training.learning.settings import load_settings


@click.command(
    epilog="Example: kille train configs/train/byteskille.yaml --set learner.decisions=500000"
)
@click.argument("config", type=click.Path(path_type=Path, exists=True))
@console.name_option
@console.out_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the run.")
@console.set_option("learner.form=seats")
@console.json_option
def train(
    config: Path,
    name: str | None,
    out: Path,
    seed: int | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Train an agent by self-play and measure it.

    CONFIG is a file of settings, which begins a run, or the folder of a run, which is gone on with
    exactly where it was interrupted.
    """
    from kille_training.cli.jobs import measure_run, train_run
    from kille_training.learning.runs import Run
    from kille_training.reports.tables import run_tables

    if config.is_dir():
        if name or seed is not None or overrides:
            raise click.UsageError(
                f"{config} is a run; a run keeps its name, its seed and its settings."
            )
        run, settings = Run(config), None
    else:
        settings = load_settings(config, overrides, name=name, seed=seed)
        run = Run(out / settings.name)
    train_run(run, settings)
    measure_run(run)
    console.report(
        {"run": str(run.folder), **(run.read_evaluation() or {})},
        [
            *run_tables(run),
            f"The agent lies in {run.folder}. Its report: kille report {run.folder}",
        ],
        as_json,
    )
