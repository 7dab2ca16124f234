"""Tables played by players: the one loop behind every match that policies play.

What is random in a player's choice follows from the deal's key, the seat and the number of the
seat's decision in the match, and from nothing else. So the same players in the same seats of the
same deals earn the same units to the bit, wherever they play; and whoever sits in a seat of a deal
meets the same random numbers there, so that comparisons over equal deals are paired.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np

from kille_env.core import arguments
from kille_env.core.arrays import Fixed
from kille_env.core.batch import Batch
from kille_env.errors import KilleError, illegal_choice
from kille_env.play.decisions import Decisions, History
from kille_env.play.kernels import ROUND, begin_anew, bound, list_due, mark_due, play_on
from kille_env.play.policy import (
    KernelPolicy,
    Player,
    at_table,
    decide,
    has_kernel,
    name_of,
    pick_actions,
)
from kille_env.play.streams import earn
from kille_env.records import Logbook

Due = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Decisions that are due: [M] tables, seats, uint64 keys, random numbers from 0 to below 1."""
Watch = Callable[[int, Decisions, np.ndarray], object]
"""Is called with the number of a player, what it was asked, and its probabilities [M, A]."""
DECIMALS = 9
"""Earnings are rounded to these: the shares of a stake are no binary fractions and leave dust."""


class _Memories:
    """What recurrent players remember of the matches at N tables with P seats.

    What a player returns when it is asked is set aside until the decision is played, so asking
    alone changes nothing. A decision that nobody was asked about leaves its seat's memory as it is.

    Attributes:
        kept: [N, P, M] float32, M as wide as the widest memory so far; at a seat that has not
            decided in the match yet, what is left of an earlier one.
    """

    def __init__(self, num_tables: int, num_players: int) -> None:
        self.kept = np.zeros((num_tables, num_players, 0), dtype=np.float32)
        self._asked = np.zeros(num_tables, dtype=np.uint64)  # keys of decisions; 0 is none
        self._next = self.kept[:, 0]

    def before(self, rows: Any, seats: Any, first: np.ndarray, size: int) -> np.ndarray:
        """Returns what seats remember, [M, size]: zeros at the `first` decision of a match."""
        missing = size - self.kept.shape[2]
        if missing > 0:  # a live player may get its memory while it plays
            self.kept = np.pad(self.kept, ((0, 0), (0, 0), (0, missing)))
            self._next = np.pad(self._next, ((0, 0), (0, missing)))
        return np.where(first[:, None], np.float32(0.0), self.kept[rows, seats, :size])

    def ask(self, rows: np.ndarray, keys: np.ndarray, memory: np.ndarray) -> None:
        """Sets aside what players have returned for decisions, [M, size]."""
        self._asked[rows] = keys
        self._next[rows, : memory.shape[1]] = memory

    def keep(self, rows: np.ndarray, seats: np.ndarray, keys: np.ndarray, first: Any) -> None:
        """Keeps what was set aside for the decisions that are played now."""
        size = self.kept.shape[2]
        if not size:
            return
        asked = (self._asked[rows] == keys)[:, None]
        unasked = self.before(rows, seats, first, size)
        self.kept[rows, seats] = np.where(asked, self._next[rows], unasked)

    def return_to(self, kept: np.ndarray) -> None:
        """Goes back to memories that were kept earlier."""
        self.kept = kept.copy()
        self._asked[:] = 0
        self._next = np.zeros_like(self.kept[:, 0])


