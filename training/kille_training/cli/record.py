"""`kille record`: write matches of players to a file."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kille_env.registry import Table, spec
from kille_env.words.text import counted, listed
from kille_training.cli import command

if TYPE_CHECKING:
    from kille_env.records import Record


@click.command(
    epilog="Example: kille record byteskille rule_of_thumb uniform --players 2 --deals 100 "
    "--rules gok_call=off --out matches.jsonl"
)
@command.game_options
@click.argument("player", nargs=-1)
@click.option(
    "--deals",
    "matches",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of single deals, or of matches with --rules episode=match.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the first match; the next match has the next seed.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File to write.")
@command.json_option
def record(
    game: str,
    num_players: int | None,
    matches: int,
    seed: int,
    player: tuple[str, ...],
    rules: dict[str, Any],
    out: Path,
    trust: bool,
    as_json: bool,
) -> None:
    """Play matches of GAME and write them to a file, one per line.

    PLAYER is a name, a run folder or a policy file: one for all seats, or one per seat. Without
    PLAYER, all seats play uniformly at random.

    Match i has the seed SEED + i, so its cards and its play do not depend on the other matches.
    """
    from kille_env.play.policy import name_of
    from kille_env.records import write_records
    from kille_training.table.lineup import matches_of, one_per_seat, players_named

    command.check_file(out)
    resolved = spec(game).resolve(rules)
    seats = spec(game).check_players(num_players, resolved)
    words = [word.strip() for names in player or ("uniform",) for word in names.split(",")]
    named = one_per_seat(words, seats)
    players_by_seat = players_named(named, game, seats, resolved, trust=trust)
    summary = _Summary(seats)
    played = matches_of(game, resolved, players_by_seat, range(seed, seed + matches))
    with command.resumable(begun=lambda: False):
        write_records(summary.count(command.progress(played, "playing", matches)), out)
    result = {
        "out": str(out),
        **Table.of(game, seats, resolved.as_dict()).as_dict(),
        "names": [name_of(player) for player in players_by_seat],
        "matches": matches,
        "deals": summary.deals,
        "decisions": summary.decisions,
        "mean_returns": [earned / matches for earned in summary.returns],
        "truncated": summary.truncated,
    }
    numbers = [
        counted(matches, "match", "matches"),
        counted(summary.deals, "deal", "deals"),
        counted(summary.decisions, "decision", "decisions"),
    ]
    command.report(result, [f"{listed(numbers)} in {out}"], as_json)


class _Summary:
    """Sums over recorded matches."""

    def __init__(self, num_players: int) -> None:
        self.deals = self.decisions = self.truncated = 0
        self.returns = [0.0] * num_players

    def count(self, records: "Iterable[Record]") -> "Iterator[Record]":
        for one in records:
            self.deals += len(one["deals"])
            self.decisions += sum(len(deal["actions"]) for deal in one["deals"])
            self.truncated += one["truncated"]
            self.returns = [sum(pair) for pair in zip(self.returns, one["returns"], strict=True)]
            yield one
