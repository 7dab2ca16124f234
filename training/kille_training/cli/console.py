"""What the commands share: options, and printing for people or for programs."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from kille_env.errors import RulesError, did_you_mean
from kille_env.registry import list_games

F = TypeVar("F", bound=Callable[..., Any])

WIDTH_WITHOUT_TERMINAL = 120


def json_option(command: F) -> F:
    """Adds `--json`, which the command receives as `as_json`."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON object instead of text for people."
    )(command)


def rules_option(command: F) -> F:
    """Adds `--rules`, which the command receives as the mapping `rules`."""
    return click.option(
        "--rules",
        multiple=True,
        callback=lambda ctx, parameter, value: parse_rules(value),
        metavar="SWITCH=VALUE",
        help="A rule switch, or a preset's name, as often as needed; `kille games` lists them.",
    )(command)


def trust_option(command: F) -> F:
    """Adds `--trust`, for model files that can run code when they are loaded."""
    return click.option(
        "--trust",
        is_flag=True,
        help="Load library model files (.zip), which can run code. Only for files of your own.",
    )(command)


def out_option(command: F) -> F:
    """Adds `--out`, the folder that runs lie in."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path),
        default=Path("runs"),
        show_default=True,
        help="Where runs lie.",
    )(command)


def name_option(command: F) -> F:
    """Adds `--name`, of a run whose settings have a name."""
    return click.option(
        "--name", help="Folder of the run below --out; the default stands in the settings."
    )(command)


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
    """Adds `--game`, `--players` and `--episode` for a POLICY that has been made for a table."""
    for option in (
        click.option(
            "--episode",
            type=click.Choice(["deal", "match"]),
            help="One deal, or the whole game; likewise.",
        ),
        click.option(
            "--players",
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
            value = json.loads(text)
        except ValueError:
            value = text
        rules[name] = value if isinstance(value, (bool, int, type(None))) else text
    return rules


def report(result: dict[str, Any], shown: Any, as_json: bool) -> None:
    """Prints what a command has found out, on standard output.

    Args:
        result: Everything as one object that JSON can hold.
        shown: The same for people: lines, or anything that rich can print.
        as_json: Whether a program reads it.
    """
    if as_json:
        click.echo(json.dumps(result, ensure_ascii=False, allow_nan=False))
    elif isinstance(shown, str):
        click.echo(shown)
    elif isinstance(shown, (list, tuple)) and all(isinstance(line, str) for line in shown):
        for line in shown:
            click.echo(line)
    else:
        show(*shown) if isinstance(shown, (list, tuple)) else show(shown)


def show(*things: Any) -> None:
    """Prints tables and texts for people on standard output."""
    # Without a terminal rich would squeeze tables into 80 columns.
    free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    console = Console(file=sys.stdout, width=WIDTH_WITHOUT_TERMINAL if free else None)
    for thing in things:
        # A line is not broken: it may be a command to copy.
        console.print(thing, markup=False, highlight=False, soft_wrap=isinstance(thing, str))


@contextmanager
def resumable() -> Iterator[None]:
    """Says once how to resume when Ctrl-C ends what runs in the context, and ends the command."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(
            "\nInterrupted. What was finished is saved; run the same command again to resume.",
            err=True,
        )
        raise click.exceptions.Exit(130) from None


def progress(things: Iterable[Any], what: str, total: int | None = None) -> Iterable[Any]:
    """Goes through `things` with a bar on standard error, if that is a terminal."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        yield from bar.track(things, total=total, description=what)
