"""Experience without a library: every decision of every seat once, complete.

A seat's consecutive decisions in a match are a stream of their own. All that the seat earns until
its next decision, or until the match ends, is the reward of its last one, and what it earns before
its first decision of the match (its ante, say) counts with that one. A seat that decides nothing in
a match has no decision to reward; `Collector.undecided` counts what such seats earn.

`collect` plays whole matches, `Collector` a number of steps after which the tables stand in the
middle of their matches. Both let one policy play all seats, or several play seats that are theirs.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.fixed import read_only
from kille_env.core.floats import READINGS, Reading
from kille_env.core.jit import kernel
from kille_env.errors import KilleError, RulesError, shortened
from kille_env.play.functions import FunctionPolicy
from kille_env.play.play import Players
from kille_env.play.policy import Player, PlayerLike, pick_actions, plays, resolve

END, OPEN = -1, -2
"""What stands for a decision's next one: the match ended after it; it is not known yet."""
KINDS = (*READINGS, "box")
PolicyFunction = Callable[[np.ndarray, np.ndarray], Any]
"""From observations [N, F] and masks [N, A] to probabilities [N, A], an array or a tensor."""


class Transitions(NamedTuple):
    """D decisions, each with all that came of it; a later one of a stream stands further back.

    Attributes:
        observation: [D, F] what the seat saw, uint8 or float32; [D, S] where seats are read.
        mask: [D, A] int8, what it was allowed to do.
        action: [D] int64, what it did.
        reward: [D] float64, units: all that it earned until its next decision or the end.
        next_observation: [D, F] what it saw at its next decision, or after the end.
        next_mask: [D, A] int8, what it was allowed to do then; zeros after the end.
        terminated: [D] bool, whether the match ended by the rules before its next decision.
        truncated: [D] bool, whether a cap ended it. The rules pay everything out then, so there is
            nothing to estimate either.
        log_probability: [D] float64, of the action, under the policy that chose it.
        table: [D] int64, where.
        seat: [D] int64, whose.
        position: [D] int64, distance from forehand: 0 for forehand, P - 1 for the dealer.
        following: [D] int64, index of the seat's next decision in these arrays; -1 if the match
            ended, or if that decision will be complete in a later call of `Collector.collect`.
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

    def advantages(
        self,
        values: Any,
        next_values: Any = None,
        *,
        gamma: float = 1.0,
        gae_lambda: float = 1.0,
    ) -> np.ndarray:
        """Returns generalized advantage estimates along each seat's stream, [D] float64.

        Returns to learn values from are these plus `values`.

        Args:
            values: [D] value of each observation, in units.
            next_values: [D] value of each next observation. It counts only where the match goes on
                and the next decision is not among these; `collect` leaves no such decisions.
            gamma: Discount from one decision of a seat to its next.
            gae_lambda: From 0 (one-step estimates) to 1 (what was earned in the end).

        Raises:
            KilleError: `next_values` are needed, or these are not [D] numbers.
        """
        shape = self.reward.shape
        own, following = _checked("values", values, shape), _later(self.following, shape)
        ahead = np.where(following >= 0, own[following], 0.0)
        cut = (self.following < 0) & ~(self.terminated | self.truncated)
        if cut.any():
            if next_values is None:
                raise KilleError(
                    f"the matches of {cut.sum()} decisions go on after these; give the values of "
                    "next_observation as next_values"
                )
            ahead[cut] = _checked("next_values", next_values, shape)[cut]
        return advantages(self.reward, own, ahead, following, gamma, gae_lambda)


def advantages(
    reward: np.ndarray,
    values: np.ndarray,
    next_values: np.ndarray,
    following: np.ndarray,
    gamma: float,
    gae_lambda: float,
) -> np.ndarray:
    """Returns generalized advantage estimates, [D] float64.

    Args:
        reward: [D] float64.
        values: [D] float64.
        next_values: [D] float64, 0 where nothing follows.
        following: [D] int64, index of the next decision of the stream, further back; or negative.
        gamma: Discount.
        gae_lambda: From 0 to 1.

    Raises:
        RulesError: The arrays are not [D], or `following` points at no later decision.
    """
    shape = np.shape(reward)[:1]
    reward, values, next_values = (
        _checked(name, value, shape)
        for name, value in (("reward", reward), ("values", values), ("next_values", next_values))
    )
    found = reward + gamma * next_values - values
    _run_backwards(found, _later(following, shape), gamma * gae_lambda)
    return found


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
def _run_backwards(found, following, decay):
    """Adds to each decision's own error what its stream's later ones say."""
    for index in range(found.shape[0] - 1, -1, -1):
        if following[index] >= 0:
            found[index] += decay * found[following[index]]


def _shown(name: str) -> Any:
    """Return a property that shows an array, read-only."""
    return property(lambda streams: read_only(getattr(streams, name)))


class SeatStreams:
    """Which seat's decision is open, and what it has earned: N tables, P seats.

    A decision has a row, counted from 0 in the order of decisions. Arrays are read-only views that
    the next call overwrites.

    Attributes:
        count: Rows so far.
        open: [N, P] row of each seat's open decision, -1 for none.
        accrued: [N, P] float64, units earned since that decision.
        undecided: [N, P] float64, units earned in matches in which the seat decided nothing.
    """

    def __init__(self, num_tables: int, num_players: int) -> None:
        shape = (num_tables, num_players)
        self._count = 0
        self._open = np.full(shape, -1, dtype=np.int64)
        self._accrued, self._undecided = np.zeros((2, *shape))
        self._reward = np.zeros(num_tables)
        self._next = np.full(num_tables, OPEN, dtype=np.int64)

    count = property(attrgetter("_count"))
    open, accrued, undecided = map(_shown, ("_open", "_accrued", "_undecided"))

    def decide(self, tables: np.ndarray, seats: np.ndarray) -> None:
        """Opens the decisions of seats, [M] int64 each, and completes those before them.

        Raises:
            RulesError: No such tables or seats, or not a seat for each table.
        """
        num_tables, num_players = self._open.shape
        tables = arguments.rows(tables, num_tables)
        seats = arguments.numbers("seats", seats, np.int64, tables.shape)
        if len(seats) and not (seats.min() >= 0 and seats.max() < num_players):
            raise RulesError(f"seats are 0 to {num_players - 1}, got {shortened(seats)}")
        first = self._count
        self._make_room(first + len(tables))
        open_decisions(tables, seats, first, self._open, self._accrued, self._reward, self._next)

    def _make_room(self, count: int) -> None:
        """Counts so many rows, with room for what comes of them."""
        self._count = count
        while len(self._next) < count:
            self._reward = np.concatenate([self._reward, np.zeros_like(self._reward)])
            self._next = np.concatenate([self._next, np.full_like(self._next, OPEN)])

    def pay(self, rewards: np.ndarray, ended: np.ndarray) -> None:
        """Credits what a step brought, and completes the decisions of matches that it ended.

        Args:
            rewards: [N, P] float64, what each seat earned in the step.
            ended: [N] bool.

        Raises:
            RulesError: They have other shapes.
        """
        rewards = arguments.numbers("rewards", rewards, np.float64, self._open.shape)
        ended = arguments.which(ended, len(rewards))
        streams = (self._open, self._accrued, self._undecided, self._reward, self._next)
        pay_streams(rewards, ended, *streams)

    def forget(self) -> None:
        """Drops open decisions and what they have earned, where a reset interrupts the matches."""
        self._open[:] = -1
        self._accrued[:] = 0.0

    def load(self, open_: np.ndarray, accrued: np.ndarray) -> None:
        """Goes on with open decisions, rows 0 to O - 1, and what they have earned.

        Raises:
            RulesError: They have other shapes, or the rows are not these; nothing has changed.
        """
        shape = self._open.shape
        open_ = arguments.numbers("open", open_, np.int64, shape)
        accrued = arguments.numbers("accrued", accrued, np.float64, shape)
        rows = open_[open_ >= 0]
        if open_.min() < -1 or not np.array_equal(rows, np.arange(len(rows))):
            raise RulesError(
                f"open is {shortened(open_)}; expected -1, or else 0, 1, 2, ... in order"
            )
        self._open[:], self._accrued[:] = open_, accrued
        self._make_room(len(rows))
        self._next[:] = OPEN

    def completed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Returns the decisions that are complete.

        Returns:
            [D] rows; [D] float64 rewards; [D] rows of the next decisions, complete or not, or END;
            [D] index into these arrays of the next decision, -1 where it is not complete or none.
        """
        following = self._next[: self._count]
        rows = np.flatnonzero(following != OPEN)
        index = np.full(self._count + 1, -1, dtype=np.int64)  # the last one is that of END
        index[rows] = np.arange(len(rows))
        following = following[rows]
        return rows, self._reward[rows], following, index[following]

    def carry(self) -> np.ndarray:
        """Forgets what is complete; returns the rows [O] of open decisions, now rows 0 to O - 1."""
        open_ = self._open >= 0
        rows = self._open[open_]
        self._open[open_] = np.arange(len(rows))
        self._count = len(rows)
        self._next[:] = OPEN
        return rows


