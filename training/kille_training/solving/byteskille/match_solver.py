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
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kille_training.solving.byteskille.match_checkpoint import Checkpoint
from kille_training.solving.byteskille.match_values import MatchNashConv, match_nash_conv
from kille_training.solving.byteskille.matches import Hand, Match, MatchStrategy
from kille_training.solving.byteskille.solution import METHOD, Found
from kille_training.solving.trees.cfr import CFR
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


def solve_match(
    match: Match,
    *,
    target: float = 1e-4,
    method: str = METHOD,
    checkpoint: Path | None = None,
    progress: Callable[[MatchProgress], None] | None = None,
) -> Found:
    """Solves a match.

    Args:
        match: The match.
        target: NashConv at which it is solved, as a share of the pot.
        method: A name of `VARIANTS`; the default needs the fewest iterations here.
        checkpoint: File of checkpoints. If it exists, solving resumes from it; it is written now
            and then, and on an interruption.
        progress: Called after each group of states, and with NashConv after each pass.

    Raises:
        KilleError: The file is not a checkpoint of this match.
    """
    return _MatchSolver(match, target, method, checkpoint, progress).solve()


class _HandSolver(CFR):
    """CFR over one hand, for one state after another."""

    def __init__(self, hand: Hand, method: str) -> None:
        self.payable = payable_form(hand.stage.tree)
        super().__init__(hand.stage.tree, method, self.payable.form)

    def begin(self, tree: FlatTree, part: np.ndarray | None) -> None:
        """Takes over the payoffs of a tree and a state's regrets; the average begins anew."""
        self.payable.pay(tree.payoff)
        nothing = np.zeros(tree.num_sequences)
        regret, current = (nothing, uniform(tree)) if part is None else part[1:]
        self.restore(0, {"regret": regret, "current": current, "average": nothing})


class _MatchSolver:
    """Solves a match; `now` is how far it has come."""

    def __init__(
        self,
        match: Match,
        target: float,
        method: str,
        path: Path | None,
        progress: Callable[[MatchProgress], None] | None,
    ) -> None:
        self.match, self.target, self.method = match, target, method
        self.path, self.progress = path, progress
        self.settings = {"target": target, "method": method}
        self.solvers: dict[int, _HandSolver] = {}
        if path is not None and path.exists():
            self.now = Checkpoint.load(path, match, self.settings)
        else:
            # Until a state has been solved, its value is an equal share of the pot.
            values = np.zeros((len(match.states), match.num_players))
            for number, state in enumerate(match.states):
                seats = list(match.hands[state.hand].seats)
                values[number, seats] = state.tables["pot"][0] / len(seats)
            buys = [np.zeros(len(state.after.buyer)) for state in match.states]
            self.now = Checkpoint(
                [None] * len(match.states), buys, values, tolerance=0.1 * target * match.pot
            )
        self.began = time.perf_counter() - self.now.seconds
        self.written = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def solve(self) -> Found:
        """Repeats passes through the match until it is good enough."""
        now, groups = self.now, self.match.components
        last = now.copy(self.seconds)
        try:
            while True:
                for group in groups[now.groups :]:
                    last = now.copy(self.seconds)
                    if time.perf_counter() - self.written >= SAVE_SECONDS:
                        self._write(last)
                    self._solve_group(group, now.tolerance)
                    now.groups += 1
                    self._report(sum(map(len, groups[: now.groups])))
                strategy = self._strategy()
                found = match_nash_conv(strategy, self.match)
                self._report(len(self.match.states), found)
                now.passes, now.groups = now.passes + 1, 0
                if found.share <= self.target or now.passes == MOST_ROUNDS:
                    return Found(strategy, now.iterations, self.seconds)
                now.tolerance *= SHARPER
        except KeyboardInterrupt:
            self._write(last)
            raise

    def _write(self, last: Checkpoint) -> None:
        if self.path is not None:
            last.save(self.path, self.match, self.settings)
        self.written = time.perf_counter()

    def _strategy(self) -> MatchStrategy:
        """Returns the strategy after a pass: every state has been visited."""
        hands = [part[0] for part in self.now.parts if part is not None]
        return MatchStrategy(tuple(hands), tuple(self.now.buys))

    def _report(self, solved: int, found: MatchNashConv | None = None) -> None:
        if self.progress is not None:
            states = len(self.match.states)
            self.progress(MatchProgress(solved, states, self.now.iterations, self.seconds, found))

    def _solve_group(self, group: tuple[int, ...], tolerance: float) -> None:
        """Repeats a group until all its strategies hold and its values no longer change."""
        values = self.now.values
        for _ in range(MOST_ROUNDS):
            change = 0.0
            for number in group:
                before = values[number].copy()
                values[number] = self._solve_state(number, tolerance)
                change = max(change, float(np.abs(values[number] - before).max()))
            if change <= 0.1 * tolerance:
                break

    def _solve_state(self, number: int, tolerance: float) -> np.ndarray:
        """Solves a hand, if its strategy is not good enough for what follows; returns its value."""
        now, state = self.now, self.match.states[number]
        hand = self.match.hands[state.hand]
        worth, now.buys[number] = state.after.best(now.values)
        tree = hand.paying(worth)
        part = self._part(number)
        if part is not None:
            now.parts[number] = part
            found = nash_conv(tree, part[0])
            if found.total <= tolerance:
                return found.values
        if state.hand not in self.solvers:
            self.solvers[state.hand] = _HandSolver(hand, self.method)
        solver = self.solvers[state.hand]
        solver.begin(tree, part)
        check = FIRST_CHECK
        while True:
            solver.run(check - solver.iteration)
            average = solver.average
            found = nash_conv(tree, average)
            if found.total <= MARGIN * tolerance or check >= MOST_ITERATIONS:
                break
            check = min(MOST_ITERATIONS, int(check * BETWEEN_CHECKS))
        now.iterations += solver.iteration
        learnt = solver.state()
        now.parts[number] = np.stack([average, learnt["regret"], learnt["current"]])
        return found.values

    def _part(self, number: int) -> np.ndarray | None:
        """Returns what a state begins with: its own, or that of a following state's same hand."""
        if self.now.parts[number] is not None:
            return self.now.parts[number]
        state = self.match.states[number]
        for following in state.after.following[state.after.following >= 0]:
            part = self.now.parts[following]
            if part is not None and self.match.states[following].hand == state.hand:
                return part
        return None
