"""Policies as strategies of a deal and back, and exact NashConv of any policy.

A policy is asked once for each information set, in a few batches. It sees the observation, which is
the same at every table of an information set. So is what a player with memory remembers in a hand:
with perfect recall the seat has come through the same sets of its own. Such a player is asked set
after set, in the order of the seat's decisions. What it remembers of an earlier hand of the deal
would make the next one depend on it, so it has no strategy where cards are dealt again. A player
that looks ahead is asked table by table, if its answers are not random (`keyless`).
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from kille_agents.metadata import Metadata
from kille_agents.tabular import TabularPolicy
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.errors import KilleError, PolicyError
from kille_env.play.decisions import Decisions
from kille_env.play.policy import (
    Decider,
    Player,
    Policy,
    check_probabilities,
    decide,
    has_memory,
    searches,
)
from kille_env.registry import load_game, spec
from kille_training.progress import ignore
from kille_training.solving.size import OWN
from kille_training.solving.stages import DealStages, Stage
from kille_training.solving.trees.sequence_game import SequenceGame
from kille_training.solving.trees.values import (
    NashConv,
    best_response,
    expected_values,
    greedy,
    infoset_reach,
)

Asked = Policy | Decider
"""Whoever answers by what a seat sees in a hand."""

BATCH = 1 << 14
"""Information sets per call of a policy."""

AT_ONCE = 64
"""Information sets per call of a searcher, so that progress is seen."""


def can_be_asked(policy: Player, num_players: int, rules: Rules) -> bool:
    """Returns whether a player answers by what a seat sees, so that a tree can hold its answers.

    One with a memory answers by what it has seen in the hand, and where cards can be dealt again in
    a deal, by the hands before as well, which no tree knows.
    """
    if has_memory(policy):
        return rules.game == OWN and not load_game(OWN).redeals(rules, num_players)
    return _is_keyless(policy)


def _is_keyless(policy: Player) -> bool:
    return not searches(policy) or getattr(policy, "keyless", False)


def strategy_of(
    policies: Asked | Sequence[Asked], stage: Stage, progress: Callable[[int], None] = ignore
) -> np.ndarray:
    """Returns what policies do in a stage, [S].

    Args:
        policies: One for all seats, or one for each seat.
        stage: The stage.
        progress: Called with the information sets that a searcher has answered.

    Raises:
        PolicyError: There are too few or too many policies; or a policy returns what is not a
            distribution over the legal actions. The message describes the information set. Or one
            with a memory is asked about one of several hands.
        KilleError: One looks ahead and answers at random, or the stage forgets what it may read.
    """
    seats = policies if isinstance(policies, Sequence) else [policies] * stage.num_players
    if len(seats) != stage.num_players:
        raise PolicyError(
            f"{len(seats)} policies for {stage.num_players} seats; expected one or all"
        )
    masks, answers = stage.masks, np.zeros(stage.masks.shape)
    for policy in {id(policy): policy for policy in seats}.values():  # each once
        mine = np.array([other is policy for other in seats])
        sets = np.flatnonzero(mine[stage.seats])

        def describe(row: int, sets: np.ndarray = sets) -> str:
            return f"information set {sets[row]}: {stage.describe(int(sets[row]))}"

        if searches(policy):
            _ask_searcher(cast(Decider, policy), stage, sets, answers, progress)
        elif has_memory(policy):
            _ask_in_order(cast(Decider, policy), stage, sets, answers)
        else:
            seen = stage.observations[sets], masks[sets]
            actions = spec(stage.rules.game).actions
            answers[sets] = ask(cast(Policy, policy), *seen, actions, describe)
    return as_strategy(answers, masks, stage.tree)


def _ask_searcher(
    searcher: Decider,
    stage: Stage,
    sets: np.ndarray,
    answers: np.ndarray,
    progress: Callable[[int], None],
) -> None:
    """Asks a player that looks ahead; see `_ask_in_order`."""
    if not _is_keyless(searcher):
        raise KilleError(
            f"{searcher.name} looks ahead, and no tree can hold what a search would do everywhere; "
            "measure it with exact=False"
        )
    if stage.forgets:
        raise KilleError(
            f"{searcher.name} can tell the cards that it drew from those that it was dealt, and "
            "this tree cannot: grow it with recall=True"
        )
    decisions = Decisions(tables_of(stage), sets, np.zeros(len(sets), np.uint64))
    for begin in range(0, len(sets), AT_ONCE):
        some = np.arange(len(sets))[begin : begin + AT_ONCE]
        answers[sets[some]] = decide(searcher, decisions.take(some))
        progress(len(some))


def _ask_in_order(player: Decider, stage: Stage, sets: np.ndarray, answers: np.ndarray) -> None:
    """Asks a player with memory in some information sets; fills in its rows of `answers`, [I, A].

    Args:
        player: The player.
        stage: The stage.
        sets: [K] all information sets of the seats that it plays.
        answers: [I, A] float64.

    Raises:
        PolicyError: The stage is one of several hands of a deal, or the player returned what is no
            distribution over the legal actions.
    """
    if stage.forced or stage.forgets:
        raise PolicyError(
            f"{player.name} remembers the decisions at which it had no choice, and the tree of "
            f"{stage.rules.game} has none of them; measure it with exact=False"
        )
    if stage.dealt_again:
        raise PolicyError(
            f"{player.name} remembers the hands before a granted question, and the tree of a hand "
            "does not know them; measure with fraga: off"
        )
    before = sets_before(stage.tree)
    place = np.full(len(answers), -1)  # of each set among those asked last, which lie before these
    size, tables = cast(Any, player).memory_size, tables_of(stage)
    memory = np.zeros((1, size), np.float32)  # of who has seen nothing, for -1
    due = sets[before[sets] < 0]
    while len(due):
        known = memory[place[before[due]]]
        memory = np.empty((len(due), size), np.float32)
        for begin in range(0, len(due), BATCH):
            some = slice(begin, begin + BATCH)
            keys = np.zeros(len(known[some]), np.uint64)
            decisions = Decisions(tables, due[some], keys, memory=known[some])
            answers[due[some]] = decide(player, decisions)
            memory[some] = decisions.memory
        place[:] = -1
        place[due] = np.arange(len(due))
        due = sets[(before[sets] >= 0) & (place[before[sets]] >= 0)]


def tables_of(stage: Stage) -> Batch:
    """Returns a batch with one table for each information set."""
    tables = stage.positions
    game = load_game(stage.rules.game)
    batch = Batch(game, len(tables), stage.num_players, stage.rules, seed=0, restart=False)
    batch.place(tables)  # our own tree's, some of which no pack deals: `restore` refuses these
    return batch


def sets_before(tree: SequenceGame) -> np.ndarray:
    """Returns each seat's own information set before each of its sets, [I] int64; -1 for none."""
    last = tree.before[tree.ways[:-1]]  # before a forgetful set: one of those that lead there
    return np.where(last < 0, -1, tree.first.searchsorted(last, side="right") - 1)