@kernel
def open_decisions(tables, seats, first, open_, accrued, reward, following):
    """Opens decisions, rows `first` and on, and completes those before them."""
    for number in range(tables.shape[0]):
        table, seat, row = tables[number], seats[number], first + number
        before = open_[table, seat]
        if before >= 0:
            reward[before] = accrued[table, seat]
            following[before] = row
            accrued[table, seat] = 0.0
        open_[table, seat] = row


@kernel
def pay_streams(rewards, ended, open_, accrued, undecided, reward, following):
    """Credits rewards, and completes the decisions of matches that have ended."""
    for table in range(rewards.shape[0]):
        for seat in range(rewards.shape[1]):
            accrued[table, seat] += rewards[table, seat]
            if not ended[table]:
                continue
            row = open_[table, seat]
            if row >= 0:
                reward[row] = accrued[table, seat]
                following[row] = END
            else:
                undecided[table, seat] += accrued[table, seat]
            accrued[table, seat] = 0.0
            open_[table, seat] = -1


def _rows_of(seen: np.ndarray, rows: np.ndarray, reading: Reading | None) -> np.ndarray:
    """Returns rows [M] of observations [N, F], fresh: uint8 [M, F], or what is read of them."""
    return seen[rows] if reading is None else reading.rows(seen, rows)


