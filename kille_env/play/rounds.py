"""Tables with one seat of the outside, played on by kernels to that seat's next decision.

Between two decisions of a seat the others decide, one after the other. Where a `KernelPolicy` plays
them, a whole round is one call: its kernel chooses, the game's loop steps, and what the seats earn
is added up, without a return to Python.
"""

from functools import cache
from typing import Any, NoReturn, cast

import numpy as np

from kille_env.core.game import Game
from kille_env.core.jit import kernel, loop
from kille_env.core.rng import mix
from kille_env.core.threads import call_in_parallel
from kille_env.errors import illegal_choice
from kille_env.play.play import Players, chance_of, decision_key
from kille_env.play.policy import KernelPolicy, has_kernel, name_of
from kille_env.records import Logbook

ROUND = 64
"""Decisions of a table that one call plays at most; there are few rounds of more."""

ROTATE, RANDOM = -1, -2
"""The outside's seat: one further each match, or a random one."""
FOR_SEATS = np.uint64(0x5EA7)
"""Keeps the random numbers of seats apart from others of the same key."""

STREAM = np.dtype(
    [
        ("own", np.int64),
        ("decisions", np.int64),
        ("skipped", np.int64),
        ("skipped_units", np.float64),
        ("reward", np.float64),
        ("earned", np.float64),
        ("pending", np.float64),
        ("over", np.bool_),
        ("forfeited", np.bool_),
        ("terminated", np.bool_),
        ("truncated", np.bool_),
        ("wrong", np.bool_),
    ],
    align=True,
)
"""What is kept of each table for the outside's seat, see `SeatTables`; as records, because every
array that a kernel is called with takes time. `pending` is what the seat has earned since its last
decision, and `wrong` says that it has just asked for an illegal action."""


def _the_games(*_: Any) -> Any:
    """Stands for a kernel that `loop` binds; it is never called."""


step = choose = _the_games


@kernel
def sit_down(tables, chosen, passed, where, distances, seating, streams, returns):
    """Seats everybody for the new matches of the chosen tables.

    Where the one before was `passed` over, it is counted; else the count begins at 0.

    Args:
        tables: The batch's.
        chosen: [N] bool.
        passed: Whether their last matches ended without a decision of the outside's seat.
        where: The outside's seat, `ROTATE` or `RANDOM`.
        distances: [P] who sits so far to the left of it.
        seating: [N, P] is filled.
        streams: Begin a match.
        returns: [N, P] likewise.

    Returns:
        The most matches that were passed over at a table.
    """
    num_players, most = seating.shape[1], np.int64(0)
    for i in range(tables.shape[0]):
        if not chosen[i]:
            continue
        stream, table, own = streams[i], tables[i], where
        if passed:
            stream["skipped"] += 1
            stream["skipped_units"] += returns[i, stream["own"]]
        else:
            stream["skipped"], stream["skipped_units"] = 0, 0.0
        most = max(most, stream["skipped"])
        if where == ROTATE:
            first = mix(table["seed"] ^ FOR_SEATS) % np.uint64(num_players)
            own = (np.int64(first) + np.int64(table["matches"])) % num_players
        elif where == RANDOM:
            own = np.int64(mix(table["match_key"] ^ FOR_SEATS) % np.uint64(num_players))
        stream["own"] = own
        seat_players(own, distances, seating[i])
        stream["over"] = stream["forfeited"] = False
        stream["pending"] = stream["earned"] = 0.0
        stream["decisions"] = 0
        for seat in range(num_players):
            returns[i, seat] = 0.0
    return most


@kernel
def seat_players(own, distances, seating):
    """Writes who sits in each seat of a table."""
    for seat in range(seating.shape[0]):
        seating[seat] = distances[(seat - own) % seating.shape[0]]


@kernel
def judge(masks, actions, chosen, lenient, streams):
    """Marks the illegal actions among those of the chosen tables.

    Unless there are some and that is an error (not `lenient`), the other tables then show that
    nothing came of the step.

    Returns:
        How many there are; or -1 less a chosen table whose match is over.
    """
    wrong = 0
    for i in range(actions.shape[0]):
        if chosen[i] and streams[i]["over"]:
            return -1 - i
        action = actions[i]
        legal = 0 <= action < masks.shape[1] and masks[i, action] != 0
        streams[i]["wrong"] = chosen[i] and not legal
        wrong += chosen[i] and not legal
    for i in range(actions.shape[0]):
        if not chosen[i] and (lenient or wrong == 0):
            stream = streams[i]
            stream["reward"] = stream["skipped_units"] = 0.0
            stream["skipped"] = 0
            stream["terminated"] = stream["truncated"] = False
    return wrong


