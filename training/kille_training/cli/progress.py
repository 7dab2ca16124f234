"""Bars and lines of a command, on standard error."""

from typing import TYPE_CHECKING

from kille_training.progress import Bars

if TYPE_CHECKING:
    from kille_training.evaluation.duplicate import Row


class ProgressDisplay(Bars):
    """Shows one job after another: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self, measure: str = "units per deal") -> None:
        """Shows nothing until the first call; `measure` names what estimates are."""
        super().__init__(lines=True)
        self.measure = measure

    def measured(self, decisions: int, rows: "list[Row]") -> None:
        """Shows what a policy earns while it learns."""
        found = [row for row in rows if row.play != "sampled"]
        earned = "   ".join(f"{row.against} {row.estimate}" for row in found)
        self.say(f"after {decisions:>10,} decisions, {self.measure} against {earned}")
