"""Who is done with a match of Byteskille before it ends."""

from typing import Any

from kille_env.cards.sets import members
from kille_env.core.game import OVER
from kille_env.core.spec import Rules


def retired(table: Any, rules: Rules) -> list[int]:
    """Returns the seats that will certainly neither act nor earn again in this match.

    A seat that is out and may still be asked to buy in is not among them, nor is anybody while
    another pot is to come. Where it is not certain yet, the seat is left out.
    """
    pots_to_come = int(rules["pots"]) - int(table["pots_won"])  # type: ignore[arg-type]
    if rules["episode"] == "deal" or table["phase"] == OVER or pots_to_come > 1:
        return []
    seats = range(int(table["num_players"]))
    gone = set(seats) - set(members(table["in_pot"])) - set(members(table["to_buy"]))
    if rules["reentry"] in ("none", "wiki3") or table["second_done"]:
        return sorted(gone)  # under wiki3 a seat is asked right after the hand that it lost
    if not table["first_done"]:
        return []
    if table["to_buy"] == 0 and table["first_buyers"] == 0:
        return sorted(gone)  # without a buyer at the first occasion there is no second
    if rules["reentry"] == "svensk" and rules["second_includes_new"]:
        return sorted(gone & set(members(table["declined"])))
    return sorted(gone - set(members(table["first_buyers"])))
