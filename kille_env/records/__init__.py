"""Game records: whole matches as plain text that anyone can read, replay and check.

A file holds one match per line (JSON Lines, UTF-8). Reading refuses what it does not understand,
with an error that names the line, the deal, the step and what was expected; nothing is guessed or
repaired.

    for record in read_records("match.jsonl"):
        game = replay(record)
        game.steps, game.results, game.returns, game.truncated, game.differences

The parts: `notation` reads, checks and writes, `playback` replays and tells in words, `recorder`
writes down what is played. A game's part in this is its `result`; better are also `result_keys` in
its spec, and a function `narrate` that says what happened.
"""

from kille_env.records.notation import (
    FORMAT,
    Record,
    check_record,
    format_record,
    parse_record,
    read_records,
    write_records,
)
from kille_env.records.playback import Difference, Replay, Step, describe, replay
from kille_env.records.recorder import Recorder

__all__ = [
    "FORMAT",
    "Difference",
    "Record",
    "Recorder",
    "Replay",
    "Step",
    "check_record",
    "describe",
    "format_record",
    "parse_record",
    "read_records",
    "replay",
    "write_records",
]
