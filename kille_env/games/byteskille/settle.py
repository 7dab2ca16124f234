"""Byteskille's showdown as kernels: who is out, the money, buying in, the next hand."""

from typing import Any

import numpy as np

from kille_env.cards.pack import Kind
from kille_env.cards.seats import bit, everybody, has, next_seat, seat_left_of
from kille_env.cards.sets import card_bit, how_many, members
from kille_env.core.jit import index, kernel
from kille_env.core.spec import SINGLE_DEAL, Rules
from kille_env.games.byteskille.table import (
    Action,
    Ante,
    HighKille,
    NextDealer,
    Occasion,
    Phase,
    Reentry,
    Wiki2Second,
    card_type,
    is_high,
)

ABOVE_ALL = 99  # past every rank


@kernel
def showdown(table, rules):
    """Turns everyone's card up; whoever is out by that goes out."""
    go_out(table, rules, eliminated(table, rules))


@kernel
def eliminated(table, rules):
    """Turns the cards up; returns who is out (Swedish article, "Upp till bevis").

    One pass, with choices instead of branches: whose card is lowest cannot be predicted.
    """
    chopped, shown = np.uint32(table["chopped"]), np.uint64(table["shown"])
    not_compared = chopped if rules["lowest_excludes_chopped"] else np.uint32(0)
    high_kille = Kind.GO if rules["high_kille"] == HighKille.EQUAL_GOK else Kind.KI
    lowest = ABOVE_ALL
    low, lowest_seats = np.uint32(0), np.uint32(0)
    for position in range(int(table["num_players_dealt"])):
        seat = index(table["order"][index(position)])
        card = index(table["hand"][seat])
        rank = card_type(card)
        is_kille = rank == Kind.KI
        is_low = is_kille & (not is_high(table, card))
        rank = high_kille if is_kille else rank
        rank = ABOVE_ALL if is_low | has(not_compared, seat) else rank
        lowest_seats = np.uint32(0) if rank < lowest else lowest_seats
        lowest = min(rank, lowest)
        lowest_seats = np.uint32(lowest_seats | (bit(seat) if rank == lowest else np.uint32(0)))
        low = np.uint32(low | (bit(seat) if is_low else np.uint32(0)))
        shown |= card_bit(card)
    table["shown"] = shown
    table["open"] = table["players"]
    out = np.uint32(chopped | low | (lowest_seats if lowest < ABOVE_ALL else np.uint32(0)))
    if out == table["players"]:
        # "Om minst en spelare har eliminerats genom hugg, bortser man i sådant fall från lägsta
        # kort."
        out = np.uint32(chopped | low)
        if chopped == 0 or out == table["players"]:
            out = np.uint32(0)
    return out


@kernel
def go_out(table, rules, out):
    """Ends a hand at its showdown: these seats are out; pays, or opens the buying in."""
    table["showdown"] = 1
    table["out"] = out
    table["in_pot"] = table["in_pot"] & ~table["out"]
    table["left"] = table["in_pot"]
    if rules["episode"] == SINGLE_DEAL:
        _pay_single_deal(table, rules)
        table["shown_pot"] = 0
        table["next_dealer"] = seat_left_of(table, table["dealer"], table["in_pot"])
        _end_match(table, False)
    else:
        _open_buying_in(table, rules)
        _ask_next_buyer(table, rules)


@kernel
def _pay_single_deal(table, rules):
    """Each seat that is out pays the stake; those who stay share it equally."""
    losers, winners = how_many(table["out"]), how_many(table["left"])
    if losers == 0:
        return
    share = rules["stake"] * losers / winners
    for position in range(table["num_players_dealt"]):
        seat = index(table["order"][index(position)])
        if has(table["out"], seat):
            table["reward"][seat] -= rules["stake"]
        else:
            table["reward"][seat] += share


@kernel
def pay(table, seat, amount):
    """A seat puts money into the pot."""
    table["reward"][seat] -= amount
    table["pot"] += amount


@kernel
def _open_buying_in(table, rules):
    """Decides who may buy in again after this showdown (D-E13, D-E16, D-E22 and on)."""
    table["opening_pot"] = table["pot"]
    table["to_buy"] = 0
    table["occasion"] = Occasion.NONE
    left = how_many(table["left"])
    all_out = np.uint32(everybody(table) & ~table["in_pot"])
    way = rules["reentry"]
    if table["out"] == 0 or way == Reentry.NONE:
        return
    if way == Reentry.WIKI3:
        if left >= 2 or rules["reentry_one_left"]:
            table["occasion"] = Occasion.AFTER_EACH
            for seat in range(table["num_players"]):
                if has(table["out"], seat) and table["entries"][seat] < 3:
                    table["to_buy"] |= bit(seat)
        return
    opens_first = left == 3 or (left == 2 and way == Reentry.SVENSK)
    if opens_first and table["first_done"] == 0:
        table["first_done"] = 1
        table["occasion"] = Occasion.FIRST
        table["to_buy"] = all_out
    elif left == 2 and table["second_done"] == 0 and table["first_buyers"] != 0:
        table["second_done"] = 1
        table["occasion"] = Occasion.SECOND
        if way == Reentry.WIKI2 or rules["second_includes_new"] == 0:
            table["to_buy"] = all_out & table["first_buyers"]
        else:
            table["to_buy"] = all_out & ~table["declined"]


