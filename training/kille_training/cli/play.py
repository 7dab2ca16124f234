"""`kille play`: a person at the table."""

import copy
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
from kille_env.errors import PolicyError, RulesError
from kille_env.records import Record, Recorder, write_records
from kille_env.registry import make_batch, spec
from kille_training.cli.console import (
    game_argument,
    json_option,
    report,
    rules_option,
    trust_option,
)
from kille_training.cli.lineup import LineUp, line_up

YOU = "You"
AGAIN, ENOUGH = "again", "enough"
AFTER_MATCH = {AGAIN: "another match", ENOUGH: "leave the table"}


@click.command(
    epilog="Example: kille play byteskille --players 5 --opponents uniform --rules gok_call=off"
)
@game_argument
@click.option("--players", type=int, help="Seats, yours included; the game's default if not given.")
@click.option(
    "--opponents",
    default="rule_of_thumb",
    show_default=True,
    help="Names, run folders or policy files: one for all, or one for each with commas.",
)
@click.option("--seat", type=int, default=0, show_default=True, help="Your seat.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the cards and of the opponents.")
@rules_option
@click.option("--out", type=click.Path(path_type=Path), help="Write the matches to this file.")
@trust_option
@json_option
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
    """Sits you down at a table of GAME, against agents.

    You see what your seat may know and nothing else. A decision that you did not mean can be taken
    back with u, ? is for help, q leaves.
    """
    resolved = spec(game).resolve(rules)
    seats = spec(game).check_players(players)
    if not 0 <= seat < seats:
        raise RulesError(f"your seat is one from 0 to {seats - 1}, got {seat}")
    lineup = _opponents(opponents, game, seats, seat, resolved, trust)
    # With --json the conversation moves to standard error.
    human = Human(out=sys.stderr if as_json else None)
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    session = _Session(game, seats, seat, resolved, lineup, human, seed)
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
    report(result, [f"The matches are in {out}."] if out else [], as_json)
    if interrupted:
        raise KeyboardInterrupt


def _opponents(agents: str, game: str, seats: int, seat: int, rules: Rules, trust: bool) -> LineUp:
    words = agents.split(",")
    if len(words) not in (1, seats - 1):
        raise PolicyError(f"{len(words)} opponents are named, the table has room for {seats - 1}")
    words = (words * seats)[: seats - 1]
    # The person's own seat needs somebody in the line-up, who is never asked.
    return line_up(",".join([*words[:seat], words[0], *words[seat:]]), game, seats, rules, trust)


class _Session:
    """Matches of a person against agents, at one table."""

    def __init__(
        self,
        game: str,
        num_players: int,
        seat: int,
        rules: Rules,
        lineup: LineUp,
        human: Human,
        seed: int,
    ) -> None:
        self.seat, self.rules, self.lineup, self.human, self.seed = seat, rules, lineup, human, seed
        self.batch = make_batch(game, 1, num_players, rules=rules, seed=0, restart=False)
        names = [human.name if s == seat else name for s, name in enumerate(lineup.names)]
        self.names = labels(names, num_players)
        self.shown = [YOU if s == seat else name for s, name in enumerate(self.names)]
        self.recorder = Recorder(self.batch, self.names, watch=self._tell)
        self.rng = np.random.default_rng((seed, 1))
        self.history = lineup.history(self.batch)
        self.done: list[Record] = []
        self.moments: list[tuple[Any, Any, np.random.Generator, int]] = []

    def run(self) -> None:
        """Plays until the person has had enough.

        Raises:
            HasQuit: The person has left the table.
        """
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
                self._step(int(self.lineup.actions(self.batch, [self.rng], self.history)[0]))

    def records(self) -> list[Record]:
        """Returns the matches that were played, and the one that was left in the middle."""
        left = self.batch.tables["deals"][0] > 0 and self.batch.tables["phase"][0] != OVER
        return [*self.done, self.recorder.record()] if left else self.done

    def say_goodbye(self) -> None:
        """Says what the person has won or lost."""
        total = sum(record["returns"][self.seat] for record in self.done)
        matches = counted(len(self.done), "match", "matches")
        told = f"You played {matches} to the end; balance {signed(total)}. " if self.done else ""
        self.human.say(f"{told}Goodbye!")

    def _begin(self) -> None:
        self.moments.clear()
        self.recorder.reset(seed=self.seed + len(self.done))

    def _step(self, action: int) -> None:
        if self.history is not None:
            self.history.note(np.array([action]))
        self.recorder.step(np.array([action]))
        if self.batch.tables["phase"][0] == OVER:
            self.done.append(self.recorder.record())
            money = zip(self.shown, self.done[-1]["returns"], strict=True)
            told = ", ".join(f"{name} {signed(units)}" for name, units in money)
            self.human.say(f"\nEnd of the match: {told}.")

    def _decide(self) -> None:
        game, table = self.batch.game, self.batch.tables[0]
        text = game.describe(table, self.rules, self.seat, self.shown, history=False)
        self.human.say()
        for line in text.splitlines():
            self.human.say(second_person(line, YOU))
        balance = signed(float(self.batch.tables["reward"][0, self.seat]))
        word = self._ask(f"Your balance {balance}.", self.batch.legal_texts(0))
        if word != UNDO:
            known = None if self.history is None else self.history.mark()
            moment = (self.recorder.mark(), known, copy.deepcopy(self.rng), len(self.done))
            self.moments.append(moment)
            self.human.say()
            self._step(self.batch.find_action(word))

    def _ask(self, question: str, choices: Sequence[str]) -> str:
        """Returns one of the choices, or UNDO after the last decision has been taken back."""
        spec = self.batch.spec
        word = self.human.choose(question, choices, {**spec.meanings, **AFTER_MATCH}, spec.notes)
        if word == UNDO and not self.moments:
            self.human.say("There is nothing to take back.")
        elif word == UNDO:
            mark, known, self.rng, number = self.moments.pop()
            self.recorder.return_to(mark)
            if self.history is not None:
                self.history.return_to(known)
            del self.done[number:]
            self.human.say("Taken back.")
        return word

    def _tell(self, before: Any, after: Any) -> None:
        if after["deals"] != before["deals"]:
            self.human.say()
        told = self.batch.game.narrate(before, after, self.rules, self.shown, self.seat)
        for line in told:
            self.human.say(second_person(line, YOU))
