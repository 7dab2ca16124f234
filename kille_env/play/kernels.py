"""Decisions in compiled loops: their keys and random numbers, and tables played on by a policy.

Between two decisions of a seat the others decide, one after the other. Where a `KernelPolicy` plays
them, that is one call: its kernel chooses, the game's loop steps, and what the seats earn is added
up, without a return to Python. What is played is the same.
"""

from functools import cache
from typing import Any

import numpy as np

from kille_env.core.game import Game
from kille_env.core.jit import bind, in_plain, kernel, loop
from kille_env.core.rng import derive, mix
from kille_env.errors import illegal_choice
from kille_env.play.policy import KernelPolicy, name_of
from kille_env.play.streams import earn

ROUND = 64
"""Decisions of a table that one call plays at most; there are few rounds of more."""

_S11 = np.uint64(11)
_CHOICES = np.uint64(0x43686F696365)
"""Keeps the players' random numbers apart from the cards', which come from the same key."""


def _the_games(*_: Any) -> Any:
    """Stands for a kernel that `loop` binds; it is never called."""


step = choose = _the_games


@kernel
def decision_key(match, seat, decided):
    """Returns the key of a seat's decision: the match's, the seat, and how often it has decided."""
    return derive(derive(match ^ _CHOICES, seat), decided)


@kernel
def chance_of(key):
    """Returns the random number of a decision, from 0 to below 1."""
    return (mix(key) >> _S11) * 2.0**-53


@kernel
def list_due(acting, keys, which, match, decided, rows, seats, words, chances):
    """Lists the decisions that are due, with their keys and random numbers; returns how many.

    At a table with a new match the count of decisions begins at 0 again.
    """
    count = 0
    for row in range(acting.shape[0]):
        seat = np.int64(acting[row])
        if seat < 0 or not which[row]:
            continue
        if keys[row] != match[row]:
            match[row] = keys[row]
            decided[row, :] = 0
        key = decision_key(keys[row], seat, decided[row, seat])
        rows[count], seats[count] = row, seat
        words[count], chances[count] = key, chance_of(key)
        count += 1
    return count


@kernel
def mark_due(seats, seating, due):
    """Marks the tables where a player is to act; returns whether there is one."""
    found = False
    for i in range(seats.shape[0]):
        due[i] = seats[i] >= 0 and seating[i, np.int64(seats[i])] >= 0
        found |= due[i]
    return found


@kernel
def begin_anew(which, decided, credit, returns):
    """Puts all three, [N, P], back to 0 at the chosen tables."""
    for i in range(which.shape[0]):
        if which[i]:
            for seat in range(decided.shape[1]):
                decided[i, seat] = 0
                credit[i, seat] = returns[i, seat] = 0.0


def play_on(
    tables, rules, actions, which, seats, observations, masks, rewards, terminated, truncated,
    seating, match, decided, credit, returns, numbers, trail, number, given,
):  # fmt: skip
    """Plays on at all tables until somebody else than player `number` is to act everywhere.

    The arrays of a batch come first; `which` and `actions` are played first where `given`, and are
    overwritten. `seating` [N, P] says who sits where, `match` and `decided` count the players'
    decisions, `credit` and `returns` are added to by `earn`. `numbers` is what `choose` is called
    with, and `trail` is filled with what was played at table 0.

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
        earn(rewards, credit, returns)
    return trail.shape[0]


def choose_rows(observations, masks, numbers, actions):
    """Writes what a kernel chooses in each row; returns the first illegal one, or -1."""
    for i in range(actions.shape[0]):
        action = np.int64(choose(observations[i], masks[i], numbers, 0.0))
        actions[i] = action
        if not 0 <= action < masks.shape[1] or masks[i, action] == 0:
            return i
    return -1


def bound(template: Any, choice: Any, game: Game | None = None) -> Any:
    """Return a loop with a policy's kernel in it, and the step of a game."""
    return _bound(template, choice, game, in_plain())


@cache
def _bound(template: Any, choice: Any, game: Game | None, plain: bool) -> Any:
    """Return the loop in one of its forms: plain Python calls the game's step as plain Python."""
    steps = {} if game is None else {"step": game.kernel("step") if plain else game.step}
    return (bind if plain else loop)(template, {"choose": choice, **steps})


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
    illegal = bound(choose_rows, policy.choose)(seen, legal, policy.numbers, actions)
    if illegal >= 0:
        chosen = int(actions[illegal])
        raise illegal_choice(name_of(policy), chosen, np.flatnonzero(legal[illegal]).tolist())
    return actions
