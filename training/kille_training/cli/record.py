"""`kille record`: lets agents play and writes the matches down."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from kille_env.core.spec import Rules
from kille_env.core.text import counted, listed
from kille_env.records import Record, Recorder, write_records
from kille_env.registry import make_batch, spec
from kille_training.cli.console import (
    game_argument,
    json_option,
    progress,
    report,
    rules_option,
    trust_option,
)
from kille_training.cli.lineup import LineUp, line_up

TABLES_AT_ONCE = 500
AGENTS_STREAM = 0x6B696C6C65
"""Keeps the agents' random numbers apart from the cards', which come from the same seed."""


@click.command(
    epilog="Example: kille record byteskille --players 2 --matches 100 "
    "--agents rule_of_thumb,uniform --rules gok_call=off --out matches.jsonl"
)
@game_argument
@click.option("--players", type=int, help="Seats; the game's default if not given.")
@click.option("--matches", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the first match; the next has the next.",
)
@click.option(
    "--agents",
    default="uniform",
    show_default=True,
    help="Names, run folders or policy files: one for all seats, or one a seat with commas.",
)
@rules_option
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File to write.")
@trust_option
@json_option
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
    """Lets agents play matches of GAME and writes them to a file, one a line.

    Match i has the seed SEED + i: its cards, and how the agents play it, do not depend on the
    others.
    """
    resolved = spec(game).resolve(rules)
    seats = spec(game).check_players(players)
    lineup = line_up(agents, game, seats, resolved, trust)
    summary = _Summary(seats)
    played = _play(game, seats, resolved, lineup, range(seed, seed + matches))
    write_records(summary.watch(progress(played, "playing", matches)), out)
    result = {
        "out": str(out),
        "game": game,
        "names": lineup.names,
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
    report(result, f"{listed(numbers)} in {out}", as_json)


class _Summary:
    """Counts what passes by."""

    def __init__(self, num_players: int) -> None:
        self.deals = self.decisions = self.truncated = 0
        self.returns = np.zeros(num_players)

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        for one in records:
            self.deals += len(one["deals"])
            self.decisions += sum(len(deal["actions"]) for deal in one["deals"])
            self.truncated += one["truncated"]
            self.returns += one["returns"]
            yield one


def _play(
    game: str, num_players: int, rules: Rules, lineup: LineUp, seeds: range
) -> Iterator[Record]:
    """Plays a match for each seed, many at once, and returns their records in order."""
    for start in range(0, len(seeds), TABLES_AT_ONCE):
        part = seeds[start : start + TABLES_AT_ONCE]
        batch = make_batch(game, len(part), num_players, rules=rules, seed=0, restart=False)
        recorder = Recorder(batch, lineup.names)
        rngs = [np.random.default_rng((AGENTS_STREAM, seed)) for seed in part]
        recorder.reset(seed=list(part))
        history = lineup.history(batch)
        while (batch.seat >= 0).any():
            actions = lineup.actions(batch, rngs, history)
            if history is not None:
                history.note(actions)
            recorder.step(actions)
        for table in range(len(part)):
            yield recorder.record(table)
