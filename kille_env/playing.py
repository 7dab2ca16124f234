"""Tables played by players: the one loop behind every match that policies play.

What is random in a player's choice follows from the deal's key, the seat and the number of the
seat's decision in the match, and from nothing else. So the same players in the same seats of the
same deals earn the same units to the bit, wherever they play; and whoever sits in a seat of a deal
meets the same random numbers there, so that comparisons over equal deals are paired.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kille_env.core.batch import Batch
from kille_env.core.keys import derive, uniforms
from kille_env.policy import Player, decide, history_for, pick_actions

_CHOICES = np.uint64(0x43686F696365)
"""Keeps the players' random numbers apart from the cards', which come from the same key."""
DECIMALS = 9
"""Earnings are rounded to these: the shares of a stake are no binary fractions and leave dust."""


class Players:
    """Who sits where at the tables of a batch, and what they do there.

    Attributes:
        batch: The tables.
        players: The players, each asked once per step for all of its tables.
        seating: [N, P] index into `players` of who sits in each seat; -1 for a seat whose actions
            come from outside (`step`).
    """

    def __init__(
        self,
        batch: Batch,
        players: Sequence[Player],
        seating: np.ndarray,
        step: Callable[..., Any] | None = None,
    ) -> None:
        """Seats them.

        Args:
            batch: The tables.
            players: The players.
            seating: [N, P], or [P] for the same one at every table.
            step: Plays actions [N] at the tables; None is `batch.step`. A `Recorder`'s or a
                `Logbook`'s writes down what it plays.
        """
        self.batch, self.players = batch, list(players)
        shape = (batch.num_tables, batch.num_players)
        self.seating = np.array(np.broadcast_to(seating, shape), dtype=np.int64)
        self._step = batch.step if step is None else step
        self._decided = np.zeros(shape, dtype=np.int64)
        self._match = np.zeros(batch.num_tables, dtype=np.uint64)
        self.history = history_for(players, batch)

    def play(self, which: np.ndarray | None = None) -> None:
        """Plays one decision at each table.

        Args:
            which: [N] bool, the tables to play at; None is all at which somebody is to act.

        Raises:
            PolicyError: A player returned what is no distribution over the legal actions.
        """
        self.step(self.actions(which), which)

    def actions(self, which: np.ndarray | None = None) -> np.ndarray:
        """Returns what the players do at the chosen tables, [N] int64; 0 at the others."""
        rows, seats = self._due(which)
        who, keys = self.seating[rows, seats], self._keys(rows, seats)
        order = np.argsort(who, kind="stable")
        order = order[np.searchsorted(who[order], 0) :]  # without those who act from outside
        actions = np.zeros(self.batch.num_tables, dtype=np.int64)
        for group in np.split(order, np.flatnonzero(np.diff(who[order])) + 1):
            if len(group):
                at = rows[group]
                probabilities = self.ask(int(who[group[0]]), at, keys[group])
                actions[at] = pick_actions(probabilities, uniforms(keys[group]))
        return actions

    def ask(self, number: int, rows: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Returns the probabilities of a player's actions at some tables, [M, A].

        Args:
            number: Index into `players`.
            rows: [M] tables.
            keys: [M] uint64, of the decisions.
        """
        return decide(self.players[number], self.batch, rows, keys, self.history)

    def step(self, actions: np.ndarray, which: np.ndarray | None = None) -> None:
        """Plays actions, the players' own or those of seats from outside.

        Args:
            actions: [N].
            which: [N] bool, the tables to play at; None is all of them.
        """
        rows, seats = self._due(which)
        if self.history is not None:
            self.history.note(actions, which)
        if which is None:
            self._step(actions)
        else:
            self._step(actions, which)
        self._decided[rows, seats] += 1

    def mark(self) -> Any:
        """Returns what `return_to` needs to forget what is decided from now on."""
        known = None if self.history is None else self.history.mark()
        return self._decided.copy(), self._match.copy(), known

    def return_to(self, mark: Any) -> None:
        """Forgets what was decided since `mark`, for actions that are taken back."""
        decided, match, known = mark
        self._decided[:], self._match[:] = decided, match
        if self.history is not None:
            self.history.return_to(known)

    def _due(self, which: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Returns the chosen tables at which somebody is to act, [M], and who, [M]."""
        tables = self.batch.tables
        acting = self.batch.seat >= 0 if which is None else which & (self.batch.seat >= 0)
        rows = np.flatnonzero(acting)
        begun = rows[tables["match_key"][rows] != self._match[rows]]
        self._decided[begun], self._match[begun] = 0, tables["match_key"][begun]
        return rows, self.batch.seat[rows].astype(np.int64)

    def _keys(self, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Returns the keys of decisions that are due, [M] uint64."""
        return derive(derive(self._match[rows] ^ _CHOICES, seats), self._decided[rows, seats])


def play_out(players: Players) -> np.ndarray:
    """Plays every table to the end of its match.

    Args:
        players: Who sits at the tables of a batch that was made with `restart=False` and reset.

    Returns:
        [N, P] what each seat earned, in units.

    Raises:
        PolicyError: A player returned what is no distribution over the legal actions.
    """
    batch = players.batch
    total = np.zeros((batch.num_tables, batch.num_players))
    while (batch.seat >= 0).any():
        players.play()
        total += batch.reward
    # A match that the cards decided before anybody acted has paid nothing out yet.
    return (total + batch.tables["reward"][:, : batch.num_players]).round(DECIMALS)
