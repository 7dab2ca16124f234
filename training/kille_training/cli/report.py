"""`kille report`: the page of a run or a tournament."""

from pathlib import Path

import click

from kille_training.cli import console, options
from kille_training.cli.progress import ProgressDisplay


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
@options.trust_option
@options.json_option
def report(run: Path, out: Path | None, exact: bool, trust: bool, as_json: bool) -> None:
    """Write the report of RUN, the folder of a run or a tournament, as an HTML page.

    A run that has not been measured is measured first. The page of a tournament shows what has
    been played so far.
    """
    from kille_training.reports.report import report as write

    with console.resumable(), ProgressDisplay() as progress:
        page = write(
            run, out, exact=exact, trust=trust,
            progress=progress, told=progress.step,
        )  # fmt: skip
    console.report({"report": str(page)}, [f"The report is in {page}"], as_json)
