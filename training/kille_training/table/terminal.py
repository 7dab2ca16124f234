"""A person at a table in the terminal."""

import sys
import textwrap
from collections.abc import Callable, Sequence
from shutil import get_terminal_size
from typing import Any, TextIO

from kille_env.errors import KilleError
from kille_env.play.policy import name_of
from kille_env.words.table import text_of
from kille_env.words.text import YOU, counted, listed, signed
from kille_env.words.view import Laid
from kille_training.labels import episode_noun, plural_of
from kille_training.names import company
from kille_training.table.advice import Choice, choices
from kille_training.table.rules import rules_for
from kille_training.table.sitting import Sitting

COMMANDS = {"?": "the rules", "h": "a hint", "q": "quit"}

HELP = ("Tricks", "Leading", "Showing", "Guessing", "Points of a deal", "What is at stake", "Money")
"""The sections of the rules that help shows."""


class _Quit(Exception):
    """The person has left the table."""


class Terminal:
    """A person at the terminal, who sees and decides what one seat of a sitting does."""

    def __init__(
        self,
        sitting: Sitting,
        read: Callable[[], str] = sys.stdin.readline,
        out: TextIO | None = None,
    ) -> None:
        """Connects to the terminal.

        Args:
            sitting: The match; it has not begun.
            read: Returns a line, "" after the last one.
            out: Where everything is written; None is standard output.
        """
        self._sitting, self._read, self._out = sitting, read, out
        self._unit = episode_noun(sitting.batch.rules["episode"])
        self._costs: list[str] = []
        sitting.watch = self._tell

    def run(self) -> BaseException | None:
        """Plays until the person has had enough or left; returns what else has ended it."""
        try:
            self._play()
        except _Quit:
            pass
        except (KeyboardInterrupt, KilleError) as error:
            self._say()
            return error
        finally:
            self._say_goodbye()
        return None

    def _play(self) -> None:
        sitting = self._sitting
        told = self._rules()
        self._say(f"{sitting.batch.spec.title}. {told['sentences']}\n{told['order']}")
        others = [name for name in sitting.names if name != YOU]
        players = [name_of(one) for one in sitting.by_seat if one is not None]
        self._say(f"With you: {company(others, players)}.")
        if self._unit == "deal":
            self._say("You play single deals; --rules episode=match plays whole matches.")
        self._say(f"Keys: {', '.join(f'{key} {what}' for key, what in COMMANDS.items())}.")
        sitting.begin()
        while True:
            if sitting.over:
                self._say_result()
                again = Choice(action=0, label="Again", text="again", cards=[])
                enough = Choice(action=1, label="Enough", text="enough", cards=[])
                chosen = self._ask(f"Another {self._unit}?", [again, enough])
                if chosen is enough:
                    return
                if chosen is again:
                    sitting.begin()
            elif sitting.waits:
                self._decide()
            else:
                sitting.play()

    def _rules(self) -> dict[str, Any]:
        batch = self._sitting.batch
        return rules_for(batch.game, batch.rules, batch.num_players)

    def _say(self, text: str = "", end: str = "\n") -> None:
        out = self._out or sys.stdout
        if out.isatty():  # a terminal would break words
            text = "\n".join(map(_wrapped, text.split("\n")))
        print(text, end=end, file=out, flush=True)

    def _say_goodbye(self) -> None:
        """Tells the person what they have won or lost."""
        done = self._sitting.records()
        total = sum(record["returns"][self._sitting.person] for record in done)
        played = counted(len(done), self._unit, plural_of(self._unit))
        text = f"You played {played} to the end: {signed(total)} in all. " if done else ""
        self._say(f"{text}Goodbye.")

    def _say_result(self) -> None:
        text, won = self._sitting.outcome()
        result = ", ".join(f"{name} {amount}" for name, amount in won)
        self._say(f"\nEnd of the {self._unit}: {text} {result}.")

    # What happens.

    def _tell(self, before: Any, after: Any) -> None:
        sitting, game, rules = self._sitting, self._sitting.batch.game, self._sitting.batch.rules
        names, seat = sitting.names, sitting.person
        if after["deals"] != before["deals"]:
            self._say()
        lines = game.narrate(before, after, rules, names, seat)
        if verdict := game.change(before, after, rules, seat, names).verdict:
            strip = game.view(after, rules, seat, names).strip
            lines = self._end(lines, verdict, strip)
        if lines:
            self._say("\n".join(lines))

    def _end(self, lines: Sequence[str], verdict: str, strip: Sequence[Laid]) -> list[str]:
        """Return the lines of a deal's end: its last cards beside each other, costs and verdict."""
        word, names = self._sitting.batch.spec.pack.word, self._sitting.names
        cards = [
            f"{'?' if laid.face is None else word(laid.face)} {names[laid.seat]}"
            f"{f' ({laid.word})' if laid.word else ''}"
            for laid in strip
        ]
        up = [f"Cards up: {', '.join(cards)}"] if cards else []
        kept = [line for line in lines if not (cards and line.startswith(" "))]
        at = kept.index(verdict)
        costs, self._costs = self._costs, []
        return [*kept[:at], *up, verdict, *costs, *kept[at + 1 :]]

    def _show(self) -> None:
        """Print the table as the person sees it."""
        sitting, batch = self._sitting, self._sitting.batch
        view = batch.game.view(batch.tables[0], batch.rules, sitting.person, sitting.names)
        self._say(f"\n{text_of(view, sitting.names, batch.spec.pack.word, brief=True)}")

    # What the person does.

    def _decide(self) -> None:
        sitting, batch = self._sitting, self._sitting.batch
        self._show()
        found = choices(batch, sitting.names)
        view = batch.game.view(batch.tables[0], batch.rules, sitting.person, sitting.names)
        question = view.question
        if len(found) == 1:
            self._say(f"{question} {found[0]['label']}: nothing else is possible.")
            sitting.act(found[0]["action"])
            return
        chosen = self._ask(question, found)
        if chosen is not None:
            cost = sitting.question().cost(chosen["action"])
            self._costs[:] = [cost] if cost else self._costs
            sitting.act(chosen["action"])

    def _ask(self, question: str, found: Sequence[Choice]) -> Choice | None:
        """Returns a choice; None after the last decision has been taken back."""
        keys = _keys(found)
        words = [_with_key(key, choice["label"]) for key, choice in keys.items()]
        cards = any(choice["cards"] for choice in found)
        prompt = " ".join([question, *(["(name cards)"] if cards else []), *words, "? h q"])
        while True:
            self._say(f"{prompt}\n> ", end="")
            line = self._read()
            word = line.strip().lower()
            if not line or word == "q":
                raise _Quit
            if word == "?":
                self._help(found)
            elif word == "h":
                hint = "" if self._sitting.over else self._sitting.question().advise()
                self._say(hint or "There is no hint for this.")
            elif word in keys:
                return keys[word]
            elif (chosen := self._named(word, found)) is not None:
                return chosen
            else:
                self._say(self._refusal(word, found))

    def _named(self, line: str, found: Sequence[Choice]) -> Choice | None:
        """Returns the only choice that names the cards of a line, or has its label or text."""
        whole = [c for c in found if line in (c["label"].lower(), c["text"].lower())]
        if len(whole) == 1:
            return whole[0]
        down = " *" if line.endswith("down") else ""
        cards = [self._codes(word, found) for word in line.removesuffix("down").split()]
        if not cards or any(len(meant) != 1 for meant in cards):
            return None
        codes = sorted(code for (code,) in cards)
        means = [
            choice for choice in found
            if choice["cards"] and (" *" in choice["text"]) == bool(down)
            and sorted(_codes(choice)) == codes
        ]  # fmt: skip
        return means[0] if len(means) == 1 else None

    def _codes(self, word: str, found: Sequence[Choice]) -> list[str]:
        """Returns codes of the cards that a word can mean.

        It is a card's code or word, or the beginning of the word or name of one to choose from; a
        single letter is too easily a slip.
        """
        pack, chosen = self._sitting.batch.spec.pack, {c for each in found for c in _codes(each)}
        named = zip(pack.codes, pack.words or pack.names, pack.names, strict=True)
        lines = [(code, code.lower(), *map(str.lower, names)) for code, *names in named]
        exact = [code for code, *names in lines if word in names]
        if exact or (len(word) == 1 and not word.isdigit()):
            return exact
        return [
            code for code, *names in lines
            if code in chosen and any(name.startswith(word) for name in names)
        ]  # fmt: skip

    def _refusal(self, word: str, found: Sequence[Choice]) -> str:
        if not word:
            return "Enter alone decides nothing."
        if any(choice["cards"] for choice in found):
            pack = self._sitting.batch.spec.pack
            for part in word.split():
                codes = self._codes(part, found)
                if len(codes) > 1:
                    return f"Which one: {listed([code.lower() for code in codes], 'or')}?"
                if codes and codes[0] not in {c for each in found for c in _codes(each)}:
                    name = pack.word(pack.codes.index(codes[0]) * pack.copies)
                    return f"You cannot choose the {name} now."
        return f"“{word}” is not one of the choices."

    def _help(self, found: Sequence[Choice]) -> None:
        rules, batch = self._rules(), self._sitting.batch
        pack = batch.spec.pack
        words = dict(zip(pack.codes, pack.words or pack.names, strict=True))
        self._say(f"{rules['sentences']}\n{rules['order']}")
        for title, lines in rules["sections"]:
            if title in HELP:
                self._say("\n".join([f"{title}:", *(f"  {line}" for line in lines)]))
        powers: dict[str, list[str]] = {}
        for code, power in rules["powers"].items():
            powers.setdefault(power, []).append(words[code])
        for power, cards in powers.items():
            self._say(f"  {listed(cards).capitalize()}: {power}")
        verbs = dict.fromkeys(choice["text"].split(" ")[0] for choice in found)
        for verb in verbs:
            if verb in rules["buttons"]:
                self._say(f"  {rules['buttons'][verb]}")
        if any(choice["cards"] for choice in found):
            code = next(code for choice in found for code in _codes(choice) if choice["cards"])
            word = words[code]
            self._say(f"  Name cards, as in: {word if word.isascii() else code.lower()}")
        for key, what in COMMANDS.items():
            self._say(f"  {key}: {what}")
        self._say(f"All rules: kille games {batch.spec.name} --manual")


def _wrapped(line: str) -> str:
    """Returns a line as the terminal's width takes it, unbroken words and its indent kept."""
    width, indent = get_terminal_size().columns, " " * (len(line) - len(line.lstrip()))
    if len(line) <= width:
        return line
    return textwrap.fill(line.strip(), width, initial_indent=indent, subsequent_indent=indent)


def _keys(found: Sequence[Choice]) -> dict[str, Choice]:
    """Returns the letters that stand for choices without cards: the first free one of each."""
    keys: dict[str, Choice] = {}
    for choice in found:
        if choice["cards"]:
            continue
        letters = [letter for letter in choice["label"].lower() if letter.isalpha()]
        free = [letter for letter in letters if letter not in keys and letter not in COMMANDS]
        keys[free[0]] = choice
    return keys


def _with_key(key: str, label: str) -> str:
    """Returns a label with its key marked: "[k]eep my 8"."""
    at = label.lower().index(key)
    return f"{label[:at].lower()}[{key}]{label[at + 1 :]}"


def _codes(choice: Choice) -> list[str]:
    return [word.removeprefix("*") for word in choice["text"].split(" ")[1:]]
