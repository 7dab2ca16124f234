"""`kille evaluate`: measure the earnings of a player against others."""

from pathlib import Path
from typing import Any

import click

from kille_env.errors import PolicyError
from kille_env.words.text import listed
from kille_training.cli import command


@click.command(epilog="Example: kille evaluate runs/demo --baselines rule_of_thumb --deals 50000")
@click.argument("policy")
@click.option(
    "--baselines", default="uniform,rule_of_thumb", show_default=True,
    help="The players in the other seats, one row each: names or paths, with commas between.",
)  # fmt: skip
@click.option(
    "--deals", type=click.IntRange(min=2), default=20_000, show_default=True,
    help="Duplicate deals.",
)  # fmt: skip
@command.seed_option
@command.table_options
@command.json_option
def evaluate(policy: str, baselines: str, as_json: bool, **asked: Any) -> None:
    """Measure POLICY: units per deal with 95% intervals, and distance from an equilibrium.

    POLICY is the folder of a run, of a solution or of an exported policy, the name of a built-in
    player (`kille players` lists them), a model of Stable-Baselines3 (with --trust), or
    module:object, which imports the module and so runs its code. Every deal is played once from
    each seat, with the other player in all other seats; these games together are one observation. A
    deterministic policy has one row, because its greedy and sampled play are the same.

    NashConv is computed exactly, without sampling, for single deals of Byteskille with up to four
    seats, and for the presets tiny and small of other games if the tree fits into memory.
    """
    from kille_training.evaluation.api import evaluate as measure
    from kille_training.learn.runs import Run, seed_runs, unfinished
    from kille_training.progress import Bars

    if runs := [str(run.folder) for run in seed_runs(Path(policy)).values()]:
        raise PolicyError(
            f"{policy} holds runs by seed; evaluate one of them ({listed(runs, 'or')}), or compare "
            f"all of them with those in another folder: kille compare {policy} OTHER"
        )
    with Bars(lines=True) as progress:
        found = measure(
            policy,
            progress=progress,
            baselines=command.names(baselines),
            **asked,
        )
    note = unfinished(Run(Path(policy)))
    result: dict[str, Any] = {"policy": policy, "unfinished": note, **found.as_dict()}
    shown = [str(found), *([note] if note else [])]
    command.report(result, shown, as_json)
