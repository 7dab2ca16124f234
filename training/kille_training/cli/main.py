"""The `kille` command: subcommands, loaded at first use, and exit statuses.

The exit status is 0, 1 with an error on standard error, or 130 after an interruption. Standard
output carries only the result.
"""

import sys

try:
    import importlib
    import io
    import os
    from collections.abc import Sequence
    from contextlib import ExitStack
    from importlib.util import find_spec
    from pathlib import Path
    from sysconfig import get_path
    from traceback import walk_tb

    import click

    import kille_env
    from kille_env.errors import KilleError, did_you_mean
    from kille_env.extras import EXTRAS, missing
except KeyboardInterrupt:
    print("kille: interrupted", file=sys.stderr)
    sys.exit(130)

COMMANDS = {
    "games": ("games:games", "List the games, or show one: seats, actions, switches."),
    "players": ("players:players", "List the players, or show one."),
    "play": ("play:play", "Play against other players."),
    "train": ("train:train", "Train a policy by self-play."),
    "evaluate": ("evaluate:evaluate", "Measure a player."),
    "best-response": ("best_response:best_response", "Bound the exploitability of a player."),
    "solve": ("solve:solve", "Compute an equilibrium of a deal or a whole pot."),
    "tournament": ("tournament:tournament", "Rank players, with intervals."),
    "benchmark": ("benchmark:benchmark", "Compare learning methods at the same tasks."),
    "compare": ("compare:compare", "Test whether one player is better than another."),
    "record": ("record:record", "Play matches and write them to a file."),
    "replay": ("replay:replay", "Show recorded matches, or check them."),
}
"""Every command: its function ("module:function" in this folder) and its help."""

MOST_CHARACTERS = 2_000  # maximum length of an error: a name in it may be of any length


class LazyGroup(click.Group):
    """A group that imports a command at first use, so that `kille --help` is fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if there is no such command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        return getattr(importlib.import_module(f"kille_training.cli.{module}"), name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a command by its name, or suggest one."""
        if args[0] not in COMMANDS:
            ctx.fail(f"There is no command {args[0]!r}. {did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: kille play byteskille --players 4",
)
@click.version_option(kille_env.__version__, prog_name="kille")
def kille() -> None:
    """Swedish card games: play, train, measure, record."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the `kille` command."""
    return guarded(kille, arguments)


def guarded(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """Run a command; print an error as a sentence on standard error."""
    with ExitStack() as stack:
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is None or getattr(stream, "closed", False):  # as under pythonw
                stack.callback(setattr, sys, name, stream)
                silent = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
                setattr(sys, name, silent)
            elif isinstance(stream, io.TextIOWrapper):  # an ASCII terminal shows å as \\xe5
                stream.reconfigure(errors="backslashreplace")
        return _status_of(command, arguments)


def _status_of(command: click.Command, arguments: Sequence[str] | None) -> int:
    """Run a command and return its exit status; print errors on standard error."""
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        status = command.main(args=given, prog_name="kille", standalone_mode=False, obj=given)
        if flush := getattr(sys.stdout, "flush", None):  # an object in its place may lack it
            flush()
        return status if isinstance(status, int) else 0
    except (click.Abort, KeyboardInterrupt) as error:
        cause = error.__cause__ if isinstance(error, click.Abort) else error
        _complain("; ".join(["interrupted", *map(str, cause.args if cause else ())]))
        return 130
    except click.ClickException as error:
        error.message = _bounded(error.message)  # type: ignore[misc]
        error.show()
    except BrokenPipeError:  # the reader of our output has gone (`kille replay FILE | head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KilleError as error:
        _complain(str(error))
    except MemoryError as error:
        _complain(f"out of memory ({error}); reduce the size of the job")
    except OSError as error:
        _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except ModuleNotFoundError as error:
        bringing = (extra for extra, brought in EXTRAS.items() if error.name in brought.values())
        _complain(str(missing(error, next(bringing, "train"))))
    except (Exception, SystemExit) as error:
        place = _outside(error)
        if place is None:  # a bug: keep the traceback
            raise
        _complain(f"{place}: {type(error).__name__}: {error}")
    return 1


def _complain(message: str) -> None:
    click.echo(f"kille: {_bounded(message)}", err=True)


def _bounded(message: str) -> str:
    longer = f" ... ({len(message):,} characters)" if len(message) > MOST_CHARACTERS else ""
    return f"{message[:MOST_CHARACTERS]}{longer}"


def _outside(error: BaseException) -> str | None:
    """Return the innermost line of the user's own code in a traceback, if any."""
    ours = [find_spec(name) for name in ("kille_env", "kille_agents", "kille_training")]
    installed = [Path(spec.origin).parent for spec in ours if spec and spec.origin]
    installed += [Path(get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    place = None
    for frame, line in walk_tb(error.__traceback__):
        file = Path(frame.f_code.co_filename)
        if file.is_file() and not any(map(file.is_relative_to, installed)):
            place = f"{file}, line {line}, in {frame.f_code.co_name}"
    return place


if __name__ == "__main__":
    sys.exit(main())
