"""The rule of credit: the earnings of a seat belong to its last decision.

The reward of a decision is all that its seat earns until its next decision, or until the match
ends. Earnings before the first decision of the match (the ante, say) count with that one. A seat
without a decision in a match has none to reward.

So earnings are added to the credit of a seat (`earn`), and the credit is collected
(`collect_credit`) when the seat decides again, and when the match ends. These kernels reward all
decisions: in `kille_env.play.seats` for one seat of each table, in `SeatStreams` for all seats,
which `kille_env.play.experience` and the buffer of `kille_env.sb3` use; a GPU runs them too.
"""

from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from kille_env.core import arguments
from kille_env.core.arrays import read_only
from kille_env.core.jit import kernel
from kille_env.errors import KilleError, RulesError, shortened

END, OPEN = -1, -2
"""Numbers for the next decision of a seat: none, as the match has ended; not known yet."""


class Transitions(NamedTuple):
    """D decisions with their rewards and next ones; a later one of a stream stands further back.

    Attributes:
        observation: [D, F] the seat's observation, uint8 or float32; [D, S] where seats are read.
        mask: [D, A] int8, its legal actions.
        action: [D] int64, its action.
        reward: [D] float64, units: all that it earned until its next decision or the end.
        next_observation: [D, F] the observation at its next decision, or after the end.
        next_mask: [D, A] int8, the legal actions then; zeros after the end.
        terminated: [D] bool, whether the match ended by the rules before its next decision.
        truncated: [D] bool, whether a cap ended it. The rules pay everything out then, so there is
            nothing to estimate either.
        log_probability: [D] float64, of the action, under the policy that chose it.
        table: [D] int64, the table.
        seat: [D] int64, the seat that decided.
        position: [D] int64, distance from forehand: 0 for forehand, P - 1 for the dealer.
        following: [D] int64, index of the seat's next decision in these arrays; -1 if the match
            ended, or if that decision will be complete in a later call of `Collector.collect`.
        full_state: [D, G] uint8, all cards and the rest of the table as seen from the seat, for a
            central critic; None unless it was asked for.
    """

    observation: np.ndarray
    mask: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    next_observation: np.ndarray
    next_mask: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    log_probability: np.ndarray
    table: np.ndarray
    seat: np.ndarray
    position: np.ndarray
    following: np.ndarray
    full_state: np.ndarray | None = None

    def advantages(
        self, values: Any, next_values: Any = None, *, gamma: float = 1.0, gae_lambda: float = 1.0
    ) -> np.ndarray:
        """Return generalized advantage estimates along each seat's stream, [D] float64.

        Returns to learn values from are these plus `values`.
        """
        shape = self.reward.shape
        now, following = _checked("values", values, shape), _later(self.following, shape)
        ahead = np.where(following >= 0, now[following], 0.0)
        # A truncated match is paid out by the rules, so only one that goes on needs an estimate.
        cut = (self.following < 0) & ~(self.terminated | self.truncated)
        if cut.any():
            if next_values is None:
                raise KilleError(
                    f"the matches of {cut.sum()} decisions go on after these; give the values of "
                    "next_observation as next_values"
                )
            ahead[cut] = _checked("next_values", next_values, shape)[cut]
        return advantages(self.reward, now, ahead, following, gamma, gae_lambda)


def advantages(
    reward: np.ndarray,
    values: np.ndarray,
    next_values: np.ndarray,
    following: np.ndarray,
    gamma: float,
    gae_lambda: float,
) -> np.ndarray:
    """Return generalized advantage estimates, [D] float64."""
    shape = np.shape(reward)[:1]
    reward, values, next_values = (
        _checked(name, value, shape)
        for name, value in (("reward", reward), ("values", values), ("next_values", next_values))
    )
    result = reward + gamma * next_values - values
    _run_backwards(result, _later(following, shape), gamma * gae_lambda)
    return result


