"""`kille evaluate`: what a player earns against others."""

from typing import Any

import click

from kille_training.cli import console


@click.command(epilog="Example: kille evaluate runs/demo --against rule_of_thumb --deals 50000")
@click.argument("policy")
@click.option(
    "--against", multiple=True, default=("uniform", "rule_of_thumb"), show_default=True,
    help="Who sits in the other seats: a name or a path. Give it as often as needed.",
)  # fmt: skip
@click.option(
    "--deals",
    type=click.IntRange(min=2),
    default=20_000,
    show_default=True,
    help="Duplicate deals.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1_000_003,
    show_default=True,
    help="Seed of the deals.",
)
@click.option(
    "--play", type=click.Choice(["both", "argmax", "sampled"]), default="both", show_default=True,
    help="Whether POLICY does what is likeliest, or draws lots.",
)  # fmt: skip
@console.table_options
@click.option(
    "--exact/--no-exact", default=None,
    help="NashConv by seat; by default for single deals of byteskille with up to 4 seats.",
)  # fmt: skip
@console.rules_option
@console.trust_option
@console.json_option
def evaluate(
    policy: str,
    against: tuple[str, ...],
    deals: int,
    seed: int,
    play: str,
    game: str | None,
    players: int | None,
    episode: str | None,
    exact: bool | None,
    rules: dict[str, Any],
    trust: bool,
    as_json: bool,
) -> None:
    """Measure POLICY in units a deal, with 95 % intervals, and how far it is from an equilibrium.

    POLICY is the folder of a run, of a solution or of an exported policy, the name of a built-in
    player (`kille players` lists them), a model of Stable-Baselines3 (with --trust), or
    module:object, which imports the module and so runs its code. Every deal is played once from
    each seat, with the other player in all other seats; these games together are one observation.

    NashConv has no interval: the whole tree of the deal is gone through, with POLICY in all seats.
    """
    from kille_agents.catalog import SEARCHERS
    from kille_training.cli.jobs import measure_exactly, measure_policy
    from kille_training.cli.lineup import table_for
    from kille_training.evaluation.duplicate import PLAYS, rows_as_dicts
    from kille_training.evaluation.exact import exact_as_dicts, why_not
    from kille_training.reports.tables import exact_table, payoff_table

    table, seats, resolved = table_for(policy, game, players, episode, rules)
    plays = PLAYS if play == "both" else (play,)
    if exact is None:
        exact = not why_not(table, seats, resolved) and policy not in SEARCHERS
    measured = None
    if exact:
        measured = measure_exactly(policy, table, seats, resolved, plays=plays, trust=trust)
    rows = measure_policy(
        policy, against, table, seats, resolved,
        deals=deals, seed=seed, plays=plays, trust=trust,
    )  # fmt: skip
    shown = [payoff_table(rows, table, str(resolved["episode"]), seats)]
    if measured is not None:
        shown.append(exact_table(measured))
    console.report(
        {
            "policy": policy,
            "game": table,
            "num_players": seats,
            "rules": resolved.as_dict(),
            "deals": deals,
            "seed": seed,
            "rows": rows_as_dicts(rows),
            "exact": None if measured is None else exact_as_dicts(measured),
        },
        shown,
        as_json,
    )
