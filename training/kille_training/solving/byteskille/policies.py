"""Policies as strategies of a deal and back, and exact NashConv of any policy.

A policy is asked once for each information set, in a few batches. It sees the observation, which is
the same at every table of an information set.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kille_agents.tabular import TabularMetadata, TabularPolicy
from kille_env.errors import PolicyError
from kille_env.policy import Policy, check_probabilities
from kille_env.registry import spec
from kille_training.solving.byteskille.deals import DealStages, Stage
from kille_training.solving.trees.values import (
    NashConv,
    best_response,
    expected_values,
    infoset_reach,
)

BATCH = 1 << 14
"""Information sets per call of a policy."""

THROWN_IN = 15
"""Hands thrown in for a kille that a tabular policy knows; more happen once in 10**16 deals."""


@dataclass(frozen=True)
class DealNashConv(NashConv):
    """How far policies are from an equilibrium of a deal.

    Attributes:
        responses: For each seat, by stage, the strategies [S] with this seat's part replaced by
            its best response.
    """

    responses: tuple[tuple[np.ndarray, ...], ...]


def strategy_of(policies: Policy | Sequence[Policy], stage: Stage) -> np.ndarray:
    """Returns what policies do in a stage, [S].

    Args:
        policies: One for all seats, or one for each seat.
        stage: The stage.

    Raises:
        PolicyError: There are too few or too many policies; or a policy returns what is not a
            distribution over the legal actions. The message describes the information set.
    """
    seats = _seated(policies, stage.num_players)
    tree = stage.tree
    strategy = np.zeros(tree.num_sequences)
    owner = np.repeat(tree.player, np.diff(tree.first))
    for policy in {id(policy): policy for policy in seats}.values():  # each once
        mine = np.array([other is policy for other in seats])
        strategy[mine[owner]] = _ask(policy, stage, mine)[mine[owner]]
    return strategy


def strategies_of(
    policies: Policy | Sequence[Policy], deal: DealStages | Stage
) -> tuple[np.ndarray, ...]:
    """Returns what policies do in each stage of a deal; see `strategy_of`."""
    return tuple(strategy_of(policies, stage) for stage in _stages(deal))


def nash_conv(policies: Policy | Sequence[Policy], deal: DealStages | Stage) -> DealNashConv:
    """Returns what each seat could gain against the others, exactly, and how.

    Args:
        policies: One for all seats, or one for each seat.
        deal: A deal with all its questions, or one of its stages.

    Raises:
        PolicyError: See `strategy_of`.
    """
    return nash_conv_of(strategies_of(policies, deal), deal)


def nash_conv_of(strategies: Sequence[np.ndarray], deal: DealStages | Stage) -> DealNashConv:
    """Returns the same for strategies, one [S] per stage.

    A best response covers the following hands as well: where the cards are dealt again, it is worth
    what the best response earns in the next stage.
    """
    stages = _stages(deal)
    if len(strategies) != len(stages):
        raise PolicyError(f"{len(strategies)} strategies for {len(stages)} stages of the deal")
    seats = range(stages[0].num_players)
    values, best, responses = None, None, []
    for stage, strategy in zip(reversed(stages), reversed(strategies), strict=True):
        values = expected_values(stage.worth(values), strategy, stage.describe)
        responding = stage.worth(best)
        answers = [best_response(responding, strategy, seat, stage.describe) for seat in seats]
        best = np.array([answer.value for answer in answers])
        responses.append([answer.strategy for answer in answers])
    assert values is not None  # there is a stage
    assert best is not None
    responses.reverse()
    return DealNashConv(
        improvement=best - values,
        values=values,
        responses=tuple(tuple(stage[seat] for stage in responses) for seat in seats),
    )


def policy_of(
    strategies: Sequence[np.ndarray], deal: DealStages | Stage, name: str = "table", **made: object
) -> TabularPolicy:
    """Returns strategies as a policy that can be saved and played.

    A policy sees the observation, which forgets some of what the information state knows. Where one
    observation stands for several information sets, the policy plays their mean, weighted with how
    often play by the strategies comes there. `nash_conv` of the policy says how much that costs.

    Args:
        strategies: One [S] per stage.
        deal: The deal, or its only stage.
        name: The policy's name.
        **made: How it was made, for people.
    """
    stages = _stages(deal)
    seen, rows = [], []
    for stage, strategy in zip(stages, strategies, strict=True):
        # Unreached sets count equally.
        weight = infoset_reach(stage.tree, strategy) + np.finfo(np.float64).tiny
        left = stage.rules.number("max_deals") - stage.granted
        for thrown_in in range(min(THROWN_IN + 1, left) if stage.thrown_in else 1):
            seen.append(stage.observed(thrown_in))
            rows.append(stage.by_action(strategy) * weight[:, None])
    observations, number = np.unique(np.concatenate(seen), axis=0, return_inverse=True)
    summed = np.zeros((len(observations), rows[0].shape[1]))
    np.add.at(summed, number.ravel(), np.concatenate(rows))
    rules = stages[0].rules
    game = spec(rules.game)
    metadata = TabularMetadata(
        game.name, game.version, stages[0].num_players, rules.as_dict(), made
    )
    return TabularPolicy(metadata, observations, summed / summed.sum(axis=1, keepdims=True), name)


def _stages(deal: DealStages | Stage) -> tuple[Stage, ...]:
    return deal.stages if isinstance(deal, DealStages) else (deal,)


def _seated(policies: Policy | Sequence[Policy], num_players: int) -> list[Policy]:
    if not isinstance(policies, Sequence):
        return [policies] * num_players
    if len(policies) != num_players:
        raise PolicyError(f"{len(policies)} policies for {num_players} seats; expected one or all")
    return list(policies)


def _ask(policy: Policy, stage: Stage, seats: np.ndarray) -> np.ndarray:
    """Returns what a policy does in the information sets of some seats, [S], 0 elsewhere."""
    tree, masks = stage.tree, stage.masks
    answers = np.zeros(masks.shape)
    asked = np.flatnonzero(seats[tree.player])
    for begin in range(0, len(asked), BATCH):
        sets = asked[begin : begin + BATCH]
        found = np.asarray(policy.probabilities(stage.observations[sets], masks[sets]))
        try:
            check_probabilities(policy.name, found, masks[sets])
        except PolicyError as error:
            raise _described(policy, stage, sets, found, error) from None
        answers[sets] = found
    chosen = answers[masks != 0]  # row by row, action by action: as sequences are numbered
    sizes = np.diff(tree.first)
    sums = np.repeat(np.add.reduceat(chosen, tree.first[:-1]), sizes)
    return np.divide(chosen, sums, out=chosen, where=sums > 0)


def _described(
    policy: Policy, stage: Stage, sets: np.ndarray, found: np.ndarray, error: PolicyError
) -> PolicyError:
    """Returns an error that describes the information set at which a policy went wrong."""
    if found.shape != stage.masks[sets].shape:
        return error
    for row, number in enumerate(sets):
        try:
            check_probabilities(policy.name, found[row : row + 1], stage.masks[number][None])
        except PolicyError as wrong:
            actions = spec(stage.rules.game).actions
            legal = [actions[action] for action in np.flatnonzero(stage.masks[number])]
            return PolicyError(
                f"{wrong}; information set {number}: {stage.describe(int(number))} "
                f"Legal: {', '.join(legal)}"
            )
    return error
