"""Small helpers for tables and lists in plain text."""

import re
import unicodedata
from collections.abc import Sequence


def printable(text: str) -> str:
    """Returns a text with everything escaped that a terminal or page would not simply show.

    For texts from files: control characters could move the cursor or rename the window, and
    overrides of the writing direction could make a line say something else.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def plain_letters(text: str) -> str:
    """Returns a text with every letter without its accents: "gok" for "gök"."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(c for c in parts if not unicodedata.combining(c))


def listed(words: Sequence[str], last: str = "and") -> str:
    """Returns "a", "a and b" or "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def columns(rows: Sequence[Sequence[str]], indent: str = "  ", gap: str = "  ") -> list[str]:
    """Returns rows as lines with aligned columns and no blanks at their ends."""
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        (indent + gap.join(cell.ljust(w) for cell, w in zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]


def counted(number: int, one: str, many: str) -> str:
    """Returns "1 match" or "3 matches"."""
    return f"{number} {one if number == 1 else many}"


def second_person(line: str, you: str) -> str:
    """Returns a line in the third person about somebody called `you` in the second person.

    "You swaps with Bo." becomes "You swap with Bo.", "You knocks or folds." becomes "You knock or
    fold.", and in mid-sentence the word is written small.
    """
    verb = r"[a-z]+s"  # as English verbs are written: "You värdshus" has played a card
    line = re.sub(rf"\b{you} ({verb})\b", lambda m: f"{you} {_without_s(m[1])}", line)
    if choice := re.match(rf"{you} [^:;.]*\bor {verb}\b", line):
        verbs = re.sub(
            rf"(?<=, ){verb}\b|(?<=\bor ){verb}\b", lambda m: _without_s(m[0]), choice[0]
        )
        line = verbs + line[choice.end() :]
    return re.sub(rf"(?<=[a-z0-9,;] ){you}\b", you.lower(), line)


def _without_s(verb: str) -> str:
    """Returns a verb as it follows "you": "are" for "is", "pass" for "passes"."""
    irregular = {"is": "are", "has": "have", "does": "do", "goes": "go"}
    return irregular.get(verb) or re.sub(r"(?<=ss)es$|(?<=[sc]h)es$|s$", "", verb)


def units(amount: float) -> str:
    """Returns an amount of money as text, "1 unit", "12 units" or "0.67 units"."""
    shown = str(int(amount)) if amount == int(amount) else f"{amount:.2f}"
    return f"{shown} unit" if amount == 1 else f"{shown} units"


def signed(amount: float) -> str:
    """Returns a gain or loss with its sign, "+6", "-2", "0" or "+0.67"."""
    if amount == int(amount):
        return f"{int(amount):+d}" if amount else "0"
    return f"{amount:+.2f}"


def labels(names: Sequence[str] | None, num_players: int) -> list[str]:
    """Returns what to call each seat: its name, with the seat's number where two share a name."""
    if names is None:
        return [f"seat {seat}" for seat in range(num_players)]
    shown = list(map(printable, names))
    return [name if shown.count(name) == 1 else f"{name} {seat}" for seat, name in enumerate(shown)]
