"""The long jobs that the commands are made of, with their progress on standard error."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import click

from kille_agents import load_policy
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_training.cli.progress import Watch
from kille_training.evaluation.duplicate import (
    PLAYS,
    Row,
    payoff_table,
    rows_as_dicts,
    rows_from_dicts,
)
from kille_training.evaluation.exact import ExactRow, exact_as_dicts, exact_rows, why_not
from kille_training.labels import measure_of
from kille_training.learning.runs import Run
from kille_training.learning.settings import TrainSettings
from kille_training.settings import plain


def train_run(run: Run, settings: TrainSettings | None, *, go_on: bool = False) -> None:
    """Trains to the end of a run.

    Args:
        run: Its folder.
        settings: Settings of a new run, None to go on with the one that lies there.
        go_on: Whether to go on with a run of the same settings that lies there, rather than refuse.

    Raises:
        ConfigError: A run lies there (without `go_on`), or one of other settings.
        PolicyError: A player to measure against does not exist or does not fit the table.
        KeyboardInterrupt: It was interrupted; how to go on has been said.
    """
    from kille_training.learning.training import progress_of, train

    if go_on and settings is not None and run.config.exists():
        check_same(run, settings)
        settings = None
    resolved = settings or run.settings()
    table = resolved.table
    for name in resolved.measure.against:  # says now, not after a while, that there is none
        load_policy(name, table.game, table.num_players, table.resolve())
    total = resolved.learner.total
    watch = Watch(measure=measure_of(table.game, table.episode))
    try:
        with watch.job("training", total, progress_of(run)):
            train(run, settings, watch, warn=lambda text: click.echo(f"kille: {text}", err=True))
    except KeyboardInterrupt:
        command = "kille demo (with the same options)" if go_on else f"kille train {run.folder}"
        if run.config.is_file():
            click.echo(f"\nInterrupted. Nothing is lost; go on with: {command}", err=True)
        else:
            click.echo("\nInterrupted before the run began; nothing was written.", err=True)
        raise


def check_same(run: Run, settings: TrainSettings) -> None:
    """Refuses to go on with a run of other settings.

    Raises:
        ConfigError: The message names every key that differs.
    """
    theirs, mine = (
        dict(_leaves(plain(replace(each, made_with={})))) for each in (run.settings(), settings)
    )
    wrong = [
        f"{key} is {theirs.get(key)!r}, not {mine.get(key)!r}"
        for key in sorted(theirs.keys() | mine.keys())
        if theirs.get(key) != mine.get(key)
    ]
    if wrong:
        raise ConfigError(
            f"{run.folder} holds a run of other settings ({'; '.join(wrong)}); "
            "remove it, or choose another place with --out"
        )


def _leaves(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Gives settings by their dotted keys."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def measure_run(run: Run) -> list[Row]:
    """Measures the agent of a finished run, once: later calls read what was found.

    Raises:
        ConfigError: The run is not finished.
    """
    settings = run.settings()
    evaluation = run.read_evaluation()
    if evaluation is not None:
        return rows_from_dicts(evaluation["rows"])
    # Only here, for it needs torch, and showing what was found does not.
    from kille_training.learning.training import progress_of

    done, total = progress_of(run), settings.learner.total
    if done < total:
        raise ConfigError(
            f"{run.folder} has had {done:,} of {total:,} decisions; go on with it first: "
            f"kille train {run.folder}"
        )
    table, measure = settings.table, settings.measure
    rules = table.resolve()
    rows = measure_policy(
        str(run.folder), measure.against, table.game, table.num_players, rules,
        deals=measure.final_deals, seed=measure.seed, plays=PLAYS, trust=False,
    )  # fmt: skip
    exact = None
    if not why_not(table.game, table.num_players, rules):
        exact = exact_as_dicts(
            measure_exactly(
                str(run.folder), table.game, table.num_players, rules, plays=PLAYS, trust=False
            )
        )
    content = {
        "game": table.game,
        "num_players": table.num_players,
        "rules": rules.as_dict(),
        "deals": measure.final_deals,
        "seed": measure.seed,
        "rows": rows_as_dicts(rows),
        "exact": exact,
    }
    write_whole(run.evaluation, (json.dumps(content, indent=1) + "\n").encode())
    return rows


def measure_policy(
    policy: str,
    against: Sequence[str],
    game: str,
    num_players: int,
    rules: Rules,
    *,
    deals: int,
    seed: int,
    plays: Sequence[str],
    trust: bool,
) -> list[Row]:
    """Measures a player against others, all by name or path; see `evaluate.payoff_table`."""
    focal, *baselines = (
        load_policy(name, game, num_players, rules, trust=trust) for name in (policy, *against)
    )
    watch = Watch()
    with watch.job("measuring", deals * len(against) * len(plays)):
        return payoff_table(
            focal, baselines, game, num_players, rules,
            deals=deals, seed=seed, plays=plays, progress=watch.advance,
        )  # fmt: skip


def measure_exactly(
    policy: str,
    game: str,
    num_players: int,
    rules: Rules,
    *,
    plays: Sequence[str],
    trust: bool,
) -> list[ExactRow]:
    """Measures how far a policy is from an equilibrium; see `exact.exact_rows`."""
    player = load_policy(policy, game, num_players, rules, trust=trust)
    watch = Watch()
    with watch.job("measuring exactly", len(plays)):
        return exact_rows(player, game, num_players, rules, plays, watch.advance)
