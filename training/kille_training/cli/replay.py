"""`kille replay`: describes recorded matches in words, or checks them."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kille_env.core.text import counted
from kille_env.errors import RecordError
from kille_env.records import Replay, describe, read_records
from kille_env.records import replay as play_again
from kille_training.cli.console import json_option, progress, report
from kille_training.reports.matches import match_lines


@click.command(epilog="Example: kille replay matches.jsonl --match 3")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Only compare; exit 1 if anything differs.")
@click.option("--match", "number", type=click.IntRange(min=1), help="Only this line of the file.")
@json_option
def replay(file: Path, check: bool, number: int | None, as_json: bool) -> None:
    """Replays the matches of FILE and describes them in words.

    If a line is no record or breaks the rules, the whole file is refused and nothing is printed.
    """
    records = read_records(file)
    if not records:
        raise RecordError(f"{file} holds no record")
    if number is not None:
        if number > len(records):
            raise RecordError(f"{file} has {len(records)} lines, there is no match {number}")
        records = records[number - 1 : number]
    first = number or 1
    games: list[Replay] = []
    lines: list[str] = []
    for line, record in enumerate(progress(records, "replaying", len(records)), start=first):
        if check or as_json:
            games.append(play_again(record))
        else:
            game, told = describe(record)
            games.append(game)
            lines += match_lines(record, game, told, line)
    differences = [
        f"line {line}, {difference}"
        for line, game in enumerate(games, start=first)
        for difference in game.differences
    ]
    if check:
        lines = differences or [
            f"{counted(len(games), 'match', 'matches')} replayed, nothing differs"
        ]
    matches = [_for_programs(line, game) for line, game in enumerate(games, start=first)]
    report({"file": str(file), "differences": len(differences), "matches": matches}, lines, as_json)
    if check and differences:
        raise click.exceptions.Exit(1)


def _for_programs(line: int, game: Replay) -> dict[str, Any]:
    return {
        "line": line,
        "deals": len(game.results),
        "decisions": sum(step.action is not None for step in game.steps),
        "finished": game.returns is not None,
        "results": game.results,
        "returns": game.returns,
        "truncated": game.truncated,
        "differences": [asdict(difference) for difference in game.differences],
    }