def _is_function(policy: Any) -> bool:
    """Returns whether a policy is called with observations and masks; `resolve` takes others."""
    theirs = ("predict", "forward", "action_probabilities")  # of libraries, OpenSpiel among them
    other = plays(policy) or any(hasattr(policy, name) for name in theirs)
    return callable(policy) and not other and not isinstance(policy, (str, Path, type))


class Collector:
    """Plays all seats of a batch with one policy or several and returns the decisions.

    Matches that end begin again, whether the batch is made with `restart` or not. What is random in
    the choices follows from the deals, as in `kille_env.play.play`: equal seeds of the batch give
    equal decisions, with any number of threads.

    Example:
        >>> import kille_env
        >>> batch = kille_env.make_batch("byteskille", 64, 3, restart=False)
        >>> found = kille_env.Collector(batch, "rule_of_thumb", seed=1).collect(5)
        >>> len(found.action) == len(found.reward)
        True

    Attributes:
        batch: The tables.
        undecided: [N, P] float64, units that seats have earned in matches without a decision of
            theirs.
    """

    def __init__(
        self,
        batch: Batch,
        policy: PolicyFunction | PlayerLike | Sequence[PolicyFunction | PlayerLike],
        *,
        observation: str = "float",
        seed: int | None = None,
        seating: np.ndarray | None = None,
    ) -> None:
        """Begins matches at all tables.

        Args:
            batch: The tables; step them only through `collect`.
            policy: A function from observations [M, F] and masks [M, A] to probabilities [M, A], an
                array or a tensor; it gets the kind of observation that is asked for. Or a player,
                which gets uint8: whatever `kille_env.play.policy.resolve` takes. Or a sequence of
                such, with `seating`.
            observation: "float": float32 [F] from 0 to 1; "seats": float32 [S], of one size at
                tables of every size (`kille_env.core.floats`); "box": uint8 [F].
            seed: Seed of the batch; None goes on with its random streams.
            seating: [N, P] number of the policy that plays each seat, from 0; or [P], the same at
                all tables. None has the first one play them all.

        Raises:
            RulesError: No such kind of observation, an impossible seed, or a seating that names a
                policy that is not there.
            PolicyError: No such player.
        """
        if not isinstance(batch, Batch):
            raise KilleError("a Collector needs device='cpu'; on a GPU `collect` plays matches")
        if observation not in KINDS:
            raise RulesError(
                f"observation is {shortened(observation)}, expected 'float', 'seats' or 'box'"
            )
        self.batch = batch
        self._kind, reading = observation, READINGS.get(observation)
        self._reading = None if reading is None else reading(batch.spec, batch.num_players)
        policies = policy if isinstance(policy, (list, tuple)) else [policy]
        everywhere = np.array(0) if seating is None else seating
        self._players = Players(batch, [self._player(each) for each in policies], everywhere)
        if self._players.seating.min() < 0:
            raise RulesError(
                f"seating has a seat of nobody (-1); expected 0 to {len(policies) - 1}, one number "
                "for each policy"
            )
        self._streams = SeatStreams(batch.num_tables, batch.num_players)
        self._blocks = [self._nothing()]
        numbers = np.zeros(0, dtype=np.int64)
        self._ends = [(numbers, batch.truncated[:0], batch.observation[:0])]
        with self._restarting_here():
            batch.reset(seed)

    @property
    def undecided(self) -> np.ndarray:
        """See the class."""
        return self._streams.undecided

    def collect(self, steps: int) -> Transitions:
        """Plays steps of the batch, up to one decision per table each.

        Decisions that are still open at the end wait, and come complete in a later call.

        Args:
            steps: T, at least 1.

        Raises:
            RulesError: No such number.
            PolicyError: The policy returned what is no distribution over the legal actions.
        """
        everywhere = np.ones(self.batch.num_tables, dtype=np.bool_)
        with self._restarting_here():
            for _ in range(arguments.whole("steps", steps, 1)):
                ended = self._play(everywhere)
                if ended.any():
                    self.batch.reset(which=ended)
        return self._gather()

    def finish(self) -> Transitions:
        """Plays every table to the end of its match, where it stays.

        Raises:
            PolicyError: See `collect`.
        """
        playing = np.ones(self.batch.num_tables, dtype=np.bool_)
        with self._restarting_here():
            while playing.any():
                playing &= ~self._play(playing)
        return self._gather()

    def _player(self, policy: Any) -> Player:
        game, seats = self.batch.spec.name, self.batch.num_players
        if _is_function(policy):
            asked = FunctionPolicy(policy, observation=self._kind, returns="probabilities")
            return asked.at_table(game, seats)
        return resolve(policy, game, seats, self.batch.rules, explores=True)

    @contextmanager
    def _restarting_here(self) -> Iterator[None]:
        """Lets finished tables wait, so that what their seats see after the end can be read."""
        before, self.batch.restart = self.batch.restart, False
        try:
            yield
        finally:
            self.batch.restart = before

    def _play(self, which: np.ndarray) -> np.ndarray:
        """Plays one decision at each chosen table; returns [N] where the match has ended.

        A match that the cards decided before anybody could has none: it is paid out and ends.
        """
        batch, players = self.batch, self._players
        tables, seats, _, chances = due = players.due(which)
        actions = np.zeros(batch.num_tables, dtype=np.int64)
        if len(tables):
            probabilities = players.probabilities(due)
            actions[tables] = chosen = pick_actions(probabilities, chances)
            odds = probabilities[np.arange(len(tables)), chosen]
            position = (seats - batch.tables["dealer"][tables] - 1) % batch.num_players
            seen = batch.observation[tables], batch.mask[tables]
            self._blocks.append((*seen, chosen, np.log(odds), tables, seats, position))
            self._streams.decide(tables, seats)
        players.step(actions, which)
        ended = which & (batch.terminated | batch.truncated)
        self._look_back(ended)
        self._streams.pay(batch.reward, ended)
        return ended

    def _look_back(self, ended: np.ndarray) -> None:
        """Notes how matches have ended for the seats that have decided in them."""
        tables, seats = np.nonzero((self._streams.open >= 0) & ended[:, None])
        if len(tables):
            rows = self._streams.open[tables, seats]
            seen = self.batch.take(tables).observe(seats)
            self._ends.append((rows, self.batch.truncated[tables], seen))

    def _gather(self) -> Transitions:
        """Returns the complete decisions, and keeps the open ones."""
        rows, reward, next_rows, following = self._streams.completed()
        columns = [np.concatenate(parts) for parts in zip(*self._blocks, strict=True)]
        ends, cut_off, after_end = map(np.concatenate, zip(*self._ends, strict=True))
        self._ends = [(ends[:0], cut_off[:0], after_end[:0])]
        carried = self._streams.carry()
        self._blocks = [tuple(column[carried] for column in columns)]
        seen, mask, action, log_probability, table, seat, position = columns
        seen = np.concatenate([seen, after_end])  # what is seen after the end lies behind the rest
        masks = np.concatenate([mask, np.zeros((len(ends), mask.shape[1]), dtype=np.int8)])
        final, truncated = np.zeros(len(mask), np.int64), np.zeros(len(mask), np.bool_)
        final[ends], truncated[ends] = np.arange(len(mask), len(seen)), cut_off
        over, truncated = next_rows == END, truncated[rows]
        after = np.where(over, final[rows], next_rows)
        return Transitions(
            observation=_rows_of(seen, rows, self._reading),
            mask=mask[rows],
            action=action[rows],
            reward=reward,
            next_observation=_rows_of(seen, after, self._reading),
            next_mask=masks[after],
            terminated=over & ~truncated,
            truncated=truncated,
            log_probability=log_probability[rows],
            table=table[rows],
            seat=seat[rows],
            position=position[rows],
            following=following,
        )

    def _nothing(self) -> tuple[np.ndarray, ...]:
        """Returns the columns of no decisions."""
        batch, numbers = self.batch, np.zeros(0, dtype=np.int64)
        seen, mask = batch.observation[:0], batch.mask[:0]
        return seen, mask, numbers, np.zeros(0), numbers, numbers, numbers


