"""The notation: reading, checking and writing records.

Written records are canonical: keys in the order of `KEYS`, `DEAL_KEYS` and the game's result,
separated by `", "` and `": "`; no letter is escaped unless JSON requires it, whole numbers have no
point, and every line ends with one line feed. Reading such a file and writing it again gives the
same bytes.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from kille_env.core.game import Game
from kille_env.core.spec import Rules
from kille_env.errors import CardError, RecordError, RulesError, did_you_mean, shortened
from kille_env.files import whole_file, writing
from kille_env.registry import list_games, load_game
from kille_env.words.text import counted, printable

FORMAT = "kille-record/1"
KEYS = (
    *("format", "game", "rules", "num_players", "names", "seed", "first_dealer", "start", "deals"),
    *("remainder_to", "returns", "truncated"),
)
CHANCE = ("remainder_to",)
"""Keys of chance outcomes other than cards."""
UNSAID_EPISODE = "match"
"""Episode of a record with rules that leave it out; part of the notation, for good."""
REQUIRED = ("format", "game", "num_players", "first_dealer", "deals")
DEAL_KEYS = ("deck", "actions", "result")


class Record(dict[str, Any]):
    """A match as a dict with the keys of the notation.

    Attributes:
        source: Where it was read, "match.jsonl, line 3", for errors; else empty.
    """

    source: str = ""

    def __str__(self) -> str:
        names = ", ".join(map(printable, self.get("names") or ()))
        deals = self.get("deals") or ()
        return (
            f"{self.get('game')}, {self.get('num_players')} seats{f' ({names})' if names else ''}: "
            f"{counted(len(deals), 'deal', 'deals')}, returns {self.get('returns')}"
        )


# Reading and writing


def read_records(path: str | Path) -> list[Record]:
    """Read a file of records whole, or refuse it whole.

    Example:
        >>> import kille_env
        >>> env = kille_env.make("byteskille", 3)
        >>> env.reset(seed=1)
        >>> kille_env.write_records([env.record()], "matches.jsonl")
        1
        >>> print(kille_env.read_records("matches.jsonl")[0]["game"])
        byteskille

    Args:
        path: The file.

    Returns:
        Its records, checked for everything that can be seen without playing.

    Raises:
        RecordError: The file cannot be read, or a line is cut off, is not a record, or names a
            game, rule, key or action that does not exist.
        CardError: A deck holds an unknown card, or a card too often.
    """
    path = Path(path)
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise RecordError(
            f"{path} cannot be read ({error.strerror}); name a file that `write_records` or "
            "`kille record` has written"
        ) from None
    if lines[-1] == b"":
        lines.pop()
    return [
        parse_record(line, f"{printable(path.name)}, line {number}")
        for number, line in enumerate(lines, start=1)
    ]


def parse_record(line: str | bytes, source: str = "") -> Record:
    """Read one line; see `read_records`.

    Args:
        line: The line.
        source: Where it comes from, for errors.
    """
    data: Any = None
    text = problem = ""
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        data = json.loads(
            text,
            object_pairs_hook=_no_key_twice,
            parse_constant=_fraction,
            parse_int=_whole,
            parse_float=_fraction,
        )
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 (byte {error.start})"
    except json.JSONDecodeError as error:
        ends = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
        problem = "it is cut off" if ends and text.strip() else "it is not JSON"
        problem += f" ({error.msg}, column {error.colno})"
    except RecursionError:
        problem = "it is nested too deeply"
    except ValueError as error:
        problem = str(error)
    if problem or not isinstance(data, dict):
        problem = problem or f"it is {shortened(data)}"
        refuse(source, f"{problem}; expected a record as one JSON object")
    record = Record(data)
    record.source = source
    check_record(record)
    return record


def format_record(record: Mapping[str, Any]) -> str:
    """Return a record as its canonical line, without the line feed."""
    # In the order of the notation, so that one match has one line, to the byte.
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
    """Write records to a file, which appears whole or, if anything fails, not at all.

    Example:
        >>> import kille_env
        >>> env = kille_env.make("byteskille", 3)
        >>> env.reset(seed=1)
        >>> kille_env.write_records([env.record(names=["a", "b", "c"])], "matches.jsonl")
        1

    Args:
        records: The records; an iterator is consumed while the file is written.
        path: The file; an existing one is replaced.

    Returns:
        The number of records written.

    Raises:
        RecordError: A record breaks the notation.
        CardError: A deck is impossible.
        FileError: The file cannot be written.
    """
    path = Path(path)
    number = 0
    with writing(path), _opened(path) as file:
        for record in records:
            check_record(record)
            file.write(format_record(record).encode() + b"\n")
            number += 1
    return number


def _opened(path: Path) -> AbstractContextManager[BinaryIO]:
    """Open a file that is replaced as a whole; a pipe or a terminal cannot be."""
    return whole_file(path) if path.is_file() or not path.exists() else path.open("wb")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python's JSON takes the last of two equal keys, so a record could say two things.
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {shortened(twice)} stands twice in one object")
    return made


def _whole(text: str) -> int:
    _fraction(text)  # refuses numbers that are far too large
    return int(text)


def _fraction(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{shortened(text, 20)} is no number of a record, or far too large")
    return number


# Checking

MOST_LEVELS = 10
"""How deeply lists and objects of a result may be nested; the games' have two levels."""
MOST_NAME = 100
"""Characters of a name, at most."""
LARGEST = 1e300
"""Numbers of a record are smaller."""


