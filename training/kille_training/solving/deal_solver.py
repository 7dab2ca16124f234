"""Solve single deals hand by hand with regret minimization, from the last hand backwards.

The gain of deviating in all hands is at most the sum of the gains in each hand, so each hand gets a
share of the target. If the strategy of the next hand meets a hand's target it is reused, because
hands change little from one question to the next.
"""

import time
from collections.abc import Callable

import numpy as np

from kille_env.errors import KilleError
from kille_training.solving.solution import DealProgress, Folder, Found, SolveSettings
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.cfr import CFR
from kille_training.solving.trees.sequence_game import SequenceGame
from kille_training.solving.trees.values import NashConv, nash_conv

SAVE_SECONDS = 20.0  # seconds between two checkpoints of a hand


def solve_deal(
    deal: DealStages,
    settings: SolveSettings,
    folder: Folder,
    progress: Callable[[DealProgress], None] | None = None,
) -> Found:
    """Solve one hand after the other, with a checkpoint of each in a folder."""
    target, began = settings.target / len(deal.stages), time.monotonic()
    rows: dict[tuple[int, int], DealProgress] = {}
    last: tuple[Stage, np.ndarray] | None = None
    iterations = 0

    def solve_hand(stage: Stage, tree: SequenceGame) -> np.ndarray:
        """Return the strategy of a hand, given its tree with continuation values."""
        nonlocal last, iterations, began
        if last is not None:
            before, strategy = last
            same = np.array_equal(before.tree.first, stage.tree.first)
            if same and nash_conv(tree, strategy).total <= target:
                return strategy

        solver, file, saved = CFR(tree, settings.method), folder.hand(stage.granted), began
        if file.is_file() and (kept := solver.restore(file)) is not None:
            try:
                found = [DealProgress(int(a), int(b), float(c), float(d)) for a, b, c, d in kept]
            except (TypeError, ValueError) as error:
                raise KilleError(f"{file} is not a checkpoint; delete it: {error}") from None
            began = min(began, time.monotonic() - max((row.seconds for row in found), default=0.0))
            rows.update({(row.granted, row.iteration): row for row in found})

        def save() -> None:
            if not folder.checkpoints:
                return
            solver.save(file, np.array([r for r in rows.values() if r.granted == stage.granted]))

        def report(iteration: int, found: NashConv) -> None:
            nonlocal saved
            seconds = round(time.monotonic() - began, 3)
            row = DealProgress(stage.granted, iteration, seconds, found.total)
            rows.setdefault((stage.granted, iteration), row)
            if progress is not None:
                progress(row)
            if time.monotonic() - saved > SAVE_SECONDS:
                save()
                saved = time.monotonic()

        try:
            left = settings.iterations - solver.iteration
            solver.run(max(0, left), until=target, progress=report)
        finally:
            save()
        iterations += solver.iteration
        last = stage, solver.average
        return solver.average

    strategies = deal.backwards(solve_hand)
    return Found(strategies, iterations, time.monotonic() - began, tuple(rows.values()))
