"""Compiled loops over decisions: their keys and random numbers, and tables played by a kernel.

Between two decisions of a seat the others decide, one after the other. Where policies with a
compiled form play them, that is one call: its kernel chooses, the game's loop steps, and earnings
are added up, without a return to Python. The result is the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from kille_env.core.game import Game
from kille_env.core.jit import bind, in_plain, index, kernel, loop
from kille_env.core.rng import derive, mix
from kille_env.errors import PolicyError, illegal_choice, shortened
from kille_env.play.streams import earn

ROUND = 64
"""Most decisions of a table in one call; there are few rounds of more."""

_S11 = np.uint64(11)
_CHOICES = np.uint64(0x43686F696365)
"""Keeps the policies' random numbers apart from the cards', which come from the same key."""


@dataclass(frozen=True, eq=False)
class PolicyKernel:
    """The compiled form of a policy, so that loops play its seats without a return to Python.

    Attributes:
        choose: A `kille_env.core.jit.kernel` of an observation [F] uint8, a mask [A] int8,
            `numbers` and a random number in [0, 1). It returns the action that
            `kille_env.play.policy.pick_actions` selects with this number from the policy's
            probabilities.
        numbers: [K] int64, constants that it reads; a copy that cannot be written.
        deterministic: Whether the random number changes nothing.
    """

    choose: Callable[..., Any]
    numbers: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    deterministic: bool = False

    def __post_init__(self) -> None:
        """Copy the numbers."""
        given = self.numbers
        fits = isinstance(given, np.ndarray) and given.dtype == np.int64 and given.ndim == 1
        if not fits or not given.size or not callable(self.choose):
            raise PolicyError(
                f"a kernel has a function and reads an int64 array [K], K at least 1, got "
                f"{shortened(self.choose)} and {shortened(given)}"
            )
        # An array over bytes stays read-only, whatever its flags are set to.
        object.__setattr__(self, "numbers", np.frombuffer(given.tobytes(), dtype=np.int64))

    def __deepcopy__(self, memo: dict[int, Any]) -> "PolicyKernel":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return PolicyKernel, (self.choose, self.numbers, self.deterministic)


def share_a_kernel(*kernels: PolicyKernel | None) -> bool:
    """Return whether kernels are the same function, with as many numbers each."""
    same = {(id(one.choose), one.numbers.shape) if one else None for one in kernels}
    return len(same) == 1 and None not in same


def bound_later(*_: Any) -> Any:
    """Stand in for a kernel until `loop` binds the real one; it is never called."""


step = choose = bound_later


@kernel
def decision_key(match, seat, decided):
    """Return the key of a seat's decision from the match's key and its number of decisions."""
    return derive(derive(match ^ _CHOICES, seat), decided)


@kernel
def uniform_of(key):
    """Return the random number of a decision, in [0, 1)."""
    return (mix(key) >> _S11) * 2.0**-53


@kernel
def list_due(acting, keys, which, match, decided, rows, seats, words, uniforms):
    """List the decisions that are due, with their keys and random numbers; return their number."""
    # At a table with a new match the count of decisions begins at 0 again.
    count = 0
    for row in range(acting.shape[0]):
        seat = np.int64(acting[row])
        if seat < 0 or not which[row]:
            continue
        if keys[row] != match[row]:
            match[row] = keys[row]
            decided[row, :] = 0
        # By the count of the seat's own decisions: then neither the other seats nor other tables
        # change its random numbers.
        key = decision_key(keys[row], seat, decided[row, seat])
        rows[count], seats[count] = row, seat
        words[count], uniforms[count] = key, uniform_of(key)
        count += 1
    return count


@kernel
def mark_due(seats, seating, due):
    """Mark the tables where a policy is to act; return whether there is one."""
    found = False
    for i in range(seats.shape[0]):
        due[i] = seats[i] >= 0 and seating[i, np.int64(seats[i])] >= 0
        found |= due[i]
    return found


@kernel
def begin_anew(which, decided, credit, returns):
    """Reset all three, [N, P], to 0 at the chosen tables."""
    for i in range(which.shape[0]):
        if which[i]:
            for seat in range(decided.shape[1]):
                decided[i, seat] = 0
                credit[i, seat] = returns[i, seat] = 0.0


def play_on(
    tables, rules, actions, which, seats, observations, masks, rewards, terminated, truncated,
    seating, match, decided, credit, returns, numbers, trail, number, given,
):  # fmt: skip
    """Play all tables until it is nowhere the turn of policy `number`.

    `which` and `actions` are played first where `given`, and are overwritten; `trail` is filled
    with the actions at table 0; `numbers` are [1, K], or a row for each rule set. Returns the
    steps, at most `ROUND`; or -1 less the table of an illegal action, before it is played.
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
                uniform = uniform_of(decision_key(match[i], seat, decided[i, seat]))
                own = index(tables[i]["rules"] if numbers.shape[0] > 1 else 0)
                actions[i] = choose(observations[i], masks[i], numbers[own], uniform)
            decided[i, seat] += 1
        if waiting == 0:
            return turn
        illegal = step(
            tables, rules, actions, which, seats, observations, masks, rewards, terminated,
            truncated, False,
        )  # fmt: skip
        if illegal >= 0:
            # The step has played nothing, so none of these decisions has been made.
            for i in range(size):
                if which[i] and seats[i] >= 0:
                    decided[i, np.int64(seats[i])] -= 1
            return -1 - illegal
        trail[turn] = actions[0]
        earn(rewards, credit, returns)
    return trail.shape[0]


def choose_rows(observations, masks, numbers, uniforms, actions):
    """Write the choice of a kernel in each row; return the first illegal one, or -1."""
    for i in range(actions.shape[0]):
        action = np.int64(choose(observations[i], masks[i], numbers, uniforms[i]))
        actions[i] = action
        if not 0 <= action < masks.shape[1] or masks[i, action] == 0:
            return i
    return -1


def bound(template: Any, choice: Any, game: Game | None = None) -> Any:
    """Return a loop with the kernel of a policy and the step of a game."""
    return _bound(template, choice, game, in_plain())


@cache
def _bound(template: Any, choice: Any, game: Game | None, plain: bool) -> Any:
    """Return the loop in one of its forms: plain Python calls the game's step as plain Python."""
    steps = {} if game is None else {"step": game.kernel("step") if plain else game.step}
    return (bind if plain else loop)(template, {"choose": choice, **steps})


def choices(
    name: str,
    choose: Callable[..., Any],
    numbers: np.ndarray,
    observation: np.ndarray,
    mask: np.ndarray,
    uniforms: np.ndarray | None = None,
) -> np.ndarray:
    """Return the legal choices of a kernel, [N] int64, for observations [N, F] and masks [N, A]."""
    actions = np.empty(len(mask), dtype=np.int64)
    seen = np.array(observation, dtype=np.uint8, order="C")  # a read-only one is compiled for anew
    legal = np.array(mask, dtype=np.int8, order="C")
    uniforms = np.zeros(len(mask)) if uniforms is None else uniforms
    # Numba compiles a function once more for a read-only array.
    writable = numbers if numbers.flags.writeable else numbers.copy()
    illegal = bound(choose_rows, choose)(seen, legal, writable, uniforms, actions)
    if illegal >= 0:
        chosen = int(actions[illegal])
        raise illegal_choice(name, chosen, np.flatnonzero(legal[illegal]).tolist())
    return actions
