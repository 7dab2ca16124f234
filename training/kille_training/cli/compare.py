"""`kille compare`: does one player earn more than another?"""

import re
from pathlib import Path
from typing import Any

import click

from kille_training.cli import console, options
from kille_training.labels import SEED


@click.command(epilog="Example: kille compare rule_of_thumb byteskille/tipsy --by 0.01 --players 3")
@click.argument("better")
@click.argument("worse")
@click.option(
    "--by",
    type=float,
    help="Units above --low that are told from it.  [default: 0.005 per deal, 0.05 per match]",
)
@click.option("--low", default=0.0, show_default=True, help="Units that are not enough.")
@click.option(
    "--alpha", default=0.05, show_default=True, help='Chance of a wrong "more than --low".'
)
@click.option(
    "--beta", default=0.05, show_default=True, help='Chance of a wrong "less than --low + --by".'
)
@click.option(
    "--most", default=0, help="Deals, or matches, after which it ends undecided; 0 is never."
)
@click.option(
    "--bounds",
    nargs=2,
    type=float,
    default=None,
    help="Lowest and highest score of a deal, or match; the default is what the rules imply.",
)
@click.option("--seed", default=SEED, show_default=True, help="Seed of the deals.")
@click.option("--workers", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--time-limit", default=60.0, show_default=True, help="Seconds for a batch.")
@options.out_option
@click.option("--name", help="Folder below --out; the default names the two players.")
@options.table_options
@options.json_option
def compare(
    better: str,
    worse: str,
    game: str | None,
    num_players: int | None,
    episode: str | None,
    rules: dict[str, Any],
    out: Path,
    name: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Play until it is known whether BETTER earns more than --low, or less than --low plus --by.

    BETTER sits among copies of WORSE, and every deal is played from all positions. The chances of
    error hold however often you look. Run the same command again to resume; `kille report` with the
    folder makes a page of the answer.
    """
    from kille_training.arena.compare import Scores
    from kille_training.arena.compare import compare as play_comparison
    from kille_training.arena.comparison import Comparison
    from kille_training.arena.tournament import Folder
    from kille_training.settings import folder_name
    from kille_training.tables import table_of

    table = table_of([better, worse], game, num_players, episode, rules)
    whole = ["matches"] if table.rules["episode"] == "match" else []
    words = [table.game, f"{table.num_players}-seats", *whole, better, "against", worse]
    plain = re.sub(r"[^\w.-]+", "-", "-".join(words)).strip("-.")
    folder = out / folder_name(plain if name is None else name)

    def looked(found: Comparison) -> None:
        click.echo(
            f"{found.played:>11,} {found.many}: {found.mean:+.4f} ({found.interval()})  "
            f"{found.verdict}",
            err=True,
        )

    before = None
    if (kept := Folder(folder).comparison).is_file():
        with Scores(kept, readonly=True) as scores:
            before = scores.question
    with console.resumable():
        found = play_comparison(
            better, worse, game, num_players, rules=rules, episode=episode, out=folder,
            looked=looked, **asked,
        )  # fmt: skip
    known = found.question.hypotheses
    if before is not None and before.hypotheses != known:
        click.echo(
            f"{folder} held the deals of another question (more than "
            f"{before.hypotheses.low:+g}, or less than {before.hypotheses.high:+g}; now "
            f"{known.low:+g} and {known.high:+g}, or other --alpha, --beta, --most or --bounds). "
            "The chances of error hold only if the new question was not chosen after the answer "
            "to the old; to ask with new deals, set --seed and --name.",
            err=True,
        )
    console.report({"run": str(folder), **found.as_dict()}, str(found).splitlines(), as_json)
