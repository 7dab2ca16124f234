"""`kille evaluate`: what a player earns against others."""

from typing import Any

import click

from kille_training import console


@click.command(epilog="Example: kille evaluate runs/demo --against threshold --deals 50000")
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
@click.option("--game", help="The game; the default is what POLICY was made for, or byteskille.")
@click.option(
    "--players", type=int, help="Seats; the default is what POLICY was made for, or the game's."
)
@click.option(
    "--episode", type=click.Choice(["deal", "match"]), help="One deal, or the whole game; likewise."
)
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
    rules: dict[str, Any],
    trust: bool,
    as_json: bool,
) -> None:
    """Measure POLICY in units a deal, with 95 % intervals.

    POLICY is the folder of a run or of an exported policy, the name of a built-in player, or a
    model of Stable-Baselines3 (with --trust). Every deal is played once from each seat, with the
    other player in all other seats; these games together are one observation.
    """
    from kille_agents.catalog import BASELINES
    from kille_agents.network import SPECIFICATION, policy_folder, read_network
    from kille_env.registry import spec
    from kille_training.evaluate import PLAYS, rows_as_dicts
    from kille_training.jobs import measure_policy
    from kille_training.report import payoff_renderable

    folder = None if policy in BASELINES else policy_folder(policy)
    if folder is not None and (folder / SPECIFICATION).is_file():
        card = read_network(folder)[0]
        game, players = game or card.game, players or card.num_players
        switches = rules if game != card.game or "preset" in rules else {**card.rules, **rules}
    else:
        game, switches = game or "byteskille", rules
    episode = episode or str(switches.get("episode", "deal"))
    table = spec(game)
    players = table.check_players(players)
    resolved = table.resolve(switches, episode=episode)
    rows = measure_policy(
        policy, against, game, players, resolved,
        deals=deals, seed=seed, plays=PLAYS if play == "both" else (play,), trust=trust,
    )  # fmt: skip
    console.report(
        {
            "policy": policy,
            "game": game,
            "num_players": players,
            "rules": resolved.as_dict(),
            "deals": deals,
            "seed": seed,
            "rows": rows_as_dicts(rows),
        },
        [payoff_renderable(rows, game, episode, players)],
        as_json,
    )
