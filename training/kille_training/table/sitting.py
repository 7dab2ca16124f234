"""Play matches between a person and players: the match behind the terminal and the page."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kille_agents.rules_of_thumb import RULES_OF_THUMB, rule_of_thumb
from kille_env.core.game import game_of
from kille_env.core.single import kernels_of_one_table
from kille_env.core.spec import Rules
from kille_env.core.start import begin
from kille_env.core.table import OVER
from kille_env.errors import IllegalActionError, KilleError, RulesError
from kille_env.play.policy import Policy, UniformPolicy, name_of
from kille_env.play.seating import SeatedPolicies
from kille_env.records import Record, Recorder
from kille_env.registry import load_game, make_batch
from kille_env.words.text import does, listed, signed
from kille_training.names import names_at
from kille_training.table.advice import Question
from kille_training.table.lineup import seating_of


class Sitting:
    """Matches at one table, with a person in one seat and players in the others.

    Match i has the seed `seed + i`. As everywhere in the suite, random numbers of players depend on
    the deal, the seat and the number of the decision only, so matches are reproducible.

    One thread at a time may call it, except that `think` and the methods of a `question` change
    nothing and may run in another thread.
    """

    def __init__(
        self,
        game: str,
        rules: Rules,
        by_seat: Sequence[Policy | None],
        *,
        seed: int,
        watch: Callable[[Any, Any], None] | None = None,
    ) -> None:
        """Seat the person and the players; `begin` begins the first match."""
        self.by_seat = list(by_seat)  # [P] players; None is the person
        if self.by_seat.count(None) != 1:
            raise RulesError(f"{self.by_seat.count(None)} seats are the person's, expected 1")
        self.person = self.by_seat.index(None)
        self.names = names_at(len(by_seat), self.person)
        self.decided = 0  # decisions of the person in this match
        self.watch, self._seed = watch, seed
        self._done: list[Record] = []
        begin(load_game(game), f"{__name__}:kernels_of_a_table")
        self.batch = make_batch(game, 1, len(by_seat), rules=rules, seed=0, restart=False)
        names = [
            name if player is None else f"{name} ({name_of(player)})"
            for name, player in zip(self.names, self.by_seat, strict=True)
        ]
        self._recorder = Recorder(self.batch, names)
        self._players = SeatedPolicies(self.batch, *seating_of(self.by_seat), self._apply)

    @property
    def over(self) -> bool:
        """Whether no match is being played, before the first one or after the last."""
        return bool(self.batch.tables["phase"][0] == OVER)

    @property
    def asks_in_secret(self) -> bool:
        """Whether the current decision is secret from the other seats."""
        return int(self.batch.tables["phase"][0]) in self.batch.spec.secret_phases

    @property
    def waits(self) -> bool:
        """Whether it is the person's turn."""
        return int(self.batch.seat[0]) == self.person

    def begin(self) -> None:
        """Begin the next match."""
        if not self.over:
            raise KilleError("the match is still being played; the next one begins after its end")
        self.decided = 0
        self._recorder.reset(seed=self._seed + len(self._done), deal=False)
        self._deal()
        self._keep_finished()

    def act(self, action: int) -> None:
        """Play an action of the person, or raise for an illegal one."""
        if not self.waits:
            raise IllegalActionError(
                "the match is over: begin another one" if self.over
                else "it is not your turn; wait until you are asked"
            )  # fmt: skip
        actions = self.batch.check_legal([action])
        self.decided += 1
        self._step(actions)

    def think(self) -> int:
        """Return the action of the player to act, which may take long."""
        if self.over or self.waits:
            raise KilleError("no player is to act: the match is over, or it is the person's turn")
        return int(self._players.actions()[0])

    def play(self, action: int | None = None) -> None:
        """Play an action of the player to act; None asks the player first."""
        self._step(np.array([self.think() if action is None else action]))

    def question(self) -> Question:
        """Return the person's decision, for advice."""
        if not self.waits:
            raise IllegalActionError("nothing is asked now; wait for your turn")
        return Question(self.batch.clone(), self.names)

    def resume(self, record: Record) -> None:
        """Begin a match and play the decisions of its record."""
        self.begin()
        for seat, text in (decision for deal in record["deals"] for decision in deal["actions"]):
            if self.over or int(self.batch.seat[0]) != seat:
                raise KilleError("the stored match is of another table")
            action = self.batch.find_action(text)
            if seat == self.person:
                self.act(action)
                continue
            self._step(np.array([action]))

    def outcome(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the result of the last match as text, and each seat's amount, the winner first.

        Amounts are chips, or points in a game without chips.
        """
        batch, names, returns = self.batch, self.names, self._done[-1]["returns"] or []
        seats = batch.game.view(batch.tables[0], batch.rules, self.person, names).seats
        points = {seat: one.score for seat, one in enumerate(seats) if one.score}
        ends = self._done[-1]["deals"] if points else []
        # Losers are listed from the last to the first that went out.
        gone = [sum(seat in deal["result"]["out"] for deal in ends) for seat in range(len(names))]
        order = sorted(range(len(returns)), key=lambda s: (-returns[s], gone[s], s != self.person))
        mine, most = returns[self.person], returns[order[0]]
        best = [names[seat] for seat in order if returns[seat] == most]
        if points and batch.spec.reward_range(batch.rules, len(names)) == (0.0, 1.0):
            deed = does(best[0], "wins") if len(best) == 1 else f"{listed(best)} share"
            lost = f" You lose, with {points[self.person].partition('/')[0]} points."
            return f"{deed} the match.{'' if mine else lost}", [
                (names[s], points[s]) for s in order
            ]
        one = len(best) == 1
        deed = f"wins {_size(most)}" if most > 0 else f"is first with {signed(most)}"
        each = f"win {_size(most)} each" if most > 0 else f"are first with {signed(most)}"
        own = f" You {'lose' if mine < 0 else 'win'} {_size(mine) if mine else 'nothing'}."
        first = does(best[0], deed) if one else f"{listed(best)} {each}"
        if most == 0 == min(returns):
            first = "Nobody wins or loses"
        return f"{first}.{'' if mine == most else own}", [
            (names[seat], signed(returns[seat])) for seat in order
        ]

    def records(self, *, unfinished: bool = False) -> list[Record]:
        """Return the finished matches, and the current one, with all cards, if requested."""
        left = unfinished and not self.over
        return [*self._done, self._recorder.record()] if left else list(self._done)

    def _step(self, actions: np.ndarray) -> None:
        self._players.step(actions)
        self._keep_finished()

    def _apply(self, actions: np.ndarray) -> None:
        """Play an action and deal after the end of a hand, step by step for `watch`."""
        self._report(lambda: self.batch.apply(actions))
        self._recorder.note(actions)
        self._deal()

    def _deal(self) -> None:
        while self.batch.at_chance[0]:
            self._report(self.batch.deal)

    def _report(self, move: Callable[[], None]) -> None:
        before = self.batch.tables[0].copy()
        move()
        if self.watch is not None:
            self.watch(before, self.batch.tables[0].copy())

    def _keep_finished(self) -> None:
        if self.over:
            self._done.append(self._recorder.record())


def _size(amount: float) -> str:
    return signed(abs(amount)).removeprefix("+")


def kernels_of_a_table(module: str) -> Iterator[object]:
    """Call the kernels of a person's table; see `kille_env.core.start.begin`."""
    yield from kernels_of_one_table(module)
    facts = game_of(module).spec
    rules, seats = facts.resolve(None), facts.min_players
    known = facts.name in RULES_OF_THUMB
    player = rule_of_thumb(seats, rules) if known else UniformPolicy()
    sitting = Sitting(facts.name, rules, [None, *[player] * (seats - 1)], seed=0)
    yield sitting.begin()
    yield player.probabilities(sitting.batch.observation, sitting.batch.mask)
