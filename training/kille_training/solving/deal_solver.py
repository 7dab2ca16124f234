"""Solves single deals: hand by hand with regret minimisation, from the last hand backwards.

Each hand is solved so well that all of them together meet the target: deviating in every hand gains
no more than the sum of the gains in each hand. A hand for which the strategy of the next one is
good enough takes it over, because from one question to the next hardly anything changes.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kille_training.solving.solution import METHOD, DealProgress, Folder, Found, SolveSettings
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.values import (
    NashConv,
    Tree,
    answer_in_turns,
    greedy,
    nash_conv,
)

FIRST_UNTIL = 1e-3
"""NashConv at which `pure_first` tries first what regret minimisation has found."""

MOST_ITERATIONS = 5000
"""Iterations of regret minimisation in `pure_first`, at most."""

SAVE_SECONDS = 20.0
"""Seconds between two checkpoints of a hand."""


def solve_deal(
    deal: DealStages,
    settings: SolveSettings,
    folder: Folder,
    progress: Callable[[DealProgress], None] | None,
) -> Found:
    """Solves one hand after the other, with checkpoints in a folder from which it resumes.

    Args:
        deal: The deal.
        settings: How it is solved.
        folder: The folder.
        progress: Called after each measurement.

    Raises:
        KilleError: A file in the folder is broken.
    """
    rows = {(row.granted, row.iteration): row for row in folder.read_progress()}
    began = time.monotonic() - max((row.seconds for row in rows.values()), default=0.0)
    target = settings.target / len(deal.stages)
    solver = _DealSolver(settings, target, folder, progress, rows, began)
    strategies = deal.backwards(solver.solve_hand)
    return Found(strategies, solver.iterations, time.monotonic() - began)


@dataclass
class _DealSolver:
    """What is known between two hands."""

    settings: SolveSettings
    target: float
    folder: Folder
    progress: Callable[[DealProgress], None] | None
    rows: dict[tuple[int, int], DealProgress]
    began: float
    iterations: int = 0
    last: tuple[Stage, np.ndarray] | None = None

    def solve_hand(self, stage: Stage, tree: Tree) -> np.ndarray:
        """Returns the strategy of a hand, given the tree that pays what follows it."""
        if self.last is not None:
            before, strategy = self.last
            same = np.array_equal(before.tree.first, stage.tree.first)
            if same and nash_conv(tree, strategy).total <= self.target:
                return strategy
        path = self.folder.hand(stage.granted)
        solver = CFR.load(path, tree) if path.is_file() else CFR(tree, self.settings.method)
        self._iterate(solver, stage)
        self.iterations += solver.iteration
        self.last = stage, solver.average
        return solver.average

    def _iterate(self, solver: CFR, stage: Stage) -> None:
        """Iterates until the hand is solved; saves now and then, at the end and if interrupted."""
        path, saved = self.folder.hand(stage.granted), time.monotonic()

        def report(iteration: int, found: NashConv) -> None:
            nonlocal saved
            seconds = round(time.monotonic() - self.began, 3)
            row = DealProgress(stage.granted, iteration, seconds, found.total)
            self.rows.setdefault((stage.granted, iteration), row)
            self.folder.write_progress(
                sorted(self.rows.values(), key=lambda row: (-row.granted, row.iteration))
            )
            if self.progress is not None:
                self.progress(row)
            if time.monotonic() - saved > SAVE_SECONDS:
                solver.save(path)
                saved = time.monotonic()

        try:
            left = self.settings.iterations - solver.iteration
            solver.run(left, until=self.target, progress=report)
        finally:
            solver.save(path)


def pure_first(
    tree: Tree, begin: np.ndarray, exact: float, target: float
) -> tuple[np.ndarray, NashConv]:
    """Finds an equilibrium, a pure one if there is one nearby.

    The players answer each other in turns. If that goes round in circles, they do so again from
    what regret minimisation finds, and from its greedy version, each time ten times more precise.

    Args:
        tree: The game.
        begin: [S], where to begin.
        exact: NashConv that counts as 0.
        target: NashConv that is good enough where no pure equilibrium is found.
    """
    strategy, found = answer_in_turns(tree, begin, exact)
    solver, until = CFR(tree, METHOD) if found.total > exact else None, FIRST_UNTIL
    while solver is not None and found.total > exact and solver.iteration < MOST_ITERATIONS:
        solver.run(MOST_ITERATIONS - solver.iteration, until=until)
        for tried in (solver.average, greedy(tree, solver.average)):
            answered, measured = answer_in_turns(tree, tried, exact)
            if measured.total < found.total:
                strategy, found = answered, measured
        if until < target:
            break
        until *= 0.1
    return strategy, found
