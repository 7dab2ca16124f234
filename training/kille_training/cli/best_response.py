"""`kille best-response`: a lower bound on how exploitable a player is."""

from typing import Any

import click

from kille_training.cli import command


@click.command(epilog="Example: kille best-response rule_of_thumb --game knack --players 4")
@click.argument("policy")
@click.option(
    "--decisions", type=click.IntRange(min=1), default=400_000, show_default=True,
    help="Training decisions per learner.",
)  # fmt: skip
@click.option(
    "--seeds", type=click.IntRange(min=1), default=3, show_default=True,
    help="Number of learners; the best one plays each position.",
)  # fmt: skip
@click.option(
    "--deals", type=click.IntRange(min=2), default=20_000, show_default=True,
    help="Deals of the measurement; half as many choose the learners.",
)  # fmt: skip
@command.seed_option
@command.set_option("play=greedy")
@command.table_options
@command.json_option
def best_response(
    policy: str,
    overrides: tuple[str, ...],
    as_json: bool,
    **asked: Any,
) -> None:
    """Learn a best response to POLICY in all other seats, and measure its gain.

    The gain is a lower bound: a better response may exist. It is measured by position, with 95%
    intervals, on deals that did not choose the learners.
    """
    from kille_training import best_response as respond  # names the missing extra
    from kille_training.progress import Bars

    asked |= command.arguments_of(respond, overrides, "play")
    with Bars(lines=True) as progress:
        found = respond(policy, progress=progress, **asked)
    result = {
        "play": asked.get("play", "sampled"),
        "seeds": asked["seeds"],
        "deals": asked["deals"],
        "seed": asked["seed"],
        "lower_bound": True,
        **found.as_dict(),
        "policy": policy,
    }
    command.report(result, [found], as_json)
