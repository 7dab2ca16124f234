"""Solves single deals: hand by hand with regret minimisation, from the last hand backwards.

Each hand is solved so well that all of them together meet the target: deviating in every hand gains
no more than the sum of the gains in each hand. A hand for which the strategy of the next one is
good enough takes it over, because from one question to the next hardly anything changes.
"""

import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kille_env.errors import ConfigError
from kille_env.files import BROKEN, write_whole
from kille_training.solving.byteskille.deals import DealStages, Stage
from kille_training.solving.byteskille.solution import DealProgress, Folder, SolveSettings
from kille_training.solving.trees.cfr import CFR, VARIANTS
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import nash_conv

SAVE_SECONDS = 20.0
"""Seconds between two checkpoints of a hand."""


class DealSolver:
    """Solves one hand after the other, with checkpoints in a folder.

    Attributes:
        iterations: Of all hands.
        seconds: Spent on iterating and measuring, before an interruption included.
        rows: NashConv of each hand while it was solved.
    """

    def __init__(
        self,
        folder: Folder,
        settings: SolveSettings,
        deal: DealStages,
        progress: Callable[[DealProgress], None] | None,
    ) -> None:
        """Prepares a deal.

        Args:
            folder: The folder; solving resumes from its checkpoints.
            settings: How the deal is solved.
            deal: The deal.
            progress: Called after each measurement.

        Raises:
            ConfigError: A file in the folder is broken.
        """
        self.folder, self.settings, self.deal, self.progress = folder, settings, deal, progress
        self.target = settings.target / len(deal.stages)
        self.rows = folder.read_progress()
        self.seconds = max((row.seconds for row in self.rows), default=0.0)
        self.iterations = 0
        self._solved = self._read_hands()
        self._last: tuple[Stage, np.ndarray] | None = None

    def solve(self) -> tuple[np.ndarray, ...]:
        """Returns the strategies of the hands."""
        strategies, _ = self.deal.backwards(self._solve_hand)
        return strategies

    def _solve_hand(self, stage: Stage, tree: FlatTree) -> np.ndarray:
        """Returns the strategy of a hand, given the tree that pays what follows it."""
        strategy = self._find(stage, tree)
        self._last = stage, strategy
        return strategy

    def _find(self, stage: Stage, tree: FlatTree) -> np.ndarray:
        if stage.granted in self._solved:
            strategy, iterations = self._solved[stage.granted]
            self.iterations += iterations
            return strategy
        if self._last is not None:
            before, strategy = self._last
            same = np.array_equal(before.tree.infoset, stage.tree.infoset)
            if same and nash_conv(tree, strategy).total <= self.target:
                return strategy
        solver = self._solver(stage, tree)
        self._iterate(solver, stage)
        self.iterations += solver.iteration
        self._solved[stage.granted] = solver.average, solver.iteration
        self._write_hands()
        self.folder.hand(stage.granted).unlink(missing_ok=True)
        return solver.average

    def _solver(self, stage: Stage, tree: FlatTree) -> CFR:
        """Returns the solver of a hand, from its checkpoint if there is one."""
        saved = self.folder.hand(stage.granted)
        if saved.is_file():
            solver = CFR.load(saved, tree)
        else:
            solver = CFR(tree, VARIANTS[self.settings.method])
        self.rows = [
            row
            for row in self.rows
            if row.granted != stage.granted or row.iteration <= solver.iteration
        ]
        self.folder.write_progress(self.rows)
        return solver

    def _iterate(self, solver: CFR, stage: Stage) -> None:
        """Iterates until the hand is solved; saves now and then, and on an interruption.

        Where it ends depends on the iterations at which it is measured, so these are the same
        however often it is interrupted.
        """
        path = self.folder.hand(stage.granted)
        checked, found = 0, float("inf")
        for row in self.rows:
            if row.granted == stage.granted:
                checked, found = row.iteration, row.nash_conv
        saved = time.monotonic()
        try:
            while checked < self.settings.iterations and found > self.target:
                began = time.monotonic()
                checked = min(next_check(checked), self.settings.iterations)
                try:
                    solver.run(checked - solver.iteration)
                    found = nash_conv(solver.tree, solver.average).total
                finally:
                    self.seconds += time.monotonic() - began
                self._report(DealProgress(stage.granted, checked, round(self.seconds, 3), found))
                if time.monotonic() - saved > SAVE_SECONDS:
                    solver.save(path)
                    saved = time.monotonic()
        except KeyboardInterrupt:
            solver.save(path)
            raise

    def _report(self, row: DealProgress) -> None:
        self.rows.append(row)
        self.folder.write_progress(self.rows)
        if self.progress is not None:
            self.progress(row)

    def _write_hands(self) -> None:
        content = io.BytesIO()
        arrays: dict[str, Any] = {}
        for granted, (strategy, iterations) in self._solved.items():
            arrays[f"strategy-{granted}"] = strategy
            arrays[f"iterations-{granted}"] = np.array(iterations)
        np.savez(content, **arrays)
        write_whole(self.folder.hands, content.getvalue())

    def _read_hands(self) -> dict[int, tuple[np.ndarray, int]]:
        path = self.folder.hands
        if not path.is_file():
            return {}
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                found = {
                    int(name.partition("-")[2]): (
                        file[name],
                        int(file[name.replace("strategy", "iterations")]),
                    )
                    for name in file.files
                    if name.startswith("strategy-")
                }
            for granted, (strategy, _) in found.items():
                tree = self.deal.stages[granted].tree
                if strategy.shape != (tree.num_sequences,) or strategy.dtype != np.float64:
                    raise ValueError(f"the strategy after {granted} questions is of another tree")
        except (*BROKEN, IndexError) as error:
            raise ConfigError(f"{path} is broken ({error}); delete it and solve again") from None
        return found


def next_check(iteration: int) -> int:
    """Returns the next of the iterations at which a hand is measured, each a tenth further."""
    check = 0
    while check <= iteration:
        check += 1 + check // 10
    return check