def _checked(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    return arguments.numbers(name, value, np.float64, shape)


def _later(following: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return `following` as int64 [D] if each is negative or points at a later decision."""
    given = arguments.numbers("following", following, np.int64, shape)
    wrong = (given >= 0) & ((given >= len(given)) | (given <= np.arange(len(given))))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise RulesError(
            f"following is {given[row]} at decision {row} of {len(given)}; expected the index of "
            "a later decision, or a negative number for none"
        )
    return given


@kernel
def _run_backwards(errors, following, decay):
    """Add to the error of each decision the discounted errors of its stream."""
    # A stream's next decision always stands further back, so it is complete when it is read.
    for index in range(errors.shape[0] - 1, -1, -1):
        if following[index] >= 0:
            errors[index] += decay * errors[following[index]]


def _shown(name: str) -> Any:
    """Return a property that shows an array, read-only."""
    return property(lambda streams: read_only(getattr(streams, name)))


@kernel
def earn(rewards, credit, returns):
    """Add the rewards of a step to both, [N, P] each."""
    for i in range(rewards.shape[0]):
        for seat in range(rewards.shape[1]):
            credit[i, seat] += rewards[i, seat]
            returns[i, seat] += rewards[i, seat]


@kernel
def collect_credit(credit, table, seat):
    """Return the earnings of a seat since its last decision, and reset them to 0."""
    earned = credit[table, seat]
    credit[table, seat] = 0.0
    return earned


class SeatStreams:
    """Open decisions of P seats at N tables, and the rewards that complete them.

    A decision has a row, counted from 0 in the order of decisions. Arrays are read-only views that
    the next call overwrites.

    Attributes:
        count: Rows so far.
        open: [N, P] row of each seat's open decision, -1 for none.
        credit: [N, P] float64, units that no decision has been given yet.
        undecided: [N, P] float64, units earned in matches in which the seat decided nothing.
    """

    def __init__(self, credit: np.ndarray) -> None:
        """Begin without a decision."""
        self._count = 0
        self._open = np.full_like(credit, -1, dtype=np.int64)
        self._credit, self._undecided = credit, np.zeros_like(credit)
        self._reward = np.zeros(len(credit))
        self._next = np.full(len(credit), OPEN, dtype=np.int64)

    count = property(attrgetter("_count"))
    open, credit, undecided = map(_shown, ("_open", "_credit", "_undecided"))

    def decide(self, tables: np.ndarray, seats: np.ndarray) -> None:
        """Open the decisions of seats, [M] int64 each, and complete those before them."""
        num_tables, num_players = self._open.shape
        tables = arguments.rows(tables, num_tables)
        seats = arguments.numbers("seats", seats, np.int64, tables.shape)
        if len(seats) and not (seats.min() >= 0 and seats.max() < num_players):
            raise RulesError(f"seats are 0 to {num_players - 1}, got {shortened(seats)}")
        first = self._count
        self._make_room(first + len(tables))
        open_decisions(tables, seats, first, self._open, self._credit, self._reward, self._next)

    def _make_room(self, count: int) -> None:
        """Count so many rows, with room for their rewards."""
        self._count = count
        # Doubled, so that the copies of a long run stay few.
        while len(self._next) < count:
            self._reward = np.concatenate([self._reward, np.zeros_like(self._reward)])
            self._next = np.concatenate([self._next, np.full_like(self._next, OPEN)])

    def end(self, ended: np.ndarray) -> None:
        """Complete the decisions of matches that have ended, [N] bool."""
        ended = arguments.which(ended, len(self._open))
        streams = (self._open, self._credit, self._undecided, self._reward, self._next)
        end_decisions(ended, *streams)

    def completed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the decisions that are complete, [D]."""
        following = self._next[: self._count]
        rows = np.flatnonzero(following != OPEN)
        index = np.full(self._count + 1, -1, dtype=np.int64)  # the last one is that of END
        index[rows] = np.arange(len(rows))
        following = following[rows]
        return rows, self._reward[rows], following, index[following]

    def carry(self) -> np.ndarray:
        """Forget complete decisions; return the rows [O] of open ones, now rows 0 to O - 1."""
        open_ = self._open >= 0
        rows = self._open[open_]
        # None of them follows another, so any order will do.
        self._open[open_] = np.arange(len(rows))
        self._count = len(rows)
        self._next[:] = OPEN
        return rows


@kernel
def open_decisions(tables, seats, first, open_, credit, reward, following):
    """Open decisions, rows `first` and on, and complete those before them."""
    for number in range(tables.shape[0]):
        table, seat, row = tables[number], seats[number], first + number
        before = open_[table, seat]
        if before >= 0:
            reward[before] = collect_credit(credit, table, seat)
            following[before] = row
        open_[table, seat] = row


@kernel
def end_decisions(ended, open_, credit, undecided, reward, following):
    """Complete the decisions of matches that have ended."""
    for table in range(ended.shape[0]):
        if not ended[table]:
            continue
        for seat in range(open_.shape[1]):
            earned, row = collect_credit(credit, table, seat), open_[table, seat]
            if row >= 0:
                reward[row] = earned
                following[row] = END
            else:
                # No decision can be credited: the caller reports these units apart.
                undecided[table, seat] += earned
            open_[table, seat] = -1
