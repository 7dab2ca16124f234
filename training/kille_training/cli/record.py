"""`kille record`: players play matches, which are written to a file."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from kille_env.core.spec import Rules
from kille_env.core.text import counted, listed
from kille_env.playing import Players, play_out
from kille_env.policy import Player, name_of
from kille_env.records import Record, Recorder, write_records
from kille_env.registry import make_batch, spec
from kille_training.cli import console
from kille_training.people.lineup import players_named, seating_of

TABLES_AT_ONCE = 500
"""Bounds the memory; changes no match."""


@click.command(
    epilog="Example: kille record byteskille --players 2 --matches 100 "
    "--agents rule_of_thumb,uniform --rules gok_call=off --out matches.jsonl"
)
@console.game_options
@click.option("--matches", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the first match; the next match has the next seed.",
)
@click.option(
    "--agents",
    default="uniform",
    show_default=True,
    help="Names, run folders or policy files: one for all seats, or one per seat with commas.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File to write.")
@console.json_option
def record(
    game: str,
    players: int | None,
    matches: int,
    seed: int,
    agents: str,
    rules: dict[str, Any],
    out: Path,
    trust: bool,
    as_json: bool,
) -> None:
    """Plays matches of GAME and writes them to a file, one per line.

    Match i has the seed SEED + i, so its cards and its play do not depend on the other matches.
    """
    resolved = spec(game).resolve(rules)
    seats = spec(game).check_players(players)
    players_by_seat = players_named(agents, seats, game, seats, resolved, trust=trust)
    summary = _Summary(seats)
    played = _play(game, resolved, players_by_seat, range(seed, seed + matches))
    write_records(summary.count(console.progress(played, "playing", matches)), out)
    result = {
        "out": str(out),
        "game": game,
        "names": [name_of(player) for player in players_by_seat],
        "matches": matches,
        "deals": summary.deals,
        "decisions": summary.decisions,
        "mean_returns": (summary.returns / matches).tolist(),
        "truncated": summary.truncated,
    }
    numbers = [
        counted(matches, "match", "matches"),
        counted(summary.deals, "deal", "deals"),
        counted(summary.decisions, "decision", "decisions"),
    ]
    console.report(result, [f"{listed(numbers)} in {out}"], as_json)


class _Summary:
    """Adds up what is recorded."""

    def __init__(self, num_players: int) -> None:
        self.deals = self.decisions = self.truncated = 0
        self.returns = np.zeros(num_players)

    def count(self, records: Iterable[Record]) -> Iterator[Record]:
        for one in records:
            self.deals += len(one["deals"])
            self.decisions += sum(len(deal["actions"]) for deal in one["deals"])
            self.truncated += one["truncated"]
            self.returns += one["returns"]
            yield one


def _play(game: str, rules: Rules, by_seat: list[Player], seeds: range) -> Iterator[Record]:
    """Plays a match for each seed, many at once, and returns their records in order."""
    players, seating = seating_of(by_seat)
    names = [name_of(player) for player in by_seat]
    for start in range(0, len(seeds), TABLES_AT_ONCE):
        part = list(seeds[start : start + TABLES_AT_ONCE])
        batch = make_batch(game, len(part), len(by_seat), rules=rules, seed=0, restart=False)
        recorder = Recorder(batch, names)
        recorder.reset(seed=part)
        play_out(Players(batch, players, seating, recorder.step))
        yield from (recorder.record(table) for table in range(len(part)))
