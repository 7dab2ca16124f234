"""Tables played by policies: the one loop behind every match that policies play.

Everything random in the choices of a policy follows from the key of the deal, the seat and the
number of the seat's decision in the match, and from nothing else. So the same policies in the same
seats of the same deals earn the same units to the bit, wherever they play; and all policies meet
the same random numbers in a seat of a deal, so that comparisons over equal deals are paired.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kille_env.core import arguments
from kille_env.core.arrays import Fixed
from kille_env.core.batch import Batch
from kille_env.errors import illegal_choice
from kille_env.play.by_rules import stacked
from kille_env.play.decisions import Decisions, History
from kille_env.play.kernels import ROUND, begin_anew, bound, list_due, mark_due, play_on
from kille_env.play.policy import at_table, decide, kernel_of, name_of, pick_actions
from kille_env.play.streams import earn
from kille_env.records import Recorder

Due = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Decisions that are due: [M] tables, seats, uint64 keys, random numbers in [0, 1)."""
Watch = Callable[[int, Decisions, np.ndarray], object]
"""Called with the number of a policy, its decisions, and its probabilities [M, A]."""
DECIMALS = 9
"""Earnings are rounded to these: the shares of a stake are no binary fractions and leave dust."""


class SeatedPolicies(Fixed):
    """Policies in the seats of the tables of a batch, and the loop that plays them.

    Methods that ask policies raise a `PolicyError`, and have played nothing, if an answer is no
    distribution over the legal actions.

    Attributes:
        batch: The tables.
        players: The policies as they play there, each asked once per step for all of its tables.
        seating: [N, P] index into `players` for each seat; -1 for a seat whose actions come from
            outside (`step`).
        match: [N] uint64, key of the match whose decisions are counted.
        decided: [N, P] number of decisions of each seat in it.
        credit: [N, P] float64, units that belong to no decision yet; see `kille_env.play.streams`.
        returns: [N, P] float64, units that seats have earned since they sat down, or `forget`.
        remember: Whether a policy needs the history of the deal.
        compiled: Whether `go_on` plays policies by their kernels, or asks them like all others. The
            result is the same.
    """

    FIXED = frozenset({"batch", "players", "seating", "match", "decided", "credit", "returns"})

    def __init__(
        self,
        batch: Batch,
        players: Sequence[Any],
        seating: np.ndarray,
        step: Callable[..., Any] | None = None,
        *,
        recorder: Recorder | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Seat policies at the tables of a batch."""
        self.batch, shape = batch, (batch.num_tables, batch.num_players)
        game, seats = batch.spec.name, batch.num_players
        self.players = tuple(at_table(player, game, seats, batch.rules) for player in players)
        self.seating = arguments.seating(seating, shape, len(self.players))
        self._step = recorder.step if recorder else step
        self._recorder, self._watch = recorder, watch
        self.decided = np.zeros(shape, dtype=np.int64)
        self.credit, self.returns = np.zeros(shape), np.zeros(shape)
        self.match = np.zeros(batch.num_tables, dtype=np.uint64)
        self.remember = any(getattr(player, "remembers", False) for player in self.players)
        self._history = History(batch)  # stays empty unless a policy needs it
        self._kernels = self._find_kernels()
        self._trail = np.empty(ROUND, dtype=np.int64)
        # Compiled rounds pass by everything that is told of single steps.
        unwatched = step is None and watch is None and not self.remember
        self.compiled = bool(self._kernels) and unwatched

    def _find_kernels(self) -> dict[int, tuple[Any, np.ndarray]]:
        kernels = [stacked(player, kernel_of) for player in self.players]
        return {number: one for number, one in enumerate(kernels) if one}

    def __getstate__(self) -> dict[str, Any]:  # kernels cannot be pickled, and come with policies
        return {name: value for name, value in self.__dict__.items() if name != "_kernels"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._kernels = self._find_kernels()

    def _chosen(self, which: np.ndarray | None) -> np.ndarray | None:
        return None if which is None else arguments.which(which, self.batch.num_tables)

    def run(self, which: np.ndarray | None = None) -> None:
        """Play one decision at each table, or at the chosen ones."""
        which = self._chosen(which)
        due = self._due(which)
        self._step_at(due, self._choose(due), which)

    def actions(self, which: np.ndarray | None = None) -> np.ndarray:
        """Return the actions of the policies at the chosen tables, [N] int64; 0 at the others."""
        return self._choose(self.due(which))

    def _choose(self, due: Due) -> np.ndarray:
        actions = np.zeros(self.batch.num_tables, dtype=np.int64)
        if len(due[0]):
            actions[due[0]] = pick_actions(self.probabilities(due), due[3])
        return actions

    def probabilities(self, due: Due) -> np.ndarray:
        """Return the answers to M due decisions, [M, A]; zeros where the seat acts from outside.

        Each policy is asked once for all its decisions.
        """
        rows, seats, keys, _ = due
        policies = self.seating[rows, seats]
        order = policies.argsort(kind="stable")
        numbers = np.arange(len(self.players) + 1)
        ends = policies[order].searchsorted(numbers).tolist()  # -1, seats from outside, lies before
        probabilities = np.zeros((len(rows), self.batch.mask.shape[1]))
        for number, (begin, end) in enumerate(pairwise(ends)):
            # One policy in all seats: its answer is the whole array and needs no copy.
            if end - begin == len(rows) and len(self.players) == 1:
                return self.ask(number, rows, keys)
            if begin < end:
                group = order[begin:end]
                probabilities[group] = self.ask(number, rows[group], keys[group])
        return probabilities

    def ask(self, number: int, rows: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Return the answers of policy `number` at tables `rows` [M] with keys [M], [M, A]."""
        history = self._history if self.remember else None
        decisions = Decisions(self.batch, rows, keys, history, due=True)
        probabilities = decide(self.players[number], decisions)
        if self._watch is not None:
            self._watch(number, decisions, probabilities)
        return probabilities

    def step(self, actions: np.ndarray, which: np.ndarray | None = None) -> None:
        """Play actions of policies or of seats from outside."""
        which = self._chosen(which)
        actions = arguments.actions(actions, self.batch.num_tables)
        self._step_at(self._due(which), actions, which)

    def _step_at(self, due: Due, actions: np.ndarray, which: np.ndarray | None) -> None:
        if self.remember:
            self._history.note(actions, which)  # refuses what is illegal, before anything is noted
        (self._step or self.batch.step)(actions, *(() if which is None else (which,)))
        rows, seats, _, _ = due
        self.decided[rows, seats] += 1
        earn(self.batch.arrays.shown.reward, self.credit, self.returns)

    def answer(self, actions: np.ndarray, which: np.ndarray) -> bool:
        """Play actions of seats from outside, then by kernels until it is not their turn."""
        if not self.compiled:
            self.step(actions, which)
            return True
        size = self.batch.num_tables
        if not actions.shape == which.shape == (size,) or actions.dtype != np.int64:  # cheap
            actions, which = arguments.actions(actions, size), arguments.which(which, size)
        # Copies, because the loop writes the actions of the policies into both.
        self._run(next(iter(self._kernels)), actions.copy(), which.copy(), True)
        return len(self.players) > 1

    def go_on(self) -> bool:
        """Play where policies are to act: each once, or by kernels until it is not their turn."""
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
        """Play by the kernel of a policy, see `play_on`; return whether anything was played."""
        batch, (choose, numbers) = self.batch, self._kernels[player]
        run = bound(play_on, choose, batch.game)
        turns, played = ROUND, False
        while turns == ROUND:
            with batch.arrays as arrays:
                turns = run(
                    arrays.tables, arrays.rules, actions, which, *arrays.shown, self.seating,
                    self.match, self.decided, self.credit, self.returns, numbers,
                    self._trail, player, given,
                )  # fmt: skip
            if turns < 0:
                table = -1 - turns
                legal = np.flatnonzero(batch.mask[table]).tolist()
                raise illegal_choice(name_of(self.players[player]), int(actions[table]), legal)
            if self._recorder is not None:
                self._recorder.note(self._trail[:turns])
            given = False
            played = played or turns > 0
        return played

    def forget(self, which: np.ndarray | None = None) -> None:
        """Reset counts and earnings of the chosen tables, [N] bool, for their new matches."""
        chosen = self._chosen(which)
        everywhere = np.ones(self.batch.num_tables, dtype=np.bool_)
        chosen = everywhere if chosen is None else chosen
        begin_anew(chosen, self.decided, self.credit, self.returns)
        if self.remember:
            self._history.forget(chosen)

    def due(self, which: np.ndarray | None = None) -> Due:
        """Return the decisions that are due at the chosen tables; None is all of them."""
        return self._due(self._chosen(which))

    def _due(self, which: np.ndarray | None) -> Due:
        size = self.batch.num_tables
        rows, seats = np.empty((2, size), dtype=np.int64)
        words, uniforms = np.empty(size, dtype=np.uint64), np.empty(size)
        chosen = np.ones(size, dtype=np.bool_) if which is None else which
        count = list_due(
            self.batch.seat, self.batch.tables["match_key"], chosen, self.match, self.decided,
            rows, seats, words, uniforms,
        )  # fmt: skip
        return rows[:count], seats[:count], words[:count], uniforms[:count]


def play_out(seated: SeatedPolicies) -> np.ndarray:
    """Play every table to the end of its match and return the earnings of seats, [N, P] units."""
    batch, seated.returns[:] = seated.batch, 0.0
    while seated.go_on():
        pass
    # A match that the cards decided before any decision has paid nothing out yet.
    total = seated.returns + batch.tables["reward"][:, : batch.num_players]
    return total.round(DECIMALS)
