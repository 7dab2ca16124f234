"""`kille evaluate`: what a player earns against others."""

from typing import Any

import click

from kille_training.cli import console, options
from kille_training.labels import SEED


@click.command(epilog="Example: kille evaluate runs/demo --against rule_of_thumb --deals 50000")
@click.argument("policy")
@click.option(
    "--against", multiple=True, default=("uniform", "rule_of_thumb"), show_default=True,
    help="The player in the other seats: a name or a path. Give it as often as needed.",
)  # fmt: skip
@click.option(
    "--deals", type=click.IntRange(min=2), default=20_000, show_default=True,
    help="Duplicate deals.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0, max=2**64 - 1), default=SEED, show_default=True,
    help="Seed of the deals.",
)  # fmt: skip
@click.option(
    "--play", type=click.Choice(["both", "greedy", "sampled"]), default="both", show_default=True,
    help="Whether POLICY plays its most likely action or samples one.",
)  # fmt: skip
@click.option(
    "--exact/--no-exact", default=None,
    help="NashConv by seat; by default for single deals of byteskille with up to 4 seats.",
)  # fmt: skip
@click.option(
    "--losses", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
    help="Show the N information sets where POLICY loses most; needs exact NashConv.",
)  # fmt: skip
@click.option(
    "--asks", type=click.IntRange(min=1),
    help="How often llm:MODEL is asked each prompt; the default is KILLE_LLM_ASKS or 1.",
)  # fmt: skip
@options.table_options
@options.json_option
def evaluate(policy: str, as_json: bool, asks: int | None, **asked: Any) -> None:
    """Measure POLICY in units per deal, with 95% intervals, and how far it is from an equilibrium.

    POLICY is the folder of a run, of a solution or of an exported policy, the name of a built-in
    player (`kille players` lists them), a model of Stable-Baselines3 (with --trust), llm:MODEL, a
    language model at the address KILLE_LLM_URL (docs/language_models.md), or module:object, which
    imports the module and so runs its code. Every deal is played once from
    each seat, with the other player in all other seats; these games together are one observation. A
    deterministic policy has one row, because its greedy and sampled play are the same.

    NashConv is exact and has no interval: it is computed from the whole tree of the deal, with
    POLICY in all seats.
    """
    from kille_agents.llm import PREFIX, LanguageModel
    from kille_training.cli.progress import ProgressDisplay
    from kille_training.evaluation.api import evaluate as measure
    from kille_training.reports.tables import evaluation_tables

    if not policy.startswith(PREFIX):
        if asks is not None:
            raise click.UsageError(f"--asks is for language models, {PREFIX}MODEL")
        with ProgressDisplay() as progress:
            found = measure(policy, progress=progress, **asked)
        console.report({"policy": policy, **found.as_dict()}, evaluation_tables(found), as_json)
        return
    changes: dict[str, Any] = {} if asks is None else {"asks": asks}
    model = LanguageModel(policy.removeprefix(PREFIX), **changes)
    with ProgressDisplay() as progress:
        found = measure(model, progress=progress, **asked)
    about = {"policy": policy, **found.as_dict(), "answers": model.account}
    console.report(about, [*evaluation_tables(found), model.summary], as_json)
