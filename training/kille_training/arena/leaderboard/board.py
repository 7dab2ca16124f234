"""The data of the leaderboard: one line for each entry and track, in a file that git can merge.

A line is a JSON object with sorted keys, and lines are sorted. Its key `check` is a digest of the
rest of the line: an edit, or a merge that mixed two lines, is noticed. It does not prove that a
result was measured; for that, measure it again.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from kille_env.errors import ConfigError
from kille_env.files import write_whole

CHECK = "check"
LABEL = re.compile(r"\w[\w .,+@/()-]{0,59}")
"""Names as the page can show them."""


@dataclass(frozen=True)
class Score:
    """What an entry earned, with its 95% interval; an exact result has none (low = high = mean).

    Attributes:
        mean: Units per deal, or NashConv in stakes.
        low: Lower end.
        high: Upper end.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """What one entry has reached on one track.

    Attributes:
        track: The track's name.
        name: The entry's name on the board.
        by: Who made it.
        player: The player as it was given: a name, a path or `module:object`.
        digest: Digest of the policy's files; for a player that ships, its name and version.
        command: The command that measured it.
        conditions: What the result depends on besides the entry, see `Track.conditions`.
        versions: Of this package, Python and the libraries.
        score: What the track sorts by: the mean over its opponents, or NashConv of sampled play.
        parts: The score against each opponent, or NashConv by way to play.
    """

    track: str
    name: str
    by: str
    player: str
    digest: str
    command: str
    conditions: Mapping[str, Any]
    versions: Mapping[str, str]
    score: Score
    parts: Mapping[str, Score]


_LINE = TypeAdapter(Line)


def check_label(what: str, text: str) -> str:
    """Returns a name that the page can show.

    Raises:
        ConfigError: It cannot; the message says what is expected.
    """
    if not LABEL.fullmatch(text):
        raise ConfigError(
            f"{what} is {text!r}, expected 1 to 60 letters, digits, spaces and any of _.,+@/()-"
        )
    return text


def encode(lines: Iterable[Line]) -> bytes:
    """Returns the file's content; the same lines in any order give the same bytes."""
    ordered = sorted(lines, key=lambda line: (line.track, line.name))
    return "".join(f"{_text(_with_check(asdict(line)))}\n" for line in ordered).encode()


def read(path: Path) -> list[Line]:
    """Returns the lines of a file; none if there is no file.

    Raises:
        ConfigError: A line is not as it was written; the message names it.
    """
    if not path.is_file():
        return []
    texts = path.read_bytes().splitlines()
    lines = [_decoded(text, f"{path}, line {number}") for number, text in enumerate(texts, 1)]
    places = [(line.track, line.name) for line in lines]
    for track, name in places:
        if places.count((track, name)) > 1:
            raise ConfigError(f"{path} has two lines of {name!r} on {track}; delete one of them")
    return lines


def put(path: Path, line: Line) -> None:
    """Adds a line to a file, which is written whole or not at all."""
    write_whole(path, encode([*read(path), line]))


def _decoded(text: bytes, where: str) -> Line:
    advice = "restore it from git, or delete it and add the entry again"
    try:
        found = json.loads(text)
        check = found.pop(CHECK)
    except (ValueError, KeyError, AttributeError, TypeError):
        raise ConfigError(f"{where} is no line of a leaderboard; {advice}") from None
    if check != _check(found):
        raise ConfigError(f"{where} was changed after it was measured; {advice}")
    try:
        return _LINE.validate_python(found)
    except ValidationError as error:
        wrong = error.errors()[0]
        key = ".".join(map(str, wrong["loc"]))
        raise ConfigError(f"{where}: {key}: {wrong['msg']}; {advice}") from None


def _with_check(content: Mapping[str, Any]) -> dict[str, Any]:
    return {**content, CHECK: _check(content)}


def _check(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(_text(content).encode()).hexdigest()[:16]


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)
