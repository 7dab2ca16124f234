"""`kille best-response`: a lower bound on how exploitable a player is."""

from typing import TYPE_CHECKING, Any

import click

from kille_training.cli import console, options
from kille_training.labels import SEED

if TYPE_CHECKING:
    from kille_training.learn.best_response import Response
    from kille_training.results import TextTable


@click.command(epilog="Example: kille best-response rule_of_thumb --game knack --players 4")
@click.argument("policy")
@click.option(
    "--decisions", type=click.IntRange(min=1),
    help="Decisions that each learner learns from. Default: 400,000.",
)  # fmt: skip
@click.option(
    "--minutes", type=click.FloatRange(min=0, min_open=True),
    help="Minutes for all learners together, instead of --decisions.",
)  # fmt: skip
@click.option(
    "--seeds", type=click.IntRange(min=1), default=3, show_default=True,
    help="Learners; the best one plays each position.",
)  # fmt: skip
@click.option(
    "--deals", type=click.IntRange(min=2), default=20_000, show_default=True,
    help="Deals that the gain is measured over; half as many choose the learners.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=SEED, show_default=True)
@click.option(
    "--play", type=click.Choice(["sampled", "greedy"]), default="sampled", show_default=True,
    help="Whether POLICY samples its actions or plays the most likely one.",
)  # fmt: skip
@options.table_options
@options.json_option
def best_response(
    policy: str,
    as_json: bool,
    **asked: Any,
) -> None:
    """Learn to beat POLICY, which sits in all other seats, and measure by how much.

    The gain is a lower bound: a better response may exist that was not found. It is measured by
    position, over other deals than the learners were chosen by, with 95% intervals.
    """
    from kille_training.cli.progress import ProgressDisplay
    from kille_training.learn.api import best_response as respond

    if asked["minutes"] is not None and asked["decisions"] is not None:
        raise click.UsageError("give --decisions or --minutes, not both")
    with ProgressDisplay() as progress:
        found = respond(policy, progress=progress, **asked)
    result = {
        "play": asked["play"],
        "seeds": asked["seeds"],
        "deals": asked["deals"],
        "seed": asked["seed"],
        "lower_bound": True,
        **found.as_dict(),
        "policy": policy,
    }
    count, decisions = len(found.decisions), sum(found.decisions)
    shown = [
        str(found.table),
        _gains(found, policy),
        f"Found with {decisions:,} decisions of {count} {'learner' if count == 1 else 'learners'} "
        f"in {found.seconds:,.0f} s.",
        "These are lower bounds: the true best response gains at least this much, within the "
        "interval.",
    ]
    if all(number < 0 for number in found.chosen):
        shown.append(
            "No learner gained anything: the search failed, which says nothing of how exploitable "
            f"{policy} is; give more --decisions, or other --seeds."
        )
    console.report(result, shown, as_json)


def _gains(found: "Response", policy: str) -> "TextTable":
    """Returns the gain in each position."""
    from kille_training.labels import position_names, unit_of
    from kille_training.learn.best_response import KEEPS
    from kille_training.results import TextTable

    names = position_names(len(found.gains))
    by_position = zip(names, found.values, found.gains, found.chosen, strict=True)
    rows = [
        (
            name,
            f"{value:+.4f}",
            "nothing found" if number == KEEPS else str(gain),
            "none gains" if number == KEEPS else str(number),
        )
        for name, value, gain, number in by_position
    ]
    failed = all(number == KEEPS for number in found.chosen)
    unit = unit_of(found.table.rules["episode"])
    return TextTable(
        f"What a learnt response gains over {policy}, units per {unit}",
        ["position", f">{policy} earns", ">response gains", ">learner"],
        [*rows, ("sum", "", "nothing found" if failed else str(found.total), "")],
    )
