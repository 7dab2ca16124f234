"""`kille evaluate`: measure the earnings of a player against others."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

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
    help="Deals, each played once from every seat.",
)  # fmt: skip
@click.option(
    "--tables", metavar="SET",
    help="Compute NashConv at all tables of a held-out set instead, as krypkille-scores/test.",
)  # fmt: skip
@command.seed_option
@command.table_options
@command.json_option
def evaluate(policy: str, baselines: str, tables: str | None, as_json: bool, **asked: Any) -> None:
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
    if tables is not None:
        _report_tables(policy, tables, as_json, **asked)
        return
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


def _report_tables(policy: str, tables: str, as_json: bool, **asked: Any) -> None:
    """Print NashConv at the tables of a set."""
    from kille_training.evaluation.nash_conv import nash_conv
    from kille_training.progress import Bars

    context = click.get_current_context()
    for name in ("baselines", "deals", "seed", "rules"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--tables computes without deals at given rules: drop --{name}")
    where = {name: asked[name] for name in ("game", "num_players", "transfer", "trust")}
    with Bars(lines=True) as progress:
        found = nash_conv(policy, tables=tables, progress=progress, **where)
    command.report(found.as_dict(), [found], as_json)
