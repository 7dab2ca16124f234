"""`kille demo`: the main job, once through."""

from pathlib import Path

import click

from kille_env.errors import ConfigError
from kille_training.cli import console
from kille_training.learning.settings import load_settings

CONFIG = Path("configs") / "demo.yaml"


@click.command(epilog="Example: kille demo --match")
@click.option("--match", is_flag=True, help="Play for whole pots instead of single deals.")
@click.option(
    "--config", type=click.Path(path_type=Path), help=f"Settings; the default is {CONFIG}."
)
@console.out_option
@console.set_option("learner.decisions=200000")
@console.json_option
def demo(
    match: bool, config: Path | None, out: Path, overrides: tuple[str, ...], as_json: bool
) -> None:
    """Train an agent at three-seat Byteskille, measure it, and write a report.

    Interrupted, it goes on when it is called again; finished, it shows what it has found.
    """
    from kille_training.cli.jobs import check_same, measure_run, train_run
    from kille_training.cli.report import write_report
    from kille_training.learning.runs import Run
    from kille_training.reports.tables import run_tables

    # The episode of --match comes last, so that it also wins over a file of other settings.
    episode = ("table.episode=match",) if match else ()
    settings = load_settings(
        config or _default_config(), (*overrides, *episode), name="demo-match" if match else None
    )
    run = Run(out / settings.name)
    if run.evaluation.is_file() and run.report.is_file():
        check_same(run, settings)
        measure_run(run)
    else:
        train_run(run, settings, go_on=True)
        measure_run(run)
        write_report(run.folder)
    console.report(
        {"run": str(run.folder), "report": str(run.report), **(run.read_evaluation() or {})},
        [
            *run_tables(run),
            f"The report is in {run.report}",
        ],
        as_json,
    )


def _default_config() -> Path:
    """Returns the demo's settings: here, or in the checkout that this package is installed from."""
    for place in (Path(), Path(__file__).resolve().parents[3]):
        if (place / CONFIG).is_file():
            return place / CONFIG
    raise ConfigError(
        f"{CONFIG} is not here; call kille demo in a checkout, or name settings with --config"
    )
