"""`kille play`: a person at the table."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from kille_agents.human import UNDO, HasQuit, Human
from kille_env.core.spec import Rules
from kille_env.core.table import OVER
from kille_env.core.text import counted, labels, second_person, signed
from kille_env.errors import RulesError
from kille_env.playing import Players
from kille_env.policy import Player, name_of
from kille_env.records import Record, Recorder, write_records
from kille_env.registry import make_batch, spec
from kille_training.cli import console
from kille_training.cli.lineup import players_named, seating_of

YOU = "You"
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
@click.option("--seat", type=int, default=0, show_default=True, help="Your seat.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the cards and of the opponents.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the matches to this file.")
@console.json_option
def play(
    game: str,
    players: int | None,
    opponents: str,
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
    session = _Session(game, resolved, by_seat, human, seed)
    interrupted = False
    try:
        session.run()
    except HasQuit:
        pass
    except KeyboardInterrupt:
        interrupted = True
        human.say()
    session.say_goodbye()
    if out is not None:
        write_records(session.records(), out)
    matches = [{"returns": r["returns"], "truncated": r["truncated"]} for r in session.records()]
    result = {"game": game, "names": session.names, "seed": seed, "seat": seat, "matches": matches}
    console.report(result, [f"The matches are in {out}."] if out else [], as_json)
    if interrupted:
        raise KeyboardInterrupt


class _Session:
    """Matches of a person against players, at one table."""

    def __init__(
        self,
        game: str,
        rules: Rules,
        by_seat: list[Player | None],
        human: Human,
        seed: int,
    ) -> None:
        """Sits down: None in `by_seat` is the person, and the next match has the next seed."""
        num_players = len(by_seat)
        self.seat, self.rules, self.human, self.seed = by_seat.index(None), rules, human, seed
        self.batch = make_batch(game, 1, num_players, rules=rules, seed=0, restart=False)
        self.names = labels([name_of(player or human) for player in by_seat], num_players)
        self.shown = [YOU if s == self.seat else name for s, name in enumerate(self.names)]
        self.recorder = Recorder(self.batch, self.names, watch=self._tell)
        self.players = Players(self.batch, *seating_of(by_seat), self._play)
        self.done: list[Record] = []
        self.moments: list[tuple[Any, Any, int]] = []

    def run(self) -> None:
        """Plays until the person has had enough, or raises `HasQuit` where they leave the table."""
        spec, rules = self.batch.spec, self.rules
        self.human.say(
            f"{spec.title}: {self.batch.num_players} players, preset {rules['preset']}, "
            f"episode {rules['episode']}, seed {self.seed}.\n"
            "? is for help, u takes your last decision back, q leaves the table."
        )
        self._begin()
        while True:
            if self.batch.tables["phase"][0] == OVER:
                word = self._ask("Another match?", (AGAIN, ENOUGH))
                if word == ENOUGH:
                    return
                if word == AGAIN:
                    self._begin()
            elif self.batch.seat[0] == self.seat:
                self._decide()
            else:
                self.players.play()

    def records(self) -> list[Record]:
        """Returns the matches that were played, and the one that was left in the middle."""
        left = self.batch.tables["deals"][0] > 0 and self.batch.tables["phase"][0] != OVER
        return [*self.done, self.recorder.record()] if left else self.done

    def say_goodbye(self) -> None:
        """Tells the person what they have won or lost."""
        total = sum(record["returns"][self.seat] for record in self.done)
        matches = counted(len(self.done), "match", "matches")
        text = f"You played {matches} to the end; balance {signed(total)}. " if self.done else ""
        self.human.say(f"{text}Goodbye!")

    def _begin(self) -> None:
        self.moments.clear()
        self.recorder.reset(seed=self.seed + len(self.done))

    def _play(self, actions: np.ndarray) -> None:
        """Plays an action, whoever's it is."""
        self.recorder.step(actions)
        if self.batch.tables["phase"][0] == OVER:
            self.done.append(self.recorder.record())
            money = zip(self.shown, self.done[-1]["returns"], strict=True)
            result = ", ".join(f"{name} {signed(units)}" for name, units in money)
            self.human.say(f"\nEnd of the match: {result}.")

    def _decide(self) -> None:
        game, table = self.batch.game, self.batch.tables[0]
        text = game.describe(table, self.rules, self.seat, self.shown, history=False)
        self.human.say()
        for line in text.splitlines():
            self.human.say(second_person(line, YOU))
        balance = signed(float(self.batch.tables["reward"][0, self.seat]))
        word = self._ask(f"Your balance {balance}.", self.batch.legal_texts(0))
        if word != UNDO:
            self.moments.append((self.recorder.mark(), self.players.mark(), len(self.done)))
            self.human.say()
            self.players.step(np.array([self.batch.find_action(word)]))

    def _ask(self, question: str, choices: Sequence[str]) -> str:
        """Returns one of the choices, or UNDO after the last decision has been taken back."""
        spec = self.batch.spec
        meanings = {**spec.meanings, **AFTER_MATCH}
        word = self.human.choose(question, choices, meanings, spec.notes, spec.actions)
        if word == UNDO and not self.moments:
            self.human.say("There is nothing to take back.")
        elif word == UNDO:
            recorded, decided, number = self.moments.pop()
            self.recorder.return_to(recorded)
            self.players.return_to(decided)
            del self.done[number:]
            self.human.say("Taken back.")
        return word

    def _tell(self, before: Any, after: Any) -> None:
        if after["deals"] != before["deals"]:
            self.human.say()
        told = self.batch.game.narrate(before, after, self.rules, self.shown, self.seat)
        for line in told:
            self.human.say(second_person(line, YOU))
