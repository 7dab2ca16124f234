"""Control variates: luck whose mean is known to be 0 is taken away from the scores.

If c has the mean 0, x - c has the mean of x, and less variance where c goes along with x. Two kinds
of c are made here.

*Exactly, from the tree.* In single deals of Byteskille that fit into memory, the expected score
given the cards dealt is computed for players whose probabilities are known: over all deals it gives
the score itself without playing (`exact_scores`), and for deals that were played it gives
c = E[score | cards] - E[score] (`dealt_luck`). What stays is the luck of the draws and of the lots.
The players may be stand-ins for the real ones: then more variance stays, but no bias comes in.

*By regression, from the luck of the cards.* `luck` counts, for every card that chance gave, what
came less what was to be expected of the rest of the pack. Such counts have the mean 0 whatever the
players do, so any fixed mixture of them does, and so does a mixture whose weights were found at
other deals: `without_luck` finds the weights for each tenth of the deals at the other nine tenths.
That is the idea of Zinkevich, Bowling, Bard, Kan and Billings, *Optimal unbiased estimators for
evaluating agent performance*, AAAI 2006 (DIVAT's "advantage sum"); Burch, Schmid, Moravcik, Morrill
and Bowling, *AIVAT*, AAAI 2018, add the players' known lots to it.

Playing a deal in all rotations has already removed the luck of having been dealt the better hand:
everybody holds every hand once, so whatever adds up to 0 over the seats of a deal adds up to 0 over
the rotations for each member. A control helps only where it sees what rotation leaves: which deals
make the members' *different* play matter, and draws, which differ between the rotations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kille_env.cards.pack import KI
from kille_env.core.jit import kernel
from kille_env.errors import KilleError
from kille_env.policy import Policy
from kille_training.solving.byteskille.dealing import TYPES, deal_types
from kille_training.solving.byteskille.deals import DealStages, Stage
from kille_training.solving.byteskille.policies import strategies_of
from kille_training.solving.trees.tree import TERMINAL
from kille_training.solving.trees.values import expected_values
from kille_training.statistics.observations import Observations

RIDGE = 1e-3
"""How far weights are drawn to 0, as a share of the features' mean variance."""


@dataclass(frozen=True)
class DealtValues:
    """What each position earns by the cards that are dealt: forehand first, the dealer last.

    Attributes:
        types: [D, P] int8, the types of card that are dealt to the positions.
        chance: [D], how likely that is.
        values: [D, P], what each position earns then.
    """

    types: np.ndarray
    chance: np.ndarray
    values: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """What each position earns, [P]."""
        return self.chance @ self.values

    @cached_property
    def _rows(self) -> np.ndarray:
        """[TYPES ** P] int32, the row of each way to deal types; -1 where there is none."""
        rows = np.full(TYPES ** self.types.shape[1], -1, dtype=np.int32)
        rows[_key(self.types)] = np.arange(len(self.types))
        return rows

    def luck(self, types: np.ndarray) -> np.ndarray:
        """Returns how much more than on average each position earns with cards, [N, P].

        Args:
            types: [N, P], the types dealt to the positions. A hand that is thrown in and dealt
                again says nothing yet, and has no luck.
        """
        row = self._rows[_key(types)]
        return np.where((row >= 0)[:, None], self.values[row] - self.mean, 0.0)


def dealt_values(players: Policy | Sequence[Policy], deal: DealStages | Stage) -> DealtValues:
    """Returns what players earn by the cards that are dealt in the first hand.

    Args:
        players: One for all positions, or one for each: forehand first, the dealer last.
        deal: A single deal of Byteskille, see `build_deal`; the dealer in the last seat.

    Raises:
        PolicyError: See `strategy_of`.
        KilleError: The tree was grown from a part of the pack, or deals copies of cards.
    """
    return _values(strategies_of(players, deal), deal)


