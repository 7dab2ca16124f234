"""A recorded match decision by decision: what players would have done, and what choices cost."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kille_env.core.batch import Batch
from kille_env.play.play import Players
from kille_env.play.policy import Player, Policy
from kille_env.records import Replay, replay
from kille_training.evaluation.worth import worth


class Choice(NamedTuple):
    """A legal action of a decision.

    Attributes:
        text: Its text, "discard L3 KI".
        shares: How likely each player takes it, in the order in which they were named.
        worth: Units that it earns on average, given what the seat knows, see
            `kille_training.evaluation.worth`; None where that is not known.
    """

    text: str
    shares: tuple[float, ...]
    worth: float | None


class Decision(NamedTuple):
    """What a seat had to decide.

    Attributes:
        seat: The seat.
        choices: [L] the legal actions.
        chosen: Index of the one that was taken; None where the record stops.
    """

    seat: int
    choices: tuple[Choice, ...]
    chosen: int | None

    @property
    def loss(self) -> float | None:
        """Units by which the choice was worth less than the best one; None if it is not known."""
        if self.chosen is None or (taken := self.choices[self.chosen].worth) is None:
            return None
        return max(each.worth for each in self.choices if each.worth is not None) - taken


class Moment(NamedTuple):
    """How the table stands between two moves.

    Attributes:
        deal: Number of the deal, from 0.
        table: The table.
        decision: What is decided now; None after the last decision of a hand.
    """

    deal: int
    table: np.record
    decision: Decision | None


class Review(NamedTuple):
    """A match that was played again and looked into.

    Attributes:
        replay: The match.
        begun: The table before the first deal.
        moments: After each deal and each action.
    """

    replay: Replay
    begun: np.record
    moments: tuple[Moment, ...]


def review(
    record: Mapping[str, Any],
    players: Mapping[str, Player],
    policy: Policy | None = None,
) -> Review:
    """Plays a record again, and asks players what they would do at every decision.

    A player is asked as if it sat in every seat: it sees what the seat to act sees. One with a
    memory remembers what the seat has seen before in the match.

    Args:
        record: The record; it may stop anywhere.
        players: Who is asked, by name.
        policy: By what everybody plays on says what choices are worth: a solution, such as that of
            `kille_training.solve`, or any policy of a table whose deals have a tree. None is the
            solution of the table that the suite brings, if there is one.

    Raises:
        KilleError: As `replay` does; or a player returned what is no distribution; or there is no
            tree of the table.
    """
    reviewer = _Reviewer(players, policy)
    played = replay(record, look=reviewer.look)
    return Review(played, reviewer.tables[0], tuple(reviewer.moments))


class _Reviewer:
    """Looks at every moment of a match."""

    def __init__(self, players: Mapping[str, Player], policy: Policy | None) -> None:
        self._policy = policy
        self.tables, self.moments = list[np.record](), list[Moment]()
        self._players, self._asked = players, list[Players]()

    def look(self, batch: Batch, action: int | None) -> None:
        """Keeps a moment; see `kille_env.records.replay`."""
        self.tables.append(batch.tables[0].copy())
        if len(self.tables) == 1:  # the same batch throughout; what it plays, the record says
            seats = np.zeros(batch.num_players, np.int64)
            self._asked = [
                Players(batch, [player], seats, step=lambda _: None)
                for player in self._players.values()
            ]
            return
        decision = self._decide(batch, action) if batch.seat[0] >= 0 else None
        deal = int(batch.tables["deals"][0]) - 1
        self.moments.append(Moment(deal, self.tables[-1], decision))

    def _decide(self, batch: Batch, action: int | None) -> Decision:
        legal = np.flatnonzero(batch.mask[0])
        shares = [self._ask(players)[legal] for players in self._asked]
        units = worth(batch, policy=self._policy)
        choices = tuple(
            Choice(
                text,
                tuple(float(share[number]) for share in shares),
                None if units is None else float(units[number]),
            )
            for number, text in enumerate(batch.legal_texts())
        )
        if action is None:
            return Decision(int(batch.seat[0]), choices, None)
        for players in self._asked:
            players.step(np.array([action]))
        return Decision(int(batch.seat[0]), choices, legal.tolist().index(action))

    @staticmethod
    def _ask(players: Players) -> np.ndarray:
        rows, _, keys, _ = players.due()
        return players.ask(0, rows, keys)[0]