def check_record(record: Mapping[str, Any]) -> tuple[Game, Rules]:
    """Check everything that can be seen without playing.

    Returns:
        The record's game and resolved rules.

    Raises:
        RecordError: The record breaks the notation; the message says where and what was expected.
        CardError: A deck holds an unknown card or a card too often.
    """
    where = getattr(record, "source", "")
    _check_keys(record, KEYS, REQUIRED, where)
    _expect(record, "format", lambda name: name == FORMAT, repr(FORMAT), where)
    name, games = record["game"], list_games()
    if name not in games:
        refuse(where, f"there is no game {shortened(name)}. {did_you_mean(name, games)}")
    game = load_game(name)
    try:
        num_players = game.spec.check_players(record["num_players"])
        _check_values(record, num_players, where)
        rules = game.spec.resolve({"episode": UNSAID_EPISODE, **(record.get("rules") or {})})
        game.spec.check_players(num_players, rules)
        game.check_start(rules, num_players, _start(record, where))
    except RulesError as error:
        refuse(where, str(error))
    for number, deal in enumerate(record["deals"]):
        _check_deal(deal, game, rules, num_players, join(where, f"deal {number}"))
    return game, rules


def _check_keys(
    thing: Any, known: Sequence[str], required: Sequence[str], where: str, what: str = "a record"
) -> None:
    if not isinstance(thing, Mapping):
        refuse(where, f"it is {shortened(thing)}; expected {what} as an object")
    for key in thing:
        if key not in known:
            refuse(where, f"{what} has no key {shortened(key)}. {did_you_mean(key, known)}")
    for key in required:
        if thing.get(key) is None:
            refuse(where, f"{key!r} is missing; {what} has {', '.join(map(repr, required))}")


def _check_values(record: Mapping[str, Any], num_players: int, where: str) -> None:
    """Check the values that every game has; missing ones are checked already."""
    each = ", one per seat"
    for key, fits, expected in (
        ("rules", _is_object, "an object of switches"),
        ("first_dealer", _seat_of(num_players), f"a seat from 0 to {num_players - 1}"),
        (
            "names",
            _list_of(num_players, _is_name),
            f"{num_players} texts of up to {MOST_NAME} characters{each}",
        ),
        ("seed", lambda seed: type(seed) is int and seed >= 0, "a whole number from 0 or null"),
        ("start", _is_object, "{}, or how a match under way stands"),
        ("deals", _is_list, "a list of deals"),
        ("returns", _list_of(num_players, _is_number), f"{num_players} numbers{each}"),
        ("truncated", lambda value: isinstance(value, bool), "true or false"),
    ):
        _expect(record, key, fits, expected, where)


