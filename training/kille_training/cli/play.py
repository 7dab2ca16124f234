"""`kille play`: a person at the table."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from kille_agents.human import HINT, LISTED, UNDO, HasQuit, Human
from kille_env.core.text import columns, counted, listed, second_person, signed
from kille_env.errors import ConfigError, KilleError
from kille_env.policy import Player, name_of
from kille_env.records import Record, write_records
from kille_env.registry import spec
from kille_training.cli import console
from kille_training.cli.web_table import page_options, play_on_page, seats_named, wants_page
from kille_training.people.advice import Advice, advisers_at
from kille_training.people.lineup import players_named
from kille_training.people.names import YOU, check_name, names_at
from kille_training.people.sitting import Sitting

AGAIN, ENOUGH = "again", "enough"
AFTER_MATCH = {AGAIN: "another match", ENOUGH: "leave the table"}
QUIET = ("stand", "wait", "no", "decline", "bud", "pass", "check", "discard", AGAIN)
"""Choices that pay nothing and give nothing up: Enter alone makes one, or the only choice."""
LEAST_SHOWN = 0.005
"""Of many choices a hint shows those that a player makes at least so often."""


@click.command(
    epilog="Example: kille play byteskille --players 5 --opponents uniform --rules gok_call=off"
)
@console.game_options
@click.option(
    "--opponents",
    default="rule_of_thumb",
    show_default=True,
    help="Names, run folders or policy files: one for all, or one for each with commas between.",
)
@click.option("--name", default="human", show_default=True, help="Your name, for the records.")
@click.option("--hint", is_flag=True, help="Show a hint at every decision; type h for one.")
@click.option(
    "--advisers",
    help="Players who give hints, with commas between them; if not given, the solution where there "
    "is one, and the rule of thumb.",
)
@click.option(
    "--seat", default="0", show_default=True, help="Your seat; with --web also several, as in 0,2."
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the cards and of the opponents.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the matches to this file.")
@page_options
@console.json_option
def play(
    game: str,
    players: int | None,
    opponents: str,
    name: str,
    hint: bool,
    advisers: str | None,
    seat: str,
    seed: int | None,
    rules: dict[str, Any],
    out: Path | None,
    trust: bool,
    as_json: bool,
    **page: Any,
) -> None:
    """Plays GAME with you at the table.

    You see what your seat may know and nothing else. Type h for a hint, u to take back a decision,
    ? for help and q to leave.
    """
    resolved = spec(game).resolve(rules)
    seats = spec(game).check_players(players)
    if out is not None and not out.parent.is_dir():
        raise ConfigError(f"the folder {out.parent} does not exist; make it, or name another --out")
    if wants_page(page):
        taken = seats_named(seat, seats, seats)
        records = play_on_page(
            page, name, game=game, num_players=seats, yours=taken, opponents=opponents,
            rules=resolved, seed=seed, hints=hint, advisers=advisers, trust=trust, quiet=as_json,
        )  # fmt: skip
        _report({"game": game, "seats": taken}, records, out, as_json)
        return
    (yours,) = seats_named(seat, seats, 1)
    by_seat: list[Player | None] = [
        *players_named(opponents, seats - 1, game, seats, resolved, trust=trust)
    ]
    by_seat.insert(yours, None)
    helpers: Mapping[str, Player] = advisers_at(game, seats, resolved)
    if advisers is not None:
        places = len(advisers.split(","))
        asked = players_named(advisers, places, game, seats, resolved, trust=trust)
        helpers = {name_of(player): player for player in asked}
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    names = names_at(seats, {yours: check_name(name)})
    sitting = Sitting(game, resolved, by_seat, names=names, seed=seed, advisers=helpers)
    # With --json the conversation moves to standard error.
    terminal = _Terminal(sitting, yours, Human(out=sys.stderr if as_json else None), hint)
    ended = terminal.run(seed)
    result = {"game": game, "names": names, "seed": seed, "seat": yours}
    _report(result, sitting.records(unfinished=True), out, as_json)
    if ended is not None:
        raise ended


def _report(
    result: dict[str, Any], records: Sequence[Record], out: Path | None, as_json: bool
) -> None:
    """Writes the matches where they are wanted, and prints what they brought."""
    if out is not None:
        write_records(records, out)
    matches = [{"returns": r["returns"], "truncated": r["truncated"]} for r in records]
    last = [f"The matches are in {out}."] if out else []
    console.report({**result, "matches": matches}, last, as_json)


class _Terminal:
    """A person at the terminal, who sees and decides what one seat of a sitting does."""

    def __init__(self, sitting: Sitting, seat: int, human: Human, hint: bool) -> None:
        self.sitting, self.seat, self.human, self.hint = sitting, seat, human, hint
        self.shown = [YOU if s == seat else name for s, name in enumerate(sitting.names)]
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
                word = self._ask("Another match?", (AGAIN, ENOUGH))
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
        matches = counted(len(done), "match", "matches")
        text = f"You played {matches} to the end; balance {signed(total)}. " if done else ""
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
        self.human.say(f"\nEnd of the match: {result}.")

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
