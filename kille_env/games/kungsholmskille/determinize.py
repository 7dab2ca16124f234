"""Determinizations of Kungsholmskille: what a seat cannot tell from the deal as it is, as kernels.

A seat has seen the cards that it has held and those that were played. Of the others it knows what
everybody can tell from the tricks (`kille_env.tricktaking.hidden`). Words, folding and
the number of discards are free: they tell nothing for certain. Which of its cards a seat was dealt,
and which it got for its discards, nobody else knows.
"""

from typing import Any

import numpy as np

from kille_env.core.jit import index, kernel
from kille_env.games.kungsholmskille.rules import TRICKS, Action, End, Phase, Said
from kille_env.tricktaking.hidden import deal_hidden, relabel_discards, relabel_tricks, share_draws
from kille_env.tricktaking.saved import (
    Bounds,
    card_played,
    discard_bounds,
    discard_made,
    pot_bounds,
    trick_bounds,
)
from kille_env.tricktaking.tricks import WHOLE_PACK, seen


@kernel
def resample(table, rules, seat, cards):
    """Draws a determinization that `seat` cannot tell from this table, each equally likely."""
    deal_hidden(table, np.int64(seat), WHOLE_PACK & ~seen(table, index(seat)), cards)
    share_draws(table, np.int64(seat))


@kernel
def relabel(table, rules, cards):
    """Puts `cards[c]` everywhere in the table where card c is."""
    relabel_tricks(table, cards)
    relabel_discards(table, cards)


# Saved tables: bounds of their fields, and the actions of a hand

WORDS = {
    Phase.BUD1: ("said1", Action.BUD, Action.KNOCK),
    Phase.FOLD: ("stayed", Action.FOLD, Action.STAY),
    Phase.BUD2: ("said2", Action.BUD, Action.KNOCK),
    Phase.SHOW: ("showed", Action.BUD, Action.SHOW),
}
"""By phase: the field with what a seat has said, and the actions that yield and that claim."""


def bounds(num_players: int) -> Bounds:
    """Returns the bounds of the fields of a table."""
    seat, said = (-1, num_players - 1), (0, len(Said) - 1)
    return {
        **pot_bounds(num_players, len(End)),
        **trick_bounds(num_players, TRICKS),
        **discard_bounds(),
        **dict.fromkeys(("forehand", "knocker", "shower"), seat),
        **dict.fromkeys(("said1", "stayed", "said2", "showed"), said),
    }


def action_before(table: Any, saved: Any) -> int:
    """Returns what the seat to act did on the way to a saved table."""
    if table["phase"] == Phase.PLAY:
        return card_played(table, saved, Action.PLAY)
    if table["phase"] == Phase.EXCHANGE:
        return discard_made(table, saved, Action.DISCARD)
    field, yields, claims = WORDS[Phase(table["phase"])]
    return {Said.YIELDED: yields, Said.CLAIMED: claims}.get(saved[field][table["seat"]], -1)
