"""What saved tables of Byteskille say: bounds of their fields, and the actions of a hand."""

from typing import Any

import numpy as np

from kille_env.cards.pack import KILLE_PACK
from kille_env.games.byteskille.table import (
    MAX_EVENTS,
    Action,
    Event,
    Occasion,
    Phase,
    Redeal,
)

ACTIONS = {Event.STAND: Action.STAND, Event.CALL: Action.CALL, Event.ASK: Action.ASK}
"""What led to an event, where that is neither an answer nor a swap."""
_FLAGS = ("asked", "showdown", "first_done", "second_done", "new_pot")


def bounds(num_players: int) -> dict[str, tuple[float, float]]:
    """Returns the bounds of the fields of a table."""
    seat, card = (0, num_players - 1), (-1, KILLE_PACK.size - 1)
    return {
        **dict.fromkeys(("turn", "gok_offset", "next_dealer", "order"), seat),
        **dict.fromkeys(("laid_aside", "hand", "dealt"), card),
        **dict.fromkeys(_FLAGS, (0, 1)),
        **dict.fromkeys(("redeals", "pots_won"), (0, 2**30)),
        "num_players_dealt": (0, num_players),
        "goks": (0, 2),
        "high": (0, 3),
        "redeal": (0, len(Redeal) - 1),
        "occasion": (0, len(Occasion) - 1),
        "winner": (-1, num_players - 1),
        "num_laid_aside": (0, 8),
        "num_events": (0, MAX_EVENTS),
        "entries": (0, 100),
        "events": (-1, KILLE_PACK.size - 1),
    }


def can_go_on(table: Any, rules: Any) -> bool:
    """Returns whether the match is not past its end, and two seats are in where cards are dealt."""
    counted = (("deals", "max_deals"), ("pots_won", "pots"), ("redeals", "max_redeals"))
    if any(table[count] > rules.number(most) for count, most in counted):
        return False
    if table["phase"] == Phase.OVER or (table["phase"] == Phase.DEAL and table["new_pot"]):
        return True
    seats = table["in_pot"] if table["phase"] == Phase.DEAL else table["players"]
    return int(seats).bit_count() >= 2


def undeal(table: Any) -> None:
    """Puts a table back to before its deal: also what buying in has changed."""
    bought = table["in_pot"] & ~table["left"] if table["phase"] == Phase.BUYIN else np.uint32(0)
    for seat in range(int(table["num_players"])):
        table["entries"][seat] -= int(bought) >> seat & 1
    if table["occasion"] == Occasion.FIRST:
        table["first_done"], table["first_buyers"], table["declined"] = 0, 0, 0
    elif table["occasion"] == Occasion.SECOND:
        table["second_done"] = 0
    table["prepaid"], table["in_pot"] = 0, table["players"]
    table["redeal"] = Redeal.KILLE  # so that nobody pays an ante again


def action_before(table: Any, saved: Any) -> int:
    """Returns what the seat to act did on the way to a saved table."""
    seat = int(table["seat"])
    if table["phase"] == Phase.BUYIN:
        if int(saved["to_buy"]) >> seat & 1:
            return -1
        return Action.BUY if int(saved["in_pot"]) >> seat & 1 else Action.DECLINE
    number = int(table["num_events"])
    if number == saved["num_events"] or number == MAX_EVENTS:
        return Action.WAIT if table["phase"] == Phase.GOK else -1
    kind, who, answer, *_ = saved["events"][number].tolist()
    if table["phase"] == Phase.GOK:
        return Action.CALL if kind == Event.CALL and who == seat else Action.WAIT
    return answer if kind == Event.ANSWER else ACTIONS.get(kind, Action.SWAP)
