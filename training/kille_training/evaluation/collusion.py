"""What two players gain by playing together against the others.

*Exactly*, for single deals of Byteskille whose tree fits into memory: two seats that share all they
know are one player that decides in both seats and earns what both earn. Its information sets are
those of their joint knowledge, so it has perfect recall, and its best response to the fixed others
is exact. For comparison there are the earnings of both by their own policies, the earnings when
each plays its own best response while the other keeps its policy, and the earnings when they agree
on strategies for their joint earnings without sharing what they know. The last is found by
alternating best responses until neither improves: a lower bound on the best agreement.

*Measured*, from a tournament: what two entrants earn together at tables where both sit, beyond what
each earns at tables where the other is absent. It needs tables of both kinds, and does not show
intent: two players that happen to suit each other have a gain, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import stdtrit

from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.policy import Policy
from kille_training.solving.byteskille.deals import DealStages, Stage, build_deal
from kille_training.solving.byteskille.policies import nash_conv_of, strategies_of
from kille_training.solving.trees.tree import FlatTree
from kille_training.solving.trees.values import best_response
from kille_training.statistics.intervals import CONFIDENCE, Intervals
from kille_training.statistics.tally import NANO, Tally

ROUNDS = 100
"""Alternating best responses, at most; it ends far earlier, when neither seat improves."""
SMALLEST_GAIN = 1e-12


@dataclass(frozen=True)
class Collusion:
    """What two seats of a deal earn together, in units per deal.

    Attributes:
        seats: The two; forehand is 0, the dealer the last one.
        own: By their own policies.
        selfish: `own`, and what each gains by its best response to the others' policies.
        agreed: By strategies for their joint earnings, each with its own knowledge; at least this.
        shared: By the best response of both together, with their joint knowledge.
    """

    seats: tuple[int, int]
    own: float
    selfish: float
    agreed: float
    shared: float

    @property
    def gain(self) -> float:
        """What the two gain by colluding."""
        return self.shared - self.own

    @property
    def from_sharing(self) -> float:
        """The part of the gain that needs shared knowledge; at most this."""
        return self.shared - self.agreed


def exact_collusion(
    players: Policy | Sequence[Policy],
    seats: tuple[int, int],
    num_players: int,
    rules: Rules | str | Mapping[str, Any] | None = None,
    *,
    cards: Sequence[str] | None = None,
    deal: DealStages | None = None,
) -> Collusion:
    """Returns what two seats gain by playing together against the others.

    Args:
        players: One for all seats, or one for each, forehand first.
        seats: The two that collude, from 0 for forehand to P - 1 for the dealer.
        num_players: P, at least 3.
        rules: Rules of Byteskille; always single deals.
        cards: Codes of a smaller pack, for checks.
        deal: The tree without sharing, if there is one at hand.

    Raises:
        KilleError: They are not two seats of a table of three or more, or the tree does not fit.
    """
    pair = tuple(sorted(set(seats)))
    if num_players < 3 or len(pair) != 2 or not 0 <= pair[0] < pair[1] < num_players:
        raise KilleError(
            f"seats {tuple(seats)} of {num_players} cannot collude; expected two of 0 to "
            f"{num_players - 1} at a table with a third seat"
        )
    if deal is None:
        deal = build_deal(num_players, rules, cards=cards)
    strategies = strategies_of(players, deal)
    measured = nash_conv_of(strategies, deal)
    own = float(measured.values[list(pair)].sum())
    together = build_deal(num_players, rules, cards=cards, shared=pair)
    return Collusion(
        seats=(pair[0], pair[1]),
        own=own,
        selfish=own + float(measured.improvement[list(pair)].sum()),
        agreed=max(_agree(strategies, deal, first, pair) for first in (pair, pair[::-1])),
        shared=_respond(strategies_of(players, together), together, pair, pair)[1],
    )


def pair_gains(tally: Tally) -> Intervals:
    """Returns what pairs earn together beyond what each earns where the other is absent.

    A cell, what the row's entrant earns where the column's also sits, is explained by the row and
    by the column: if places earn by strengths of their members, less the mean of the others', and
    every lineup is played as often, cells are such sums exactly. What is left in the two cells of
    a pair is its gain, at the cost of the others at their tables. Each pair's is compared with what
    all other cells say, so a gain does not hide in the sums that explain it; its interval is that
    of least squares, with folds as clusters.

    Args:
        tally: What lineups of different entrants played, at tables of 3 seats or more.

    Returns:
        Intervals of all pairs in the order of `pairs`; NaN where a gain cannot be told from
        strengths: the two never sat together, or one never without the other, or copies sat.

    Raises:
        KilleError: The tables have two seats.
    """
    if tally.seats < 3:
        raise KilleError("two entrants at a table of two seats have no third to gain from")
    count, met = tally.count.sum(axis=0), tally.met.sum(axis=0)
    distinct = met.sum(axis=1) == (tally.seats - 1) * count
    cells = (met > 0) & distinct & (met < count)
    cells &= cells.T
    always = int((count == tally.observations).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(cells, tally.shared.sum(axis=0) / NANO / met, 0.0)
        weight = np.where(cells, 1 / met, 0.0)
    inverse = np.linalg.pinv(np.diag(cells.sum(axis=1)) + cells.astype(float), hermitian=True)
    scale = cells / _kept(cells, inverse, always, tally.seats)

    def gains(both: np.ndarray) -> np.ndarray:
        """Returns what cells, added up both ways, leave to each pair."""
        effect = inverse @ both.sum(axis=1)
        return scale * (both - np.add.outer(effect, effect))

    square = np.zeros(cells.shape)
    played = np.flatnonzero(tally.count.any(axis=1))
    for fold in played:
        residual = (tally.shared[fold] / NANO - mean * tally.met[fold]) * weight
        square += gains(residual + residual.T) ** 2
    enough = np.isfinite(scale) & (len(played) >= 2)
    freedom = np.where(enough, len(played) - 1.0, np.nan)
    error = np.sqrt(square * len(played) / freedom)
    found, half = gains(mean + mean.T), stdtrit(freedom, (1 + CONFIDENCE) / 2) * error
    upper = np.triu_indices(tally.entrants, 1)
    whole = (found, found - half, found + half, error, freedom, met)
    return Intervals(*(each[upper] for each in whole))


def _kept(cells: np.ndarray, inverse: np.ndarray, always: int, seats: int) -> np.ndarray:
    """Returns how much of a gain is left in the cells of its pair, [E, E]; NaN if nothing is.

    Where a gain is all there is, the pair's two cells, less what the other cells lead to expect,
    hold it but for the tables at which the third of a cell is one of the pair: these raise the
    sums of the pair's rows and lower those of the others. Of that, effects that were fitted to all
    cells, with those of the pair, keep the part that is not their leverage.

    Args:
        cells: [E, E] bool, symmetric, the cells that are explained.
        inverse: [E, E], of the normal matrix of the effects.
        always: Entrants that sit at every table.
        seats: P.
    """
    entrants = max(int(cells.any(axis=1).sum()), 4)
    apart = entrants + always - seats
    share = apart / (entrants - 2)
    share *= 1 + 2 * (seats - 2 - always) / ((seats - 2) * (entrants - 3))
    own = np.diag(inverse)
    free = 1 - (np.add.outer(own, own) + 2 * inverse)
    return np.where(cells & (share * free > 1e-9), share * free, np.nan)


def pairs(entrants: int) -> list[tuple[int, int]]:
    """Returns all pairs of entrants, the lower number first."""
    return list(combinations(range(entrants), 2))


def _agree(
    strategies: Sequence[np.ndarray],
    deal: DealStages,
    order: tuple[int, ...],
    pair: tuple[int, ...],
) -> float:
    """Returns what two earn by alternating best responses for their joint earnings."""
    strategies, value = list(strategies), -np.inf
    for turn in range(ROUNDS):
        strategies, found = _respond(strategies, deal, (order[turn % 2],), pair)
        if turn > 1 and found <= value + SMALLEST_GAIN:
            break
        value = found
    return value


def _respond(
    strategies: Sequence[np.ndarray],
    deal: DealStages,
    deciding: tuple[int, ...],
    purse: tuple[int, ...],
) -> tuple[list[np.ndarray], float]:
    """Returns the strategies after a best response, and what it is worth.

    The deciding seats respond as one, for the joint earnings of the purse's seats. Where several
    decide, the deal joins their knowledge.
    """
    found, value = [], None
    for stage, strategy in zip(reversed(deal.stages), reversed(strategies), strict=True):
        answer = best_response(_merged(stage, value, deciding, purse), strategy, 0)
        found.append(answer.strategy)
        value = answer.value
    assert value is not None  # there is a stage
    return found[::-1], value


def _merged(
    stage: Stage, value: float | None, deciding: tuple[int, ...], purse: tuple[int, ...]
) -> FlatTree:
    """Returns the stage's tree as a game of the deciding seats as one, 0, and the rest, 1."""
    tree = stage.tree
    payoff = np.zeros((len(tree.payoff), 2))
    payoff[:, 0] = tree.payoff[:, list(purse)].sum(axis=1)
    if value is not None:
        payoff[stage.redealt, 0] += value
    player = np.where(np.isin(tree.player, deciding), 0, 1).astype(np.int8)
    return tree._replace(num_players=2, player=player, payoff=payoff)