def _expect(
    thing: Mapping[str, Any], key: str, fits: Callable[[Any], bool], expected: str, where: str
) -> None:
    """Refuse a value that is there and does not fit."""
    value = thing.get(key)
    if value is not None and not fits(value):
        refuse(where, f"{key!r} is {shortened(value)}; expected {expected}")


def _is_object(thing: Any) -> bool:
    return isinstance(thing, Mapping)


def _is_list(thing: Any) -> bool:
    return isinstance(thing, list)


def _is_number(thing: Any) -> bool:
    return type(thing) in (int, float) and abs(thing) < LARGEST


def _is_text(thing: Any) -> bool:
    """Return whether a value is a text that UTF-8 can hold."""
    # JSON can spell half of a surrogate pair, which no file could hold.
    return isinstance(thing, str) and thing == thing.encode("utf-8", "replace").decode("utf-8")


def _is_name(thing: Any) -> bool:
    return _is_text(thing) and len(thing) <= MOST_NAME


def _seat_of(num_players: int) -> Callable[[Any], bool]:
    return lambda seat: type(seat) is int and 0 <= seat < num_players


def _list_of(number: int, kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda thing: _is_list(thing) and len(thing) == number and all(map(kind, thing))


def _start(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the start of the match, with chance besides the cards."""
    start = dict(record.get("start") or {})
    _check_plain(start, "'start'", where)
    if start.keys() & set(CHANCE):
        raise RulesError(f"{' and '.join(CHANCE)} stand beside 'start', not in it")
    return start | recorded_chance(record)


def recorded_chance(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return chance besides the cards, as a record has it, by name."""
    return {key: record[key] for key in CHANCE if record.get(key) is not None}


def _check_deal(deal: Any, game: Game, rules: Rules, num_players: int, where: str) -> None:
    _check_keys(deal, DEAL_KEYS, ("deck", "actions"), where, "a deal")
    _expect(deal, "deck", _is_list, "a list of card codes", where)
    _expect(deal, "actions", _is_list, "a list of [seat, text]", where)
    try:
        game.spec.stack(deal["deck"], rules)
    except CardError as error:
        raise CardError(join(where, str(error), ": ")) from None
    is_seat = _seat_of(num_players)
    verbs = {known.partition(" ")[0] for known in game.spec.actions}
    for number, action in enumerate(deal["actions"]):
        here = join(where, f"step {number}")
        if not isinstance(action, (list, tuple)) or len(action) != 2:
            refuse(here, f"the action is {shortened(action)}; expected [seat, text]")
        seat, text = action
        if not is_seat(seat):
            last = num_players - 1
            refuse(here, f"the seat is {shortened(seat)}; expected a seat from 0 to {last}")
        if not isinstance(text, str) or text.partition(" ")[0] not in verbs:
            hint = did_you_mean(text, game.spec.actions)
            refuse(here, f"{game.spec.name} has no action {shortened(text)}. {hint}")
    if deal.get("result") is not None:
        check_result(deal["result"], game.spec.result_keys, where)


def check_result(result: Any, keys: Iterable[str] | None, where: str) -> None:
    """Refuse a result that is not one, or has a key that is not among `keys` (None: any)."""
    _check_keys(result, tuple(result if keys is None else keys), (), where, "a result")
    _check_plain(result, "the result", where)


def _check_plain(thing: Any, name: str, where: str) -> None:
    """Refuse a value nested without end, or with a number that no computation survives."""
    level = [thing]
    for _ in range(MOST_LEVELS):
        if any(type(one) in (int, float) and not abs(one) < LARGEST for one in level):
            refuse(where, f"{name} holds a number that is far too large")
        nested = (one.values() if isinstance(one, Mapping) else one for one in level if _holds(one))
        level = [one for many in nested for one in many]
    if level:
        refuse(where, f"{name} is nested too deeply; expected at most {MOST_LEVELS} levels")


def _holds(thing: Any) -> bool:
    return isinstance(thing, (Mapping, list, tuple))


def join(where: str, what: str, between: str = ", ") -> str:
    """Return a place with something behind it, or that alone if there is no place."""
    return f"{where}{between}{what}" if where else what


def refuse(where: str, what: str) -> NoReturn:
    """Raise an error that names a place and the fault there."""
    raise RecordError(join(where, what, ": "))
