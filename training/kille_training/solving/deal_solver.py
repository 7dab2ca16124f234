"""Solves single deals: hand by hand with regret minimisation, from the last hand backwards.

Each hand is solved so well that all of them together meet the target: deviating in every hand gains
no more than the sum of the gains in each hand. A hand for which the strategy of the next one is
good enough takes it over, because from one question to the next hardly anything changes.
"""

import time
from collections.abc import Callable

import numpy as np

from kille_training.solving.solution import METHOD, DealProgress, Found, SolveSettings
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


def solve_deal(
    deal: DealStages,
    settings: SolveSettings,
    progress: Callable[[DealProgress], None] | None = None,
) -> Found:
    """Solves one hand after the other.

    Args:
        deal: The deal.
        settings: How it is solved.
        progress: Called after each measurement.
    """
    target, began = settings.target / len(deal.stages), time.monotonic()
    rows: list[DealProgress] = []
    last: tuple[Stage, np.ndarray] | None = None
    iterations = 0

    def solve_hand(stage: Stage, tree: Tree) -> np.ndarray:
        """Returns the strategy of a hand, given the tree that pays what follows it."""
        nonlocal last, iterations
        if last is not None:
            before, strategy = last
            same = np.array_equal(before.tree.first, stage.tree.first)
            if same and nash_conv(tree, strategy).total <= target:
                return strategy

        def report(iteration: int, found: NashConv) -> None:
            seconds = round(time.monotonic() - began, 3)
            rows.append(DealProgress(stage.granted, iteration, seconds, found.total))
            if progress is not None:
                progress(rows[-1])

        solver = CFR(tree, settings.method)
        solver.run(settings.iterations, until=target, progress=report)
        iterations += solver.iteration
        last = stage, solver.average
        return solver.average

    strategies = deal.backwards(solve_hand)
    return Found(strategies, iterations, time.monotonic() - began, tuple(rows))


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
