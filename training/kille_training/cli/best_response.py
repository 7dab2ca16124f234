"""`kille best-response`: a lower bound on how exploitable a player is."""

from typing import Any

import click

from kille_training.cli import console


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
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option(
    "--play", type=click.Choice(["sampled", "greedy"]), default="sampled", show_default=True,
    help="Whether POLICY samples its actions or plays the most likely one.",
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
    """Learn to beat POLICY, which sits in all other seats, and measure by how much.

    The gain is a lower bound: a better response may exist that was not found. It is measured by
    position, over other deals than the learners were chosen by, with 95% intervals.
    """
    from kille_training.cli.progress import ProgressDisplay
    from kille_training.learning.api import best_response as respond
    from kille_training.tables import table_for

    if minutes is not None and decisions is not None:
        raise click.UsageError("give --decisions or --minutes, not both")
    table, seats, resolved = table_for(policy, game, players, episode, rules)
    with ProgressDisplay() as progress:
        found = respond(
            policy, table, seats, rules=resolved, episode=str(resolved["episode"]),
            decisions=decisions, minutes=minutes, seeds=seeds, deals=deals, seed=seed, play=play,
            trust=trust, progress=progress,
        )  # fmt: skip
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
    table.add_column("response gains", justify="right")
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
        "These are lower bounds: the true best response gains at least this much, within the "
        "interval."
    )
