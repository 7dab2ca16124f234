"""Players as strategies of a deal and back, and exact NashConv of any player.

A player of the protocol is asked once for each information set, all in a few batches. He sees the
observation, which is the same at every table of an information set.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kille_agents.tabular import TabularMetadata, TabularPolicy
from kille_env.core.jit import kernel
from kille_env.errors import PolicyError
from kille_env.policy import Policy, check_probabilities
from kille_env.registry import spec
from kille_training.solving.byteskille.deals import DealStages, Stage
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import NashConv, best_response, expected_values

BATCH = 1 << 14
"""Information sets that a player is asked about at once."""

THROWN_IN = 15
"""Hands that a table knows to have been thrown in for a kille: more are, once in 10**16 deals."""


@dataclass(frozen=True)
class Mixture:
    """Several players in one seat: before each hand one of them is drawn, who then plays it.

    Every seat draws for itself. Nobody sees who was drawn, so the mixture counts as the strategy
    that comes to the same: what each would do in an information set, weighted with how likely it
    is that he is there.

    Attributes:
        policies: The players.
        weights: How likely each is, [K].
        name: What reports call it.
    """

    policies: tuple[Policy, ...]
    weights: tuple[float, ...]
    name: str = "mixture"

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        fits = len(self.policies) > 0 and weights.shape == (len(self.policies),)
        if not fits or not (weights >= 0).all() or abs(weights.sum() - 1.0) > 1e-9:
            raise PolicyError(
                f"a mixture needs a weight for each of its players, and they sum to 1; got "
                f"{self.weights!r} for {len(self.policies)} players"
            )


Player = Policy | Mixture


@dataclass(frozen=True)
class DealNashConv(NashConv):
    """How far players are from an equilibrium of a deal.

    Attributes:
        responses: For each seat, by stage, the strategies [S] with this seat's part replaced by
            its best response.
    """

    responses: tuple[tuple[np.ndarray, ...], ...]


def strategy_of(players: Player | Sequence[Player], stage: Stage) -> np.ndarray:
    """Returns what players do in a stage, [S].

    Args:
        players: One for all seats, or one for each seat.
        stage: The stage.

    Raises:
        PolicyError: There are too few or too many players; or a player says what is no
            distribution over the legal actions. The message tells the information set in words.
    """
    seats = _seated(players, stage.num_players)
    tree = stage.tree
    strategy = np.zeros(tree.num_sequences)
    owner = np.repeat(tree.player, np.diff(tree.first))
    for player in {id(player): player for player in seats}.values():  # each once
        mine = np.array([other is player for other in seats])
        if isinstance(player, Mixture):
            says = _mix(player, stage, mine)
        else:
            says = _ask(player, stage, mine)
        strategy[mine[owner]] = says[mine[owner]]
    return strategy


def strategies_of(
    players: Player | Sequence[Player], deal: DealStages | Stage
) -> tuple[np.ndarray, ...]:
    """Returns what players do in each stage of a deal; see `strategy_of`."""
    return tuple(strategy_of(players, stage) for stage in _stages(deal))


def nash_conv(players: Player | Sequence[Player], deal: DealStages | Stage) -> DealNashConv:
    """Returns what each seat could gain against the others, exactly, and how.

    Args:
        players: One for all seats, or one for each seat.
        deal: A deal with all its questions, or one of its stages.

    Raises:
        PolicyError: See `strategy_of`.
    """
    return nash_conv_of(strategies_of(players, deal), deal)


def nash_conv_of(strategies: Sequence[np.ndarray], deal: DealStages | Stage) -> DealNashConv:
    """Returns the same for strategies, one [S] a stage.

    Whoever responds does so in the hands to come as well: a hand that is dealt again is worth to
    him what the best response earns in the next stage.
    """
    stages = _stages(deal)
    if len(strategies) != len(stages):
        raise PolicyError(f"{len(strategies)} strategies for {len(stages)} stages of the deal")
    seats = range(stages[0].num_players)
    values, best, responses = None, None, []
    for stage, strategy in zip(reversed(stages), reversed(strategies), strict=True):
        values = expected_values(stage.worth(values), strategy, stage.tell)
        responding = stage.worth(best)
        answers = [best_response(responding, strategy, seat, stage.tell) for seat in seats]
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


def table_of(
    strategies: Sequence[np.ndarray], deal: DealStages | Stage, name: str = "table", **made: object
) -> TabularPolicy:
    """Returns strategies as a player that can be saved and sit at any table.

    A player sees the observation, which forgets some of what the information state knows. Where
    one observation stands for several information sets, the table plays their mean, weighted with
    how often play by the strategies comes there. How much that costs, `nash_conv` of it says.

    Args:
        strategies: One [S] a stage.
        deal: The deal, or its only stage.
        name: The player's name.
        **made: How it was made, for people.
    """
    stages = _stages(deal)
    seen, rows = [], []
    for stage, strategy in zip(stages, strategies, strict=True):
        # Unreached sets count equally.
        weight = reach(stage.tree, strategy) + np.finfo(np.float64).tiny
        left = stage.rules.number("max_deals") - stage.granted
        for thrown_in in range(min(THROWN_IN + 1, left) if stage.thrown_in else 1):
            seen.append(stage.observed(thrown_in))
            rows.append(_rows(stage, strategy) * weight[:, None])
    observations, number = np.unique(np.concatenate(seen), axis=0, return_inverse=True)
    summed = np.zeros((len(observations), rows[0].shape[1]))
    np.add.at(summed, number.ravel(), np.concatenate(rows))
    rules = stages[0].rules
    game = spec(rules.game)
    card = TabularMetadata(game.name, game.version, stages[0].num_players, rules.as_dict(), made)
    return TabularPolicy(card, observations, summed / summed.sum(axis=1, keepdims=True), name)


def _stages(deal: DealStages | Stage) -> tuple[Stage, ...]:
    return deal.stages if isinstance(deal, DealStages) else (deal,)


def _seated(players: Player | Sequence[Player], num_players: int) -> list[Player]:
    if not isinstance(players, Sequence):
        return [players] * num_players
    if len(players) != num_players:
        raise PolicyError(f"{len(players)} players for {num_players} seats; expected one or all")
    return list(players)


def _ask(policy: Policy, stage: Stage, seats: np.ndarray) -> np.ndarray:
    """Returns what a policy does in the information sets of some seats, [S], 0 elsewhere."""
    tree, masks = stage.tree, stage.masks
    says = np.zeros(masks.shape)
    asked = np.flatnonzero(seats[tree.player])
    for begin in range(0, len(asked), BATCH):
        sets = asked[begin : begin + BATCH]
        told = np.asarray(policy.probabilities(stage.observations[sets], masks[sets]))
        try:
            check_probabilities(policy.name, told, masks[sets])
        except PolicyError as error:
            raise _in_words(policy, stage, sets, told, error) from None
        says[sets] = told
    chosen = says[masks != 0]  # row by row, action by action: as sequences are numbered
    sizes = np.diff(tree.first)
    sums = np.repeat(np.add.reduceat(chosen, tree.first[:-1]), sizes)
    return np.divide(chosen, sums, out=chosen, where=sums > 0)


def _in_words(
    policy: Policy, stage: Stage, sets: np.ndarray, told: np.ndarray, error: PolicyError
) -> PolicyError:
    """Returns an error that says at which information set a policy went wrong."""
    if told.shape != stage.masks[sets].shape:
        return error
    for row, number in enumerate(sets):
        try:
            check_probabilities(policy.name, told[row : row + 1], stage.masks[number][None])
        except PolicyError as wrong:
            actions = spec(stage.rules.game).actions
            legal = [actions[action] for action in np.flatnonzero(stage.masks[number])]
            return PolicyError(
                f"{wrong}; information set {number}: {stage.tell(int(number))} "
                f"Legal: {', '.join(legal)}"
            )
    return error


def _mix(mixture: Mixture, stage: Stage, seats: np.ndarray) -> np.ndarray:
    """Returns the strategy that comes to the same as a mixture, [S], 0 for other seats."""
    tree = stage.tree
    before = _before(tree)
    says = [_ask(policy, stage, seats) for policy in mixture.policies]
    mixed, total = np.zeros(tree.num_sequences), np.zeros(tree.num_sequences)
    sizes = np.diff(tree.first)
    for weight, said in zip(mixture.weights, says, strict=True):
        own = np.zeros(tree.num_infosets)
        _own_reach(tree.first, before, said, own)
        share = np.repeat(weight * own, sizes)
        mixed += share * said
        total += share
    # Where none of them would be, anything comes to the same: the first one's choice.
    return np.divide(mixed, total, out=says[0], where=total > 0)


def _before(tree: FlatTree) -> np.ndarray:
    """Returns the sequence by which a set's player came to it, [I]; -1 for his first sets."""
    before = np.full(tree.num_infosets, -1, dtype=np.int32)
    last = np.full((tree.num_nodes, tree.num_players), -1, dtype=np.int32)
    _trace(tree.player, tree.infoset, tree.parent, tree.sequence, last, before)
    return before


