"""The pot of Kungsholmskille and Femkortskille: paid into, won, carried on, shared at the end.

A match ends when a pot is won, or after a number of deals (switch `deals`; a single deal is a match
of one); then everybody takes an equal share of what is left. So it does at the cap (`max_deals`).
"""

import numpy as np

from kille_env.cards.seats import next_seat
from kille_env.core.jit import kernel
from kille_env.core.spec import SINGLE_DEAL, Rules, Switch
from kille_env.core.table import DEAL, OVER


def pot_fields(max_players: int) -> list[tuple]:
    """Return the fields of a table with a pot."""
    return [
        ("pot", np.int64),
        ("shown_pot", np.int64),  # the pot that a deal has decided about, or carries on
        ("left_on_table", np.int64),  # what a split could not divide
        ("chips", np.int64, (max_players,)),  # by seat: what it has won or lost in this deal
        ("next_dealer", np.int8),
        ("winner", np.int8),  # who won the pot
        ("end", np.int8),  # how the deal has ended, 0 not yet
    ]


def match_switches(decision: str) -> tuple[Switch, Switch]:
    """Return the switches for when a match ends, with the number of their decision."""
    meaning = "deals in a match; null: it ends when a pot is won"
    return (
        Switch("deals", meaning, None, minimum=1, nullable=True, decision=decision),
        Switch(
            "max_deals", "deals after which a match is cut off", 200, minimum=1, decision=decision
        ),
    )


def most_deals(rules: Rules) -> int:
    """Return how many deals a match can have."""
    if rules["episode"] == "deal":
        return 1
    most = rules.number("max_deals")
    return most if rules["deals"] is None else min(rules.number("deals"), most)


@kernel
def begin_pot(table):
    """Begin a match: the pot is empty, and the first dealer is known."""
    table["next_dealer"] = table["dealer"]
    table["pot"] = 0
    table["shown_pot"] = 0
    table["left_on_table"] = 0


@kernel
def clear_pot(table):
    """Forget how the last deal ended."""
    table["end"] = 0
    table["winner"] = -1
    table["chips"][:] = 0


@kernel
def pay_into_pot(table, seat, amount):
    """Move units of a seat into the pot."""
    pay_out(table, seat, -amount)
    table["pot"] += amount


@kernel
def pay_out(table, seat, amount):
    """Pay units to a seat, or take them if there are less than 0."""
    table["reward"][seat] += amount
    table["chips"][seat] += amount


@kernel
def settle(table, rules):
    """Pay a pot that is won, move the deal on, and end the match if it is at its end."""
    # Results and texts name the pot that was played for, not the empty one.
    table["shown_pot"] = table["pot"]
    won = table["winner"] >= 0
    if won:
        pay_out(table, np.int64(table["winner"]), table["pot"])
        table["pot"] = 0
    table["next_dealer"] = next_seat(table, table["dealer"])
    table["seat"] = -1
    table["phase"] = DEAL
    deals = _deals_in_match(rules)
    # Before the cap: a match that ends by the rules in its last deal is terminated, not truncated.
    if won & (deals < 0) or table["deals"] == deals:
        _end_match(table, False)
    elif table["deals"] >= rules["max_deals"]:
        _end_match(table, True)


@kernel
def _deals_in_match(rules):
    """Return the number of deals in a match, -1 if it ends when a pot is won."""
    return 1 if rules["episode"] == SINGLE_DEAL else rules["deals"]


@kernel
def _end_match(table, truncated):
    """Share the rest of the pot in whole units."""
    if table["pot"] > 0:
        # The remainder is left on the table, so that rewards stay whole and seats equal.
        num_players = np.int64(table["num_players"])
        share = np.int64(table["pot"]) // num_players
        for seat in range(num_players):
            table["reward"][seat] += share
        table["left_on_table"] = table["pot"] - share * num_players
        table["pot"] = 0
    table["phase"] = OVER
    table["truncated"] = truncated


@kernel
def deals_left(table, rules):
    """Return the number of deals until the match ends or is cut off."""
    last, deals = rules["max_deals"], _deals_in_match(rules)
    return max(0, (min(deals, last) if deals > 0 else last) - table["deals"])