def ask(
    policy: Policy,
    observations: np.ndarray,
    masks: np.ndarray,
    actions: Sequence[str],
    describe: Callable[[int], str],
) -> np.ndarray:
    """Returns what a policy does, [N, A].

    Args:
        policy: The policy.
        observations: [N, F].
        masks: [N, A].
        actions: [A], what the actions are called, for errors.
        describe: Returns a text for a row, for errors.

    Raises:
        PolicyError: It returns what is not a distribution over the legal actions.
    """
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
    """Returns the first row that is no distribution over the legal actions, and its error."""
    for row in range(len(found)):
        try:
            check_probabilities(name, found[row : row + 1], masks[row : row + 1])
        except PolicyError as error:
            return row, error
    raise AssertionError("no row is wrong")


def as_strategy(answers: np.ndarray, masks: np.ndarray, tree: SequenceGame) -> np.ndarray:
    """Returns probabilities of actions [I, A] as a strategy [S]."""
    chosen = answers[masks != 0]  # row by row, action by action: as sequences are numbered
    return chosen / np.repeat(np.add.reduceat(chosen, tree.first[:-1]), np.diff(tree.first))


def strategies_of(
    policies: Asked | Sequence[Asked],
    deal: DealStages,
    progress: Callable[[int], None] = ignore,
) -> tuple[np.ndarray, ...]:
    """Returns what policies do in each stage of a deal; see `strategy_of`."""
    return tuple(strategy_of(policies, stage, progress) for stage in deal.stages)


def greedy_of(strategies: Sequence[np.ndarray], deal: DealStages) -> tuple[np.ndarray, ...]:
    """Returns strategies that take their most likely action, the first of equals."""
    stages = deal.stages
    return tuple(greedy(stage.tree, one) for stage, one in zip(stages, strategies, strict=True))


def nash_conv(policies: Asked | Sequence[Asked], deal: DealStages) -> NashConv:
    """Returns what each seat could gain against the others, exactly.

    Args:
        policies: One for all seats, or one for each seat.
        deal: The deal.

    Raises:
        PolicyError: See `strategy_of`.
    """
    return nash_conv_of(strategies_of(policies, deal), deal)


def nash_conv_of(strategies: Sequence[np.ndarray], deal: DealStages) -> NashConv:
    """Returns the same for strategies, one [S] per stage.

    A best response covers the following hands as well: where the cards are dealt again, it is worth
    what the best response earns in the next stage.
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
    """Returns strategies as a policy that can be saved and played.

    A policy sees the observation, which forgets some of what the information state knows. Where one
    observation stands for several information sets, the policy plays their mean, weighted with how
    often play by the strategies comes there. `nash_conv` of the policy says how much that costs.

    Args:
        strategies: One [S] per stage.
        deal: The deal.
        name: The policy's name.
        **made: How it was made, for people.
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
