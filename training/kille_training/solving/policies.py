"""Policies as strategies of a deal and back, and exact NashConv of any policy.

A policy of observations is evaluated once for each information set, in a few batches; the
observation is the same at every table of the set. Other policies are evaluated table by table if
their answers are not random (`keyless`).
"""

from collections.abc import Callable, Sequence

import numpy as np

from kille_agents.metadata import Metadata
from kille_agents.tabular import TabularPolicy
from kille_env.core.batch import Batch
from kille_env.errors import KilleError, PolicyError
from kille_env.play.decisions import Decisions
from kille_env.play.policy import (
    ObservationPolicy,
    Policy,
    as_decider,
    check_probabilities,
    decide,
)
from kille_env.registry import load_game, spec
from kille_training.progress import ignore
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.sequence_game import SequenceGame
from kille_training.solving.trees.values import (
    NashConv,
    best_response,
    expected_values,
    greedy,
    infoset_reach,
)

BATCH = 1 << 14  # batch size of a policy, in information sets
AT_ONCE = 64  # same for a search policy, small enough for visible progress


def can_be_asked(policy: Policy) -> bool:
    """Return whether a policy has an exact strategy: its answers are not random."""
    return isinstance(policy, ObservationPolicy) or getattr(policy, "keyless", False)


def strategy_of(
    policies: Policy | Sequence[Policy], stage: Stage, progress: Callable[[int], None] = ignore
) -> np.ndarray:
    """Return the strategy of policies in a stage, [S]."""
    seats = list(policies) if isinstance(policies, Sequence) else [policies]
    seats *= stage.num_players if len(seats) == 1 else 1
    if len(seats) != stage.num_players:
        raise PolicyError(
            f"{len(seats)} policies for {stage.num_players} seats; expected one or all"
        )
    masks, answers = stage.masks, np.zeros(stage.masks.shape)
    for number in {id(policy): number for number, policy in enumerate(seats)}.values():  # once each
        policy = as_decider(seats[number])
        mine = np.array([other is seats[number] for other in seats])
        sets = np.flatnonzero(mine[stage.seats])

        def describe(row: int, sets: np.ndarray = sets) -> str:
            return f"information set {sets[row]}: {stage.describe(int(sets[row]))}"

        if isinstance(policy, ObservationPolicy):
            seen = stage.observations[sets], masks[sets]
            actions = spec(stage.rules.game).actions
            answers[sets] = ask(policy, *seen, actions, describe)
        else:
            _ask_at_tables(policy, stage, sets, answers, progress)
    return as_strategy(answers, masks, stage.tree)


def _ask_at_tables(
    policy: Policy,
    stage: Stage,
    sets: np.ndarray,
    answers: np.ndarray,
    progress: Callable[[int], None],
) -> None:
    """Fill in the answers of a policy that needs tables, at `sets` [K]."""
    if not can_be_asked(policy):
        raise KilleError(
            f"{policy.name} searches with random numbers, so it has no exact strategy; measure it "
            "with exact=False"
        )
    if stage.forgets:
        raise KilleError(
            f"{policy.name} distinguishes drawn from dealt cards, and this tree does not: grow it "
            "with recall=True"
        )
    decisions = Decisions(tables_of(stage), sets, np.zeros(len(sets), np.uint64))
    for begin in range(0, len(sets), AT_ONCE):
        some = np.arange(len(sets))[begin : begin + AT_ONCE]
        answers[sets[some]] = decide(policy, decisions.select(some))
        progress(len(some))


def tables_of(stage: Stage) -> Batch:
    """Return a batch with one table for each information set."""
    tables = stage.positions
    game = load_game(stage.rules.game)
    batch = Batch(game, len(tables), stage.num_players, stage.rules, seed=0, restart=False)
    batch.place(tables)  # unchecked: `restore` refuses impossible deals
    return batch


