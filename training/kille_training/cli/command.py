"""Shared parts of commands: options, output as text or JSON, and interruptions."""

import inspect
import json
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import click
from tqdm import tqdm

from kille_env.errors import ConfigError, RulesError, did_you_mean, shortened
from kille_env.files import parse_json
from kille_training import progress as jobs
from kille_training.labels import SEED
from kille_training.progress import SECONDS_BEFORE_BAR

F = TypeVar("F", bound=Callable[..., Any])
WIDTH_WITHOUT_TERMINAL = 120

# Options

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
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write, and to resume.  [default: runs/NAME, named after the arguments]",
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0, max=2**64 - 1), default=SEED, show_default=True,
    help="Seed of the deals.",
)  # fmt: skip


def set_option(example: str) -> Callable[[F], F]:
    """Add `--set`, which the command receives as `overrides`."""
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        help=f"A setting, as in {example}.",
    )


def table_options(command: F) -> F:
    """Add options for the table of a POLICY, which may have one of its own.

    The command receives game, num_players, rules, transfer and trust.
    """
    for option in (
        trust_option,
        click.option(
            "--transfer",
            is_flag=True,
            help="Allow policies made for another table.",
        ),
        rules_option,
        click.option(
            "--players",
            "num_players",
            type=int,
            help="Seats; the default is the policy's own, or the game's.",
        ),
        click.option("--game", help="The game; the default is the policy's own, or byteskille."),
    ):
        command = option(command)
    return command


players_option = click.option(
    "--players", "num_players", type=int, help="Seats; the default is the game's."
)


def game_options(command: F) -> F:
    """Add GAME and its table, which the command receives as game, num_players, rules, trust."""
    return click.argument("game", metavar="GAME")(
        players_option(rules_option(trust_option(command)))
    )


def parse_rules(words: Sequence[str]) -> dict[str, Any]:
    """Return the rule switches of a command line."""
    rules: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            name, text = "preset", word
        if name in rules:
            kind = "the preset" if name == "preset" else f"the switch {name!r}"
            raise RulesError(f"{kind} is given twice: {rules[name]!r} and {text!r}")
        try:
            value = parse_json(text)
        except ValueError:
            value = text
        rules[name] = value if isinstance(value, (bool, int, type(None))) else text
    return rules


def arguments_of(function: Callable[..., Any], overrides: Sequence[str], *names: str) -> Any:
    """Return the arguments of a function in the values of `--set`."""
    from pydantic import TypeAdapter, ValidationError

    from kille_training.settings import override

    known, found = inspect.signature(function).parameters, {}
    for key, value in map(override, overrides):
        if key not in names:
            raise ConfigError(f"{key} is an unknown key. {did_you_mean(key, names)}")
        try:
            fitting = TypeAdapter(known[key].annotation).validate_json(json.dumps(value))
        except ValidationError as error:
            (said, *_) = error.errors()
            raise ConfigError(f"{key} is {shortened(value)}: {said['msg']}") from None
        found[key] = fitting
    return found


def names(words: str) -> list[str]:
    """Return the players in a list with commas between."""
    found = [word.strip() for word in words.split(",") if word.strip()]
    if not found:
        raise click.UsageError(f"{words!r} has no player, expected names separated by commas")
    return found


def check_file(out: Path | None) -> None:
    """Refuse an output file that is a folder or has no folder."""
    if out is not None and out.is_dir():
        raise ConfigError(f"{out} is a folder; name the file in --out")
    if out is not None and not out.parent.is_dir():
        raise ConfigError(f"the folder {out.parent} does not exist; make it, or name another --out")


# Results and interruptions


def resumable(begun: Callable[[], bool] = lambda: True) -> AbstractContextManager[None]:
    """Make Ctrl-C print the command that resumes, if anything has begun."""
    given = click.get_current_context().find_root().obj or ()
    return jobs.resumable(f"nothing is lost; resume with: {shlex.join(['kille', *given])}", begun)


def report(result: dict[str, Any], shown: Iterable[Any], as_json: bool) -> None:
    """Print the result of a command on standard output."""
    if as_json:
        encoding = getattr(sys.stdout, "encoding", None) or ""
        ascii_only = not encoding.lower().startswith("utf")
        click.echo(json.dumps(result, ensure_ascii=ascii_only, allow_nan=False))
        return
    for thing in shown:
        click.echo(str(thing))


def progress(things: Iterable[Any], what: str, total: int) -> Iterable[Any]:
    """Iterate over `things` with a bar on standard error, if that is a terminal."""
    return tqdm(things, desc=what, total=total, leave=False, disable=None, delay=SECONDS_BEFORE_BAR)