@kernel
def price(table, rules, seat):
    """What buying in costs a seat at the occasion that is open; half pots round up (D-E19)."""
    pot, stake = np.int64(table["opening_pot"]), np.int64(rules["stake"])
    half = (pot + 1) // 2
    occasion = table["occasion"]
    if occasion == Occasion.FIRST:
        return 2 * stake
    if occasion == Occasion.SECOND:
        full = rules["reentry"] == Reentry.WIKI2 and rules["wiki2_second"] == Wiki2Second.FULL
        return pot if full else half
    if occasion == Occasion.AFTER_EACH:
        entries = table["entries"][seat]
        if entries == 0:
            return stake
        return half if entries == 1 else pot
    return np.int64(0)


@kernel
def _ask_next_buyer(table, rules):
    """Asks clockwise from the dealer's left (D-E20)."""
    if table["to_buy"] == 0:
        table["occasion"] = Occasion.NONE
        _finish_deal(table, rules)
        return
    table["phase"] = Phase.BUYIN
    table["seat"] = seat_left_of(table, table["dealer"], table["to_buy"])


@kernel
def buy_or_decline(table, rules, seat, action):
    """A seat that is out pays to be in again, or stays out."""
    table["to_buy"] = table["to_buy"] & ~bit(seat)
    if action == Action.BUY:
        pay(table, seat, price(table, rules, seat))
        table["in_pot"] |= bit(seat)
        table["entries"][seat] += 1
        if table["occasion"] == Occasion.FIRST:
            table["first_buyers"] |= bit(seat)
        if rules["reentry_plus_ante"] == 0 and rules["ante"] == Ante.DEAL:
            table["prepaid"] |= bit(seat)
    else:
        table["declined"] |= bit(seat)
    _ask_next_buyer(table, rules)


@kernel
def _finish_deal(table, rules):
    """Pays out a pot that is won and names the next dealer."""
    table["shown_pot"] = table["pot"]
    if how_many(table["in_pot"]) == 1:
        winner = seat_left_of(table, table["dealer"], table["in_pot"])
        table["reward"][winner] += table["pot"]
        table["pot"] = 0
        table["winner"] = winner
        table["pots_won"] += 1
        table["new_pot"] = 1
        table["next_dealer"] = next_seat(table, table["dealer"])
        if table["pots_won"] >= rules["pots"]:
            _end_match(table, False)
            return
    else:
        candidates = table["left"] if rules["next_dealer"] == NextDealer.BEFORE else table["in_pot"]
        table["next_dealer"] = seat_left_of(table, table["dealer"], candidates)
    _next_hand(table, rules)


@kernel
def _next_hand(table, rules):
    """Goes on to the next hand, or ends a match that has reached its cap (D-E26)."""
    if table["deals"] < rules["max_deals"]:
        table["phase"] = Phase.DEAL
        table["seat"] = -1
        return
    if table["pot"] > 0:
        share = np.int64(table["pot"]) // how_many(table["in_pot"])
        for seat in range(table["num_players"]):
            if has(table["in_pot"], seat):
                table["reward"][seat] += share
        table["left_on_table"] = table["pot"] - share * how_many(table["in_pot"])
        table["pot"] = 0
    _end_match(table, True)


@kernel
def _end_match(table, truncated):
    table["phase"] = Phase.OVER
    table["seat"] = -1
    table["truncated"] = truncated


@kernel
def deal_again(table, rules, reason):
    """The hand is thrown in and the same dealer deals again."""
    table["redeal"] = reason
    table["left"] = table["players"]
    table["next_dealer"] = table["dealer"]
    table["shown_pot"] = table["pot"]
    _next_hand(table, rules)


def retired(table: Any, rules: Rules) -> list[int]:
    """Returns the seats that will certainly neither act nor earn again in this match.

    A seat that is out and may still be asked to buy in is not among them, nor is anybody while
    another pot is to come. Where it is not certain yet, the seat is left out.
    """
    pots_to_come = int(rules["pots"]) - int(table["pots_won"])  # type: ignore[arg-type]
    if rules["episode"] == "deal" or table["phase"] == Phase.OVER or pots_to_come > 1:
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
