"""`kille demo`: the main job, once through."""

from pathlib import Path

import click

from kille_training import recipes
from kille_training.cli import options
from kille_training.cli.train import finish


@click.command(epilog="Example: kille demo")
@options.out_option
@options.json_option
def demo(out: Path, as_json: bool) -> None:
    """Train a policy for three-seat Byteskille, measure it, and write a report.

    Run it again to resume; once finished, it prints the results. `kille train demo` is the same and
    takes other settings.
    """
    from kille_training.learn.api import open_run

    finish(*open_run(recipes.find("demo", "train"), out=out), as_json)
