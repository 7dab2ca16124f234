"""`kille ladder`: a tournament that goes on, which players join at any time."""

import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from kille_env.core.text import printable
from kille_training.arena.kinds import EXECUTORS, Bots
from kille_training.cli import console

if TYPE_CHECKING:
    from kille_training.arena.ladder.challenges import Challenge
    from kille_training.arena.ladder.ladder import Ladder
    from kille_training.arena.ladder.settings import LadderFolder
    from kille_training.arena.ladder.submissions import Refusal, Submission

LINE_SECONDS = 10.0
PAGE_SHARE = 10.0
POLL_SECONDS = 1.0
"""Seconds between two looks for submissions while there is nothing to play."""

folder_argument = click.argument(
    "folder", metavar="DIR", type=click.Path(path_type=Path), callback=lambda *at: _folder(at[-1])
)


def test_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds what a test asks, as `kille compare` has it."""
    for option in (
        click.option("--most", default=0, help="Deals after which it ends undecided; 0 is never."),
        click.option(
            "--beta", default=0.05, show_default=True, help='Chance of a wrong "less than that".'
        ),
        click.option(
            "--alpha", default=0.05, show_default=True, help='Chance of a wrong "more than --low".'
        ),
        click.option("--low", default=0.0, show_default=True, help="Units that are not enough."),
        click.option(
            "--by",
            type=float,
            help="Units above --low that are told from it.  [default: as kille compare]",
        ),
    ):
        command = option(command)
    return command


@click.group(
    epilog="Example: kille ladder new ladders/knack --game knack. Every command takes --json."
)
def ladder() -> None:
    """Keep a ladder: players are submitted at any time, and play for their ratings.

    One process plays a ladder (`play`), others may submit players and ask for tests meanwhile.
    Everything is in the folder DIR.
    """


@ladder.command(epilog="Example: kille ladder new ladders/knack --game knack --population train")
@click.argument("path", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--game", default="byteskille", show_default=True)
@click.option("--players", "num_players", default=3, show_default=True, help="Seats of a table.")
@click.option("--episode", type=click.Choice(["deal", "match"]), default="deal", show_default=True)
@console.rules_option
@click.option("--deals", default=100, show_default=True, help="Deals of each table of a round.")
@click.option("--tables", default=0, help="Tables of a round; 0: as many as all players fill.")
@click.option("--test-deals", default=1000, show_default=True, help="Deals of a test per round.")
@click.option("--seed", default=1, show_default=True, help="Seed of the deals.")
@click.option("--time-limit", default=60.0, show_default=True, help="Seconds for a batch.")
@click.option("--workers", default=1, show_default=True, help="Processes.")
@click.option("--executor", type=click.Choice(EXECUTORS), default="local", show_default=True)
@click.option(
    "--population", type=click.Choice(get_args(Bots)), default="none", help="Submit these bots."
)
@console.json_option
def new(path: Path, population: str, as_json: bool, **values: Any) -> None:
    """Begin a ladder in the new folder DIR."""
    from kille_agents.population import population as bots_of
    from kille_training.arena.ladder.settings import LadderFolder, LadderSettings
    from kille_training.arena.ladder.submissions import Submission

    folder = LadderFolder(path)
    folder.create(LadderSettings(**values))
    bots = () if population == "none" else bots_of(values["game"], population)
    for bot in bots:
        folder.submissions.add(Submission(bot, bot))
    quoted = shlex.quote(str(path))
    lines = [
        f"{path} is a ladder of {values['game']} at {values['num_players']} seats"
        + (f", with {len(bots)} bots waiting to enter." if bots else "."),
        f"Submit a player: kille ladder submit {quoted} NAME PLAYER",
        f"Play:            kille ladder play {quoted}",
    ]
    console.report({"ladder": str(path), "submitted": list(bots)}, lines, as_json)


@ladder.command(epilog="Example: kille ladder submit ladders/knack v2 runs/v2 --against v1")
@folder_argument
@click.argument("name")
@click.argument("player")
@click.option("--play", type=click.Choice(["sampled", "greedy"]), default="sampled")
@click.option("--against", default="", metavar="OLD", help="Also test it against this player.")
@test_options
@console.trust_option
@console.json_option
def submit(folder: "LadderFolder", trust: bool, as_json: bool, **asked: Any) -> None:
    """Submit PLAYER under the name NAME.

    It enters before the next round. With --against it is also tested: does it earn more than --low
    among copies of OLD, or less than --low plus --by?
    """
    from kille_training.arena.ladder.submissions import Submission

    _submit(folder, Submission(**asked), trust, as_json)


@ladder.command(
    short_help="Test whether NEW earns more among copies of OLD.",
    epilog="Example: kille ladder test ladders/knack v2 v1 --by 0.02",
)
@folder_argument
@click.argument("name", metavar="NEW")
@click.argument("against", metavar="OLD")
@test_options
@console.json_option
def test(folder: "LadderFolder", as_json: bool, **asked: Any) -> None:
    """Test whether NEW earns more among copies of OLD; both are on the ladder, or wait to enter.

    The test ends when NEW is known to earn more than --low, or less than --low plus --by.
    """
    from kille_training.arena.ladder.submissions import Submission

    _submit(folder, Submission(**asked), False, as_json)


def _submit(folder: "LadderFolder", asked: "Submission", trust: bool, as_json: bool) -> None:
    from kille_training.arena.ladder.api import submit

    path = submit(folder, asked, trust=trust)
    line = f"{asked.name} waits in {path}; it is taken in before the next round."
    console.report({"name": asked.name, "file": str(path)}, [line], as_json)


@ladder.command(
    short_help="Play the ladder and write its page, until you stop it.",
    epilog="Example: kille ladder play ladders/knack --rounds 100",
)
@folder_argument
@click.option("--rounds", type=click.IntRange(min=0), help="Stop after so many more rounds.")
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop after the round at that time.")
@click.option("--decided", is_flag=True, help="Stop when no test is running or waiting.")
@click.option("--address", help="Address of the Ray cluster; the default is one on this machine.")
@click.option("--readmit", multiple=True, metavar="NAME", help="Let a player that is out play.")
@console.trust_option
@console.json_option
def play(
    folder: "LadderFolder",
    rounds: int | None,
    seconds: float | None,
    decided: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Play the ladder of DIR and write its page, until you stop it with Ctrl-C.

    Run it again to resume. When there are too few players for a table it waits for submissions;
    with --rounds, --seconds or --decided it stops instead.
    """
    from kille_training.arena.ladder.api import play_ladder
    from kille_training.reports.ladder import renderables, write_ladder_page, write_test_pages

    forever = rounds is None and seconds is None and not decided

    def wait() -> bool:
        if forever:
            time.sleep(POLL_SECONDS)
        return forever

    with console.resumable():
        result = play_ladder(
            folder, lambda ladder: _Lines(ladder), rounds=rounds, seconds=seconds, decided=decided,
            wait=wait, **options,
        )  # fmt: skip
    write_test_pages(result)
    write_ladder_page(result)
    console.report(result.as_dict(), renderables(result), as_json)


