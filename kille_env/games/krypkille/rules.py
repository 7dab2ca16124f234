"""Krypkille's record of a table and its rules as kernels, from the deal to the payment."""

from enum import IntEnum
from typing import Any

import numpy as np

from kille_env.cards.pack import KILLE_PACK, Kind, left_out, talon_left
from kille_env.cards.seats import bit, has, seat_left_of
from kille_env.cards.sets import how_many, lowest_card
from kille_env.core.jit import index, kernel
from kille_env.core.spec import SINGLE_DEAL, Rules
from kille_env.core.table import new_deal, new_match, table_dtype
from kille_env.tricktaking.observe import write_types
from kille_env.tricktaking.tricks import (
    HAND,
    PLAYS,
    card_of_type,
    clear_discards,
    clear_tricks,
    deal_hands,
    discard_fields,
    discards,
    draw_cards,
    lead_from,
    play_to_trick,
    playable,
    throw_away,
    trick_fields,
    tricks_of,
    write_discards,
)

MAX_PLAYERS = 6
TRICKS = HAND - 1  # at most: all cards of a hand but the last
DISCARDS = discards(HAND)


class Action(IntEnum):
    """The actions; DISCARD and PLAY are the first of those that name cards."""

    DECLARE, PASS, DISCARD = range(3)
    PLAY = DISCARD + len(DISCARDS)


ACTIONS = ("declare", "pass", *DISCARDS, *PLAYS)


class Phase(IntEnum):
    """The phases of a deal."""

    DEAL, OVER, DISCARD, LEAD, GUESS = range(5)


class Worth(IntEnum):
    """The points of a card, the value of some switches."""

    DENOMINATION, ZERO = range(2)


FIRST_WORTH = 2  # "Blaren 0, Blompottan 0, Kransen 0, 1 1": lilja 1 is two ranks above its number

TABLE = table_dtype(
    MAX_PLAYERS,
    KILLE_PACK.size,
    [
        ("scores", np.int64, (MAX_PLAYERS,)),  # by seat: "the cumulative score of each player"
        ("points", np.int64, (MAX_PLAYERS,)),  # by seat: what this deal has added to it
        ("next_dealer", np.int8),  # -1 when the match is over
        ("winners", np.uint32),  # who has won the match
        ("declarer", np.int8),
        ("passed", np.uint32),  # who has passed
        *trick_fields(MAX_PLAYERS, TRICKS),
        *discard_fields(MAX_PLAYERS),
    ],
)

# begin, deal


@kernel
def begin(table, rules, dealer):
    """Begin a match: nobody has any points."""
    new_match(table, dealer)
    table["next_dealer"] = table["dealer"]
    table["scores"][:] = 0
    table["winners"] = 0
    _clear_deal(table, rules)


@kernel
def _clear_deal(table, rules):
    clear_tricks(table, left_out(rules))
    clear_discards(table)
    table["points"][:] = 0
    table["declarer"] = -1
    table["passed"] = 0


@kernel
def deal(table, rules):
    """Deal the hands card by card, and ask the first player for discards (D-R07)."""
    new_deal(table)
    _clear_deal(table, rules)
    players = still_in(table, rules)
    dealer = np.int64(table["next_dealer"])
    # A seat that is out is passed over as dealer (D-R07).
    if not has(players, dealer):  # a match that starts with the dealer out
        dealer = seat_left_of(table, dealer, players)
    table["dealer"] = dealer
    table["in_play"] = players
    forehand = seat_left_of(table, dealer, players)
    deal_hands(table, forehand, rules["hand"], left_out(rules))
    table["phase"] = Phase.DISCARD
    table["seat"] = forehand


# legal_actions


@kernel
def legal_actions(table, rules, seat, out):
    """Mark the legal actions; a discard cannot be larger than the talon (D-R03)."""
    phase, acts = table["phase"], seat == table["seat"]
    hand = np.uint64(table["hand"][index(seat)])
    guesses = acts & (phase == Phase.GUESS)
    size = np.int64(rules["hand"])
    # Six hands leave a short talon; discards are not shuffled in again, so what was seen stays
    # seen.
    most = min(np.int64(rules["max_discards"]), talon_left(table))
    if not acts or phase != Phase.DISCARD:
        most = -1
    write_discards(hand, size, most, out, Action.DISCARD, Action.PLAY)
    out[index(Action.DECLARE)] = guesses
    out[index(Action.PASS)] = guesses
    write_types(hand if acts & (phase == Phase.LEAD) else np.uint64(0), out, Action.PLAY)


