"""What saved tables of Krypkille say: bounds of their fields, and the actions of a hand."""

from typing import Any

from kille_env.core.spec import Rules
from kille_env.games.krypkille.settle import who_is_out
from kille_env.games.krypkille.table import TRICKS, Action, Phase
from kille_env.tricktaking.saved import (
    Bounds,
    card_played,
    discard_bounds,
    discard_made,
    trick_bounds,
)
from kille_env.tricktaking.tricks import HAND


def bounds(num_players: int) -> Bounds:
    """Returns the bounds of the fields of a table."""
    seat = (-1, num_players - 1)
    return {
        **trick_bounds(num_players, TRICKS),
        **discard_bounds(),
        "next_dealer": seat,
        "declarer": seat,
        "talons": (0, 2),
        "talon_of": (0, 2),
        "drawn_from": (0, HAND),
    }


def can_go_on(table: Any, rules: Rules) -> bool:
    """Returns whether at least two seats are in where cards are to be dealt, or have been."""
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
