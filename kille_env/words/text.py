"""Small helpers for tables and lists in plain text."""

import re
import unicodedata
from collections.abc import Sequence

YOU = "You"
"""The name of the reader in texts."""


def printable(text: str) -> str:
    """Return a text with all characters escaped that a terminal or page would not simply show.

    For texts from files: control characters could move the cursor or rename the window, and
    overrides of the writing direction could make a line say something else.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def plain_letters(text: str) -> str:
    """Return a text with every letter without its accents: "gok" for "gök"."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(c for c in parts if not unicodedata.combining(c))


def listed(words: Sequence[str], last: str = "and") -> str:
    """Return "a", "a and b" or "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def columns(rows: Sequence[Sequence[str]], indent: str = "  ", gap: str = "  ") -> list[str]:
    """Return rows as lines with aligned columns and no blanks at their ends."""
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        (indent + gap.join(cell.ljust(w) for cell, w in zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]


def counted(number: int, one: str, many: str) -> str:
    """Return "1 match" or "3 matches"."""
    return f"{number:,} {one if number == 1 else many}"


def does(name: str, verb: str) -> str:
    """Return a name with a verb: "Bertil swaps", "You swap"."""
    first, blank, rest = verb.partition(" ")
    return f"{name} {_plain(first) if name == YOU else first}{blank}{rest}"


def inside(name: str) -> str:
    """Return words that begin with a name as they stand inside a sentence: "Bertil", "you"."""
    return f"y{name[1:]}" if re.match(rf"{YOU}r?\b", name) else name


def owner(name: str) -> str:
    """Return a name as a possessive: "Bertil's", "Your"."""
    return "Your" if name == YOU else f"{name}'s"


def a(noun: str) -> str:
    """Return a noun with its article: "a 3", "an 8", "an inn"."""
    return f"{'an' if noun[0] in 'aeio' or noun in ('8', '11') else 'a'} {noun}"


def _plain(verb: str) -> str:
    """Return a verb as it follows "you": "are" for "is", "pass" for "passes"."""
    irregular = {"is": "are", "has": "have", "does": "do", "goes": "go"}
    return irregular.get(verb) or re.sub(r"(?<=ss)es$|(?<=[sc]h)es$|s$", "", verb)


def chips(amount: float) -> str:
    """Return an amount as text: "1 chip", "12 chips" or "0.67 chips"."""
    shown = str(int(amount)) if amount == int(amount) else f"{amount:.2f}"
    return f"{shown} chip" if amount == 1 else f"{shown} chips"


def signed(amount: float) -> str:
    """Return a gain or loss with its sign, "+6", "-2", "0" or "+0.67"."""
    if amount == int(amount):
        return f"{int(amount):+d}" if amount else "0"
    return f"{amount:+.2f}"


def labels(names: Sequence[str] | None, num_players: int) -> list[str]:
    """Return a label of each seat: its name, with the seat's number where two share a name."""
    if names is None:
        return [f"seat {seat}" for seat in range(num_players)]
    shown = list(map(printable, names))
    return [name if shown.count(name) == 1 else f"{name} {seat}" for seat, name in enumerate(shown)]
