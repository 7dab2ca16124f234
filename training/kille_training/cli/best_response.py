"""`kille best-response`: from below, how much a player can be beaten by."""

from dataclasses import replace
from typing import Any

import click

from kille_training.cli import console


@click.command(epilog="Example: kille best-response rule_of_thumb --game knack --players 4")
@click.argument("policy")
@click.option(
    "--decisions", type=click.IntRange(min=1), show_default="400,000",
    help="Decisions that each learner learns from.",
)  # fmt: skip
@click.option(
    "--minutes", type=click.FloatRange(min=0, min_open=True),
    help="Minutes for all learners together, instead of --decisions.",
)  # fmt: skip
@click.option(
    "--seeds", type=click.IntRange(min=1), default=3, show_default=True,
    help="Learners; the best of them plays each position.",
)  # fmt: skip
@click.option(
    "--deals", type=click.IntRange(min=2), default=20_000, show_default=True,
    help="Deals that the gain is measured over; half as many choose the learners.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option(
    "--play", type=click.Choice(["sampled", "argmax"]), default="sampled", show_default=True,
    help="Whether POLICY draws lots, or does what is likeliest.",
)  # fmt: skip
@console.table_options
@console.rules_option
@console.trust_option
@console.json_option
def best_response(
    policy: str,
    decisions: int | None,
    minutes: float | None,
    seeds: int,
    deals: int,
    seed: int,
    play: str,
    game: str | None,
    players: int | None,
    episode: str | None,
    rules: dict[str, Any],
    trust: bool,
    as_json: bool,
) -> None:
    """Learn to beat POLICY, which sits in all other seats, and say by how much.

    The gain is a lower bound of what can be gained: what was not found may be there all the same.
    It is measured by position, over other deals than the learners were chosen by, with 95 %
    intervals.
    """
    from kille_agents import load_policy
    from kille_agents.greedy import Greedy
    from kille_training.cli.lineup import table_for
    from kille_training.cli.progress import Watch
    from kille_training.learning.best_response import LEARNER, PARTS, Search
    from kille_training.learning.best_response import best_response as search_response

    if minutes is not None and decisions is not None:
        raise click.UsageError("give --decisions or --minutes, not both")
    table, seats, resolved = table_for(policy, game, players, episode, rules)
    frozen = load_policy(policy, table, seats, resolved, trust=trust)
    if play == "argmax":
        frozen = Greedy(frozen)
    search = Search(
        learner=replace(LEARNER, decisions=decisions or LEARNER.decisions),
        seeds=seeds,
        minutes=minutes,
        choice_deals=max(2, deals // 2),
        deals=deals,
        seed=seed,
    )
    watch = Watch()
    with watch.job("learning to respond", seeds * PARTS):
        found = search_response(frozen, table, seats, resolved, search, watch.advance)
    console.report(
        {
            "policy": policy,
            "play": play,
            "game": table,
            "num_players": seats,
            "rules": resolved.as_dict(),
            "seeds": seeds,
            "deals": deals,
            "seed": seed,
            "lower_bound": True,
            **found.as_dict(),
        },
        [_table(found, policy, seats, str(resolved["episode"])), _caution(found)],
        as_json,
    )


def _table(found: Any, policy: str, num_players: int, episode: str) -> Any:
    from rich.table import Table

    from kille_training.labels import position_names
    from kille_training.learning.best_response import KEEPS

    what = "match" if episode == "match" else "deal"
    title = f"What a learnt response gains over {policy}, units a {what}"
    table = Table(title=title, title_justify="left")
    table.add_column("position")
    table.add_column(f"{policy} earns", justify="right")
    table.add_column("the response gains", justify="right")
    table.add_column("learner", justify="right")
    rows = zip(position_names(num_players), found.values, found.gains, found.chosen, strict=True)
    for name, value, gain, number in rows:
        learner = "none gains" if number == KEEPS else str(number)
        table.add_row(name, f"{value:+.4f}", str(gain), learner)
    table.add_row("sum", "", str(found.total), "")
    return table


def _caution(found: Any) -> str:
    count, decisions = len(found.decisions), sum(found.decisions)
    learners = "learner" if count == 1 else "learners"
    return (
        f"Found with {decisions:,} decisions of {count} {learners} in {found.seconds:,.0f} s.\n"
        "These are lower bounds: up to the interval the best response gains as much, perhaps more."
    )
