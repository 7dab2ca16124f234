"""How a deal of Kungsholmskille ends, as kernels; for the pot see `kille_env.tricktaking.pots`."""

import numpy as np

from kille_env.cards.pack import TYPES
from kille_env.cards.seats import everybody, has, seat_left_of
from kille_env.cards.sets import lowest_card
from kille_env.core.jit import index, kernel
from kille_env.games.kungsholmskille.table import TRICKS, End
from kille_env.tricktaking.pots import pay_out, settle


@kernel
def end_in_bud_round(table, rules):
    """All have said bud: the pot stays, folders pay for the next deal, or else everybody."""
    folders = everybody(table) & ~np.uint32(table["in_play"])
    for seat in range(table["num_players"]):
        table["owed"][seat] = (folders == 0) | has(folders, seat)
    table["end"] = End.BUD_ROUND
    settle(table, rules)


@kernel
def end_in_walk_over(table, rules):
    """All but the knocker have folded: the knocker takes the pot, and everybody puts in one."""
    for seat in range(table["num_players"]):
        table["owed"][seat] = 1
    table["end"] = End.WALK_OVER
    table["winner"] = table["knocker"]
    settle(table, rules)


@kernel
def end_in_showing(table, rules):
    """The one who has shown wins with the strictly lowest card; else the lowest of the others.

    "Om den lägsta valören innehas av två spelare andra än den som först lade upp, vinner den av dem
    [...] som sitter sist räknat medsols från den som vann det fjärde sticket" (D-K05, D-K06).
    """
    shower, first = np.int64(table["shower"]), np.int64(table["won"][TRICKS - 1])
    lowest, holder, seat, number = TYPES, first, first, 0
    while True:
        rank = lowest_card(table["hand"][index(seat)]) >> 1
        table["face_up"] |= table["hand"][index(seat)]
        number += 1
        if (seat != shower) & (rank <= lowest):
            lowest, holder = rank, seat
        seat = np.int64(seat_left_of(table, seat, table["in_play"]))
        if seat == first:
            break
    right = lowest_card(table["hand"][index(shower)]) >> 1 < lowest
    winner = shower if right else holder
    if not right:  # "ett belopp lika stort som hela innehållet i potten"
        pay_out(table, shower, -table["pot"])
        pay_out(table, winner, table["pot"])
    table["winner"] = winner
    _owe_after_showing(table, number == 2)
    table["end"] = End.SHOWING
    settle(table, rules)


@kernel
def _owe_after_showing(table, two):
    """Losers put in two; with two in the showing as if a bud round had followed (D-K07, D-K08)."""
    for seat in range(table["num_players"]):
        loses = has(table["in_play"], seat) & (seat != table["winner"])
        table["owed"][seat] = 2 * loses + two