@kernel
def credit(rewards, streams, returns):
    """Adds up what a step has brought."""
    for i in range(rewards.shape[0]):
        streams[i]["pending"] += rewards[i, streams[i]["own"]]
        for seat in range(rewards.shape[1]):
            returns[i, seat] += rewards[i, seat]


@kernel
def pay(seats, terminated, truncated, chosen, illegal_reward, streams):
    """Pays out what the last decisions at the chosen tables have brought."""
    for i in range(seats.shape[0]):
        if not chosen[i]:
            continue
        stream, wrong = streams[i], streams[i]["wrong"]
        ended = seats[i] < 0 and not wrong
        stream["skipped"], stream["skipped_units"] = 0, 0.0
        stream["decisions"] += 1
        stream["reward"] = illegal_reward if wrong else stream["pending"]
        stream["pending"] = stream["pending"] if wrong else 0.0
        stream["earned"] += stream["reward"]
        stream["forfeited"] = wrong
        stream["terminated"] = wrong or (ended and terminated[i])
        stream["truncated"] = ended and truncated[i]
        stream["over"] = wrong or ended


def play_on(
    tables, rules, actions, which, seats, observations, masks, rewards, terminated, truncated,
    seating, match, decided, streams, returns, numbers, trail, number, given,
):  # fmt: skip
    """Plays on at all tables until somebody else than player `number` is to act everywhere.

    The arrays of a batch come first; `which` and `actions` are played first where `given`, and are
    overwritten. `seating` [N, P] says who sits where, `match` and `decided` count the players'
    decisions, `streams` and `returns` are filled for the outside's seat. `numbers` is what `choose`
    is called with, and `trail` is filled with what was played at table 0.

    Returns:
        How many steps were played, no more than `ROUND`; or -1 less the table with an illegal
        action, which has not been played.
    """
    size = seats.shape[0]
    for turn in range(trail.shape[0]):
        waiting = 0
        for i in range(size):
            seat, chosen = np.int64(seats[i]), turn > 0 or not given
            if chosen:
                which[i] = seat >= 0 and seating[i, seat] == number
            if not which[i]:
                continue
            waiting += 1
            if match[i] != tables[i]["match_key"]:
                match[i] = tables[i]["match_key"]
                for other in range(decided.shape[1]):
                    decided[i, other] = 0
            if seat < 0:
                continue
            if chosen:
                chance = chance_of(decision_key(match[i], seat, decided[i, seat]))
                actions[i] = choose(observations[i], masks[i], numbers, chance)
            decided[i, seat] += 1
        if waiting == 0:
            return turn
        illegal = step(
            tables, rules, actions, which, seats, observations, masks, rewards, terminated,
            truncated, False,
        )  # fmt: skip
        if illegal >= 0:
            for i in range(size):
                if which[i] and seats[i] >= 0:
                    decided[i, np.int64(seats[i])] -= 1
            return -1 - illegal
        trail[turn] = actions[0]
        credit(rewards, streams, returns)
    return trail.shape[0]


def _choose_rows(observations, masks, numbers, actions):
    """Writes what a kernel chooses in each row; returns the first illegal one, or -1."""
    for i in range(actions.shape[0]):
        action = np.int64(choose(observations[i], masks[i], numbers, 0.0))
        actions[i] = action
        if not 0 <= action < masks.shape[1] or masks[i, action] == 0:
            return i
    return -1


@cache
def _bound(template: Any, choice: Any, game: Game | None = None) -> Any:
    """Returns a loop with a policy's kernel in it, and the step of a game."""
    steps = {} if game is None else {"step": game.step}
    return loop(template, {"choose": choice, **steps})


