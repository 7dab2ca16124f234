"""Where a policy loses what its best response would gain: information sets in words."""

from collections.abc import Sequence

import numpy as np

from kille_env.registry import spec
from kille_training.evaluation.results import Loss
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.sequence_game import SequenceGame
from kille_training.solving.trees.values import best_response, end_reach, infoset_reach, losses

LEAST = 1e-9
"""Units per deal below which a loss is rounding."""


def largest_losses(strategies: Sequence[np.ndarray], deal: DealStages, most: int) -> list[Loss]:
    """Returns the information sets where a policy loses most, the largest loss first.

    Args:
        strategies: What the policy does in each stage, [S] each.
        deal: The deal.
        most: How many to return.
    """
    comes = _comes_to(strategies, deal)
    continuation, found = np.zeros(deal.num_players), list[Loss]()
    for stage, strategy, chance in reversed(list(zip(deal.stages, strategies, comes, strict=True))):
        tree, seats = stage.worth(continuation), range(deal.num_players)
        answers = [best_response(tree, strategy, seat) for seat in seats]
        lost = chance * np.sum([losses(tree, strategy, seat) for seat in seats], axis=0)
        reach = chance * infoset_reach(tree, strategy)
        best = [stage.by_action(answer.strategy).argmax(axis=1) for answer in answers]
        for number in np.argsort(-lost, kind="stable")[:most].tolist():
            if lost[number] > LEAST:
                better = int(best[tree.player[number]][number])
                measured = float(reach[number]), float(lost[number])
                found.append(_loss(stage, strategy, number, better, *measured))
        continuation = np.array([answer.value for answer in answers])
    return sorted(found, key=lambda one: -one.loss)[:most]


def _comes_to(strategies: Sequence[np.ndarray], deal: DealStages) -> list[float]:
    """Returns how likely a deal comes to each of its stages."""
    comes = [1.0]
    for stage, strategy in zip(deal.stages, strategies, strict=True):
        assert isinstance(stage.tree, SequenceGame)  # grown without nodes
        again = stage.again @ end_reach(stage.tree, strategy)
        comes.append(comes[-1] * float(again))
    return comes[:-1]


def _loss(
    stage: Stage, strategy: np.ndarray, number: int, best: int, reach: float, loss: float
) -> Loss:
    first, legal = stage.tree.first, np.flatnonzero(stage.masks[number])
    actions, chances = spec(stage.rules.game).actions, strategy[first[number] : first[number + 1]]
    plays = {actions[a]: float(c) for a, c in zip(legal, chances, strict=True)}
    seat, seen = int(stage.tree.player[number]), stage.describe(number)
    return Loss(seat, stage.granted, seen, plays, actions[best], reach, loss)
