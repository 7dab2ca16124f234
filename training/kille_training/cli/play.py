"""`kille play`: a person at the table."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from kille_agents.human import UNDO, HasQuit, Human
from kille_env.core.text import counted, listed, second_person, signed
from kille_env.errors import RulesError
from kille_env.policy import Player, name_of
from kille_env.records import write_records
from kille_env.registry import spec
from kille_training.cli import console
from kille_training.people.lineup import players_named
from kille_training.people.names import YOU, check_name, names_at
from kille_training.people.sitting import Sitting

AGAIN, ENOUGH = "again", "enough"
AFTER_MATCH = {AGAIN: "another match", ENOUGH: "leave the table"}


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
@click.option("--seat", type=int, default=0, show_default=True, help="Your seat.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the cards and of the opponents.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the matches to this file.")
@console.json_option
def play(
    game: str,
    players: int | None,
    opponents: str,
    name: str,
    seat: int,
    seed: int | None,
    rules: dict[str, Any],
    out: Path | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Plays GAME with you at the table.

    You see what your seat may know and nothing else. Type u to take back a decision, ? for help and
    q to leave.
    """
    resolved = spec(game).resolve(rules)
    seats = spec(game).check_players(players)
    if not 0 <= seat < seats:
        raise RulesError(f"your seat is {seat}, expected one from 0 to {seats - 1}")
    by_seat: list[Player | None] = [
        *players_named(opponents, seats - 1, game, seats, resolved, trust=trust)
    ]
    by_seat.insert(seat, None)
    # With --json the conversation moves to standard error.
    human = Human(out=sys.stderr if as_json else None)
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    names = names_at(seats, {seat: check_name(name)})
    sitting = Sitting(game, resolved, by_seat, names=names, seed=seed)
    terminal = _Terminal(sitting, seat, human)
    interrupted = False
    try:
        terminal.run(seed)
    except HasQuit:
        pass
    except KeyboardInterrupt:
        interrupted = True
        human.say()
    terminal.say_goodbye()
    records = sitting.records(unfinished=True)
    if out is not None:
        write_records(records, out)
    matches = [{"returns": r["returns"], "truncated": r["truncated"]} for r in records]
    result = {"game": game, "names": names, "seed": seed, "seat": seat, "matches": matches}
    console.report(result, [f"The matches are in {out}."] if out else [], as_json)
    if interrupted:
        raise KeyboardInterrupt


class _Terminal:
    """A person at the terminal, who sees and decides what one seat of a sitting does."""

    def __init__(self, sitting: Sitting, seat: int, human: Human) -> None:
        self.sitting, self.seat, self.human = sitting, seat, human
        self.shown = [YOU if s == seat else name for s, name in enumerate(sitting.names)]
        sitting.watch = self._tell

    def run(self, seed: int) -> None:
        """Plays until the person has had enough, or raises `HasQuit` where they leave the table."""
        sitting, batch = self.sitting, self.sitting.batch
        spec, rules = batch.spec, batch.rules
        self.human.say(
            f"{spec.title}: {batch.num_players} players, preset {rules['preset']}, "
            f"episode {rules['episode']}, seed {seed}.\n{self._company()}\n"
            "? is for help, u takes your last decision back, q leaves the table."
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
                sitting.play()

    def say_goodbye(self) -> None:
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
        balance = signed(float(table["reward"][self.seat]))
        word = self._ask(f"Your balance {balance}.", batch.legal_texts(0))
        if word != UNDO:
            self.human.say()
            self.sitting.act(self.seat, batch.find_action(word))

    def _ask(self, question: str, choices: Sequence[str]) -> str:
        """Returns one of the choices, or UNDO after the last decision has been taken back."""
        spec = self.sitting.batch.spec
        meanings = {**spec.meanings, **AFTER_MATCH}
        word = self.human.choose(question, choices, meanings, spec.notes, spec.actions)
        if word == UNDO and not self.sitting.can_undo(self.seat):
            self.human.say("There is nothing to take back.")
        elif word == UNDO:
            self.sitting.undo(self.seat)
            self.human.say("Taken back.")
        return word

    def _tell(self, before: Any, after: Any) -> None:
        if after["deals"] != before["deals"]:
            self.human.say()
        batch = self.sitting.batch
        told = batch.game.narrate(before, after, batch.rules, self.shown, self.seat)
        for line in told:
            self.human.say(second_person(line, YOU))
