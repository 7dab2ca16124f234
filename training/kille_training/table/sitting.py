"""A person and players at one table: the match behind the terminal and the page."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.core.table import OVER
from kille_env.errors import IllegalActionError, KilleError, RulesError
from kille_env.play.policy import Player, has_memory, name_of
from kille_env.play.seating import SeatedPolicies
from kille_env.records import Record, Recorder
from kille_env.registry import make_batch
from kille_env.words.text import does, listed, signed
from kille_training.table.advice import Question
from kille_training.table.lineup import seating_of
from kille_training.table.names import names_at


class Thought(NamedTuple):
    """What a player wants to do: the moment at which it was asked, and its action."""

    moment: int
    action: int


class Sitting:
    """Matches at one table, with a person in one seat and players in the others.

    Match i has the seed `seed + i`. The same seed and the same decisions make the same matches as
    anywhere else in the suite: what players draw follows from the deal, the seat and the number of
    the seat's decision.

    One thread at a time may call it; what `thinker` and `question` return can run beside that,
    because it changes nothing. A thought is stale once anything else has changed the table.

    Attributes:
        batch: The table, a batch of one; `undo` puts another one in its place.
        person: The person's seat.
        names: [P] what the table calls the seats; the person is "You".
        by_seat: [P] the players; None is the person.
        moment: Grows with whatever changes the table, undo too.
        watch: Called with the table before and after every deal and every action; None is nobody.
    """

    def __init__(
        self,
        game: str,
        rules: Rules,
        by_seat: Sequence[Player | None],
        *,
        seed: int,
        watch: Callable[[Any, Any], None] | None = None,
    ) -> None:
        """Sits everybody down; `begin` begins the first match.

        Args:
            game: The game.
            rules: Its rules.
            by_seat: [P] players; None is the person.
            seed: Seed of the first match.
            watch: See the attribute.

        Raises:
            RulesError: There is not one person, or the game has no such table.
        """
        self.by_seat = list(by_seat)
        if self.by_seat.count(None) != 1:
            raise RulesError(f"{self.by_seat.count(None)} seats are the person's; expected one")
        self.person = self.by_seat.index(None)
        self.names = names_at(len(by_seat), self.person)
        self.moment, self.watch, self._seed = 0, watch, seed
        self._done: list[Record] = []
        self._decided = 0  # decisions of the person in this match
        self._sit_at(make_batch(game, 1, len(by_seat), rules=rules, seed=0, restart=False))

    @property
    def over(self) -> bool:
        """Whether no match is being played: none has begun, or the last one has ended."""
        return bool(self.batch.tables["phase"][0] == OVER)

    @property
    def asks_in_secret(self) -> bool:
        """Whether nobody but the seat to act may learn that it is asked."""
        return int(self.batch.tables["phase"][0]) in self.batch.spec.secret_phases

    @property
    def waits(self) -> bool:
        """Whether the person is to act."""
        return int(self.batch.seat[0]) == self.person

    @property
    def can_undo(self) -> bool:
        """Whether the person has decided anything in this match."""
        return self._decided > 0

    def begin(self) -> None:
        """Begins the next match; from now on nothing of the last one can be taken back.

        Raises:
            KilleError: A match is being played.
        """
        if not self.over:
            raise KilleError("the match is still being played; the next one begins after its end")
        self._decided = 0
        self._recorder.reset(seed=self._seed + len(self._done))
        self._has_changed()

    def act(self, action: int) -> None:
        """Plays an action of the person.

        Raises:
            IllegalActionError: It is not their turn, or the action is not legal now; nothing has
                been played.
        """
        if not self.waits:
            raise IllegalActionError(
                "the match is over: begin another one" if self.over
                else "it is not your turn; wait until you are asked"
            )  # fmt: skip
        actions = self.batch.check_legal([action])
        self._decided += 1
        self._step(actions)

    def thinker(self) -> Callable[[], Thought]:
        """Returns what asks the player to act; it may take long, in any thread.

        Raises:
            KilleError: No player is to act.
        """
        if self.over or self.waits:
            raise KilleError("no player is to act: the match is over, or the person is asked")
        moment, players = self.moment, self._players
        return lambda: Thought(moment, int(players.actions()[0]))

    def play(self, thought: Thought | None = None) -> None:
        """Plays one decision of the player to act, unless the thought is stale.

        Args:
            thought: What `thinker` has led to; None thinks now.

        Raises:
            KilleError: No player is to act.
            PolicyError: The player returned what is no distribution over its legal actions;
                nothing has been played.
        """
        thought = self.thinker()() if thought is None else thought
        if thought.moment == self.moment:
            self._step(np.array([thought.action]))

    def question(self) -> Question:
        """Returns what the person is asked now, to be answered by an adviser in any thread."""
        if not self.waits:
            raise IllegalActionError("nothing is asked now; wait for your turn")
        return Question(self.batch.clone(), self.names)

    def undo(self) -> None:
        """Takes back everything since the person's last decision in this match, that one too.

        What was decided before is played again, at a new table: a player that still thinks does so
        at the old one.

        Raises:
            KilleError: The person has decided nothing yet.
        """
        if not self.can_undo:
            raise KilleError("there is nothing to take back in this match")
        record = self._done.pop() if self.over else self._recorder.record()
        decisions = _decisions_of(record)
        last = max(i for i, (seat, _) in enumerate(decisions) if seat == self.person)
        batch, watch, self.watch = self.batch, self.watch, None
        self._sit_at(
            make_batch(
                batch.spec.name, 1, batch.num_players, rules=batch.rules, seed=0, restart=False
            )
        )
        self.begin()
        self._play_again(decisions[:last])
        self.watch = watch

    def resume(self, record: Record) -> None:
        """Begins a match and plays what a record says of it.

        Raises:
            KilleError: The record is of another match.
        """
        self.begin()
        self._play_again(_decisions_of(record))

    def _play_again(self, decisions: Sequence[tuple[int, str]]) -> None:
        for seat, text in decisions:
            if self.over or int(self.batch.seat[0]) != seat:
                raise KilleError("the match that was kept is of another table")
            action = self.batch.find_action(text)
            if seat == self.person:
                self.act(action)
                continue
            if any(player is not None and has_memory(player) for player in self.by_seat):
                self._players.actions()  # whoever remembers the match has to be asked again
            self._step(np.array([action]))

    def outcome(self) -> tuple[str, list[tuple[str, str]]]:
        """Returns who has won the last match or deal, and what each has, the winner first.

        What each has is chips, or the points where a match is won or lost as a whole.
        """
        batch, names, returns = self.batch, self.names, self._done[-1]["returns"] or []
        seats = batch.game.view(batch.tables[0], batch.rules, self.person, names).seats
        points = {seat: one.score for seat, one in enumerate(seats) if one.score}
        ends = self._done[-1]["deals"] if points else []
        # Of those who have lost, who went out later stands before who went out earlier.
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
        """Returns the matches that were played to the end.

        Args:
            unfinished: Whether to add the one that is being played, as far as it has come. It shows
                every card.
        """
        left = unfinished and not self.over
        return [*self._done, self._recorder.record()] if left else list(self._done)

    def _step(self, actions: np.ndarray) -> None:
        self._players.step(actions)
        self._has_changed()

    def _sit_at(self, batch: Batch) -> None:
        self.batch = batch
        names = [
            name if player is None else f"{name} ({name_of(player)})"
            for name, player in zip(self.names, self.by_seat, strict=True)
        ]
        self._recorder = Recorder(batch, names, self._tell)
        self._players = SeatedPolicies(batch, *seating_of(self.by_seat), self._recorder.step)

    def _tell(self, before: Any, after: Any) -> None:
        if self.watch is not None:
            self.watch(before, after)

    def _has_changed(self) -> None:
        self.moment += 1
        if self.over:
            self._done.append(self._recorder.record())


def _size(amount: float) -> str:
    return signed(abs(amount)).removeprefix("+")


def _decisions_of(record: Record) -> list[tuple[int, str]]:
    return [decision for deal in record["deals"] for decision in deal["actions"]]
