"""`kille report`: the page about a run or a tournament."""

from pathlib import Path

import click

from kille_training.cli import console


@click.command(epilog="Example: kille report runs/demo")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--exact",
    is_flag=True,
    help="Of a tournament: also what is expected exactly, where the tree of a deal fits.",
)
@console.trust_option
@console.json_option
def report(run: Path, exact: bool, trust: bool, as_json: bool) -> None:
    """Write report.html of RUN, the folder of a run or of a tournament, again.

    A run that nobody has measured is measured first; of a tournament it is what was played so far.
    """
    from kille_training.arena.tournament import Folder
    from kille_training.cli.jobs import measure_run, report_run, report_tournament
    from kille_training.learning.runs import Run

    if Folder(run).results.is_file():
        page = report_tournament(Folder(run), exact=exact, trust=trust)
    elif exact:
        raise click.UsageError(f"{run} is no tournament; kille evaluate measures exactly.")
    else:
        the_run = Run(run)
        measure_run(the_run)
        page = report_run(the_run)
    console.report({"report": str(page)}, f"The report lies in {page}", as_json)