def collect(
    batch: Batch,
    policy: PolicyFunction | PlayerLike | Sequence[PolicyFunction | PlayerLike],
    *,
    observation: str = "float",
    seed: int | None = None,
    seating: np.ndarray | None = None,
) -> Transitions:
    """Begins matches at all tables and plays each to its end.

    Example:
        >>> import kille_env
        >>> batch = kille_env.make_batch("byteskille", 64, 3, restart=False)
        >>> found = kille_env.collect(batch, "rule_of_thumb", seed=1)
        >>> found.observation.shape == (len(found.action), batch.observation.shape[1])
        True

    Args:
        batch: The tables; their matches are over afterwards. Those on a GPU are played there: the
            policy gets tensors and the decisions are tensors, see
            `kille_env.play.torch_experience.collect`.
        policy: See `Collector`, as for the other arguments.
        observation: "float", "seats" or "box"; see `Collector`.
        seed: Seed of the batch; None goes on with its random streams.
        seating: [N, P] or [P], number of the policy that plays each seat; see `Collector`.

    Raises:
        KilleError: See `Collector`.
    """
    if not isinstance(batch, Batch):
        return _collect_on_gpu(batch, policy, observation, seed, seating)
    return Collector(batch, policy, observation=observation, seed=seed, seating=seating).finish()


def _collect_on_gpu(
    batch: Any, policy: Any, observation: str, seed: int | None, seating: Any
) -> Transitions:
    from kille_env.play import torch_experience

    if seating is not None:
        raise RulesError("on a GPU one policy plays all seats; a seating needs device='cpu'")
    return torch_experience.collect(batch, policy, observation=observation, seed=seed)
