"""What commands share: results for people or programs, and how they are interrupted."""

import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from tqdm import tqdm

from kille_training.progress import SECONDS_BEFORE_BAR

WIDTH_WITHOUT_TERMINAL = 120


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


def report(result: dict[str, Any], shown: Iterable[Any], as_json: bool) -> None:
    """Prints the result of a command on standard output.

    Args:
        result: Everything as one object that JSON can hold.
        shown: The same for people, texts and tables of text.
        as_json: Whether to print the object.
    """
    if as_json:
        ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
        click.echo(json.dumps(result, ensure_ascii=ascii_only, allow_nan=False))
        return
    for thing in shown:
        click.echo(str(thing))


def progress(things: Iterable[Any], what: str, total: int) -> Iterable[Any]:
    """Goes through `things` with a bar on standard error, if that is a terminal."""
    return tqdm(things, desc=what, total=total, leave=False, disable=None, delay=SECONDS_BEFORE_BAR)
