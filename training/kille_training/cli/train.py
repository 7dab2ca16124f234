"""`kille train`: train a policy by self-play."""

import sys
from pathlib import Path

import click

from kille_env.streams import fitted
from kille_training.cli import command


@click.command(epilog="Example: kille train demo")
@click.argument("config")
@command.out_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the run, or of the first one.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    help="Number of seeds to train side by side, in runs/NAME-seeds.",
)
@click.option(
    "--rules-space",
    "space",
    help="Rule space to learn over: tables draw their rules, and the policy observes them.",
)
@command.set_option("learner.form=seats")
@command.json_option
def train(
    config: str,
    out: Path | None,
    seed: int | None,
    seeds: int | None,
    space: str | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Train a policy by self-play, measure it and write a report.

    CONFIG is the name of a recipe (every game has one), a file of settings, or the folder of a run
    or of runs by seed. Run it again to resume; once finished, it prints the results. With --seeds,
    runs train side by side, one process and thread for each core; `kille compare` compares two
    such folders.

    With --rules-space, such as krypkille-scores, every match draws its rules, and the policy is
    measured at rules that training never draws. --set space.rules=untold hides the rules from it.
    """
    from kille_training import train as train_policy  # names the missing extra
    from kille_training.learn.runs import Run, seed_runs
    from kille_training.progress import Bars

    if space:
        overrides = (*over(space), *overrides)
    seeds = seeds or len(seed_runs(Path(config))) or None
    with command.resumable(), Bars(lines=True) as progress:
        found = train_policy(
            config, out=out, seed=seed, seeds=seeds, set=overrides, progress=progress
        )
    shown: list[object] = [found]
    if isinstance(found, Run) and not as_json:
        from kille_training.learn.page import in_words  # loads matplotlib

        *lines, play = in_words(found)  # a command stays in one line, to be copied
        shown += ["", *(fitted(line, sys.stdout) for line in lines), play]
    command.report(found.as_dict(), shown, as_json)


def over(space: str) -> list[str]:
    """Return the overrides of a recipe for a rule space, which names the run."""
    from kille_env import rule_space

    found = rule_space(space)
    seats = f"table.num_players={found.seats[0]}"
    return [f"name={Path(found.name).stem}", f"space.name={space}", seats]