# apply


@kernel
def apply(table, rules, action):
    """Play a legal action of the seat to act."""
    seat, phase = np.int64(table["seat"]), table["phase"]
    if phase == Phase.LEAD:
        _play_trick(table, rules, seat, action - Action.PLAY)
    elif phase == Phase.GUESS:
        _guess(table, rules, seat, action)
    else:
        _discard(table, seat, action - Action.DISCARD)


@kernel
def _discard(table, seat, number):
    """Discard and draw at once; after the last seat the dealer's left neighbor leads (D-R02)."""
    draw_cards(table, seat, throw_away(table, seat, number))
    forehand = seat_left_of(table, table["dealer"], table["in_play"])
    following = seat_left_of(table, seat, table["in_play"])
    table["seat"] = following
    if following == forehand:
        table["phase"] = Phase.LEAD
        lead_from(table, forehand)


@kernel
def _play_trick(table, rules, leader, kind):
    """Play a whole round: "only the lead has a proper choice to make" (D-R06)."""
    # "If he has an equal or higher card he plays the lowest of them. If he does not, he plays the
    # lowest card of the hand."
    card, tricks = card_of_type(table["hand"][index(leader)], kind), tricks_of(rules)
    # Followers have no choice, so their cards are played here and nobody is asked.
    while not play_to_trick(table, card, tricks, True, True):
        hand = np.uint64(table["hand"][index(table["seat"])])
        card = lowest_card(playable(table, hand, True, True))
    if table["trick"] == tricks:
        table["phase"] = Phase.GUESS


@kernel
def _guess(table, rules, seat, action):
    """Declare or pass, "until one player has declared, or all players have passed"."""
    if action == Action.DECLARE:
        table["declarer"] = seat
        settle(table, rules)
        return
    table["passed"] |= bit(seat)
    following = seat_left_of(table, seat, table["in_play"])
    table["seat"] = following
    if following == table["won"][index(tricks_of(rules) - 1)]:
        settle(table, rules)


# How a deal ends


@kernel
def still_in(table, rules):
    """Return the seats still in: "A player reaching a score of 50 or over is out"."""
    seats = np.uint32(0)
    for seat in range(np.int64(table["num_players"])):
        seats |= bit(seat) if table["scores"][index(seat)] < rules["limit"] else np.uint32(0)
    return seats


@kernel
def settle(table, rules):
    """Show the last cards, write the points down, and end the match if it is at its end."""
    _write_points(table, rules)
    for seat in range(table["num_players"]):
        table["face_up"] |= table["hand"][index(seat)]
        table["scores"][index(seat)] += table["points"][index(seat)]
    table["seat"] = -1
    # Set before the branches: after the end of a match there is none.
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
        # At the cap those who are still in share the match (D-R09).
        table["truncated"] = True
        _share(table, players)
    else:
        table["next_dealer"] = seat_left_of(table, table["dealer"], players)
        table["phase"] = Phase.DEAL


@kernel
def _write_points(table, rules):
    """Read the table of outcomes, every number of which is a switch (D-R01)."""
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
    """Return the players with the lowest total, or else the lowest last card, by rank."""
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
    """Charge some seats points, and the denomination of their last cards as well (`worth`)."""
    for seat in range(table["num_players"]):
        if has(seats, seat):
            rank = lowest_card(table["hand"][index(seat)]) >> 1
            own = max(0, rank - FIRST_WORTH)
            if rank == Kind.KI:
                own = rules["kille_denomination"]
            table["points"][index(seat)] = points + (own if worth else 0)


@kernel
def _share(table, seats):
    """Share the 1 of the match among some seats."""
    share = 1.0 / how_many(seats)
    for seat in range(table["num_players"]):
        if has(seats, seat):
            table["reward"][index(seat)] += share


def retired(table: Any, rules: Rules) -> list[int]:
    """Return the seats that will neither act nor earn again in this match: those that are out.

    Between deals a seat that has just gone out with all the others may still share the win, but
    then the match is over.
    """
    return [] if table["phase"] == Phase.OVER else who_is_out(table, rules)


def who_is_out(table: Any, rules: Rules) -> list[int]:
    """Return the seats that have reached the limit of points."""
    limit = rules.number("limit")
    return [s for s in range(int(table["num_players"])) if table["scores"][s] >= limit]
