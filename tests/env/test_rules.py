"""The rules of every game, sentence by sentence: what the tables in tests/rules say is played.

    a husar chops who swaps with it, and no exchange takes place  # D-E05
        @gok_call=off L5 HU L3 L4 / L9 : 0 swap => chopped 0; seat 2 : 2 stand => seat 3

Below a sentence stand its cases, one a line; deeper lines continue it. A case has switches, cards
(seat 0 first, then the talon behind "/"), moves behind
":", what is then to be seen behind "=>", and cards of the next deal behind "&". `<BL KI>` makes a
case of each word. A name in capitals is defined at the top. To be seen are attributes of the
`Table`, fields of its record, what its last result says, and parts of what a seat is given; cards
stand for a part that has a place for each. `~told1 0 swap ~> words` plays and compares the words
that seat 1 is told. Who can tell two tables apart stands behind `one <> other => differ`.
The slow twin plays all of it too and must agree.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from env import knack_tables, tables, trick_tables
from env.trick_tables import differ

FILES = sorted((Path(__file__).parents[1] / "rules").glob("*.txt"))
CONSTANT = re.compile(r"([A-Z_]+) = (.*)")
CHOICE = re.compile(r"<([^<>]+)>")
STEP = re.compile(r" (:|=>|&|~told\d?|~verdict\d?|~>) ")
CHECK = re.compile(r"([a-z_.]+)(?:[([](-?\d+)[])])? (.*)")


def rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield sentences, each with its cases."""
    constants, sentence, cases = {}, "", []
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.partition("# ")[0].rstrip()
        if found := CONSTANT.fullmatch(text):
            constants[found[1]] = found[2]
        elif text.startswith(" " * 8):
            cases[-1] += f" {text.strip()}"
        elif text.startswith(" "):
            cases.append(text.strip())
        elif text:
            if cases:
                yield sentence, [re.sub(r"\b[A-Z_]{3,}\b", named(constants), c) for c in cases]
            sentence, cases = text, []
    yield sentence, [re.sub(r"\b[A-Z_]{3,}\b", named(constants), c) for c in cases]


def named(constants: dict[str, str]) -> Any:
    """Return what puts constants in the place of their names."""
    return lambda name: constants[name[0]]


def each(case: str) -> Iterator[str]:
    """Yield a case with the first, the second ... of the words in angle brackets."""
    for words in zip(*(group.split() for group in CHOICE.findall(case)), strict=True):
        chosen = iter(words)
        yield CHOICE.sub(lambda group, chosen=chosen: next(chosen), case)
    if not CHOICE.search(case):
        yield case


def value(text: str) -> Any:
    """Return a switch's value."""
    if text[0] in "[{":
        return json.loads(text)
    known = {"yes": True, "no": False}
    return int(text) if text.lstrip("-").isdigit() else known.get(text, text)


def shown(found: Any) -> str:
    """Return a value as the tables of rules have it."""
    if isinstance(found, (set, frozenset, list, tuple)):
        inner = [shown(each) for each in (sorted(found) if isinstance(found, set) else found)]
        return (" / " if any(" " in text for text in inner) else " ").join(inner) or "none"
    if isinstance(found, float):
        return f"{found:g}"
    if isinstance(found, bool):
        return "yes" if found else "no"
    return "-" if found is None else str(found) or "none"


def by_card(values: list[int], codes: tuple[str, ...]) -> str:
    """Return a part of what a seat sees: as cards where it has places for them."""
    blocks = [values[i : i + len(codes)] for i in range(0, len(values), len(codes))]
    if len(blocks[-1]) < len(codes):
        return shown(values)
    counted = [zip(codes, block, strict=True) for block in blocks]
    return " | ".join(" ".join(c for c, n in each for _ in range(n)) or "-" for each in counted)


def look(table: Any, name: str, place: str | None) -> str:
    """Return what is to be seen at a table under a name."""
    kind, _, field = name.partition(".")
    if kind == "result":
        return shown(table.result[field])
    if kind in ("part", "information"):
        return by_card(getattr(table, kind)(field, int(place or 0)), table.spec.pack.codes)
    if kind == "all_see":
        seen = table.part(field, 0)
        assert table.all_see(field, seen)
        return by_card(seen, table.spec.pack.codes)
    if kind == "rules":
        return shown(table.rules[field])
    if name == "last_event":
        return table.events[-1]
    if name == "at_chance":
        return shown(bool(table.batch.at_chance[0]))
    if hasattr(table, name):
        return shown(getattr(table, name) if place is None else getattr(table, name)(int(place)))
    values = table.record[name].tolist()
    return shown(values if place is None else values[int(place)])


def laid(game: str, text: str) -> tuple[Any, str]:
    """Return a table under the switches that a text begins with, and the cards for it."""
    words = text.split(" ")
    options = dict(word[1:].split("=", 1) for word in words if word.startswith("@"))
    settings: dict[str, Any] = {name: value(text) for name, text in options.items()}
    cards = " ".join(word for word in words if not word.startswith("@"))
    hands = cards.partition(" / ")[0]
    if game == "byteskille":
        return tables.Table(len(hands.split()), **settings), cards
    players = hands.count("|") + 1
    if game == "knack":
        return knack_tables.Table(players, **settings), cards
    return trick_tables.Table(game, players, **settings), cards


def play(game: str, case: str) -> Any:
    """Play a case, compares what is seen with what is written, and return the table."""
    if " <> " in case:
        both, _, seats = case.partition(" => differ ")
        found = shown(differ(*(play(game, one) for one in both.split(" <> "))))
        assert found == seats, f"{found} see a difference, in: {case}"
        return None
    first, *steps = STEP.split(case)
    table, cards = laid(game, first)
    words = ""
    for kind, text in zip(["&", *steps[::2]], [cards, *steps[1::2]], strict=True):
        if kind == "&":
            table.deal(*text.split(" / "))
        elif kind == ":":
            table.act(text)
        elif kind == "~>":
            assert words == text, f"the words are {words}, in: {case}"
        elif kind.startswith("~"):
            seat = int(kind[-1]) if kind[-1].isdigit() else None
            told = getattr(table, kind.strip("~0123456789"))(text, seat)
            words = told if isinstance(told, str) else " / ".join(told) or "nothing"
            words = " ".join(words.split())
        else:
            for check in text.split("; "):
                found = CHECK.fullmatch(check)
                assert found, f"{check!r} is not a name and a value, in: {case}"
                seen = look(table, found[1], found[2])
                assert seen == found[3], f"{check}, but it is {seen}, in: {case}"
    return table


ROWS = [(path.stem, *row) for path in FILES for row in rows(path)]


@pytest.mark.parametrize(
    ("game", "cases"),
    [pytest.param(game, cases, id=f"{game}: {sentence}") for game, sentence, cases in ROWS],
)
def test_the_rules_say(game: str, cases: list[str]) -> None:
    for case in cases:
        for one in each(case):
            play(game, one)


def test_a_wrong_row_is_found() -> None:
    with pytest.raises(AssertionError, match="seat 2, but it is 1, in"):
        play("byteskille", "L1 L2 L3 L4 : 0 swap => hands L2 L1 L3 L4; seat 2")
