"""The `kille` command: its verbs, loaded when they are used, and how it ends.

It exits with 0, with 1 and a sentence on standard error that says what to do, or with 130 when it
was interrupted. Standard output carries what was asked for and nothing else.
"""

import importlib
import os
import sys
from collections.abc import Sequence

import click

import kille_env
from kille_env.errors import KilleError, did_you_mean

COMMANDS = {
    "games": ("kille_training.cli.games:games", "What there is: seats, actions, switches."),
    "players": ("kille_training.cli.players:players", "Who there is to play against."),
    "play": ("kille_training.cli.play:play", "Sit down at a table yourself."),
    "demo": ("kille_training.cli.demo:demo", "Train, measure and report in ten minutes."),
    "train": ("kille_training.cli.train:train", "Train an agent by self-play."),
    "evaluate": ("kille_training.cli.evaluate:evaluate", "Measure an agent."),
    "best-response": (
        "kille_training.cli.best_response:best_response",
        "Learn to beat an agent, and by how much.",
    ),
    "solve": ("kille_training.cli.solve:solve", "Solve a deal: an equilibrium, exactly."),
    "tournament": (
        "kille_training.cli.tournament:tournament",
        "Who is better, by how much, and how sure that is.",
    ),
    "compare": (
        "kille_training.cli.compare:compare",
        "Is one player better than another by so much?",
    ),
    "export": (
        "kille_training.cli.export:export",
        "Write a tournament's results for other programs.",
    ),
    "report": ("kille_training.cli.report:report", "Make a run's report."),
    "record": ("kille_training.cli.record:record", "Let agents play; write the matches down."),
    "replay": ("kille_training.cli.replay:replay", "Tell recorded matches, or check them."),
    "bench": ("kille_training.cli.bench:bench", "Measure how fast everything is."),
}
"""Every verb: where it is ("module:function") and what it does."""


class LazyGroup(click.Group):
    """A group that imports a command when it is used, so that `kille --help` is fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the verbs in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports a command; None if there is no such verb."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        return getattr(importlib.import_module(module), name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command that is asked for, or suggests one."""
        if args[0] not in COMMANDS:
            ctx.fail(f"There is no command {args[0]!r}. {did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of verbs without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: kille play byteskille --players 4",
)
@click.version_option(kille_env.__version__, prog_name="kille")
def kille() -> None:
    """Games of the Swedish Kille deck: play, train, measure, record."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: Words of the command line; None takes the process's.

    Returns:
        The exit status: 0, 1 or 130.
    """
    try:
        status = kille.main(
            args=None if arguments is None else list(arguments),
            prog_name="kille",
            standalone_mode=False,
        )
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        return 130
    except click.ClickException as error:
        error.show()
    except BrokenPipeError:  # whoever read our output has gone (`kille replay FILE | head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KilleError as error:
        _complain(str(error))
    except OSError as error:
        _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except ModuleNotFoundError as error:
        _complain(
            f"this command needs the package {error.name!r}; install everything for training with\n"
            "  pip install 'kille-env[train]'"
        )
    return 1


def _complain(message: str) -> None:
    click.echo(f"kille: {message}", err=True)


if __name__ == "__main__":
    sys.exit(main())
