"""`kille leaderboard`: measure an entry on fixed tracks, and write the page of all entries."""

import shlex
from pathlib import Path
from typing import Any

import click

from kille_training.cli import console

docs_option = click.option(
    "--docs",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path("docs"),
    show_default=True,
    help="Folder of leaderboard.md and data/leaderboard.jsonl.",
)


@click.group(
    epilog="Example: kille leaderboard add runs/byteskille --name my-policy --by Me. "
    "Every command takes --json."
)
def leaderboard() -> None:
    """Measure entries under fixed deals, and write the page and the data of all entries."""


@leaderboard.command(
    short_help="Measure an entry on what it was not measured on before.",
    epilog="Example: kille leaderboard add rule_of_thumb --name rule_of_thumb --by kille-env",
)
@click.argument("player", metavar="PATH")
@click.option("--name", required=True, help="The entry's name on the board.")
@click.option("--by", required=True, help="Who made it.")
@click.option("--track", "only", multiple=True, help="Only this track; as often as needed.")
@docs_option
@console.trust_option
@console.json_option
def add(
    player: str,
    name: str,
    by: str,
    only: tuple[str, ...],
    docs: Path,
    trust: bool,
    as_json: bool,
) -> None:
    """Measure PATH on every track that it plays, and rewrite the board.

    PATH is the folder of a policy, module:object, a model of Stable-Baselines3 (with --trust), or
    the name of a player. A track on which it was measured before is not played again.
    """
    from kille_training.arena.leaderboard.api import Entry
    from kille_training.arena.leaderboard.api import add as measure
    from kille_training.cli.progress import ProgressDisplay

    words = ["kille", "leaderboard", "add", player, "--name", name, "--by", by]
    words += ["--trust"] if trust else []
    with ProgressDisplay() as progress:
        entry = Entry(name, by, player, shlex.join(words))
        added = measure(_data(docs), entry, only, trust=trust, progress=progress)
    page = _write_page(docs)
    lines: list[Any] = [
        *(f"{line.track}: {line.score.mean:+.4f}" for line in added.lines),
        *(f"{track}: measured before" for track in added.known),
        *(f"{track}: left out, {why}" for track, why in added.skipped.items()),
        f"The board is {page}.",
    ]
    scores = {line.track: line.score.mean for line in added.lines}
    about = {"measured": scores, "known": added.known, "skipped": added.skipped}
    console.report({**about, "page": str(page)}, lines, as_json)


@leaderboard.command(epilog="Example: kille leaderboard page")
@docs_option
@console.json_option
def page(docs: Path, as_json: bool) -> None:
    """Write the page again from the data, and check every line."""
    written = _write_page(docs)
    console.report({"page": str(written)}, [f"The board is {written}."], as_json)


def _data(docs: Path) -> Path:
    return docs / "data" / "leaderboard.jsonl"


def _write_page(docs: Path) -> Path:
    from kille_env.files import write_whole
    from kille_training.arena.leaderboard.api import check_conditions
    from kille_training.arena.leaderboard.board import read
    from kille_training.reports.leaderboard import leaderboard_page

    lines = read(_data(docs))
    check_conditions(_data(docs), lines)
    written = docs / "leaderboard.md"
    write_whole(written, leaderboard_page(lines))
    return written
