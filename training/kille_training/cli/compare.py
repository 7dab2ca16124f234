"""`kille compare`: test whether one player, or one configuration, out-earns another."""

import re
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from kille_training.cli import command

RARE = ("alpha", "beta", "bounds", "most", "time_limit", "workers")
"""Arguments of `kille_training.compare` for `--set`."""


@click.command(epilog="Example: kille compare rule_of_thumb byteskille/tipsy --by 0.01 --players 3")
@click.argument("better")
@click.argument("worse")
@click.option(
    "--by",
    type=float,
    help="Smallest gain above --low to detect.  [default: 0.005 per deal, 0.05 per match]",
)
@click.option("--low", default=0.0, show_default=True, help="Gain that counts as no improvement.")
@command.seed_option
@command.set_option("most=100000 (deals) or alpha=0.01; the arguments of kille_training.compare")
@command.out_option
@command.table_options
@command.json_option
def compare(
    better: str,
    worse: str,
    game: str | None,
    num_players: int | None,
    rules: dict[str, Any],
    out: Path | None,
    overrides: tuple[str, ...],
    as_json: bool,
    **asked: Any,
) -> None:
    """Test sequentially whether BETTER out-earns WORSE.

    BETTER sits among copies of WORSE, and every deal is played from all positions, until it is
    clear that BETTER gains more than --low, or less than --low plus --by. Error rates are valid at
    every stopping time. Run the same command again to resume.

    Two folders of runs by seed (`kille train RECIPE --seeds 8`) are compared as configurations: the
    interquartile mean of the difference between their runs, over the same deals against the same
    baselines, with its 95% interval over seeds and deals, and a plot. They take the options --out,
    --seed, and --set deals=5000 or baselines=[uniform].
    """
    from kille_training.learn.runs import seed_runs

    if seed_runs(Path(better)) or seed_runs(Path(worse)):
        _compare_seeds(better, worse, out, overrides, as_json)
        return
    from kille_training.arena.compare import compare as play_comparison
    from kille_training.progress import Bars
    from kille_training.tables import table_of

    table = table_of([better, worse], game, num_players, rules=rules)
    whole = ["matches"] if table.rules["episode"] == "match" else []
    words = [table.game, f"{table.num_players}-seats", *whole, better, "against", worse]
    plain = re.sub(r"[^\w.-]+", "-", "-".join(words)).strip("-.")
    folder = out or Path("runs") / plain
    asked |= {"workers": 1} | command.arguments_of(play_comparison, overrides, *RARE)

    with command.resumable(), Bars(lines=True) as display:
        found = play_comparison(
            better, worse, game, num_players, rules=rules, out=folder,
            observer=lambda found: display.say(found.describe()), **asked,
        )  # fmt: skip
    command.report({"run": str(folder), **found.as_dict()}, [found], as_json)


def _compare_seeds(
    better: str, worse: str, out: Path | None, overrides: tuple[str, ...], as_json: bool
) -> None:
    """Compare two folders of runs by seed: draw the plot and print the differences."""
    from kille_training.learn.seeds import SeedRuns, seeds_in
    from kille_training.progress import Bars

    context = click.get_current_context()
    given = {
        parameter.opts[0]
        for parameter in context.command.params
        if context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    }
    if others := given - {"better", "worse", "--out", "--seed", "--set", "--json"}:
        raise click.UsageError(
            f"{', '.join(sorted(others))}: not for folders of runs by seed, which are compared at "
            "their own table; use --out, --seed and --set deals=N or baselines=[...]"
        )
    words = command.arguments_of(SeedRuns.compare, overrides, "deals", "baselines")
    if "--seed" in given:
        words["seed"] = context.params["seed"]
    with Bars(lines=True) as progress:
        sides = seeds_in(Path(better)), seeds_in(Path(worse))
        found = sides[0].compare(sides[1], progress=progress, **words)
    plot = found.plot(out)
    command.report({"plot": str(plot), **found.as_dict()}, [found, f"The plot is {plot}"], as_json)