def exact_scores(
    lineups: np.ndarray, players: Sequence[Policy], deal: DealStages | Stage
) -> np.ndarray:
    """Returns what each member of a lineup earns a deal, mean over the rotations: no sampling.

    Args:
        lineups: [L, P] number of the player at each place.
        players: [E].
        deal: A single deal of Byteskille; the dealer in the last seat.

    Returns:
        [L, P] units a deal. In Byteskille what one earns another one loses, so these are scores.
    """
    stages = deal.stages if isinstance(deal, DealStages) else (deal,)
    seats = stages[0].num_players
    parts = _Parts(players, deal)
    scores = np.zeros((len(lineups), seats))
    known: dict[tuple[int, ...], np.ndarray] = {}
    for row, lineup in enumerate(lineups):
        for turn, who in enumerate(rotated(lineup)):
            key = tuple(who.tolist())
            if key not in known:
                value = None
                for stage, strategy in zip(
                    reversed(stages), reversed(parts.strategies(key)), strict=True
                ):
                    value = expected_values(stage.worth(value), strategy)
                assert value is not None  # there is a stage
                known[key] = value
            scores[row] += np.roll(known[key], -turn)
    return scores / seats


def dealt_luck(
    lineup: Sequence[int] | np.ndarray,
    players: Sequence[Policy],
    deal: DealStages | Stage,
    types: np.ndarray,
) -> np.ndarray:
    """Returns the luck of the dealt cards in deals that a lineup has played in all rotations.

    Args:
        lineup: [P] number of the player at each place.
        players: [E], who plays or stand-ins.
        deal: A single deal of Byteskille with the rules that were played; the dealer in the last
            seat.
        types: [N, P] types of the cards dealt in each deal, forehand's first and the dealer's last.

    Returns:
        [N, P] expected scores of the places given the cards, less their means: a control.
    """
    parts = _Parts(players, deal)
    control = np.zeros(types.shape)
    for turn, who in enumerate(rotated(lineup)):
        values = _values(parts.strategies(tuple(who.tolist())), deal)
        control += np.roll(values.luck(types), -turn, axis=1)
    return control / types.shape[1]


def rotated(lineup: Sequence[int] | np.ndarray) -> np.ndarray:
    """Returns who sits in which position, [P, P]: in turn t, place p sits in position p + t."""
    members = np.asarray(lineup)
    return np.array([np.roll(members, turn) for turn in range(len(members))])


def controlled(observations: Observations, control: np.ndarray) -> Observations:
    """Returns observations with a control taken away from the scores.

    Args:
        observations: What was played.
        control: [G, P], with the mean 0.
    """
    if control.shape != observations.scores.shape or not np.isfinite(control).all():
        raise KilleError(
            f"a control is a finite number for each place of each observation, "
            f"{observations.scores.shape}; got an array of shape {control.shape}"
        )
    return replace(observations, scores=observations.scores - control)


def without_luck(
    scores: np.ndarray, luck: np.ndarray, deal: np.ndarray | None = None, *, folds: int = 10
) -> np.ndarray:
    """Returns the part of scores that luck explains, with weights found at other deals.

    Args:
        scores: [N] scores of one place of one lineup, or of one entrant.
        luck: [N, F] features with the mean 0.
        deal: [N] their deals; observations of a deal stay together. None: each its own.
        folds: In how many parts the deals are cut, by their numbers' remainders.

    Returns:
        [N] the control, to be taken away; its mean is 0 as that of the features is. Where the other
        parts have fewer than two deals a feature, it is 0.
    """
    deal = np.arange(len(scores)) if deal is None else deal
    # By rank and not by number: numbers may all be even.
    part = np.unique(deal, return_inverse=True)[1] % folds
    control = np.zeros(len(scores))
    for fold in range(folds):
        inside = part == fold
        known, told = luck[~inside], scores[~inside]
        if len(known) < 2 * luck.shape[1] or not inside.any():
            continue
        centred = known - known.mean(axis=0)
        square = centred.T @ centred
        square += np.eye(len(square)) * RIDGE * max(np.trace(square) / len(square), 1e-300)
        control[inside] = luck[inside] @ np.linalg.solve(square, centred.T @ (told - told.mean()))
    return control


