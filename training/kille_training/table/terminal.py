"""A person at a table in the terminal."""

import re
import sys
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any, TextIO

from kille_env.errors import KilleError
from kille_env.play.policy import name_of
from kille_env.streams import fitted
from kille_env.words.table import text_of
from kille_env.words.text import counted, listed, signed
from kille_training.labels import episode_noun, plural_of
from kille_training.names import company
from kille_training.table.advice import Choice, choices
from kille_training.table.rules import rules_for
from kille_training.table.sitting import Sitting

HELP = ("Tricks", "Leading", "Showing", "Guessing", "Points of a deal", "What is at stake", "Money")
"""Sections of the rules printed by `?`."""
COSTING = 2.0  # maximum seconds to wait for the cost of the last choice at the end of a deal
AGAIN, ENOUGH = (
    Choice(action=action, label=label, text=label.lower(), cards=[])
    for action, label in enumerate(("Again", "Enough"))
)


class _Quit(Exception):
    """Raised when the person leaves the table."""


class Terminal:
    """A person's seat at a table, in lines read and written."""

    def __init__(
        self, sitting: Sitting, read: Callable[[], str] = sys.stdin.readline,
        out: TextIO | None = None, before_asking: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """Connect a new match; `read` returns "" after the last line."""
        self._before_asking = before_asking
        self._sitting, self._read, self._out = sitting, read, out
        self._noun = episode_noun(sitting.batch.rules["episode"])
        self._costing: tuple[Thread, list[str]] | None = None
        sitting.watch = self._tell

    def run(self) -> BaseException | None:
        """Play until the person leaves; return an error that ended the match, if any."""
        try:
            self._play()
        except _Quit:
            pass
        except (KeyboardInterrupt, KilleError) as error:
            self._say()
            return error
        finally:
            done = self._sitting.records()
            total = signed(sum(record["returns"][self._sitting.person] for record in done))
            played = counted(len(done), self._noun, plural_of(self._noun))
            self._say(f"{f'You played {played}: {total} in all. ' if done else ''}Goodbye.")
        return None

    def _play(self) -> None:
        sitting, rules = self._sitting, self._rules()
        seated = zip(sitting.names, sitting.by_seat, strict=True)
        names, players = zip(*((n, name_of(p)) for n, p in seated if p is not None), strict=True)
        self._say(f"{rules['sentences']}\n{rules['order']}\nWith you: {company(names, players)}.")
        if self._noun == "deal":
            self._say("You play single deals; use --rules episode=match for whole matches.")
        self._say("Type the beginning of a choice, or cards. ? shows the rules, h a hint, q quits.")
        sitting.begin()
        while True:
            if sitting.over:
                text, won = sitting.outcome()
                result = ", ".join(f"{name} {amount}" for name, amount in won)
                self._say(f"\nEnd of the {self._noun}: {text} {result}.")
                if self._ask(f"Another {self._noun}?", [AGAIN, ENOUGH]) is ENOUGH:
                    return
                sitting.begin()
            elif sitting.waits:
                self._decide()
            else:
                sitting.play()

    def _decide(self) -> None:
        sitting, batch = self._sitting, self._sitting.batch
        view = batch.game.view(batch.tables[0], batch.rules, sitting.person, sitting.names)
        self._say(f"\n{text_of(view, sitting.names, batch.spec.pack.word, brief=True)}")
        found = choices(batch, sitting.names)
        if len(found) == 1:
            self._say(f"{view.question} {found[0]['label']}: nothing else is possible.")
            return sitting.act(found[0]["action"])
        chosen = self._ask(view.question, found)["action"]
        question, costs = sitting.question(), list[str]()
        # The first cost compiles for a minute, so compute it in a thread.
        thread = Thread(target=lambda: costs.append(question.cost(chosen)), daemon=True)
        thread.start()
        self._costing = thread, costs
        return sitting.act(chosen)

    def _ask(self, question: str, found: Sequence[Choice]) -> Choice:
        labels = [f"[{choice['label']}]" for choice in found if not choice["cards"]]
        named = ["[cards]"] if any(choice["cards"] for choice in found) else []
        while True:
            self._before_asking()
            self._say(" ".join([question, *named, *labels]) + "\n> ", end="")
            line = self._read()
            word = line.strip().lower()
            if not line or word == "q":
                raise _Quit
            if word == "?":
                self._help()
            elif word == "h":
                hint = "" if self._sitting.over else self._sitting.question().advise()
                self._say(hint or "There is no hint for this.")
            elif not word:
                self._say("Enter alone decides nothing.")
            elif len(meant := _meant(word, found)) == 1:
                return meant[0]
            elif meant:
                self._say(f"Which one: {listed([one['label'] for one in meant], 'or')}?")
            else:
                self._say(f"“{word}” is not one of the choices.")

    def _tell(self, before: Any, after: Any) -> None:
        """Print a change of the table; the end of a deal with the cost of the last choice."""
        sitting, game, rules = self._sitting, self._sitting.batch.game, self._sitting.batch.rules
        lines = game.narrate(before, after, rules, sitting.names, sitting.person)
        if after["deals"] != before["deals"]:
            lines = ["", *lines]
        verdict = game.change(before, after, rules, sitting.person, sitting.names).verdict
        if verdict and self._costing is not None:
            thread, costs = self._costing
            thread.join(COSTING)
            lines, self._costing = [*lines, *filter(None, costs)], None
        if lines:
            self._say("\n".join(lines))

    def _rules(self) -> dict[str, Any]:
        batch = self._sitting.batch
        return rules_for(batch.game, batch.rules, batch.num_players)

    def _help(self) -> None:
        rules = self._rules()
        lines = [rules["sentences"], rules["order"], *rules["buttons"].values()]
        for title, section in rules["sections"]:
            lines += [f"{title}:", *(f"  {line}" for line in section)] if title in HELP else []
        self._say("\n".join(lines))
        self._say(f"All rules: kille games {self._sitting.batch.spec.name} --manual")

    def _say(self, text: str = "", end: str = "\n") -> None:
        out = self._out or sys.stdout
        print(fitted(text, out), end=end, file=out, flush=True)


def _meant(line: str, found: Sequence[Choice]) -> list[Choice]:
    """Return the shortest choices that match every typed word."""
    words = _words(line)
    fits = [(len(_words(each["label"])), each) for each in found if _holds(each["label"], words)]
    return [each for length, each in fits if length == min(fits, key=lambda one: one[0])[0]]


def _holds(label: str, words: Sequence[str]) -> bool:
    """Return whether each typed word equals or begins a different word of a label."""
    # A number or a single letter only counts as the beginning of the whole label.
    left = _words(label)
    first = left[0]
    for word in words:
        short = len(word) == 1 or word.isdigit()
        fits = [one for one in left if one == word or (one.startswith(word) and not short)]
        fits += [first] if first in left and first.startswith(word) else []
        if not fits:
            return False
        left.remove(word if word in fits else fits[0])
    return True


def _words(text: str) -> list[str]:
    """Split a text into lower-case words, numbers and suits: "6♦" and "6d" are "6", "d"."""
    plain = text.lower().translate(str.maketrans("♣♦♥♠", "cdhs"))
    return re.findall(r"\w+", re.sub(r"\b(\d+|[jqka])([cdhs])\b", r"\1 \2", plain))
