"""What two players gain by playing together against the others.

*Exactly*, for single deals of Byteskille whose tree fits into memory: two seats that share all they
know are one player that decides in both seats and earns what both earn. Its information sets are
those of their joint knowledge, so it has perfect recall, and its best response to the fixed others
is exact. For comparison there are the earnings of both by their own policies, the earnings when
each plays its own best response while the other keeps its policy, and the earnings when they agree
on strategies for their joint earnings without sharing what they know. The last is found by
alternating best responses until neither improves: a lower bound on the best agreement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kille_env.core.spec import Rules
from kille_env.errors import KilleError
from kille_env.play.policy import Policy
from kille_env.registry import load_game
from kille_training.solving.grow import build_deal
from kille_training.solving.policies import nash_conv_of, strategies_of
from kille_training.solving.stages import DealStages
from kille_training.solving.trees.values import best_response

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
    cards: Sequence[str] = (),
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
    resolved = load_game("byteskille").spec.resolve(rules, episode="deal")
    deal = deal or build_deal(num_players, resolved, cards=cards)
    strategies = strategies_of(players, deal)
    measured = nash_conv_of(strategies, deal)
    own = float(measured.values[list(pair)].sum())
    together = build_deal(num_players, resolved, cards=cards, shared=pair)
    asked = strategies_of(players, together)
    return Collusion(
        seats=(pair[0], pair[1]),
        own=own,
        selfish=own + float(measured.improvement[list(pair)].sum()),
        agreed=max(_agree(strategies, deal, first, pair) for first in (pair, pair[::-1])),
        shared=_respond(asked, together, num_players - 2, (num_players - 2,))[1],
    )


def _agree(
    strategies: Sequence[np.ndarray],
    deal: DealStages,
    order: tuple[int, ...],
    pair: tuple[int, ...],
) -> float:
    """Returns what two earn by alternating best responses for their joint earnings."""
    strategies, value = list(strategies), -np.inf
    for turn in range(ROUNDS):
        strategies, found = _respond(strategies, deal, order[turn % 2], pair)
        if turn > 1 and found <= value + SMALLEST_GAIN:
            break
        value = found
    return value


def _respond(
    strategies: Sequence[np.ndarray], deal: DealStages, player: int, purse: tuple[int, ...]
) -> tuple[list[np.ndarray], float]:
    """Returns the strategies after a player's best response for a purse, and what it is worth."""
    found, value = [], 0.0
    for stage, strategy in zip(reversed(deal.stages), reversed(strategies), strict=True):
        payoff = stage.tree.payoff.copy()
        purse_gets = stage.tree.payoff[:, list(purse)].sum(axis=1)
        payoff[:, player] = purse_gets + value * stage.again
        answer = best_response(stage.tree._replace(payoff=payoff), strategy, player)
        found.append(answer.strategy)
        value = answer.value
    return found[::-1], value
