"""Policies as strategies of a deal and back, and exact NashConv of any policy.

A policy is asked once for each information set, in a few batches. It sees the observation, which is
the same at every table of an information set.
"""

from collections.abc import Callable, Sequence

import numpy as np

from kille_agents.metadata import Metadata
from kille_agents.tabular import TabularPolicy
from kille_env.errors import PolicyError
from kille_env.policy import Policy, check_probabilities
from kille_env.registry import spec
from kille_training.solving.byteskille.deals import DealStages, Stage
from kille_training.solving.trees.tree import FlatTree
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


def strategy_of(policies: Policy | Sequence[Policy], stage: Stage) -> np.ndarray:
    """Returns what policies do in a stage, [S].

    Args:
        policies: One for all seats, or one for each seat.
        stage: The stage.

    Raises:
        PolicyError: There are too few or too many policies; or a policy returns what is not a
            distribution over the legal actions. The message describes the information set.
    """
    seats = policies if isinstance(policies, Sequence) else [policies] * stage.num_players
    if len(seats) != stage.num_players:
        raise PolicyError(
            f"{len(seats)} policies for {stage.num_players} seats; expected one or all"
        )
    masks, answers = stage.masks, np.zeros(stage.masks.shape)
    for policy in {id(policy): policy for policy in seats}.values():  # each once
        mine = np.array([other is policy for other in seats])
        sets = np.flatnonzero(mine[stage.tree.player])

        def describe(row: int, sets: np.ndarray = sets) -> str:
            return f"information set {sets[row]}: {stage.describe(int(sets[row]))}"

        answers[sets] = ask(policy, stage.observations[sets], masks[sets], describe)
    return as_strategy(answers, masks, stage.tree)


def ask(
    policy: Policy, observations: np.ndarray, masks: np.ndarray, describe: Callable[[int], str]
) -> np.ndarray:
    """Returns what a policy does, [N, A].

    Args:
        policy: The policy.
        observations: [N, F].
        masks: [N, A].
        describe: Returns a text for a row, for errors.

    Raises:
        PolicyError: It returns what is not a distribution over the legal actions.
    """
    answers = np.zeros(masks.shape)
    for begin in range(0, len(masks), BATCH):
        legal = masks[begin : begin + BATCH]
        found = np.asarray(policy.probabilities(observations[begin : begin + BATCH], legal))
        try:
            check_probabilities(policy.name, found, legal)
        except PolicyError as error:
            if found.shape != legal.shape:
                raise
            row, problem = _first_wrong(policy.name, found, legal)
            actions = np.array(spec("byteskille").actions)[legal[row] != 0]
            raise PolicyError(
                f"{problem}; {describe(begin + row)} Legal: {', '.join(actions)}"
            ) from error
        answers[begin : begin + BATCH] = found
    return answers


def _first_wrong(name: str, found: np.ndarray, masks: np.ndarray) -> tuple[int, PolicyError]:
    """Returns the first row that is no distribution over the legal actions, and its error."""
    for row in range(len(found)):
        try:
            check_probabilities(name, found[row : row + 1], masks[row : row + 1])
        except PolicyError as error:
            return row, error
    raise AssertionError("no row is wrong")


def as_strategy(answers: np.ndarray, masks: np.ndarray, tree: FlatTree) -> np.ndarray:
    """Returns probabilities of actions [I, A] as a strategy [S]."""
    chosen = answers[masks != 0]  # row by row, action by action: as sequences are numbered
    return chosen / np.repeat(np.add.reduceat(chosen, tree.first[:-1]), np.diff(tree.first))


def strategies_of(
    policies: Policy | Sequence[Policy], deal: DealStages | Stage
) -> tuple[np.ndarray, ...]:
    """Returns what policies do in each stage of a deal; see `strategy_of`."""
    return tuple(strategy_of(policies, stage) for stage in _stages(deal))


def nash_conv(policies: Policy | Sequence[Policy], deal: DealStages | Stage) -> NashConv:
    """Returns what each seat could gain against the others, exactly.

    Args:
        policies: One for all seats, or one for each seat.
        deal: A deal with all its questions, or one of its stages.

    Raises:
        PolicyError: See `strategy_of`.
    """
    return nash_conv_of(strategies_of(policies, deal), deal)


def nash_conv_of(strategies: Sequence[np.ndarray], deal: DealStages | Stage) -> NashConv:
    """Returns the same for strategies, one [S] per stage.

    A best response covers the following hands as well: where the cards are dealt again, it is worth
    what the best response earns in the next stage.
    """
    stages = _stages(deal)
    values = best = np.zeros(stages[0].num_players)
    for stage, strategy in zip(reversed(stages), reversed(strategies), strict=True):
        values = expected_values(stage.worth(values), strategy)
        responding = stage.worth(best)
        seats = range(stage.num_players)
        best = np.array([best_response(responding, strategy, seat).value for seat in seats])
    return NashConv(best - values, values)


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
    metadata = Metadata(game.name, game.version, stages[0].num_players, rules.as_dict(), made)
    return TabularPolicy(metadata, observations, summed / summed.sum(axis=1, keepdims=True), name)


def _stages(deal: DealStages | Stage) -> tuple[Stage, ...]:
    return deal.stages if isinstance(deal, DealStages) else (deal,)
