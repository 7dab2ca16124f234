"""Counterfactual regret minimization: CFR, CFR+, discounted CFR and predictive CFR+.

One loop with different hyperparameters: positive and negative regrets are discounted by separate
factors, the average weights iterations by a power of their number, and the next strategy may add
the last instantaneous regrets as a prediction of the next ones.

- CFR: Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with incomplete
  information", NIPS 2007.
- CFR+: Tammelin, "Solving large imperfect information games using CFR+", arXiv 1407.5042.
- Discounted CFR: Brown and Sandholm, "Solving imperfect-information games via discounted regret
  minimization", AAAI 2019.
- Predictive CFR+: Farina, Kroer and Sandholm, "Faster game solving via predictive Blackwell
  approachability", AAAI 2021.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kille_env.core import arguments
from kille_env.core.jit import kernel
from kille_env.errors import KilleError, did_you_mean
from kille_env.files import BROKEN, read_arrays, write_arrays
from kille_training.solving.trees.sequence_game import (
    SequenceGame,
    reach_before,
    sequence_reach,
    sweep,
)
from kille_training.solving.trees.values import (
    NashConv,
    check_strategy,
    nash_conv,
    normalised,
    uniform,
)

SLICE = 0.2
"""Approximate seconds of one compiled call, during which Ctrl-C waits."""

STATE = ("regret", "average", "current")
"""The state of a solver, [S] each."""

ALWAYS, NEVER = float("inf"), float("-inf")
"""Exponents of a discount of 1 and of 0."""


class Variant(NamedTuple):
    """Hyperparameters of a method of regret minimization.

    After iteration t regrets are multiplied by t**x / (t**x + 1).

    Attributes:
        positive: x of positive regrets; `ALWAYS` keeps them.
        negative: x of negative ones; `NEVER` resets them to 0: regret matching plus.
        averaging: Iteration t has the weight t**averaging in the average.
        predictive: Whether the last instantaneous regrets predict the next ones.
    """

    positive: float
    negative: float
    averaging: float
    predictive: bool = False

    def schedule(self, done: int, count: int) -> np.ndarray:
        """Return the two factors and the weight of the `count` iterations after `done`, [n, 3]."""
        number = np.arange(done + 1, done + count + 1, dtype=np.float64)
        return np.stack(
            [_kept(number, self.positive), _kept(number, self.negative), number**self.averaging],
            axis=1,
        )


VARIANTS = {
    "cfr": Variant(ALWAYS, ALWAYS, 0.0),
    "cfr+": Variant(ALWAYS, NEVER, 1.0),
    "dcfr": Variant(1.5, 0.0, 2.0),
    "pcfr+": Variant(ALWAYS, NEVER, 2.0, predictive=True),
}
"""The methods by name."""


def _kept(number: np.ndarray, exponent: float) -> np.ndarray:
    """Return number**x / (number**x + 1), or its limit for infinite x."""
    if np.isinf(exponent):
        return np.full(len(number), float(exponent > 0))
    return 1.0 / (1.0 + number**-exponent)


def next_check(iteration: int) -> int:
    """Return the next iteration at which to measure a solver, a tenth further."""
    check = 1
    while check <= iteration:
        check += 1 + check // 10
    return check


class _Memory(NamedTuple):
    """Arrays of the kernels."""

    iterations: np.ndarray  # [1], so far
    regret: np.ndarray  # [S]
    average: np.ndarray  # [S], the weighted sum of the reach of all iterations
    current: np.ndarray  # [S], the strategy of the next iteration
    reach: np.ndarray  # [S + 1], of that strategy, see `sequence_reach`
    gain: np.ndarray  # [S + 1], what follows each sequence, see `sweep`; 0 between iterations
    sets: np.ndarray  # [I], the information sets player by player, none before one that leads to it
    begin: np.ndarray  # [P + 1], the first of them of each player


class CFR:
    """Regret minimization with full traversals and alternating updates.

    A solver can stop and resume at any iteration; the result is the same bit for bit.
    """

    def __init__(
        self, tree: SequenceGame, method: str = "cfr+", start: np.ndarray | None = None
    ) -> None:
        """Begin with uniform play, or with another strategy [S]."""
        tree.check()
        begin = uniform(tree) if start is None else check_strategy(tree, start)
        if method not in VARIANTS:
            raise KilleError(f"there is no method {method!r}. {did_you_mean(method, VARIANTS)}")
        self.tree, self.method, sequences = tree, method, tree.num_sequences
        self._slice = 1  # iterations of the next compiled call
        self._memory = _Memory(
            iterations=np.zeros(1, dtype=np.int64),
            regret=np.zeros(sequences),
            average=np.zeros(sequences),
            current=begin,
            reach=sequence_reach(tree, begin),
            gain=np.zeros(sequences + 1),
            sets=np.argsort(tree.player, kind="stable"),
            begin=np.searchsorted(np.sort(tree.player), np.arange(tree.num_players + 1)),
        )

    @property
    def iteration(self) -> int:
        """Iterations so far."""
        return int(self._memory.iterations[0])

    @property
    def average(self) -> np.ndarray:
        """The average strategy, [S], which converges; uniform in sets never reached."""
        return normalised(self.tree, self._memory.average)

    @property
    def current(self) -> np.ndarray:
        """The strategy of the next iteration, [S]."""
        return self._memory.current.copy()

    def run(
        self,
        iterations: int,
        *,
        until: float = 0.0,
        progress: Callable[[int, NashConv], None] | None = None,
    ) -> NashConv | None:
        """Iterate, and optionally measure NashConv of the average at fixed iterations.

        Ctrl-C stops after the current compiled call (a fraction of a second); the solver can then
        be saved or resumed. The result does not depend on the split into runs.
        """
        goal = self.iteration + arguments.whole("iterations", iterations, 0)
        if progress is None and until <= 0.0:
            self._iterate_to(goal)
            return None
        stop = self.iteration - 1
        while True:
            stop = min(next_check(stop), goal)
            self._iterate_to(stop)
            found = nash_conv(self.tree, self.average)
            if progress is not None:
                progress(stop, found)
            if found.total <= until or stop == goal:
                return found

    def save(self, path: Path, rows: np.ndarray) -> None:
        """Write the state and the caller's rows, atomically."""
        about = {
            "method": self.method,
            "iteration": self.iteration,
            "tree": self.tree.fingerprint(),
        }
        state = {name: getattr(self._memory, name) for name in STATE}
        write_arrays(path, about, {**state, "rows": rows})

    def restore(self, path: Path) -> np.ndarray | None:
        """Restore a state of `save`, and return the rows."""
        try:
            about, arrays = read_arrays(path)
            if (about["method"], about["tree"]) != (self.method, self.tree.fingerprint()):
                return None
            regret, average, current = (arrays[name] for name in STATE)
            for array in (regret, average, current):
                if array.shape != (self.tree.num_sequences,) or array.dtype != np.float64:
                    raise KilleError(f"an array has the shape {array.shape}, type {array.dtype}")
            if not np.isfinite(regret + average).all() or (average < 0.0).any():
                raise KilleError("its numbers are not finite, or below 0")
            check_strategy(self.tree, current)
            self._memory.iterations[0] = arguments.whole("iteration", about["iteration"], 0)
            rows = arrays["rows"]
        except BROKEN as error:
            raise KilleError(f"{path} is not a checkpoint; delete it: {error}") from None
        for name in STATE:
            getattr(self._memory, name)[:] = arrays[name]
        self._memory.reach[:] = sequence_reach(self.tree, current)
        return rows

    def _iterate_to(self, goal: int) -> None:
        """Iterate in compiled calls of about `SLICE` seconds."""
        while self.iteration < goal:
            began = time.perf_counter()
            count = min(self._slice, goal - self.iteration)
            self._iterate(count)
            fast = time.perf_counter() - began < SLICE / 2
            self._slice = max(self._slice, 2 * count) if fast else max(1, count // 2)

    def _iterate(self, count: int) -> None:
        """Iterate in one compiled call, which leaves a consistent state."""
        variant = VARIANTS[self.method]
        schedule = variant.schedule(self.iteration, count)
        _iterate(schedule, float(variant.predictive), self.tree, self._memory)


@kernel
def _iterate(schedule, forecast, game, memory):
    """Iterate over all players, once per row of the schedule."""
    for turn in range(np.uintp(len(schedule))):
        for player in range(np.uintp(len(memory.begin) - 1)):
            sweep(game, player, memory.reach, memory.gain)
            _update(schedule[turn, 0], schedule[turn, 1], forecast, game, memory, player)
            _average(schedule[turn, 2], game, memory, player)
        memory.iterations[0] += 1


@kernel
def _update(gained, lost, forecast, game, memory, player):
    """Update a player's regrets and strategy, the deepest information sets first."""
    one = np.uintp(1)
    gain, regret, current = memory.gain, memory.regret, memory.current
    low, place = np.uintp(memory.begin[player]), np.uintp(memory.begin[player + one])
    while place > low:
        place -= one
        number = np.uintp(memory.sets[place])
        start, stop = np.uintp(game.first[number]), np.uintp(game.first[number + one])
        mean = 0.0
        for step in range(start, stop):
            mean += current[step] * gain[step + one]
        for way in range(np.uintp(game.ways[number]), np.uintp(game.ways[number + one])):
            gain[np.uintp(game.before[way] + 1)] += game.share[way] * mean
        positive = 0.0
        for step in range(start, stop):
            more = gain[step + one] - mean
            gain[step + one] = 0.0
            whole = regret[step] + more
            whole *= gained if whole > 0.0 else lost
            regret[step] = whole
            wanted = max(whole + forecast * more, 0.0)
            current[step] = wanted
            positive += wanted
        if positive > 0.0:
            for step in range(start, stop):
                current[step] /= positive
        else:
            for step in range(start, stop):
                current[step] = 1.0 / (stop - start)
    gain[0] = 0.0


@kernel
def _average(share, game, memory, player):
    """Add a player's reach to the average, and fill in that of its new strategy."""
    one, reach = np.uintp(1), memory.reach
    for place in range(np.uintp(memory.begin[player]), np.uintp(memory.begin[player + one])):
        number = np.uintp(memory.sets[place])
        above = reach_before(game, reach, number)
        for step in range(np.uintp(game.first[number]), np.uintp(game.first[number + one])):
            memory.average[step] += share * reach[step + one]
            reach[step + one] = above * memory.current[step]
