"""The notation itself: reading, checking and writing records.

What is written here is canonical: the keys stand in the order of `KEYS`, `DEAL_KEYS` and the game's
result, `", "` and `": "` separate, no letter is escaped that JSON does not ask for, whole numbers
have no point, and every line ends with one line feed. Reading such a file and writing it again
gives the same bytes.
"""

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO

import numpy as np

from kille_env.core.game import Game
from kille_env.core.spec import Rules
from kille_env.errors import CardError, RecordError, RulesError, did_you_mean
from kille_env.registry import list_games, load_game

FORMAT = "kille-record/1"
KEYS = (
    "format",
    "game",
    "rules",
    "num_players",
    "names",
    "seed",
    "first_dealer",
    "start",
    "deals",
    "remainder_to",
    "returns",
    "truncated",
)
CHANCE = ("remainder_to",)
"""Keys that say what chance has decided besides cards."""
REQUIRED = ("format", "game", "num_players", "first_dealer", "deals")
DEAL_KEYS = ("deck", "actions", "result")


class Record(dict[str, Any]):
    """A match as a dict with the keys of the notation.

    Attributes:
        source: Where it was read, "match.jsonl, line 3", for errors; else empty.
    """

    source: str = ""


# Reading and writing


def read_records(path: str | Path) -> list[Record]:
    """Reads a file of records whole, or refuses it whole.

    Args:
        path: The file.

    Returns:
        Its records, checked for everything that can be seen without playing.

    Raises:
        RecordError: A line is cut off, is no record, or names a game, rule, key or action that does
            not exist.
        CardError: A deck holds an unknown card or a card too often.
        OSError: The file cannot be read.
    """
    path = Path(path)
    lines = path.read_bytes().split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [
        parse_record(line, f"{path.name}, line {number}")
        for number, line in enumerate(lines, start=1)
    ]


def parse_record(line: str | bytes, source: str = "") -> Record:
    """Reads one line; see `read_records`.

    Args:
        line: The line.
        source: Where it stands, for errors.
    """
    text = ""
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        data = json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        refuse(
            source, f"it is not UTF-8 (byte {error.start}); expected a record as one JSON object"
        )
    except json.JSONDecodeError as error:
        ends = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
        what = "it is cut off" if ends and text.strip() else "it is not JSON"
        refuse(
            source,
            f"{what} ({error.msg}, column {error.colno}); expected a record as one JSON object",
        )
    except RecursionError:
        refuse(source, "it is nested too deeply; expected a record as one JSON object")
    except ValueError as error:
        refuse(source, str(error))
    if not isinstance(data, dict):
        refuse(source, f"it is {_kind(data)}; expected a record as one JSON object")
    record = Record(data)
    record.source = source
    check_record(record)
    return record


def format_record(record: Mapping[str, Any]) -> str:
    """Returns a record as its canonical line, without the line feed."""
    ordered = {key: record[key] for key in KEYS if key in record}
    result_keys = load_game(record["game"]).spec.result_keys
    deals = []
    for deal in record["deals"]:
        deals.append({key: deal[key] for key in DEAL_KEYS if key in deal})
        if result_keys and deal.get("result"):
            deals[-1]["result"] = {
                key: deal["result"][key] for key in result_keys if key in deal["result"]
            }
    return json.dumps({**ordered, "deals": deals}, ensure_ascii=False, allow_nan=False)


def write_records(records: Iterable[Mapping[str, Any]], path: str | Path) -> int:
    """Writes records to a file, which appears whole or, if anything fails, not at all.

    Args:
        records: The records; an iterator is drawn from as the file is written.
        path: The file; what was there is replaced.

    Returns:
        How many were written.

    Raises:
        RecordError: A record breaks the notation.
        CardError: A deck is not possible.
        OSError: The file cannot be written.
    """
    path = Path(path)
    if path.exists() and not path.is_file():  # a pipe or a terminal can not be replaced
        with path.open("w", encoding="utf-8", newline="\n") as file:
            return _write(records, file)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            number = _write(records, file)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return number


def _write(records: Iterable[Mapping[str, Any]], file: TextIO) -> int:
    number = 0
    for record in records:
        check_record(record)
        file.write(format_record(record) + "\n")
        number += 1
    return number


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object; expected it once")
    return made


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON; expected a number")


# Checking


def check_record(record: Mapping[str, Any]) -> tuple[Game, Rules]:
    """Checks everything that can be seen without playing.

    Returns:
        The record's game and resolved rules.

    Raises:
        RecordError: The record breaks the notation; the message says where and what was expected.
        CardError: A deck holds an unknown card or a card too often.
    """
    where = getattr(record, "source", "")
    _check_keys(record, KEYS, REQUIRED, where)
    if record["format"] != FORMAT:
        refuse(where, f"'format' is {record['format']!r}; expected {FORMAT!r}")
    if record["game"] not in list_games():
        refuse(
            where,
            f"there is no game {record['game']!r}. {did_you_mean(record['game'], list_games())}",
        )
    game = load_game(record["game"])
    if not isinstance(record.get("rules"), (dict, Mapping, type(None))):
        refuse(where, f"'rules' is {_kind(record['rules'])}; expected an object of switches")
    try:
        rules = game.spec.resolve(record.get("rules"))
        if record["num_players"] is None:
            raise RulesError("'num_players' is null; expected a whole number")
        num_players = game.spec.check_players(record["num_players"])
    except RulesError as error:
        refuse(where, str(error))
    _check_seat(record["first_dealer"], num_players, "'first_dealer'", where)
    _check_start(record, game, rules, num_players, where)
    _check_names(record, num_players, where)
    _check_outcome(record, num_players, where)
    _check_is(record["deals"], list, "'deals'", "a list of deals", where)
    for number, deal in enumerate(record["deals"]):
        _check_deal(deal, game, num_players, join(where, f"deal {number}"))
    return game, rules


