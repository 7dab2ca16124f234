"""A person at a table in the terminal."""

from collections.abc import Sequence
from typing import Any

from kille_agents.human import HINT, LISTED, UNDO, HasQuit, Human
from kille_env.errors import KilleError
from kille_env.policy import name_of
from kille_env.words.text import columns, counted, listed, second_person, signed
from kille_training.cli import console
from kille_training.labels import plural_of, unit_of
from kille_training.people.advice import Advice
from kille_training.people.names import YOU
from kille_training.people.sitting import Sitting

AGAIN, ENOUGH = "again", "enough"
AFTER_MATCH = {AGAIN: "another one", ENOUGH: "leave the table"}
QUIET = ("stand", "wait", "no", "decline", "bud", "pass", "check", "discard", AGAIN)
"""Choices that pay nothing and give nothing up: Enter alone makes one, or the only choice."""
LEAST_SHOWN = 0.005
"""Of many choices a hint shows those that a player makes at least so often."""


class Terminal:
    """A person at the terminal, who sees and decides what one seat of a sitting does."""

    def __init__(self, sitting: Sitting, seat: int, human: Human, hint: bool) -> None:
        self.sitting, self.seat, self.human, self.hint = sitting, seat, human, hint
        self.shown = [YOU if s == seat else name for s, name in enumerate(sitting.names)]
        self.unit = unit_of(sitting.batch.rules["episode"])
        sitting.watch = self._tell

    def run(self, seed: int) -> BaseException | None:
        """Plays until the person has had enough or left; returns what else has ended it."""
        try:
            self._play(seed)
        except HasQuit:
            pass
        except (KeyboardInterrupt, KilleError) as error:
            self.human.say()
            return error
        finally:
            self._say_goodbye()
        return None

    def _play(self, seed: int) -> None:
        sitting, batch = self.sitting, self.sitting.batch
        spec, rules = batch.spec, batch.rules
        self.human.say(
            f"{spec.title}: {batch.num_players} players, preset {rules['preset']}, "
            f"episode {rules['episode']}, seed {seed}.\n{self._company()}\n"
            "? is for help, h for a hint, u takes your last decision back, q leaves the table."
        )
        sitting.begin()
        while True:
            if sitting.over:
                self._say_result()
                word = self._ask(f"Another {self.unit}?", (AGAIN, ENOUGH))
                if word == ENOUGH:
                    return
                if word == AGAIN:
                    sitting.begin()
            elif sitting.waits:
                self._decide()
            else:
                self._wait()

    def _say_goodbye(self) -> None:
        """Tells the person what they have won or lost."""
        done = self.sitting.records()
        total = sum(record["returns"][self.seat] for record in done)
        played = counted(len(done), self.unit, plural_of(self.unit))
        text = f"You played {played} to the end; balance {signed(total)}. " if done else ""
        self.human.say(f"{text}Goodbye!")

    def _company(self) -> str:
        """Returns who the others are: "With you: Bertil (rule_of_thumb), David (search)."."""
        theirs: dict[str, list[str]] = {}
        for name, player in zip(self.sitting.names, self.sitting.by_seat, strict=True):
            if player is not None:
                theirs.setdefault(name_of(player), []).append(name)
        groups = [f"{listed(names)} ({player})" for player, names in theirs.items()]
        return f"With you: {', '.join(groups)}."

    def _say_result(self) -> None:
        money = zip(self.shown, self.sitting.records()[-1]["returns"], strict=True)
        result = ", ".join(f"{name} {signed(units)}" for name, units in money)
        self.human.say(f"\nEnd of the {self.unit}: {result}.")

    def _decide(self) -> None:
        batch = self.sitting.batch
        table = batch.tables[0]
        text = batch.game.describe(table, batch.rules, self.seat, self.shown, history=False)
        self.human.say()
        for line in text.splitlines():
            self.human.say(second_person(line, YOU))
        if self.hint:
            self._advise()
        balance = signed(float(table["reward"][self.seat]))
        texts = batch.legal_texts(0)
        word = self._ask(f"Your balance {balance}.", texts)
        if word in texts:
            self.human.say()
            self.sitting.act(self.seat, batch.find_action(word))

    def _ask(self, question: str, choices: Sequence[str]) -> str:
        """Returns one of the choices, or UNDO after the last decision has been taken back."""
        spec = self.sitting.batch.spec
        meanings = {**spec.meanings, **AFTER_MATCH}
        quiet = [*choices] if len(choices) == 1 else [word for word in choices if word in QUIET]
        default = quiet[0] if quiet else None
        asked = question, choices, meanings, spec.notes, spec.actions, default
        while (word := self.human.choose(*asked)) == HINT:
            self._advise()
        if word == UNDO and not self.sitting.can_undo(self.seat):
            self.human.say("There is nothing to take back.")
        elif word == UNDO:
            self.sitting.undo(self.seat)
            self.human.say("Taken back.")
        return word

    def _advise(self) -> None:
        """Says what players would do now, and what each choice is worth."""
        if not self.sitting.waits:
            self.human.say("There is nothing to decide at the table.")
            return
        question = self.sitting.question(self.seat)
        with console.waiting("Looking for a hint", self.human.out):
            advice = question.advise()
        for line in _advice_lines(advice):
            self.human.say(line)

    def _wait(self) -> None:
        """Lets the player to act decide; who that is, is said only if everybody may know."""
        batch = self.sitting.batch
        turn = batch.game.view(batch.tables[0], batch.rules, self.seat).turn
        who = self.shown[turn] if turn not in (-1, self.seat) else "Somebody"
        with console.waiting(f"{who} is thinking", self.human.out):
            thought = self.sitting.think()
        self.sitting.play(thought)

    def _tell(self, before: Any, after: Any) -> None:
        if after["deals"] != before["deals"]:
            self.human.say()
        batch = self.sitting.batch
        told = batch.game.narrate(before, after, batch.rules, self.shown, self.seat)
        for line in told:
            self.human.say(second_person(line, YOU))


def _advice_lines(advice: list[Advice]) -> list[str]:
    """Returns a table of choices with each adviser's probabilities, and units where known."""
    advisers = list(advice[0]["probabilities"])
    worth = [choice["worth"] for choice in advice]
    if not advisers and worth[0] is None:
        return ["Nobody gives hints at this table; name players with --advisers."]
    known = worth[0] is not None
    rows = [["", *advisers, *(["units on average"] if known else [])]]
    for number, choice in enumerate(advice, start=1):
        shares = choice["probabilities"].values()
        if len(advice) > LISTED and max(shares, default=1.0) < LEAST_SHOWN:
            continue
        units = [f"{choice['worth']:+.3f}"] if known else []
        rows.append([f"{number} {choice['text']}", *(f"{share:.0%}" for share in shares), *units])
    return columns(rows)
