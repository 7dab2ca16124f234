"""Solves matches: hand by hand with regret minimisation, from the last states to the first.

States are solved group by group (`Match.components`), the last ones first. Within a group the hands
lead to one another - nobody goes out and the deal passes on, or a question is granted - so the
group is repeated until every strategy holds against what the others have come to be worth. From one
question to the next, what follows a hand hardly changes: so a state starts with the strategy of the
following state that deals the same hand, and is left alone where that is good enough already.

Buying in is decided by backward induction, for each seat what is best for itself.

A checkpoint is kept between two groups, so that an interrupted match resumes at the group that was
being solved, and ends as if it had not been interrupted.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kille_training.solving.byteskille.match_checkpoint import (
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from kille_training.solving.byteskille.match_values import MatchNashConv, match_nash_conv
from kille_training.solving.byteskille.matches import Hand, Match, MatchStrategy
from kille_training.solving.trees.cfr import CFR, DISCOUNTED, Variant
from kille_training.solving.trees.sequences import payable_form
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import nash_conv, uniform

FIRST_CHECK = 32  # iterations before a hand's strategy is measured first
BETWEEN_CHECKS = 1.25  # growth of the iterations from one measurement to the next
MARGIN = 0.5  # how much better than needed a hand is solved, so that it lasts when values change
SHARPER = 0.25  # how much better the hands are solved when the match as a whole is not good enough
MOST_ITERATIONS = 5000
"""Iterations in one visit to a state; if they are not enough, the next visit continues."""

MOST_ROUNDS = 200
"""Times that a group of states is repeated, and that the match is."""

SAVE_SECONDS = 30.0
"""Seconds between two checkpoints."""


@dataclass(frozen=True)
class MatchProgress:
    """How far the solver has come.

    Attributes:
        solved: States of this pass that are solved.
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

    def describe(self) -> str:
        """Returns a line of text."""
        found = f", NashConv {self.nash_conv.total:.2g} units" if self.nash_conv else ""
        return (
            f"{self.solved:>6,} of {self.states:,} states, {self.iterations:,} iterations, "
            f"{self.seconds:.1f} s{found}"
        )


@dataclass(frozen=True, eq=False)
class MatchSolution:
    """A solved match.

    Attributes:
        match: The match.
        strategy: What all seats do in it.
        nash_conv: NashConv of the strategy, and what it earns.
        iterations: Of the method, in all states together.
        seconds: Spent on solving and measuring.
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
    variant: Variant = DISCOUNTED,
    checkpoint: Path | None = None,
    progress: Callable[[MatchProgress], None] | None = None,
) -> MatchSolution:
    """Solves a match.

    Args:
        match: The match.
        target: NashConv at which it is solved, as a share of the pot.
        variant: The method; the default needs the fewest iterations here.
        checkpoint: File of checkpoints. If it exists, solving resumes from it; it is written now
            and then, and on an interruption.
        progress: Called after each group of states, and with NashConv after each pass.

    Raises:
        KilleError: The file is not a checkpoint of this match.
    """
    return _MatchSolver(match, target, variant, checkpoint, progress).solve()


class _HandSolver(CFR):
    """CFR over one hand, for one state after another."""

    def __init__(self, hand: Hand, variant: Variant) -> None:
        self.payable = payable_form(hand.stage.tree)
        super().__init__(hand.stage.tree, variant, self.payable.form)

    def begin(self, tree: FlatTree, memory: dict[str, np.ndarray] | None) -> None:
        """Takes over the payoffs of a tree and a state's regrets; the average begins anew."""
        self.payable.pay(tree.payoff)
        if memory is None:
            memory = {"regret": np.zeros(tree.num_sequences), "current": uniform(tree)}
        self.restore(0, {**memory, "average": np.zeros(tree.num_sequences)})

    def memory(self) -> dict[str, np.ndarray]:
        """Returns what is needed to resume."""
        state = self.state()
        return {name: state[name] for name in ("regret", "current")}


