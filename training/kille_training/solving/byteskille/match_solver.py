"""Solves matches: hand by hand with regret minimisation, from the last states to the first.

States are solved group by group (`Match.circles`), the last ones first. Within a group the hands
lead to one another - nobody goes out and the deal passes on, or a question is granted - so it is
gone through again until every strategy holds against what the others have come to be worth. Most
questions of a deal are asked for the same worth of a new hand but for the last digits: a state
starts with the strategy of the one behind it that deals the same hand, and is left alone where that
is good enough already.

Buying in is decided by backward induction, for each seat what is best for itself.

What has been found is kept between two groups, so that an interrupted match goes on from the group
that was at hand, and ends as if it had not been interrupted.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kille_training.solving.byteskille.match_state import (
    MatchState,
    load_match_state,
    save_match_state,
)
from kille_training.solving.byteskille.matches import (
    Hand,
    Match,
    MatchNashConv,
    MatchStrategy,
    match_nash_conv,
)
from kille_training.solving.trees.cfr import CFR, DISCOUNTED, Variant
from kille_training.solving.trees.sequences import payable_form
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import nash_conv

FIRST_CHECK = 32  # iterations before a hand's strategy is measured first
BETWEEN_CHECKS = 1.25  # growth of the iterations from one measurement to the next
MARGIN = 0.5  # how much better than asked a hand is solved, so that it lasts when values move
SHARPER = 0.25  # how much finer the hands are solved when the match as a whole is not good enough
MOST_ITERATIONS = 5000
"""Iterations in one visit to a state: what has not come near by then is left for the next visit."""

MOST_ROUNDS = 200
"""Times that a group of states is gone through, and that the match is."""

KEPT_EVERY = 30.0
"""Seconds after which the state is written again."""


@dataclass(frozen=True)
class MatchProgress:
    """How far the solver has come.

    Attributes:
        solved: States of this pass that are done.
        states: All of them.
        iterations: Of the method, in all states together.
        seconds: Since the start, those before an interruption included.
        nash_conv: Of the whole match, after each pass; None in between.
    """

    solved: int
    states: int
    iterations: int
    seconds: float
    nash_conv: MatchNashConv | None = None


@dataclass(frozen=True, eq=False)
class MatchSolution:
    """A solved match.

    Attributes:
        match: The match.
        strategy: What all seats do in it.
        nash_conv: How good that is, and what it earns.
        iterations: Of the method, in all states together.
        seconds: Solving and measuring.
    """

    match: Match
    strategy: MatchStrategy
    nash_conv: MatchNashConv
    iterations: int
    seconds: float


def solve_match(
    match: Match,
    *,
    target: float = 1e-4,
    seconds: float = float("inf"),
    variant: Variant = DISCOUNTED,
    keep: Path | None = None,
    progress: Callable[[MatchProgress], None] | None = None,
) -> MatchSolution:
    """Solves a match.

    Args:
        match: The match.
        target: NashConv to reach, as a share of the pot.
        seconds: Time after which no hand is solved any more; the match is measured as it is then.
        variant: The method; the default needs the fewest iterations here.
        keep: File for what has been found. Where it lies there already, solving goes on from it;
            it is written now and then, and when it is interrupted.
        progress: Is called after each group of states, and with NashConv after each pass.

    Raises:
        KilleError: `keep` is no saved state of this match.
    """
    return _MatchSolver(match, target, seconds, variant, keep, progress).solve()


class _HandSolver(CFR):
    """CFR over one hand, for one state after another."""

    def __init__(self, hand: Hand, variant: Variant) -> None:
        self.payable = payable_form(hand.stage.tree)
        super().__init__(hand.stage.tree, variant, self.payable.form)

    def begin(self, tree: FlatTree, memory: dict[str, np.ndarray] | None) -> None:
        """Takes over what a tree pays and what is remembered of it; the average begins anew."""
        self.payable.pay(tree.payoff)
        if memory is None:
            sizes = np.diff(tree.first)
            even = np.repeat(1.0 / sizes, sizes)
            memory = {"regret": np.zeros(tree.num_sequences), "current": even}
        self._restore(0, {**memory, "average": np.zeros(tree.num_sequences)})

    def memory(self) -> dict[str, np.ndarray]:
        """What to go on with."""
        state = self._state()
        return {name: state[name] for name in ("regret", "current")}


class _MatchSolver:
    """What is known while a match is solved."""

    def __init__(
        self,
        match: Match,
        target: float,
        seconds: float,
        variant: Variant,
        keep: Path | None,
        progress: Callable[[MatchProgress], None] | None,
    ) -> None:
        self.match, self.limit, self.variant, self.progress = match, seconds, variant, progress
        self.target, self.keep = target, keep
        self.began = self.written = time.perf_counter()
        self.spent = 0.0
        self.passes, self.circle = 0, 0
        self.tolerance = 0.1 * target * match.pot
        self.iterations = 0
        count = len(match.states)
        self.strategies: list[np.ndarray | None] = [None] * count
        self.buys = [np.zeros(len(state.after.buyer)) for state in match.states]
        self.memories: list[dict[str, np.ndarray] | None] = [None] * count
        self.solvers: dict[int, _HandSolver] = {}
        # Until a state has been solved, the pot counts as shared by those who are in.
        self.values = np.zeros((count, match.num_players))
        for number, state in enumerate(match.states):
            seats = list(match.hands[state.hand].seats)
            self.values[number, seats] = state.tables["pot"][0] / len(seats)

    @property
    def seconds(self) -> float:
        return self.spent + time.perf_counter() - self.began

    def solve(self) -> MatchSolution:
        """Goes through the match until it is good enough."""
        if self.keep is not None and self.keep.exists():
            self._go_on(load_match_state(self.keep, self.match, self._made()))
        kept = None
        try:
            while True:
                for circle in self.match.circles[self.circle :]:
                    kept = self._state()
                    if time.perf_counter() - self.written >= KEPT_EVERY:
                        self._write(kept)
                    self._solve_circle(circle, self.tolerance)
                    self.circle += 1
                    self._tell(sum(map(len, self.match.circles[: self.circle])))
                found = match_nash_conv(self.match, self._strategy())
                self._tell(len(self.match.states), found)
                self.passes, self.circle = self.passes + 1, 0
                good = found.share <= self.target
                if good or self.passes == MOST_ROUNDS or self.seconds >= self.limit:
                    break
                self.tolerance *= SHARPER
        except KeyboardInterrupt:
            if kept is not None:
                self._write(kept)
            raise
        return MatchSolution(self.match, self._strategy(), found, self.iterations, self.seconds)

    def _state(self) -> MatchState:
        """What has been found; arrays of it are replaced later, but never changed."""
        parts = (
            None if own is None or memory is None else {"strategy": own, **memory}
            for own, memory in zip(self.strategies, self.memories, strict=True)
        )
        return MatchState(
            self.passes, self.circle, self.tolerance, self.iterations, self.seconds,
            tuple(parts), tuple(self.buys), self.values.copy(),
        )  # fmt: skip

    def _go_on(self, state: MatchState) -> None:
        self.passes, self.circle, self.tolerance = state.passes, state.circle, state.tolerance
        self.iterations, self.spent = state.iterations, state.seconds
        for number, parts in enumerate(state.parts):
            if parts is not None:
                self.memories[number] = {name: parts[name] for name in ("regret", "current")}
                self.strategies[number] = parts["strategy"]
        self.buys, self.values = list(state.buys), state.values

    def _write(self, state: MatchState) -> None:
        if self.keep is not None:
            save_match_state(self.keep, state, self.match, self._made())
        self.written = time.perf_counter()

    def _made(self) -> dict[str, Any]:
        """How the match is solved, as JSON can hold it."""
        variant = {name: str(value) for name, value in asdict(self.variant).items()}
        return {"target": self.target, **variant}

    def _strategy(self) -> MatchStrategy:
        played = [
            even if own is None else own
            for own, even in zip(self.strategies, self.match.uniform().hands, strict=True)
        ]
        return MatchStrategy(tuple(played), tuple(self.buys))

    def _tell(self, solved: int, found: MatchNashConv | None = None) -> None:
        if self.progress is not None:
            states = len(self.match.states)
            self.progress(MatchProgress(solved, states, self.iterations, self.seconds, found))

    def _solve_circle(self, circle: tuple[int, ...], tolerance: float) -> None:
        """Goes through a group until all its strategies hold and its values stand still."""
        for _ in range(MOST_ROUNDS):
            change = 0.0
            for number in circle:
                before = self.values[number].copy()
                self._solve_state(number, tolerance)
                change = max(change, float(np.abs(self.values[number] - before).max()))
            if change <= 0.1 * tolerance or self.seconds >= self.limit:
                break

    def _solve_state(self, number: int, tolerance: float) -> None:
        """Solves one hand, if its strategy is not good enough for what follows it now."""
        state = self.match.states[number]
        hand = self.match.hands[state.hand]
        worth, self.buys[number] = state.after.best(self.values)
        tree = hand.paying(worth)
        self._look_behind(number)
        played = self.strategies[number]
        if played is not None:
            found = nash_conv(tree, played)
            if found.total <= tolerance or self.seconds >= self.limit:
                self.values[number] = found.values
                return
        if self.seconds >= self.limit:
            return
        if state.hand not in self.solvers:
            self.solvers[state.hand] = _HandSolver(hand, self.variant)
        solver = self.solvers[state.hand]
        solver.begin(tree, self.memories[number])
        check = FIRST_CHECK
        while True:
            solver.run(check - solver.iteration)
            average = solver.average
            found = nash_conv(tree, average)
            good = found.total <= MARGIN * tolerance
            if good or check >= MOST_ITERATIONS or self.seconds >= self.limit:
                break
            check = min(MOST_ITERATIONS, int(check * BETWEEN_CHECKS))
        self.iterations += solver.iteration
        self.strategies[number], self.memories[number] = average, solver.memory()
        self.values[number] = found.values

    def _look_behind(self, number: int) -> None:
        """Takes over the strategy of a state behind this one that deals the same hand."""
        if self.strategies[number] is not None:
            return
        state = self.match.states[number]
        for following in state.after.following:
            deals_it = following >= 0 and self.match.states[following].hand == state.hand
            if deals_it and self.strategies[following] is not None:
                self.strategies[number] = self.strategies[following]
                self.memories[number] = self.memories[following]
                return