def _rows(stage: Stage, strategy: np.ndarray) -> np.ndarray:
    """Returns a strategy with a row for each information set, [I, A]."""
    rows = np.zeros(stage.masks.shape)
    rows[stage.masks != 0] = strategy
    return rows


def reach(tree: FlatTree, strategy: np.ndarray) -> np.ndarray:
    """Returns how often play comes to each information set, [I]."""
    reached = np.zeros(tree.num_infosets)
    weight = np.zeros(tree.num_nodes)
    _come(tree.infoset, tree.parent, tree.sequence, tree.probability, strategy, weight, reached)
    return reached


@kernel
def _come(infoset, parent, sequence, probability, strategy, weight, reached):
    """Adds up how often play comes to the nodes of each information set."""
    weight[0] = 1.0
    for node in range(len(infoset)):
        if node > 0:
            step = sequence[node]
            share = strategy[step] if step >= 0 else probability[node]
            weight[node] = weight[parent[node]] * share
        if infoset[node] >= 0:
            reached[infoset[node]] += weight[node]


@kernel
def _trace(player, infoset, parent, sequence, last, before):
    """Fills in the last own sequence before each information set."""
    for node in range(1, len(infoset)):
        above = parent[node]
        for seat in range(last.shape[1]):
            last[node, seat] = last[above, seat]
        if sequence[node] >= 0:
            last[node, player[infoset[above]]] = sequence[node]
        if infoset[node] >= 0:
            before[infoset[node]] = last[node, player[infoset[node]]]


@kernel
def _own_reach(first, before, strategy, own):
    """Fills in how likely a player's own choices lead to each of his sets.

    Sets are numbered as they are met on the way down, so none comes before one that leads to it.
    """
    reach_set = 0
    for number in range(len(before)):
        came = before[number]
        if came < 0:
            own[number] = 1.0
            continue
        # The set that a sequence belongs to: the last one that begins at or before it.
        low, high = 0, len(before) - 1
        while low < high:
            reach_set = (low + high + 1) // 2
            if first[reach_set] <= came:
                low = reach_set
            else:
                high = reach_set - 1
        own[number] = own[low] * strategy[came]
