"""People and players at one table: the loop behind `kille play`, in the terminal and on a page."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.core.table import OVER
from kille_env.errors import IllegalActionError, KilleError, RulesError
from kille_env.playing import Players
from kille_env.policy import Player, name_of
from kille_env.records import Record, Recorder
from kille_env.registry import make_batch
from kille_training.people.advice import Question, check_adviser
from kille_training.people.lineup import seating_of


class Thought(NamedTuple):
    """What a player wants to do.

    Attributes:
        moment: The moment at which it was asked.
        action: Its action.
    """

    moment: int
    action: int


class _Decision(NamedTuple):
    """Where `Sitting.undo` can go back to: the table before a decision of one of the people."""

    seat: int
    recorded: Any
    decided: Any
    matches: int


class Sitting:
    """Matches at one table, with people in some of its seats and players in the others.

    Match i has the seed `seed + i`. The same seed and the same decisions make the same matches as
    anywhere else in the suite: what players draw follows from the deal, the seat and the number of
    the seat's decision.

    One thread at a time may call it. What takes long can go on in other threads meanwhile, because
    it changes nothing: what `thinker` and `question` return. What is taken back while a player
    thinks makes its thought stale.

    Attributes:
        batch: The table, a batch of one; `undo` puts another one in its place.
        names: [P] what people and players are called.
        by_seat: [P] the players; None is a person.
        people: Seats of the people.
        moment: Grows with whatever changes the table, undo too.
        watch: Called with the table before and after every deal and every action; None is nobody.
    """

    def __init__(
        self,
        game: str,
        rules: Rules,
        by_seat: Sequence[Player | None],
        *,
        names: Sequence[str],
        seed: int,
        advisers: Mapping[str, Player] | None = None,
        watch: Callable[[Any, Any], None] | None = None,
    ) -> None:
        """Sits everybody down; `begin` begins the first match.

        Args:
            game: The game.
            rules: Its rules.
            by_seat: [P] players; None is a person.
            names: [P] what to call them. A record calls a player by its own name as well.
            seed: Seed of the first match.
            advisers: Players who can be asked for advice, by name.
            watch: See the attribute.

        Raises:
            RulesError: There is not one name per seat, or the game has no such table.
            PolicyError: An adviser remembers the match.
        """
        if len(names) != len(by_seat):
            raise RulesError(f"{len(names)} names for {len(by_seat)} seats; expected one per seat")
        self.people = [seat for seat, player in enumerate(by_seat) if player is None]
        self.names, self.moment, self.watch = list(names), 0, watch
        self.by_seat, self._seed = list(by_seat), seed
        self._advisers = dict(advisers or {})
        for name, player in self._advisers.items():
            check_adviser(name, player)
        self._done: list[Record] = []
        self._decisions: list[_Decision] = []
        self._sit_at(make_batch(game, 1, len(by_seat), rules=rules, seed=0, restart=False))

    @property
    def over(self) -> bool:
        """Whether no match is being played: none has begun, or the last one has ended."""
        return bool(self.batch.tables["phase"][0] == OVER)

    @property
    def seat(self) -> int:
        """The seat to act, -1 where nobody is.

        In the secret phases of a game nobody else may learn of it: show people the `turn` of their
        own view.
        """
        return int(self.batch.seat[0])

    @property
    def asks_in_secret(self) -> bool:
        """Whether nobody but the seat to act may learn that it is asked."""
        return int(self.batch.tables["phase"][0]) in self.batch.spec.secret_phases

    @property
    def waits(self) -> bool:
        """Whether one of the people is to act."""
        return self.seat in self.people

    @property
    def match(self) -> int:
        """Number of the match, from 0."""
        return len(self._done) - (self.over and bool(self._done))

    def begin(self) -> None:
        """Begins the next match; from now on nothing of the last one can be taken back.

        Raises:
            KilleError: A match is being played.
        """
        if not self.over:
            raise KilleError("the match is still being played; the next one begins after its end")
        self._decisions.clear()
        self._recorder.reset(seed=self._seed + len(self._done))
        self._has_changed()

    def act(self, seat: int, action: int) -> None:
        """Plays an action of one of the people.

        Raises:
            IllegalActionError: It is not that person's turn, or the action is not legal now;
                nothing has been played.
        """
        if seat not in self.people or seat != self.seat:
            raise IllegalActionError(
                "the match is over: begin another one" if self.over
                else "it is not your turn; wait until you are asked"
            )  # fmt: skip
        actions = self.batch.check_legal([action])
        marks = self._recorder.mark(), self._players.mark()
        self._decisions.append(_Decision(seat, *marks, len(self._done)))
        self._players.step(actions)
        self._has_changed()

    def thinker(self) -> Callable[[], Thought]:
        """Returns what asks the player to act; it may take long, in any thread.

        Raises:
            KilleError: No player is to act.
        """
        if self.over or self.waits:
            raise KilleError("no player is to act: the match is over, or a person is asked")
        moment, players = self.moment, self._players
        return lambda: Thought(moment, int(players.actions()[0]))

    def think(self) -> Thought:
        """Returns what the player to act wants to do; nothing changes.

        Raises:
            KilleError: No player is to act.
            PolicyError: The player returned what is no distribution over its legal actions.
        """
        return self.thinker()()

    def play(self, thought: Thought | None = None) -> bool:
        """Plays one decision of the player to act.

        Args:
            thought: What `thinker` has led to; None thinks now.

        Returns:
            Whether it was played: a thought is stale once anything else has changed the table.

        Raises:
            KilleError: No player is to act.
            PolicyError: As `think` does; nothing has been played.
        """
        thought = self.think() if thought is None else thought
        if thought.moment != self.moment:
            return False
        self._players.step(np.array([thought.action]))
        self._has_changed()
        return True

    def question(self, seat: int) -> Question:
        """Returns what a person is asked now, to be answered by advisers, in any thread.

        Raises:
            IllegalActionError: It is not that person's turn.
        """
        self._check_turn(seat)
        players = self._seated(self.batch.clone())
        players.return_to(self._players.mark())
        first = len(players.players) - len(self._advisers)
        return Question(players, {name: first + i for i, name in enumerate(self._advisers)})

    def can_undo(self, seat: int, *, others: bool = False) -> bool:
        """Returns whether `undo` would take anything back."""
        seats = [decision.seat for decision in self._decisions]
        return seat in seats if others else seats[-1:] == [seat]

    def undo(self, seat: int, *, others: bool = False) -> None:
        """Takes back everything since the last decision of a person in this match, that one too.

        Args:
            seat: The person's seat.
            others: Whether decisions of other people may be taken back along with it.

        Raises:
            KilleError: The person has decided nothing yet, or somebody else has since.
        """
        if not self.can_undo(seat, others=others):
            raise KilleError(
                "another person has decided since; your decision stands"
                if self.can_undo(seat, others=True)
                else "there is nothing to take back: you have decided nothing in this match"
            )
        while self._decisions[-1].seat != seat:
            self._decisions.pop()
        decision = self._decisions.pop()
        self._sit_at(self.batch.clone())  # a player that still thinks does so at the old table
        self._recorder.return_to(decision.recorded)
        self._players.return_to(decision.decided)
        del self._done[decision.matches :]
        self.moment += 1

    def rename(self, seat: int, name: str) -> None:
        """Calls a seat something else, in the records of matches that have not ended too."""
        self.names[seat] = name
        self._recorder.names = self._recorded_names()

    def records(self, *, unfinished: bool = False) -> list[Record]:
        """Returns the matches that were played to the end.

        Args:
            unfinished: Whether to add the one that is being played, as far as it has come. It shows
                every card.
        """
        left = unfinished and not self.over
        return [*self._done, self._recorder.record()] if left else list(self._done)

    def _sit_at(self, batch: Batch) -> None:
        self.batch = batch
        self._recorder = Recorder(batch, self._recorded_names(), self._tell)
        self._players = self._seated(batch, self._recorder.step)

    def _seated(self, batch: Batch, step: Callable[..., Any] | None = None) -> Players:
        """Returns the players in their seats, the advisers beside them."""
        players, numbers = seating_of(self.by_seat)
        return Players(batch, [*players, *self._advisers.values()], numbers, step)

    def _check_turn(self, seat: int) -> None:
        if self.over:
            raise IllegalActionError("the match is over: begin another one")
        if seat not in self.people or seat != self.seat:
            raise IllegalActionError("it is not your turn; wait until you are asked")

    def _tell(self, before: Any, after: Any) -> None:
        if self.watch is not None:
            self.watch(before, after)

    def _recorded_names(self) -> list[str]:
        return [
            name if player is None else f"{name} ({name_of(player)})"
            for name, player in zip(self.names, self.by_seat, strict=True)
        ]

    def _has_changed(self) -> None:
        self.moment += 1
        if self.over:
            self._done.append(self._recorder.record())