def ask(
    policy: ObservationPolicy,
    observations: np.ndarray,
    masks: np.ndarray,
    actions: Sequence[str],
    describe: Callable[[int], str],
) -> np.ndarray:
    """Return a policy's probabilities, [N, A]."""
    answers = np.zeros(masks.shape)
    for begin in range(0, len(masks), BATCH):
        legal = masks[begin : begin + BATCH]
        shown = observations[begin : begin + BATCH].copy(), legal.copy()  # it may write into them
        found = np.asarray(policy.probabilities(*shown))
        try:
            check_probabilities(policy.name, found, legal)
        except PolicyError as error:
            if found.shape != legal.shape:
                raise
            row, problem = _first_wrong(policy.name, found, legal)
            names = ", ".join(np.array(actions)[legal[row] != 0])
            raise PolicyError(f"{problem}; {describe(begin + row)} Legal: {names}") from error
        answers[begin : begin + BATCH] = found
    return answers


def _first_wrong(name: str, found: np.ndarray, masks: np.ndarray) -> tuple[int, PolicyError]:
    """Return the first row that is not a distribution over the legal actions, and its error."""
    for row in range(len(found)):
        try:
            check_probabilities(name, found[row : row + 1], masks[row : row + 1])
        except PolicyError as error:
            return row, error
    raise AssertionError("no row is wrong")


def as_strategy(answers: np.ndarray, masks: np.ndarray, tree: SequenceGame) -> np.ndarray:
    """Return probabilities of actions [I, A] as a strategy [S]."""
    chosen = answers[masks != 0]  # row by row, action by action: as sequences are numbered
    return chosen / np.repeat(np.add.reduceat(chosen, tree.first[:-1]), np.diff(tree.first))


def strategies_of(
    policies: Policy | Sequence[Policy],
    deal: DealStages,
    progress: Callable[[int], None] = ignore,
) -> tuple[np.ndarray, ...]:
    """Return the strategies of policies in each stage of a deal; see `strategy_of`."""
    return tuple(strategy_of(policies, stage, progress) for stage in deal.stages)


def greedy_of(strategies: Sequence[np.ndarray], deal: DealStages) -> tuple[np.ndarray, ...]:
    """Return the greedy version of strategies; ties go to the first action."""
    stages = deal.stages
    return tuple(greedy(stage.tree, one) for stage, one in zip(stages, strategies, strict=True))


def nash_conv(policies: Policy | Sequence[Policy], deal: DealStages) -> NashConv:
    """Return NashConv: each seat's exact gain by a best response."""
    return nash_conv_of(strategies_of(policies, deal), deal)


def nash_conv_of(strategies: Sequence[np.ndarray], deal: DealStages) -> NashConv:
    """Return the same for strategies, one [S] per stage.

    A best response covers the following hands as well: dealing again is worth the value of the best
    response in the next stage.
    """
    stages = deal.stages
    values = best = np.zeros(stages[0].num_players)
    for stage, strategy in zip(reversed(stages), reversed(strategies), strict=True):
        values = expected_values(stage.worth(values), strategy)
        responding = stage.worth(best)
        seats = range(stage.num_players)
        best = np.array([best_response(responding, strategy, seat).value for seat in seats])
    return NashConv(best - values, values)


def policy_of(
    strategies: Sequence[np.ndarray], deal: DealStages, name: str = "table", **made: object
) -> TabularPolicy:
    """Return strategies as a tabular policy.

    An observation may stand for several information sets. The policy then plays their mean,
    weighted by reach. `nash_conv` of the policy measures the loss.
    """
    stages = deal.stages
    seen, rows = [], []
    for stage, strategy in zip(stages, strategies, strict=True):
        # Unreached sets count equally.
        weight = infoset_reach(stage.tree, strategy) + np.finfo(np.float64).tiny
        for observations in stage.ways_to_see():
            seen.append(observations)
            rows.append(stage.by_action(strategy) * weight[:, None])
    observations, number = np.unique(np.concatenate(seen), axis=0, return_inverse=True)
    summed = np.zeros((len(observations), rows[0].shape[1]))
    np.add.at(summed, number.ravel(), np.concatenate(rows))
    rules = stages[0].rules
    game = spec(rules.game)
    metadata = Metadata(game.name, game.version, stages[0].num_players, rules.as_dict(), made)
    return TabularPolicy(metadata, observations, summed / summed.sum(axis=1, keepdims=True), name)
