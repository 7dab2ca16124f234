"""What saved tables of Femkortskille say: bounds of their fields, and the actions of a hand."""

from typing import Any

from kille_env.games.femkortskille.table import TRICKS, Action, End, Phase, Said
from kille_env.tricktaking.saved import Bounds, card_played, pot_bounds, trick_bounds

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
