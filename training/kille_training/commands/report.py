"""`kille report`: the page about a run."""

from pathlib import Path

import click

from kille_training import console


@click.command(epilog="Example: kille report runs/demo")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@console.json_option
def report(run: Path, as_json: bool) -> None:
    """Write report.html of RUN, the folder of a run, again; measure the run first if nobody has."""
    from kille_training.jobs import measure_run, report_run
    from kille_training.runs import Run

    the_run = Run(run)
    measure_run(the_run)
    report_run(the_run)
    console.report({"report": str(the_run.report)}, f"The report lies in {the_run.report}", as_json)
