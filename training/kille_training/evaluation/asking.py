"""Searchers as strategies: what one does in every information set of a deal, asked once each."""

from collections.abc import Callable

import numpy as np

from kille_env.errors import KilleError
from kille_env.play.decisions import Decisions
from kille_env.play.policy import Decider, decide
from kille_training.progress import ignore
from kille_training.solving.policies import as_strategy, tables_of
from kille_training.solving.stages import DealStages, Stage

AT_ONCE = 64
"""Information sets per call of a searcher, so that progress is seen."""


def ask_everywhere(
    searcher: Decider, deal: DealStages, progress: Callable[[int], None] = ignore
) -> tuple[np.ndarray, ...]:
    """Returns what a searcher does in each stage of a deal, [S] each.

    Args:
        searcher: One whose answers depend on what the seat sees alone (`keyless`).
        deal: The deal.
        progress: Called with the information sets that have been answered.

    Raises:
        KilleError: The deal forgets what the searcher may read, see `Stage.forgets`.
        PolicyError: It returned what is no distribution over the legal actions.
    """
    if any(stage.forgets for stage in deal.stages):
        raise KilleError(
            f"{searcher.name} can tell the cards that it drew from those that it was dealt, and "
            "this tree cannot: grow it with recall=True"
        )
    return tuple(_ask_stage(searcher, stage, progress) for stage in deal.stages)


def _ask_stage(searcher: Decider, stage: Stage, progress: Callable[[int], None]) -> np.ndarray:
    batch = tables_of(stage)
    decisions = Decisions(batch, np.arange(batch.num_tables), np.zeros(batch.num_tables, np.uint64))
    answers = np.zeros(stage.masks.shape)
    for begin in range(0, len(answers), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        found = decide(searcher, decisions.take(np.arange(len(answers))[some]))
        answers[some] = found
        progress(len(found))
    return as_strategy(answers, stage.masks, stage.tree)