class _MatchSolver:
    """The state of the solver."""

    def __init__(
        self,
        match: Match,
        target: float,
        variant: Variant,
        path: Path | None,
        progress: Callable[[MatchProgress], None] | None,
    ) -> None:
        self.match, self.target, self.variant = match, target, variant
        self.path, self.progress = path, progress
        self.began = self.written = time.perf_counter()
        self.spent = 0.0
        self.passes, self.groups = 0, 0
        self.tolerance = 0.1 * target * match.pot
        self.iterations = 0
        count = len(match.states)
        self.strategies: list[np.ndarray | None] = [None] * count
        self.buys = [np.zeros(len(state.after.buyer)) for state in match.states]
        self.memories: list[dict[str, np.ndarray] | None] = [None] * count
        self.solvers: dict[int, _HandSolver] = {}
        # Until a state has been solved, its value is an equal share of the pot.
        self.values = np.zeros((count, match.num_players))
        for number, state in enumerate(match.states):
            seats = list(match.hands[state.hand].seats)
            self.values[number, seats] = state.tables["pot"][0] / len(seats)

    @property
    def seconds(self) -> float:
        return self.spent + time.perf_counter() - self.began

    def solve(self) -> MatchSolution:
        """Repeats passes through the match until it is good enough."""
        if self.path is not None and self.path.exists():
            self._resume(load_checkpoint(self.path, self.match, self._settings()))
        last = None
        try:
            while True:
                for group in self.match.components[self.groups :]:
                    last = self._checkpoint()
                    if time.perf_counter() - self.written >= SAVE_SECONDS:
                        self._write(last)
                    self._solve_group(group, self.tolerance)
                    self.groups += 1
                    self._report(sum(map(len, self.match.components[: self.groups])))
                found = match_nash_conv(self.match, self._strategy())
                self._report(len(self.match.states), found)
                self.passes, self.groups = self.passes + 1, 0
                if found.share <= self.target or self.passes == MOST_ROUNDS:
                    break
                self.tolerance *= SHARPER
        except KeyboardInterrupt:
            if last is not None:
                self._write(last)
            raise
        return MatchSolution(self.match, self._strategy(), found, self.iterations, self.seconds)

    def _checkpoint(self) -> Checkpoint:
        """Returns the state of the solver; its arrays are later replaced, but never changed."""
        parts = (
            None if own is None or memory is None else {"strategy": own, **memory}
            for own, memory in zip(self.strategies, self.memories, strict=True)
        )
        return Checkpoint(
            self.passes, self.groups, self.tolerance, self.iterations, self.seconds,
            tuple(parts), tuple(self.buys), self.values.copy(),
        )  # fmt: skip

    def _resume(self, last: Checkpoint) -> None:
        self.passes, self.groups, self.tolerance = last.passes, last.groups, last.tolerance
        self.iterations, self.spent = last.iterations, last.seconds
        for number, parts in enumerate(last.parts):
            if parts is not None:
                self.memories[number] = {name: parts[name] for name in ("regret", "current")}
                self.strategies[number] = parts["strategy"]
        self.buys, self.values = list(last.buys), last.values

    def _write(self, last: Checkpoint) -> None:
        if self.path is not None:
            save_checkpoint(self.path, last, self.match, self._settings())
        self.written = time.perf_counter()

    def _settings(self) -> dict[str, Any]:
        """Returns how the match is solved, as JSON can hold it."""
        variant = {name: str(value) for name, value in asdict(self.variant).items()}
        return {"target": self.target, **variant}

    def _strategy(self) -> MatchStrategy:
        played = [
            even if own is None else own
            for own, even in zip(self.strategies, self.match.uniform().hands, strict=True)
        ]
        return MatchStrategy(tuple(played), tuple(self.buys))

    def _report(self, solved: int, found: MatchNashConv | None = None) -> None:
        if self.progress is not None:
            states = len(self.match.states)
            self.progress(MatchProgress(solved, states, self.iterations, self.seconds, found))

    def _solve_group(self, group: tuple[int, ...], tolerance: float) -> None:
        """Repeats a group until all its strategies hold and its values no longer change."""
        for _ in range(MOST_ROUNDS):
            change = 0.0
            for number in group:
                before = self.values[number].copy()
                self._solve_state(number, tolerance)
                change = max(change, float(np.abs(self.values[number] - before).max()))
            if change <= 0.1 * tolerance:
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
            if found.total <= tolerance:
                self.values[number] = found.values
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
            if found.total <= MARGIN * tolerance or check >= MOST_ITERATIONS:
                break
            check = min(MOST_ITERATIONS, int(check * BETWEEN_CHECKS))
        self.iterations += solver.iteration
        self.strategies[number], self.memories[number] = average, solver.memory()
        self.values[number] = found.values

    def _look_behind(self, number: int) -> None:
        """Takes over the strategy of a following state that deals the same hand."""
        if self.strategies[number] is not None:
            return
        state = self.match.states[number]
        for following in state.after.following:
            deals_it = following >= 0 and self.match.states[following].hand == state.hand
            if deals_it and self.strategies[following] is not None:
                self.strategies[number] = self.strategies[following]
                self.memories[number] = self.memories[following]
                return
