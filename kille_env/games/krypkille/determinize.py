"""Determinizations of Krypkille: what a seat cannot tell from the deal as it is, as kernels.

A seat has seen the cards that it has held and those that were played. Followers have no choice, so
from every card of theirs everybody can tell which others they do not have. What was discarded is
hidden, but for one's own discards.
"""

from typing import Any

import numpy as np

from kille_env.core.jit import index, kernel
from kille_env.core.spec import Rules
from kille_env.games.krypkille.rules import TRICKS, Action, Phase, who_is_out
from kille_env.tricktaking.hidden import (
    deal_hidden,
    relabel_discards,
    relabel_tricks,
    share_draws,
)
from kille_env.tricktaking.saved import (
    Bounds,
    card_played,
    discard_bounds,
    discard_made,
    hands_fit,
    trick_bounds,
)
from kille_env.tricktaking.tricks import WHOLE_PACK, seen


@kernel
def resample(table, rules, seat, cards):
    """Draw a determinization that `seat` cannot tell from this table, each equally likely."""
    deal_hidden(table, np.int64(seat), WHOLE_PACK & ~seen(table, index(seat)), cards)
    share_draws(table, np.int64(seat))


@kernel
def relabel(table, rules, cards):
    """Put `cards[c]` everywhere in the table where card c is."""
    relabel_tricks(table, cards)
    relabel_discards(table, cards)


# Saved tables: bounds of their fields, and the actions of a hand


def bounds(num_players: int) -> Bounds:
    """Returns the bounds of the fields of a table."""
    seat = (-1, num_players - 1)
    return {
        **trick_bounds(num_players, TRICKS),
        **discard_bounds(),
        "next_dealer": seat,
        "declarer": seat,
    }


def can_go_on(table: Any, rules: Rules) -> bool:
    """Returns whether at least two seats are in where cards are to be dealt, or have been.

    No hand may be larger than its places either, see `hands_fit`.
    """
    if not hands_fit(table):
        return False
    if table["phase"] == Phase.OVER:
        return True
    dealt = table["phase"] != Phase.DEAL or table["next_dealer"] >= 0
    return bool(dealt) and int(table["num_players"]) - len(who_is_out(table, rules)) >= 2


def action_before(table: Any, saved: Any) -> int:
    """Returns what the seat to act did on the way to a saved table."""
    if table["phase"] == Phase.LEAD:
        return card_played(table, saved, Action.PLAY)
    if table["phase"] == Phase.DISCARD:
        return discard_made(table, saved, Action.DISCARD)
    return Action.PASS if int(saved["passed"]) >> int(table["seat"]) & 1 else -1