class SeatedPolicies(Fixed):
    """Who sits where at the tables of a batch, and what they do there.

    Attributes:
        batch: The tables.
        players: The players as they play there, each asked once per step for all of its tables.
        seating: [N, P] index into `players` of who sits in each seat; -1 for a seat whose actions
            come from outside (`step`).
        match: [N] uint64, key of the match whose decisions are counted.
        decided: [N, P] how often each seat has decided in it.
        credit: [N, P] float64, units that no decision has been given yet; see
            `kille_env.play.streams`.
        returns: [N, P] float64, units that seats have earned since they sat down, or `forget`.
        remember: Whether a player remembers the deal.
        compiled: Whether `go_on` has kernels play the seats of a `KernelPolicy`; if not, it is
            asked like any other player. What is played is the same.

    Whatever asks players raises a `PolicyError`, and has played nothing, where one returns what is
    no distribution over the legal actions.
    """

    FIXED = frozenset({"batch", "players", "seating", "match", "decided", "credit", "returns"})

    def __init__(
        self,
        batch: Batch,
        players: Sequence[Player],
        seating: np.ndarray,
        step: Callable[..., Any] | None = None,
        *,
        log: Logbook | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Seats them.

        Args:
            batch: The tables.
            players: The players.
            seating: [N, P], or [P] for the same one at every table.
            step: Plays actions [N] at the tables; None is `batch.step`. A `Recorder`'s writes down
                what it plays.
            log: Notes what is played, at a batch of one table.
            watch: Is told what players do, each time that one is asked.

        Raises:
            PolicyError: A player was made for another table.
            RulesError: The seating has another shape, or a number of no player.
        """
        self.batch, shape = batch, (batch.num_tables, batch.num_players)
        game, seats = batch.spec.name, batch.num_players
        self.players = tuple(at_table(player, game, seats, batch.rules) for player in players)
        self.seating = arguments.seating(seating, shape, len(self.players))
        self._step, self._log, self._watch = log.step if log else step, log, watch
        self.decided = np.zeros(shape, dtype=np.int64)
        self.credit, self.returns = np.zeros(shape), np.zeros(shape)
        self.match = np.zeros(batch.num_tables, dtype=np.uint64)
        self.remember = any(getattr(player, "remembers", False) for player in self.players)
        self._history = History(batch)  # empty if nobody remembers
        self._memories = _Memories(*shape)
        self._kernels = [i for i, player in enumerate(self.players) if has_kernel(player)]
        self._trail = np.empty(ROUND, dtype=np.int64)
        noted = step is None and watch is None and not self.remember
        self.compiled = bool(self._kernels) and noted

    def _chosen(self, which: np.ndarray | None) -> np.ndarray | None:
        return None if which is None else arguments.which(which, self.batch.num_tables)

    def run(self, which: np.ndarray | None = None) -> None:
        """Plays one decision at each table.

        Args:
            which: [N] bool, the tables to play at; None is all at which somebody is to act.
        """
        which = self._chosen(which)
        due = self._due(which)
        self._step_at(due, self._choose(due), which)

    def actions(self, which: np.ndarray | None = None) -> np.ndarray:
        """Returns what the players do at the chosen tables, [N] int64; 0 at the others."""
        return self._choose(self.due(which))

    def _choose(self, due: Due) -> np.ndarray:
        actions = np.zeros(self.batch.num_tables, dtype=np.int64)
        if len(due[0]):
            actions[due[0]] = pick_actions(self.probabilities(due), due[3])
        return actions

    def probabilities(self, due: Due) -> np.ndarray:
        """Returns what the players do, [M, A], each asked once for all its decisions.

        Args:
            due: M decisions, as `due` returns them; zeros where the seat acts from outside.
        """
        rows, seats, keys, _ = due
        who = self.seating[rows, seats]
        order = who.argsort(kind="stable")
        numbers = np.arange(len(self.players) + 1)
        ends = who[order].searchsorted(numbers).tolist()  # -1, who act from outside, lies before
        probabilities = np.zeros((len(rows), self.batch.mask.shape[1]))
        for number, (begin, end) in enumerate(pairwise(ends)):
            if end - begin == len(rows) and len(self.players) == 1:
                return self.ask(number, rows, keys)
            if begin < end:
                group = order[begin:end]
                probabilities[group] = self.ask(number, rows[group], keys[group])
        return probabilities

    def ask(self, number: int, rows: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Returns the probabilities of a player's actions at some tables, [M, A].

        Args:
            number: Index into `players`.
            rows: [M] tables.
            keys: [M] uint64, of the decisions.
        """
        player, batch, memory = self.players[number], self.batch, None
        if size := getattr(player, "memory_size", 0):
            seats = batch.seat[rows]
            memory = self._memories.before(rows, seats, self.decided[rows, seats] == 0, size)
        history = self._history if self.remember else None
        decisions = Decisions(batch, rows, keys, history, memory, due=True)
        probabilities = decide(player, decisions)
        if size:
            self._memories.ask(rows, keys, decisions.memory)
        if self._watch is not None:
            self._watch(number, decisions, probabilities)
        return probabilities

    def step(self, actions: np.ndarray, which: np.ndarray | None = None) -> None:
        """Plays actions, the players' own or those of seats from outside.

        Args:
            actions: [N].
            which: [N] bool, the tables to play at; None is all of them.

        Raises:
            IllegalActionError: An action is not legal; nothing has been played.
        """
        which = self._chosen(which)
        actions = arguments.actions(actions, self.batch.num_tables)
        self._step_at(self._due(which), actions, which)

    def _step_at(self, due: Due, actions: np.ndarray, which: np.ndarray | None) -> None:
        if self.remember:
            self._history.note(actions, which)  # refuses what is illegal, before anything is noted
        (self._step or self.batch.step)(actions, *(() if which is None else (which,)))
        rows, seats, keys, _ = due
        self._memories.keep(rows, seats, keys, self.decided[rows, seats] == 0)
        self.decided[rows, seats] += 1
        earn(self.batch.arrays.shown.reward, self.credit, self.returns)

    def answer(self, actions: np.ndarray, which: np.ndarray) -> bool:
        """Plays actions of seats from outside, and on by kernels until it is not their turn.

        Args:
            actions: [N] int64, legal at the chosen tables.
            which: [N] bool, the tables to play at.

        Returns:
            Whether players may be to act now, for `go_on`.
        """
        if self.compiled:
            self._run(self._kernels[0], actions.copy(), which.copy(), True)
            return len(self.players) > 1
        self.step(actions, which)
        return True

    def go_on(self) -> bool:
        """Plays on where players are to act: each once, or by kernels until it is not their turn.

        Returns:
            Whether to call it again: players may be to act still, or a match may have ended.
        """
        batch, played = self.batch, False
        if self.compiled:
            idle, nothing = np.zeros(len(batch.seat), np.bool_), np.zeros(len(batch.seat), np.int64)
            for number in self._kernels:
                played |= self._run(number, nothing, idle, False)
            if len(self.players) == 1:
                return False
        due = np.empty(batch.num_tables, dtype=np.bool_)
        if not mark_due(batch.arrays.shown.seat, self.seating, due):
            return played
        self.run(due)
        return True

    def _run(self, player: int, actions: np.ndarray, which: np.ndarray, given: bool) -> bool:
        """Plays by a player's kernel, see `play_on`; returns whether there was anything to play."""
        batch, policy = self.batch, cast(KernelPolicy, self.players[player])
        run = bound(play_on, policy.choose, batch.game)
        turns, played = ROUND, False
        while turns == ROUND:
            with batch.arrays as own:
                turns = run(
                    own.tables, own.rules, actions, which, *own.shown, self.seating,
                    self.match, self.decided, self.credit, self.returns, policy.numbers,
                    self._trail, player, given,
                )  # fmt: skip
            if turns < 0:
                table = -1 - turns
                legal = np.flatnonzero(batch.mask[table]).tolist()
                raise illegal_choice(name_of(policy), int(actions[table]), legal)
            if self._log is not None:
                self._log.note(self._trail[:turns])
            given = False
            played = played or turns > 0
        return played

    def forget(self, which: np.ndarray | None = None) -> None:
        """Forgets what was decided and earned, for matches that begin anew.

        Args:
            which: [N] bool, the tables; None is all of them.
        """
        chosen = self._chosen(which)
        everywhere = np.ones(self.batch.num_tables, dtype=np.bool_)
        chosen = everywhere if chosen is None else chosen
        begin_anew(chosen, self.decided, self.credit, self.returns)
        if self.remember:
            self._history.forget(chosen)

    def state(self) -> dict[str, np.ndarray]:
        """Returns what `checked` takes; the tables and the seating are kept by themselves.

        Raises:
            KilleError: A player remembers the deal, which arrays do not hold.
        """
        if self.remember:
            raise KilleError("tables whose players remember the deal cannot be saved")
        decided, match = self.decided.copy(), self.match.copy()
        return {"decided": decided, "match": match, "memory": self._memories.kept.copy()}

    def checked(self, state: Mapping[str, np.ndarray]) -> tuple[np.ndarray, ...]:
        """Return a state in the form that `put_back` takes.

        Raises:
            RulesError: The state is of other tables.
        """
        shape = self.decided.shape
        return (
            arguments.saved(state, "decided", np.int64, shape),
            arguments.saved(state, "match", np.uint64, shape[:1]),
            arguments.saved(state, "memory", np.float32, (*shape, None)),
        )

    def put_back(self, checked: tuple[np.ndarray, ...]) -> None:
        """Go on where a state was taken that `checked` has returned."""
        self.decided[:], self.match[:], memory = checked
        self._memories.return_to(memory)

    def due(self, which: np.ndarray | None = None) -> Due:
        """Returns the decisions that are due at the chosen tables; None is all of them."""
        return self._due(self._chosen(which))

    def _due(self, which: np.ndarray | None) -> Due:
        size = self.batch.num_tables
        rows, seats = np.empty((2, size), dtype=np.int64)
        words, chances = np.empty(size, dtype=np.uint64), np.empty(size)
        chosen = np.ones(size, dtype=np.bool_) if which is None else which
        count = list_due(
            self.batch.seat, self.batch.tables["match_key"], chosen, self.match, self.decided,
            rows, seats, words, chances,
        )  # fmt: skip
        return rows[:count], seats[:count], words[:count], chances[:count]


def play_out(players: SeatedPolicies) -> np.ndarray:
    """Plays every table to the end of its match.

    Args:
        players: Who sits at the tables of a batch that was made with `restart=False` and reset;
            every seat is theirs.

    Returns:
        [N, P] what each seat earned from here on, in units.
    """
    batch, players.returns[:] = players.batch, 0.0
    while players.go_on():
        pass
    # A match that the cards decided before anybody acted has paid nothing out yet.
    total = players.returns + batch.tables["reward"][:, : batch.num_players]
    return total.round(DECIMALS)