@ladder.command(
    short_help="Show the ratings, the tests and who waits.",
    epilog="Example: kille ladder status ladders/knack",
)
@folder_argument
@console.json_option
def status(folder: "LadderFolder", as_json: bool) -> None:
    """Show the ratings, the tests and who waits, also while another process plays."""
    from kille_training.arena.ladder.result import LadderResult
    from kille_training.reports.ladder import renderables

    result = LadderResult.of(folder)
    console.report(result.as_dict(), renderables(result), as_json)


def _folder(path: Path) -> "LadderFolder":
    from kille_training.arena.ladder.settings import LadderFolder

    return LadderFolder(path)


class _Lines:
    """Prints what happens on a ladder (`Watcher`), and writes its page now and then.

    A page takes longer to write the more players there are, so it is written again only after ten
    times as long as it took last time.
    """

    def __init__(self, ladder: "Ladder") -> None:
        self._ladder = ladder
        self._line_due, self._page_due = 0.0, 0.0

    def entered(self, name: str) -> None:
        """See `Watcher`."""
        self._say(f"{name} was taken in")

    def refused(self, refusal: "Refusal") -> None:
        """See `Watcher`."""
        self._say(f"{refusal.name} was refused: {refusal.reason}")

    def out(self, name: str, reason: str) -> None:
        """See `Watcher`."""
        self._say(f"{name} is out: {reason}")

    def decided(self, challenge: "Challenge") -> None:
        """See `Watcher`."""
        self._say(challenge.answer)
        self._page_due = 0.0

    def played(self, rounds: int) -> None:
        """See `Watcher`."""
        from kille_training.arena.ladder.result import LadderResult
        from kille_training.reports.ladder import leader, write_ladder_page

        now = time.monotonic()
        if now >= min(self._line_due, self._page_due):
            result = LadderResult.of(self._ladder.folder, self._ladder.store)
            if now >= self._page_due:
                write_ladder_page(result)
                self._page_due = time.monotonic() + PAGE_SHARE * (time.monotonic() - now)
            if now >= self._line_due:
                self._say(leader(result))
                self._line_due = now + LINE_SECONDS

    def _say(self, text: str) -> None:
        click.echo(printable(text), err=True)
