"""How a deal of Krypkille ends: points, who is out, who wins the match."""

from typing import Any

import numpy as np

from kille_env.cards.pack import Kind
from kille_env.cards.seats import bit, has, seat_left_of
from kille_env.cards.sets import how_many, lowest_card
from kille_env.core.jit import index, kernel
from kille_env.core.spec import SINGLE_DEAL, Rules
from kille_env.games.krypkille.table import FIRST_WORTH, Phase, Worth


@kernel
def still_in(table, rules):
    """Who is in: "A player reaching a score of 50 or over is out"."""
    seats = np.uint32(0)
    for seat in range(np.int64(table["num_players"])):
        seats |= bit(seat) if table["scores"][index(seat)] < rules["limit"] else np.uint32(0)
    return seats


@kernel
def settle(table, rules):
    """Shows the last cards, writes the points down, and ends the match if it is at its end."""
    _write_points(table, rules)
    for seat in range(table["num_players"]):
        table["face_up"] |= table["hand"][index(seat)]
        table["scores"][index(seat)] += table["points"][index(seat)]
    table["seat"] = -1
    table["next_dealer"] = -1
    table["phase"] = Phase.OVER
    players = still_in(table, rules)
    if rules["episode"] == SINGLE_DEAL:
        for seat in range(table["num_players"]):
            table["reward"][index(seat)] -= table["points"][index(seat)]
    elif how_many(players) < 2:
        # "The last remaining is the winner."
        # If all have reached the limit, the lowest total wins (D-R04).
        table["winners"] = players if players != 0 else _lowest(table, table["in_play"], True)
        _share(table, table["winners"])
    elif table["deals"] >= rules["max_deals"]:
        table["truncated"] = True
        _share(table, players)
    else:
        table["next_dealer"] = seat_left_of(table, table["dealer"], players)
        table["phase"] = Phase.DEAL


@kernel
def _write_points(table, rules):
    """Reads the table of outcomes, every number of which is a switch (D-R01)."""
    players, declarer = np.uint32(table["in_play"]), np.int64(table["declarer"])
    holders = _lowest(table, players, False)
    if declarer < 0:
        _charge(table, rules, holders, rules["allpass_lowest"], False)
        _charge(table, rules, players & ~holders, rules["allpass_others"], False)
        return
    others = players & ~bit(declarer)
    # An equal card elsewhere makes a declarer wrong (D-R05).
    alone = (holders == bit(declarer)) | (rules["tie_beats_declarer"] == 0)
    if has(holders, declarer) & alone:
        _charge(table, rules, bit(declarer), rules["right_declarer"], False)
        worth = rules["right_others"] == Worth.DENOMINATION
        _charge(table, rules, others, 0, worth)
    else:
        worth = rules["wrong_declarer_base"] == Worth.DENOMINATION
        extra = rules["wrong_declarer_extra"]
        _charge(table, rules, bit(declarer), extra, worth)
        _charge(table, rules, others & holders, rules["wrong_lowest"], False)
        worth = rules["wrong_others"] == Worth.DENOMINATION
        _charge(table, rules, others & ~holders, 0, worth)


@kernel
def _lowest(table, players, total):
    """Which of some players have the lowest total, or else the lowest last card, by rank."""
    lowest, holders = np.int64(0), np.uint32(0)
    for seat in range(np.int64(table["num_players"])):
        if has(players, seat):
            rank = lowest_card(table["hand"][index(seat)]) >> 1
            value = np.int64(table["scores"][index(seat)]) if total else rank
            if holders == 0 or value < lowest:
                lowest, holders = value, np.uint32(0)
            if value == lowest:
                holders |= bit(seat)
    return holders


@kernel
def _charge(table, rules, seats, points, worth):
    """Charges some seats points, and the denomination of their last cards as well (`worth`)."""
    for seat in range(table["num_players"]):
        if has(seats, seat):
            rank = lowest_card(table["hand"][index(seat)]) >> 1
            own = max(0, rank - FIRST_WORTH)
            if rank == Kind.KI:
                own = rules["kille_denomination"]
            table["points"][index(seat)] = points + (own if worth else 0)


@kernel
def _share(table, seats):
    """These seats share the 1 of the match."""
    share = 1.0 / how_many(seats)
    for seat in range(table["num_players"]):
        if has(seats, seat):
            table["reward"][index(seat)] += share


def retired(table: Any, rules: Rules) -> list[int]:
    """Returns the seats that will neither act nor earn again in this match: those who are out.

    Between deals a seat that has just gone out with all the others may still share the win, but
    then the match is over.
    """
    return [] if table["phase"] == Phase.OVER else who_is_out(table, rules)


def who_is_out(table: Any, rules: Rules) -> list[int]:
    """Returns the seats whose points have reached the limit."""
    limit = rules.number("limit")
    return [s for s in range(int(table["num_players"])) if table["scores"][s] >= limit]
