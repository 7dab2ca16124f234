"""Searchers as strategies: what one does in every information set of a deal, asked once each."""

from collections.abc import Callable

import numpy as np

from kille_env.core.batch import Batch
from kille_env.play.decisions import Determinizer
from kille_env.play.policy import Searcher, check_probabilities
from kille_env.registry import load_game
from kille_training.progress import ignore
from kille_training.solving.byteskille.deals import DealStages, Stage
from kille_training.solving.byteskille.policies import as_strategy

AT_ONCE = 64
"""Information sets per call of a searcher, so that progress is seen."""


def ask_everywhere(
    searcher: Searcher, deal: DealStages, progress: Callable[[int], None] = ignore
) -> tuple[np.ndarray, ...]:
    """Returns what a searcher does in each stage of a deal, [S] each.

    Args:
        searcher: One whose answers depend on what the seat sees alone (`keyless`).
        deal: The deal.
        progress: Called with the information sets that have been answered.

    Raises:
        PolicyError: It returned what is no distribution over the legal actions.
    """
    return tuple(_ask_stage(searcher, stage, progress) for stage in deal.stages)


def _ask_stage(searcher: Searcher, stage: Stage, progress: Callable[[int], None]) -> np.ndarray:
    batch = _batch_of(stage)
    decisions = Determinizer(
        batch, np.arange(batch.num_tables), np.zeros(batch.num_tables, np.uint64)
    )
    answers = np.zeros(stage.masks.shape)
    for begin in range(0, len(answers), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        found = searcher.search(decisions.take(np.arange(len(answers))[some]))
        check_probabilities(searcher.name, found, stage.masks[some])
        answers[some] = found
        progress(len(found))
    return as_strategy(answers, stage.masks, stage.tree)


def _batch_of(stage: Stage) -> Batch:
    """Returns a batch with one table for each information set."""
    tables = stage.positions
    game = load_game(stage.rules.game)
    batch = Batch(game, len(tables), stage.num_players, stage.rules, seed=0, restart=False)
    batch.reset()
    batch._tables[:] = (
        tables  # our own tree's, some of which no pack deals: `restore` refuses these
    )
    batch._show()
    return batch
