"""Golden playthroughs: matches as text that a player of the game can read and a test can replay.

    # Killemöte: two killes are swapped for each other, and both rank high.
    game: byteskille
    players: 4
    rules: preset=svensk episode=deal
    first dealer: 3

    deal 0: KI KI L4 L9
        Hand 1: seat 3 deals.
    seat 0: swap            (stand, swap)
        seat 0 swaps with seat 1 (gives kille, gets kille). Killemöte: both killes rank high.

A person writes the lines that begin at the margin, up to the actions. A match under way says how it
stands after the first dealer (`start: {"bets": [3, 6]}`), and one whose end was drawn for who drew
it (`remainder to: 2`).
`python -m kille_env.testing.playthrough FILE` replays them and writes the rest: the legal actions,
what happened, the results of the deals, the returns of the match. `check_playthrough` does the same
and compares.
"""

import json
import re
import sys
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from kille_env.errors import RecordError
from kille_env.records import FORMAT, Record, Replay, check_record
from kille_env.records.playback import narrate

_HEAD = {
    "game": "game",
    "players": "num_players",
    "rules": "rules",
    "first dealer": "first_dealer",
    "start": "start",
    "remainder to": "remainder_to",
}
_ACTION = re.compile(r"seat (\d+): (\S.*?)(?:\s{2,}\(.*\))?")
_WRITTEN = ("result:", "returns:", "stops:")


def read_playthrough(text: str, source: str = "") -> tuple[list[str], Record]:
    """Read the part of a playthrough that a person has written: its comment, and the record."""
    comment: list[str] = []
    head: dict[str, Any] = {}
    deals: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        name, _, value = line.partition(":")
        if line.startswith("#"):
            comment.append(line)
        elif not line.strip() or line.startswith((" ", *_WRITTEN)):
            continue
        elif name in _HEAD and not deals:
            head[_HEAD[name]] = value.strip()
        elif name == f"deal {len(deals)}":
            deals.append({"deck": value.split(), "actions": []})
        elif deals and (match := _ACTION.fullmatch(line.rstrip())):
            deals[-1]["actions"].append([int(match[1]), match[2]])
        else:
            raise RecordError(
                f"{source}, line {number}: {line!r} is not understood; expected one of "
                f"{', '.join(_HEAD)}, 'deal {len(deals)}: cards' or 'seat 0: action'"
            )
    return comment, _to_record(head, deals, source)


def _to_record(head: dict[str, Any], deals: list[dict[str, Any]], source: str) -> Record:
    record = Record(format=FORMAT, **head, deals=deals)
    record.source = source
    for key in ("num_players", "first_dealer", "start", "remainder_to"):
        if key in record:
            record[key] = _value(record[key])
    words = (word.partition("=") for word in record.get("rules", "").split())
    record["rules"] = {name: _value(value) for name, _, value in words}
    check_record(record)
    return record


def _value(text: str) -> Any:
    """Return the value of a text as JSON, or else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def write_playthrough(record: Record, comment: Sequence[str]) -> str:
    """Replay a record and write it as a playthrough; `comment` lines begin with "#"."""
    played, told = narrate(record)
    given = record.get("rules") or {}
    words = [f"{name}={v if isinstance(v, str) else json.dumps(v)}" for name, v in given.items()]
    lines = [
        *comment,
        f"game: {record['game']}",
        f"players: {record['num_players']}",
        f"rules: {' '.join(words)}".rstrip(),
        f"first dealer: {record['first_dealer']}",
    ]
    if record.get("start"):
        lines.append(f"start: {json.dumps(record['start'])}")
    if record.get("remainder_to") is not None:
        lines.append(f"remainder to: {record['remainder_to']}")
    steps, moves = iter(played.steps), iter(told)
    for number, deal in enumerate(record["deals"]):
        lines += ["", f"deal {number}: {' '.join(deal['deck'])}", *_indented(next(moves))]
        for seat, action in deal["actions"]:
            legal = ", ".join(next(steps).legal)
            lines += [f"{f'seat {seat}: {action}':22}  ({legal})", *_indented(next(moves))]
        if number < len(played.results):
            lines.append(f"result: {json.dumps(played.results[number], ensure_ascii=False)}")
    return "\n".join([*lines, "", *_ending(played)]) + "\n"


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _ending(played: Replay) -> list[str]:
    if played.returns is not None:
        cut = " (cut off)" if played.truncated else ""
        return [f"returns: {' '.join(f'{units:g}' for units in played.returns)}{cut}"]
    if played.steps and played.steps[-1].action is None:
        step = played.steps[-1]
        return [f"stops: seat {step.seat} is to decide ({', '.join(step.legal)})"]
    return ["stops: cards are to be dealt"]


def check_playthrough(path: Path) -> None:
    """Replay a playthrough and compare it line by line."""
    text = path.read_text(encoding="utf-8")
    comment, record = read_playthrough(text, path.name)
    lines, expected = text.splitlines(), write_playthrough(record, comment).splitlines()
    # A playthrough that stops early must not pass.
    both = zip_longest(lines, expected, fillvalue="(nothing)")
    for number, (written, now) in enumerate(both, start=1):
        if written != now:
            raise AssertionError(
                f"{path.name}, line {number} says\n  {written}\nbut a replay gives\n  {now}\n"
                f"If that is meant: python -m kille_env.testing.playthrough {path}"
            )


def main(paths: Sequence[str]) -> None:
    """Write playthroughs again, each from a replay."""
    for path in map(Path, paths):
        comment, record = read_playthrough(path.read_text(encoding="utf-8"), path.name)
        path.write_text(write_playthrough(record, comment), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