def _check_keys(
    thing: Any, known: Sequence[str], required: Sequence[str], where: str, what: str = "a record"
) -> None:
    if not isinstance(thing, Mapping):
        refuse(where, f"it is {_kind(thing)}; expected {what} as an object")
    for key in thing:
        if key not in known:
            refuse(where, f"{what} has no key {key!r}. {did_you_mean(key, known)}")
    for key in required:
        if key not in thing:
            refuse(where, f"{key!r} is missing; {what} has {', '.join(map(repr, required))}")


def _check_is(thing: Any, kind: type, name: str, expected: str, where: str) -> None:
    if not isinstance(thing, kind):
        refuse(where, f"{name} is {_kind(thing)}; expected {expected}")


def _check_seat(seat: Any, num_players: int, name: str, where: str) -> None:
    if type(seat) is not int or not 0 <= seat < num_players:
        refuse(where, f"{name} is {seat!r}; expected a seat from 0 to {num_players - 1}")


def _check_start(
    record: Mapping[str, Any], game: Game, rules: Rules, num_players: int, where: str
) -> None:
    start = record.get("start")
    if not isinstance(start, (dict, Mapping, type(None))):
        refuse(where, f"'start' is {_kind(start)}; expected {{}}, or how a match under way stands")
    table = np.zeros(1, dtype=game.spec.table)
    table["num_players"] = num_players
    try:
        if any(key in CHANCE for key in start or {}):
            raise RulesError(f"{' and '.join(CHANCE)} stand beside 'start', not in it")
        game.set_up(table[0], rules, start or {})
        game.set_up(table[0], rules, told_chance(record))
    except RulesError as error:
        refuse(where, str(error))


def told_chance(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a record says that chance has decided besides cards, by name."""
    return {key: record[key] for key in CHANCE if record.get(key) is not None}


def _check_names(record: Mapping[str, Any], num_players: int, where: str) -> None:
    names, seed = record.get("names"), record.get("seed")
    if names is not None and not (
        isinstance(names, list) and len(names) == num_players and all(map(_is_text, names))
    ):
        refuse(where, f"'names' is {names!r}; expected {num_players} texts, one a seat")
    if seed is not None and (type(seed) is not int or seed < 0):
        refuse(where, f"'seed' is {seed!r}; expected a whole number from 0 or null")


def _is_text(thing: Any) -> bool:
    """Whether it is a text that can be written (JSON can spell halves of characters, UTF-8 not)."""
    return isinstance(thing, str) and thing == thing.encode("utf-8", "replace").decode("utf-8")


def _check_outcome(record: Mapping[str, Any], num_players: int, where: str) -> None:
    returns, truncated = record.get("returns"), record.get("truncated")
    if returns is not None and not (
        isinstance(returns, list)
        and len(returns) == num_players
        and all(type(units) in (int, float) and math.isfinite(units) for units in returns)
    ):
        refuse(where, f"'returns' is {returns!r}; expected {num_players} numbers, one a seat")
    if truncated is not None and not isinstance(truncated, bool):
        refuse(where, f"'truncated' is {truncated!r}; expected true or false")


def _check_deal(deal: Any, game: Game, num_players: int, where: str) -> None:
    _check_keys(deal, DEAL_KEYS, ("deck", "actions"), where, "a deal")
    if not isinstance(deal["deck"], list) or not all(
        isinstance(code, str) for code in deal["deck"]
    ):
        refuse(where, f"'deck' is {deal['deck']!r}; expected a list of card codes")
    try:
        game.spec.stack(deal["deck"])
    except CardError as error:
        raise CardError(join(where, str(error), ": ")) from None
    _check_is(deal["actions"], list, "'actions'", "a list of [seat, text]", where)
    for number, action in enumerate(deal["actions"]):
        here = join(where, f"step {number}")
        if not isinstance(action, (list, tuple)) or len(action) != 2:
            refuse(here, f"the action is {action!r}; expected [seat, text]")
        _check_seat(action[0], num_players, "the seat", here)
        if not game.knows_action(action[1]):
            hint = did_you_mean(action[1], game.spec.actions)
            refuse(here, f"{game.spec.name} has no action {action[1]!r}. {hint}")
    if deal.get("result") is not None:
        check_result(deal["result"], game.spec.result_keys, where)


def check_result(result: Any, keys: Iterable[str] | None, where: str) -> None:
    """Refuses what is no result, or has a key that is not among `keys` (None: any)."""
    _check_keys(result, tuple(result if keys is None else keys), (), where, "a result")


def _kind(thing: Any) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
    }
    return "null" if thing is None else names.get(type(thing), f"{thing!r}")


def join(where: str, what: str, between: str = ", ") -> str:
    """Returns a place with something behind it, or that alone if there is no place."""
    return f"{where}{between}{what}" if where else what


def refuse(where: str, what: str) -> NoReturn:
    """Raises the error that names a place and what is wrong there."""
    raise RecordError(join(where, what, ": "))
