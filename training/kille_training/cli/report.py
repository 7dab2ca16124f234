"""`kille report`: the page of a run or of a tournament."""

from pathlib import Path

import click

from kille_training.cli import console
from kille_training.cli.progress import Watch


@click.command(epilog="Example: kille report runs/demo")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write the page.  [default: report.html in RUN]",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Of a tournament: also show exact expectations, where the tree of a deal fits.",
)
@console.trust_option
@console.json_option
def report(run: Path, out: Path | None, exact: bool, trust: bool, as_json: bool) -> None:
    """Write the report of RUN, the folder of a training run or of a tournament, as an HTML page.

    A run that has not been measured is measured first. The page of a tournament shows what has
    been played so far.
    """
    from kille_training.arena.tournament import Folder
    from kille_training.cli.jobs import measure_run
    from kille_training.learning.runs import Run

    if not Folder(run).results.is_file() and not exact:
        measure_run(Run(run))
    page = write_report(run, out, exact=exact, trust=trust)
    console.report({"report": str(page)}, f"The report is in {page}", as_json)


def write_report(
    run: Path, out: Path | None = None, *, exact: bool = False, trust: bool = False
) -> Path:
    """Writes a report with progress on standard error; see `reports.report.report`."""
    from kille_training.reports import byteskille
    from kille_training.reports.report import report as write

    watch = Watch()
    with watch.job("reporting", byteskille.DECISIONS):
        return write(run, out, exact=exact, trust=trust, progress=watch.advance)
