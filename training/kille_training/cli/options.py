"""Options that commands share: the same word for the same thing everywhere."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from kille_env.errors import RulesError, did_you_mean
from kille_env.files import parse_json
from kille_env.registry import list_games

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of text."
)
rules_option = click.option(
    "--rules",
    multiple=True,
    callback=lambda ctx, parameter, value: parse_rules(value),
    metavar="SWITCH=VALUE",
    help="A rule switch, or a preset's name, as often as needed; `kille games` lists them.",
)
trust_option = click.option(
    "--trust",
    is_flag=True,
    help="Load model files of libraries (.zip), which can run code. Only for your own files.",
)
out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Where runs are.",
)
name_option = click.option(
    "--name", help="Folder of the run below --out; the default is in the settings."
)


def set_option(example: str) -> Callable[[F], F]:
    """Adds `--set`, which the command receives as `overrides`.

    Args:
        example: A setting of the command, as "learner.form=seats".
    """
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        help=f"A setting, as in {example}.",
    )


def table_options(command: F) -> F:
    """Adds options for the table of a POLICY, which may have been made for one.

    The command receives game, num_players, episode, rules, transfer and trust.
    """
    for option in (
        trust_option,
        click.option(
            "--transfer",
            is_flag=True,
            help="Measure a policy that was made for another table at this one all the same.",
        ),
        rules_option,
        click.option(
            "--episode",
            type=click.Choice(["deal", "match"]),
            help="One deal, or the whole game; the default likewise.",
        ),
        click.option(
            "--players",
            "num_players",
            type=int,
            help="Seats; the default is what POLICY was made for, or the game's.",
        ),
        click.option(
            "--game", help="The game; the default is what POLICY was made for, or byteskille."
        ),
    ):
        command = option(command)
    return command


def game_argument(command: F) -> F:
    """Adds the argument GAME, checked against the registered games."""
    return click.argument("game", metavar="GAME", callback=_check_game)(command)


def game_options(command: F) -> F:
    """Adds GAME and options for its table, which the command receives as players, rules, trust."""
    seats = click.option(
        "--players", type=int, help="Seats in all; the game's default if not given."
    )
    return game_argument(seats(rules_option(trust_option(command))))


def _check_game(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and value not in list_games():
        raise click.BadParameter(f"there is no game {value!r}. {did_you_mean(value, list_games())}")
    return value


def parse_rules(words: Sequence[str]) -> dict[str, Any]:
    """Returns switches given on the command line.

    Args:
        words: "switch=value" with true, false, null and numbers as in JSON, or a preset's name.

    Raises:
        RulesError: A switch is given twice.
    """
    rules: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            name, text = "preset", word
        if name in rules:
            raise RulesError(f"the switch {name!r} is given twice: {rules[name]!r} and {text!r}")
        try:
            value = parse_json(text)
        except ValueError:
            value = text
        rules[name] = value if isinstance(value, (bool, int, type(None))) else text
    return rules


def names(words: str) -> list[str]:
    """Returns the players in a list with commas between.

    Raises:
        click.UsageError: There are none.
    """
    found = [word.strip() for word in words.split(",") if word.strip()]
    if not found:
        raise click.UsageError(f"{words!r} names no player, expected names with commas between")
    return found
