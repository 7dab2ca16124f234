"""A person at the terminal: asks for a line and understands it."""

import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TextIO

from kille_env.words.text import listed

HELP, HINT, UNDO, QUIT = "help", "hint", "undo", "quit"
COMMANDS = {
    HELP: "what the words mean",
    HINT: "what players of the suite would do in your seat",
    UNDO: "take your last decision back",
    QUIT: "leave the table (so do Ctrl-D and Ctrl-C)",
}
"""Commands, which are always understood."""
LETTERS = {"?": HELP, **{word[0]: word for word in (HINT, UNDO, QUIT)}}
"""Letters that mean a command where no choice begins with them."""
LISTED = 8
"""Choices up to which an answer lists each; of more it says what they begin with."""


class HasQuit(Exception):
    """The person has left the table."""


class Human:
    """Reads the decisions of a person, line by line.

    Attributes:
        name: What tables and records call them.
    """

    name = "human"

    def __init__(self, read: Callable[[], str] | None = None, out: TextIO | None = None) -> None:
        """Connects to the terminal.

        Args:
            read: Returns a line and raises EOFError after the last one; None reads standard input.
            out: Where questions and answers are written; None is standard output.
        """
        self._read, self._out = read or _read_line, out

    @property
    def out(self) -> TextIO:
        """Where questions and answers are written."""
        return self._out or sys.stdout

    def say(self, text: str = "", end: str = "\n") -> None:
        """Prints a text; lines that are too long are broken between words."""
        width = shutil.get_terminal_size().columns
        lines = [_broken(line, width) for line in text.split("\n")]
        print("\n".join(lines), end=end, file=self.out, flush=True)

    def choose(
        self,
        question: str,
        choices: Sequence[str],
        meanings: dict[str, str],
        notes: Sequence[str] = (),
        vocabulary: Sequence[str] = (),
        default: str | None = None,
    ) -> str:
        """Asks until the answer is understood.

        Args:
            question: What is asked for, before the prompt.
            choices: The possible answers. A line may hold the text, its beginning, its cards alone
                in any order or its number, in small letters or capitals.
            meanings: What the choices mean, or their first words, for the help.
            notes: What else the help says, by paragraphs.
            vocabulary: Answers that are possible at other times.
            default: The choice that Enter alone makes; None is none.

        Returns:
            One of the choices, `UNDO` or `HINT`.

        Raises:
            HasQuit: The person has left, with a command or by closing the input.
        """
        while True:
            self.say(_menu(question, choices, default, shutil.get_terminal_size().columns), end="")
            try:
                line = self._read().strip()
            except EOFError:
                self.say()
                raise HasQuit from None
            word = understand(line, choices) if line else default
            if word == QUIT:
                raise HasQuit
            if word == HELP:
                self._help(choices, meanings, notes)
            elif word is not None:
                return word
            else:
                self.say(_refusal(line, choices, vocabulary))

    def _help(self, choices: Sequence[str], meanings: dict[str, str], notes: Sequence[str]) -> None:
        for verb, alike in groupby(enumerate(choices, start=1), lambda one: one[1].split(" ")[0]):
            (first, word), *others = alike
            numbers = f"{first}-{others[-1][0]}" if others else f"{first}"
            meaning = meanings.get(word) or meanings.get(verb, "")
            self.say(f"  {numbers}  {verb if others else word:8} {meaning}".rstrip())
        for word, meaning in COMMANDS.items():
            self.say(f"  {'?' if word == HELP else word[0]}  {word:8} {meaning}")
        self.say(
            "The number, the text, its beginning or its cards alone will do. Enter alone makes the "
            "choice that the question names, if it names one."
        )
        for line in notes:
            self.say(line)


def _broken(line: str, width: int) -> str:
    """Returns a line, broken between words if it is longer than the terminal is wide."""
    if len(line) < width:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(
        line, width - 1, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _menu(question: str, choices: Sequence[str], default: str | None, width: int) -> str:
    """Returns a question with its choices: on its line, or in columns if there are too many."""
    words = [f"{number} {word}" for number, word in enumerate(choices, start=1)]
    enter = f" Enter: {default}" if default else ""
    line = f"{question} [{'  '.join(words)}]{enter} > "
    if len(line) < width:
        return line
    digits = len(str(len(words)))
    cells = [f"{number:{digits}} {word}" for number, word in enumerate(choices, start=1)]
    broad = max(map(len, cells))
    across = max(1, (width - 1) // (broad + 2))
    rows = [cells[start : start + across] for start in range(0, len(cells), across)]
    table = ["  " + "  ".join(cell.ljust(broad) for cell in row).rstrip() for row in rows]
    return "\n".join([*table, f"{question}{enter} > "])


def _refusal(line: str, choices: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Returns why a line is no choice, and what is one."""
    word = line.lower()
    alike = [one for one in choices if one.lower().startswith(word)]
    possible = f"Possible are {_listed(choices)}; ? is for help."
    if not line:
        return f"Enter alone decides nothing here. {possible}"
    if word.isdecimal():
        return f"There is no choice {line}. {possible}"
    if len(alike) > 1:
        return f"{line!r} could be {_listed(alike, 'or')}."
    known = word in (one.lower() for one in vocabulary)
    return f"{line!r} is {'not possible now' if known else 'not understood'}. {possible}"


def _listed(choices: Sequence[str], last: str = "and") -> str:
    """Returns choices in a sentence, or what they begin with if they are many."""
    if len(choices) <= LISTED:
        return listed(choices, last)
    verbs = Counter(choice.split(" ")[0] for choice in choices)
    words = [f"{verb} ({many} ways)" if many > 1 else verb for verb, many in verbs.items()]
    return listed(words, last)


def understand(line: str, choices: Sequence[str]) -> str | None:
    """Returns the choice or command that a line means, or None if it could mean several or none."""
    word = line.strip().lower()
    if word.isdecimal():
        return choices[int(word) - 1] if 1 <= int(word) <= len(choices) else None
    commands = [command for command in COMMANDS if command not in choices]
    typed = sorted(word.split())  # cards have no order
    # "play L5" is also meant by "l5", "discard" by itself only by the whole word.
    for means in (
        lambda one: sorted(one.lower().split()) == typed,
        lambda one: sorted(one.lower().split()[1:]) == typed,
        lambda one: one.lower().startswith(word),
    ):
        meant = [one for one in choices if word and means(one)]
        meant = meant or [one for one in commands if word and means(one)]
        if len(meant) == 1:
            return meant[0]
    taken = any(one.lower().startswith(word) for one in choices)
    return None if taken else LETTERS.get(word)


def _read_line() -> str:
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line
