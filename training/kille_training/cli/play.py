"""`kille play`: a person at the table."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kille_env.errors import ConfigError
from kille_env.registry import spec
from kille_training.cli import console, options
from kille_training.cli.web_table import page_options

if TYPE_CHECKING:
    from kille_env.policy import Player
    from kille_env.records import Record


@click.command(
    epilog="Example: kille play byteskille --players 5 --opponents uniform --rules gok_call=off"
)
@options.game_options
@click.option(
    "--opponents",
    default="rule_of_thumb",
    show_default=True,
    help="Names, run folders or policy files: one for all, or one for each with commas between.",
)
@click.option("--name", default="human", show_default=True, help="Your name, for the records.")
@click.option("--hint", is_flag=True, help="Show a hint at every decision; type h for one.")
@click.option(
    "--advisers",
    help="Players who give hints, with commas between them; if not given, the solution where there "
    "is one, and the rule of thumb.",
)
@click.option(
    "--seat", default="0", show_default=True, help="Your seat; with --web also several, as in 0,2."
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the cards and of the opponents.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the matches to this file.")
@page_options
@options.json_option
def play(
    game: str,
    players: int | None,
    opponents: str,
    name: str,
    hint: bool,
    advisers: str | None,
    seat: str,
    seed: int | None,
    rules: dict[str, Any],
    out: Path | None,
    trust: bool,
    as_json: bool,
    **page: Any,
) -> None:
    """Plays GAME with you at the table.

    You see what your seat may know and nothing else. Type h for a hint, u to take back a decision,
    ? for help and q to leave.
    """
    import numpy as np

    from kille_agents.human import Human
    from kille_env.policy import name_of
    from kille_training.cli.terminal import Terminal
    from kille_training.cli.web_table import play_on_page, seats_named, wants_page
    from kille_training.people.advice import advisers_at
    from kille_training.people.lineup import players_named
    from kille_training.people.names import check_name, names_at
    from kille_training.people.sitting import Sitting

    resolved = spec(game).resolve(rules)
    seats = spec(game).check_players(players)
    if out is not None and not out.parent.is_dir():
        raise ConfigError(f"the folder {out.parent} does not exist; make it, or name another --out")
    if wants_page(page):
        taken = seats_named(seat, seats, seats)
        records = play_on_page(
            page, name, game=game, num_players=seats, yours=taken, opponents=opponents,
            rules=resolved, seed=seed, hints=hint, advisers=advisers, trust=trust, quiet=as_json,
        )  # fmt: skip
        _report({"game": game, "seats": taken}, records, out, as_json)
        return
    (yours,) = seats_named(seat, seats, 1)
    by_seat: list[Player | None] = [
        *players_named(opponents, seats - 1, game, seats, resolved, trust=trust)
    ]
    by_seat.insert(yours, None)
    helpers: Mapping[str, Player] = advisers_at(game, seats, resolved)
    if advisers is not None:
        places = len(advisers.split(","))
        asked = players_named(advisers, places, game, seats, resolved, trust=trust)
        helpers = {name_of(player): player for player in asked}
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    names = names_at(seats, {yours: check_name(name)})
    sitting = Sitting(game, resolved, by_seat, names=names, seed=seed, advisers=helpers)
    # With --json the conversation moves to standard error.
    terminal = Terminal(sitting, yours, Human(out=sys.stderr if as_json else None), hint)
    ended = terminal.run(seed)
    result = {"game": game, "names": names, "seed": seed, "seat": yours}
    _report(result, sitting.records(unfinished=True), out, as_json)
    if ended is not None:
        raise ended


def _report(
    result: dict[str, Any], records: "Sequence[Record]", out: Path | None, as_json: bool
) -> None:
    """Writes the matches where they are wanted, and prints what they brought."""
    from kille_env.records import write_records

    if out is not None:
        write_records(records, out)
    matches = [{"returns": r["returns"], "truncated": r["truncated"]} for r in records]
    last = [f"The matches are in {out}."] if out else []
    console.report({**result, "matches": matches}, last, as_json)
