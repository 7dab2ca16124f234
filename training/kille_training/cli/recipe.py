"""The command line of the recipes in `training/recipes/`: train, then measure.

python training/recipes/ppo.py --game knack --players 4 --decisions 500000 --seed 1
"""

import inspect
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kille_env.extras import needs
from kille_env.registry import spec
from kille_training.cli import console
from kille_training.cli.main import guarded

__all__ = ["needs", "run"]


def run(train: Callable[..., Any]) -> None:
    """Runs a recipe: reads the command line, trains, measures the player, prints; then exits.

    Args:
        train: Called with game, num_players, decisions and seed, whose defaults are those of the
            command line; returns a player. Any further parameter is an option of its name.
    """
    default = {name: each.default for name, each in inspect.signature(train).parameters.items()}

    @click.command(help=inspect.getdoc(inspect.getmodule(train)))
    @click.option("--game", default=default["game"], show_default=True, help="The game.")
    @click.option(
        "--players", "num_players", default=default["num_players"], show_default=True,
        help="Seats.",
    )  # fmt: skip
    @click.option(
        "--decisions", type=click.IntRange(min=1), default=default["decisions"], show_default=True,
        help="Decisions that the learner makes, about.",
    )  # fmt: skip
    @click.option(
        "--seed", type=click.IntRange(min=0), default=default["seed"], show_default=True,
        help="Seed of everything.",
    )  # fmt: skip
    @click.option(
        "--deals", type=click.IntRange(min=2), default=2_000, show_default=True,
        help="Duplicate deals that the player is measured over.",
    )  # fmt: skip
    @console.json_option
    def command(as_json: bool, deals: int, **asked: Any) -> None:
        _report(train, asked, deals, as_json)

    for name in list(default)[4:]:
        option = click.option(
            f"--{name.replace('_', '-')}", default=default[name], show_default=True
        )
        option(command)
    sys.exit(guarded(command, name=Path(sys.argv[0]).name))


def _report(train: Callable[..., Any], asked: dict[str, Any], deals: int, as_json: bool) -> None:
    from kille_training.evaluation.api import evaluate
    from kille_training.reports.tables import evaluation_tables

    asked["num_players"] = spec(asked["game"]).check_players(asked["num_players"])
    processor, wall = time.process_time(), time.perf_counter()
    player = train(**asked)
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    found = evaluate(player, asked["game"], asked["num_players"], episode="deal", deals=deals)
    took = {"processor_seconds": round(processor, 2), "wall_seconds": round(wall, 2)}
    said = (
        f"{asked['decisions']:,} decisions in {processor:.1f} processor seconds, "
        f"{asked['decisions'] / processor:,.0f} per second"
    )
    lines = [said, *evaluation_tables(found)]
    console.report({**asked, **took, "evaluation": found.as_dict()}, lines, as_json)