def luck_control(observations: Observations, luck: np.ndarray, *, folds: int = 10) -> np.ndarray:
    """Returns `without_luck` of every place of every lineup, as a control of observations.

    Each place of each lineup has weights of its own, for it is what its members do with their cards
    that makes luck matter. Folds are by deal, so no weight has seen the cards it is used with.

    Args:
        observations: What was played.
        luck: [G, P, F] features of each place, mean over the seatings, with the mean 0.
        folds: See `without_luck`.
    """
    control = np.zeros(observations.scores.shape)
    for lineup in np.unique(observations.lineup):
        rows = np.flatnonzero(observations.lineup == lineup)
        for place in range(observations.seats):
            control[rows, place] = without_luck(
                observations.scores[rows, place],
                luck[rows, place],
                observations.deal[rows],
                folds=folds,
            )
    return control


class _Parts:
    """What players do, asked once for all seats; strategies of lineups are put together of it."""

    def __init__(self, players: Sequence[Policy], deal: DealStages | Stage) -> None:
        self.stages = deal.stages if isinstance(deal, DealStages) else (deal,)
        self.says = [strategies_of(player, deal) for player in players]

    def strategies(self, lineup: tuple[int, ...]) -> tuple[np.ndarray, ...]:
        """Returns a strategy [S] for each stage; player numbers by position, forehand first."""
        found = []
        for number, stage in enumerate(self.stages):
            seated = np.empty(stage.num_players, dtype=np.int64)
            seated[list(stage.order)] = lineup
            owner = np.repeat(seated[stage.tree.player], np.diff(stage.tree.first))
            found.append(np.choose(owner, [says[number] for says in self.says], mode="clip"))
        return tuple(found)


def _values(strategies: Sequence[np.ndarray], deal: DealStages | Stage) -> DealtValues:
    """Returns the values of the first stage's deals by its positions."""
    stages = deal.stages if isinstance(deal, DealStages) else (deal,)
    worth = None
    for stage, strategy in zip(reversed(stages[1:]), reversed(strategies[1:]), strict=True):
        worth = expected_values(stage.worth(worth), strategy)
    first = stages[0]
    tree = first.worth(worth)
    dealt = np.flatnonzero(tree.parent == 0)
    values = np.zeros((len(dealt), tree.num_players))
    _expect_by_deal(
        tree.infoset,
        tree.parent,
        tree.sequence,
        tree.probability,
        tree.payoff,
        strategies[0],
        np.empty(tree.num_nodes),
        values,
    )
    chance = tree.probability[dealt]
    return DealtValues(_types(first, chance), chance, values[:, list(first.order)])


def _types(stage: Stage, chance: np.ndarray) -> np.ndarray:
    """Returns the types dealt to the positions in the order in which a stage deals them, [D, P]."""
    types, chances = deal_types(np.full(TYPES, 2), stage.num_players)
    if stage.thrown_in:
        kept = (types >> 1 != KI).all(axis=1)
        types, chances = types[kept], chances[kept] / (1 - stage.thrown_in)
    if len(types) != len(chance) or not np.allclose(chances, chance):
        raise KilleError(
            f"the tree has {len(chance)} deals and not the {len(types)} of a whole pack of types; "
            "controls need a stage of the whole pack, with everybody in and grown without copies"
        )
    return types >> 1


def _key(types: np.ndarray) -> np.ndarray:
    """Numbers ways to deal types, [N]."""
    return types.astype(np.int64) @ (TYPES ** np.arange(types.shape[1]))


@kernel
def _expect_by_deal(infoset, parent, sequence, probability, payoff, strategy, reach, values):
    """Adds up the payoffs below each deal, weighted with how often play ends there from it on."""
    terminal, deal = np.uintp(0), -1
    reach[0] = 1.0
    for node in range(np.uintp(1), np.uintp(len(infoset))):
        above = np.uintp(parent[node])
        if above == np.uintp(0):
            deal += 1
            weight = 1.0
        elif sequence[node] >= 0:
            weight = reach[above] * strategy[np.uintp(sequence[node])]
        else:
            weight = reach[above] * probability[node]
        reach[node] = weight
        if infoset[node] == TERMINAL:
            for player in range(values.shape[1]):
                values[np.uintp(deal), player] += weight * payoff[terminal, player]
            terminal += np.uintp(1)