def choices(policy: KernelPolicy, observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Returns what a policy's kernel chooses, [N] int64.

    Args:
        policy: A deterministic policy.
        observation: [N, F] uint8.
        mask: [N, A] int8.

    Raises:
        PolicyError: It chooses an illegal action.
    """
    actions = np.empty(len(mask), dtype=np.int64)
    seen = np.array(observation, dtype=np.uint8, order="C")  # a read-only one is compiled for anew
    legal = np.array(mask, dtype=np.int8, order="C")
    illegal = _bound(_choose_rows, policy.choose)(seen, legal, policy.numbers, actions)
    if illegal >= 0:
        chosen = int(actions[illegal])
        raise illegal_choice(name_of(policy), chosen, np.flatnonzero(legal[illegal]).tolist())
    return actions


class Rounds:
    """Plays tables on to the next decision of the outside's seat.

    Attributes:
        compiled: Whether kernels play the seats of a `KernelPolicy`; if not, it is asked like any
            other player. What is played is the same.
    """

    def __init__(
        self, players: Players, streams: np.ndarray, returns: np.ndarray, log: Logbook | None
    ) -> None:
        """Takes what it fills.

        Args:
            players: The tables, and who sits there; -1 is the outside.
            streams: [N] of `STREAM`.
            returns: [N, P] what the seats earn.
            log: Notes what is played at a batch of one table.
        """
        self.players, self._streams, self._returns, self._log = players, streams, returns, log
        self._parts, self._turns = players.batch._slices, [ROUND] * len(players.batch._slices)
        self._trails = [np.empty(ROUND, dtype=np.int64) for _ in self._parts]
        kernels = [i for i, player in enumerate(players.players) if has_kernel(player)]
        self._number = kernels[0] if kernels else -1
        self._alone = len(players.players) == 1
        self.compiled = bool(kernels) and not players.remember

    def step(self, actions: np.ndarray, which: np.ndarray) -> bool:
        """Plays the outside's actions [N], which are legal, at the chosen tables.

        Returns:
            Whether others may be to act now.
        """
        if self.compiled:
            self._run(actions.copy(), which.copy(), True)
            return not self._alone
        self.players.step(actions, which)
        credit(self.players.batch.reward, self._streams, self._returns)
        return True

    def others(self) -> bool:
        """Plays on where others are to act: each once, or by kernels until it is not their turn.

        Returns:
            Whether to call it again: others may be to act still, or a match may have ended.
        """
        batch, played = self.players.batch, False
        if self.compiled:
            idle = np.zeros(batch.num_tables, dtype=np.bool_)
            played = self._run(np.zeros(batch.num_tables, dtype=np.int64), idle, False)
            if self._alone:
                return False
        due = (batch.seat >= 0) & (batch.seat != self._streams["own"])
        if not due.any():
            return played
        self.players.play(due)
        credit(batch.reward, self._streams, self._returns)
        return True

    def _run(self, actions: np.ndarray, which: np.ndarray, given: bool) -> bool:
        """Plays by kernels, see `play_on`; returns whether there was anything to play."""
        players, batch = self.players, self.players.batch
        policy = cast(KernelPolicy, players.players[self._number])
        run, turns = _bound(play_on, policy.choose, batch.game), self._turns
        arrays = (
            actions, which, *batch._shown, players.seating, players.match, players.decided,
            self._streams, self._returns,
        )  # fmt: skip

        def play(number: int, part: slice) -> None:
            turns[number] = run(
                batch._tables[part], batch._rules, *(array[part] for array in arrays),
                policy.numbers, self._trails[number], self._number, given,
            )  # fmt: skip

        most, played = ROUND, False
        while most == ROUND:
            with batch._use:
                if len(turns) == 1:  # no views of the whole
                    turns[0] = run(
                        batch._tables, batch._rules, *arrays, policy.numbers, self._trails[0],
                        self._number, given,
                    )  # fmt: skip
                else:
                    call_in_parallel(play, list(enumerate(self._parts)))
            if min(turns) < 0:
                self._refuse(policy, actions)
            if self._log is not None:
                self._log.note(self._trails[0][: turns[0]])
            most, given = max(turns), False
            played = played or most > 0
        return played

    def _refuse(self, policy: KernelPolicy, actions: np.ndarray) -> NoReturn:
        """Raises the error about an illegal action that a kernel has chosen."""
        number = int(np.argmin(self._turns))
        table = self._parts[number].start - 1 - self._turns[number]
        legal = np.flatnonzero(self.players.batch.mask[table]).tolist()
        raise illegal_choice(name_of(policy), int(actions[table]), legal)
