"""How a deal of Knack ends, as kernels: payment, bets, the end of the party."""

import numpy as np

from kille_env.cards.seats import has, next_seat
from kille_env.core.jit import index, kernel
from kille_env.core.rng import below
from kille_env.games.knack.table import MAX_SIZES, TRICKS, Phase, Remainder, deals_left, running_bet


@kernel
def settle(table, rules):
    """Pays for the tricks, sets the bets, and goes on to the next deal or ends the party.

    A running bet of `size` stakes of three units is worth `size` units per trick, beside the unit
    from the dealer; a new bet is the three units and "värdet av den bet man spelade om".
    """
    size = running_bet(table)
    unit = np.int64(rules["unit"])
    worth = unit * (1 + size)
    failed = np.int64(0)
    for seat in range(int(table["num_players"])):
        tricks = np.int64(table["tricks"][index(seat)])
        fails = has(table["joined"], seat) & (tricks == 0)
        failed += fails
        table["reward"][index(seat)] += tricks * worth - (TRICKS * worth if fails else 0)
    table["reward"][index(table["dealer"])] -= TRICKS * unit
    table["played_for"] = size
    _take_running_bet(table)
    _add_bets(table, size + 1, failed)
    table["next_dealer"] = next_seat(table, table["dealer"])
    table["seat"] = -1
    if deals_left(table, rules) <= 0:
        _share_bets(table, rules)
        table["phase"] = Phase.OVER
    else:
        table["phase"] = Phase.DEAL


@kernel
def _take_running_bet(table):
    """Takes one of the smallest bets away: the three tricks have paid it out."""
    if table["num_sizes"] == 0:
        return
    table["bet_counts"][0] -= 1
    if table["bet_counts"][0] == 0:
        for pile in range(MAX_SIZES - 1):
            table["bet_sizes"][pile] = table["bet_sizes"][pile + 1]
            table["bet_counts"][pile] = table["bet_counts"][pile + 1]
        table["bet_sizes"][MAX_SIZES - 1] = 0
        table["bet_counts"][MAX_SIZES - 1] = 0
        table["num_sizes"] -= 1


@kernel
def _add_bets(table, size, number):
    """Lays bets of a size to the others: "måste de olika betarna hållas åtskilda"."""
    if number == 0:
        return
    sizes, counts = table["bet_sizes"], table["bet_counts"]
    place = 0
    while place < table["num_sizes"] and sizes[place] < size:
        place += 1
    if place == table["num_sizes"] or sizes[place] != size:
        for pile in range(MAX_SIZES - 1, place, -1):
            sizes[pile] = sizes[pile - 1]
            counts[pile] = counts[pile - 1]
        sizes[place] = size
        counts[place] = 0
        table["num_sizes"] += 1
    counts[place] += number


@kernel
def _share_bets(table, rules):
    """Shares what lies on the table at the end: "delas lika mellan spelarna" (D-N05)."""
    total = np.int64(0)
    for pile in range(int(table["num_sizes"])):
        total += np.int64(table["bet_sizes"][pile]) * np.int64(table["bet_counts"][pile])
    total *= TRICKS * np.int64(rules["unit"])
    if total == 0:
        return
    num_players = np.int64(table["num_players"])
    share = total // num_players
    rest = total - share * num_players
    table["shared"] = total
    for seat in range(num_players):
        table["reward"][index(seat)] += share
    if rest == 0:
        return
    if rules["remainder"] == Remainder.DRAW:
        if table["remainder_to"] < 0:
            table["remainder_to"] = below(table, num_players)
        table["reward"][index(table["remainder_to"])] += rest
        table["remainder"] = rest
    else:
        table["left_on_table"] = rest
