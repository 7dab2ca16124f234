"""What saved tables of Kungsholmskille say: bounds of their fields, and the actions of a hand."""

from typing import Any

from kille_env.games.kungsholmskille.table import TRICKS, Action, End, Phase, Said
from kille_env.tricktaking.saved import (
    Bounds,
    card_played,
    discard_bounds,
    discard_made,
    pot_bounds,
    trick_bounds,
)

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
