"""What commands share: options, results for people or programs, and how they are interrupted."""

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from kille_env.errors import RulesError, did_you_mean
from kille_env.files import parse_json
from kille_env.registry import list_games

if TYPE_CHECKING:
    from rich.console import Console


F = TypeVar("F", bound=Callable[..., Any])

WIDTH_WITHOUT_TERMINAL = 120
SECONDS_BEFORE_SIGN = 0.5
"""What takes longer shows a sign."""

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


class Interrupted(KeyboardInterrupt):
    """An interruption that says how to resume."""


@contextmanager
def resumable(
    command: str | None = None, begun: Callable[[], bool] = lambda: True
) -> Iterator[None]:
    """Makes Ctrl-C say, once, how to resume.

    Args:
        command: The command that resumes; None is the command line as it was given.
        begun: Returns whether there is anything to resume.
    """
    try:
        yield
    except KeyboardInterrupt:
        given = click.get_current_context().find_root().obj or ()
        again = command or shlex.join(["kille", *given])
        said = f"nothing is lost; resume with: {again}" if begun() else "nothing was written"
        raise Interrupted(said) from None


@contextmanager
def waiting(sign: str, file: TextIO) -> Iterator[None]:
    """Shows a sign on a terminal while something takes long, and clears it afterwards."""
    from rich.console import Console

    console = Console(file=file)
    status = console.status(sign, spinner="line")
    timer = Timer(SECONDS_BEFORE_SIGN, status.start)
    if console.is_terminal and not console.is_dumb_terminal:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if timer.is_alive():  # it may be showing the sign just now
            timer.join()
        status.stop()


def report(result: dict[str, Any], shown: Iterable[Any], as_json: bool) -> None:
    """Prints the result of a command on standard output.

    Args:
        result: Everything as one object that JSON can hold.
        shown: The same for people: lines, and whatever else rich can print.
        as_json: Whether to print the object.
    """
    if as_json:
        ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
        click.echo(json.dumps(result, ensure_ascii=ascii_only, allow_nan=False))
        return
    for thing in shown:
        if isinstance(thing, str):  # never broken into lines: it may be a command to copy
            click.echo(thing)
        else:
            _console().print(thing)


def _console() -> "Console":
    """Returns where rich prints results; it is imported when there is something to print."""
    from rich.console import Console

    # Without a terminal rich would squeeze tables into 80 columns.
    free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(file=sys.stdout, width=WIDTH_WITHOUT_TERMINAL if free else None)


def progress(things: Iterable[Any], what: str, total: int) -> Iterable[Any]:
    """Goes through `things` with a bar on standard error, if that is a terminal."""
    from rich.console import Console
    from rich.progress import track

    return track(
        things,
        description=what,
        total=total,
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
