"""`kille doctor`: what is installed, how it is set up, and what to mend first."""

import click

from kille_training.cli import console


@click.command(epilog="Example: kille doctor --json")
@console.json_option
def doctor(as_json: bool) -> int:
    """Look at the installation: versions, extras, compile cache, threads, memory and disk.

    Ends with what to mend first, and with status 1 if something essential is broken.
    """
    from rich.table import Table

    from kille_training.cli.checks import BROKEN, FINE, examine, to_mend

    findings = examine()
    shown = Table("", "", "found", box=None, show_header=False)
    for one, before in zip(findings, [None, *findings], strict=False):
        part = one.part if before is None or before.part != one.part else ""
        level = "" if one.level == FINE else f"{one.level}: "
        shown.add_row(part, one.what, f"{level}{one.found}")
    mend = to_mend(findings)
    lines = [f"{number}. {one.what}: {one.mend}" for number, one in enumerate(mend, start=1)]
    first = "To mend, the most important first:" if mend else "Nothing to mend."
    result = {
        "findings": [one._asdict() for one in findings],
        "mend": [one.mend for one in mend],
    }
    console.report(result, [shown, "", first, *lines], as_json)
    return int(any(one.level == BROKEN for one in findings))
