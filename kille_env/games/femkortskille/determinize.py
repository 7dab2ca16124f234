"""Determinizations of Femkortskille: what a seat cannot tell from the deal as it is, as kernels.

A seat has seen the cards that it has held and those that were played. Of the others it knows what
everybody can tell from the tricks (`kille_env.tricktaking.hidden`). Words are free: they tell
nothing for certain. Which of its cards a knocker was dealt, and which it got for knocking, nobody
else knows.
"""

from typing import Any

import numpy as np

from kille_env.core.jit import index, kernel
from kille_env.games.femkortskille.rules import TRICKS, Action, End, Phase, Said
from kille_env.tricktaking.hidden import deal_hidden, relabel_tricks, share_draws
from kille_env.tricktaking.saved import Bounds, card_played, pot_bounds, trick_bounds
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


# Saved tables: bounds of their fields, and the actions of a hand

WORDS = {Said.FOLDED: Action.FOLD, Said.KNOCKED: Action.KNOCK, Said.CHECKED: Action.CHECK}


def bounds(num_players: int) -> Bounds:
    """Returns the bounds of the fields of a table."""
    said = (0, len(Said) - 1)
    own = {"forehand": (-1, num_players - 1), "said1": said, "said2": said}
    return {**pot_bounds(num_players, len(End)), **trick_bounds(num_players, TRICKS), **own}


def action_before(table: Any, saved: Any) -> int:
    """Returns what the seat to act did on the way to a saved table."""
    if table["phase"] == Phase.PLAY:
        return card_played(table, saved, Action.PLAY)
    seat = table["seat"]
    first = table["said1"][seat] == Said.NOTHING
    return WORDS.get(saved["said1" if first else "said2"][seat], -1)
