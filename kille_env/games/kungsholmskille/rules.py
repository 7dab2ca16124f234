"""Kungsholmskille's record of a table and its rules as kernels, from the deal to the payment."""

from enum import IntEnum

import numpy as np

from kille_env.cards.pack import KILLE_PACK, TYPES, left_out
from kille_env.cards.seats import bit, everybody, has, next_seat, seat_left_of
from kille_env.cards.sets import lowest_card
from kille_env.core.jit import index, kernel
from kille_env.core.table import new_deal, new_match, table_dtype
from kille_env.tricktaking.observe import write_types
from kille_env.tricktaking.pots import (
    begin_pot,
    clear_pot,
    pay_into_pot,
    pay_out,
    pot_fields,
    settle,
)
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
MOST_DISCARDS = 2
DISCARDS = discards(MOST_DISCARDS)


class Action(IntEnum):
    """The actions; DISCARD and PLAY are the first of those that name cards."""

    BUD, KNOCK, STAY, FOLD, SHOW, DISCARD = range(6)
    PLAY = DISCARD + len(DISCARDS)


ACTIONS = ("bud", "knock", "stay", "fold", "show", *DISCARDS, *PLAYS)


class Phase(IntEnum):
    """The phases of a deal."""

    DEAL, OVER, BUD1, FOLD, EXCHANGE, BUD2, PLAY, SHOW = range(8)


class Said(IntEnum):
    """The words of a seat in a round: none; bud or fold; knock, stay or show."""

    NOTHING, YIELDED, CLAIMED = range(3)


class End(IntEnum):
    """How a deal has ended."""

    NONE, SHOWING, BUD_ROUND, WALK_OVER = range(4)


class ForcedBeat(IntEnum):
    """The card with which a player has to head the trick, a switch."""

    ANY, LOWEST = range(2)


ANTE = 2  # "Före första given, sätter varje spelare en insats på två kronor i potten"

TABLE = table_dtype(
    MAX_PLAYERS,
    KILLE_PACK.size,
    [
        *pot_fields(MAX_PLAYERS),
        ("owed", np.int64, (MAX_PLAYERS,)),  # by seat: what it pays when the next deal is dealt
        ("forehand", np.int8),  # nearest player still in on the dealer's left
        ("knocker", np.int8),  # who asked for play before the folding
        ("said1", np.int8, (MAX_PLAYERS,)),  # by seat: nothing, bud or knock, before the exchange
        ("stayed", np.int8, (MAX_PLAYERS,)),  # by seat: not asked, folded or stayed
        ("said2", np.int8, (MAX_PLAYERS,)),  # by seat: nothing, bud or knock, after the exchange
        ("showed", np.int8, (MAX_PLAYERS,)),  # by seat: nothing, bud or show, at the showing
        ("shower", np.int8),  # who showed first
        *trick_fields(MAX_PLAYERS, TRICKS),
        *discard_fields(MAX_PLAYERS),
    ],
)

# begin, deal


@kernel
def begin(table, rules, dealer):
    """Begin a match: everybody owes the first ante."""
    new_match(table, dealer)
    begin_pot(table)
    table["owed"][:] = 0
    for seat in range(table["num_players"]):
        table["owed"][seat] = ANTE
    _clear_deal(table, rules)


@kernel
def _clear_deal(table, rules):
    clear_tricks(table, left_out(rules))
    clear_discards(table)
    clear_pot(table)
    table["knocker"] = -1
    table["forehand"] = -1
    table["said1"][:] = Said.NOTHING
    table["stayed"][:] = Said.NOTHING
    table["said2"][:] = Said.NOTHING
    table["showed"][:] = Said.NOTHING
    table["shower"] = -1


@kernel
def deal(table, rules):
    """Take the antes, deal the hands card by card, and give forehand the word."""
    table["dealer"] = table["next_dealer"]
    new_deal(table)
    _clear_deal(table, rules)
    for seat in range(table["num_players"]):
        pay_into_pot(table, seat, table["owed"][seat])
        table["owed"][seat] = 0
    table["in_play"] = everybody(table)
    table["forehand"] = next_seat(table, table["dealer"])
    deal_hands(table, table["forehand"], rules["hand"], left_out(rules))
    table["phase"] = Phase.BUD1
    table["seat"] = table["forehand"]


# legal_actions


@kernel
def legal_actions(table, rules, seat, out):
    """Mark the legal actions of the seat to act."""
    phase, acts = table["phase"], seat == table["seat"]
    speaks = acts & ((phase == Phase.BUD1) | (phase == Phase.BUD2))
    shows = acts & (phase == Phase.SHOW)
    folds = acts & (phase == Phase.FOLD)
    # The source has a code of honor against forehand's folding, but no rule (D-K02).
    may_fold = (seat != table["forehand"]) | (rules["forehand_may_fold"] != 0)
    most = rules["max_discards"] if acts & (phase == Phase.EXCHANGE) else -1
    hand = np.uint64(table["hand"][index(seat)])
    held = hand if acts & (phase == Phase.PLAY) else np.uint64(0)
    out[index(Action.BUD)] = speaks | shows
    out[index(Action.KNOCK)] = speaks
    out[index(Action.STAY)] = folds
    out[index(Action.FOLD)] = folds & may_fold
    out[index(Action.SHOW)] = shows
    write_discards(hand, rules["hand"], most, out, Action.DISCARD, Action.PLAY)
    # "Om spelaren på tur har ett eller flera kort av minst lika hög valör [...] måste hen sticka
    # över med något av dessa kort. Om spelaren inte kan sticka över, måste hen spela sin lägsta
    # valör" (D-K03)
    cards = playable(table, held, rules["forced_beat"] == ForcedBeat.LOWEST, True)
    write_types(cards, out, Action.PLAY)


# apply


@kernel
def apply(table, rules, action):
    """Play a legal action of the seat to act."""
    seat, phase = np.int64(table["seat"]), table["phase"]
    if phase == Phase.PLAY:
        card = card_of_type(table["hand"][index(seat)], action - Action.PLAY)
        tricks = tricks_of(rules)
        play_to_trick(table, card, tricks, rules["forced_beat"] == ForcedBeat.LOWEST, True)
        if table["trick"] == tricks:
            table["phase"] = Phase.SHOW
    elif phase == Phase.BUD1:
        _speak(table, rules, table["said1"], seat, action != Action.BUD, table["forehand"])
        if action == Action.KNOCK:
            table["knocker"] = seat
            table["phase"] = Phase.FOLD
    elif phase == Phase.FOLD:
        _stay_or_fold(table, rules, seat, action)
    elif phase == Phase.EXCHANGE:
        _exchange(table, seat, action - Action.DISCARD)
    elif phase == Phase.BUD2:
        _speak(table, rules, table["said2"], seat, action != Action.BUD, table["forehand"])
        if action == Action.KNOCK:  # "så fort någon knackar, går man vidare"
            table["phase"] = Phase.PLAY
            lead_from(table, table["forehand"])
    else:
        first = table["won"][index(tricks_of(rules) - 1)]
        _speak(table, rules, table["showed"], seat, action != Action.BUD, first)
        if action == Action.SHOW:
            table["shower"] = seat
            end_in_showing(table, rules)


@kernel
def _speak(table, rules, said, seat, claims, first):
    """Bud, knock or show; when all from the first one on have said bud, the deal ends."""
    said[seat] = Said.CLAIMED if claims else Said.YIELDED
    table["seat"] = seat_left_of(table, seat, table["in_play"])
    if table["seat"] == first and not claims:
        end_in_bud_round(table, rules)


@kernel
def _stay_or_fold(table, rules, seat, action):
    """Let a seat stay or fold, "fram till spelaren till höger om den som begärde spel" (D-K09)."""
    table["stayed"][seat] = Said.YIELDED if action == Action.FOLD else Said.CLAIMED
    if action == Action.FOLD:
        table["in_play"] &= ~bit(seat)
    following = next_seat(table, seat)
    table["seat"] = following
    if following == table["knocker"]:
        if table["in_play"] == bit(following):
            end_in_walk_over(table, rules)
            return
        # "[Rollen] som förhand [tas] över av närmaste kvarvarande spelare i riktning åt vänster"
        table["forehand"] = seat_left_of(table, table["dealer"], table["in_play"])
        table["seat"] = table["forehand"]
        table["phase"] = Phase.EXCHANGE


@kernel
def _exchange(table, seat, discard):
    draw_cards(table, seat, throw_away(table, seat, discard))
    table["seat"] = seat_left_of(table, seat, table["in_play"])
    if table["seat"] == table["forehand"]:
        table["phase"] = Phase.BUD2


# How a deal ends


@kernel
def end_in_bud_round(table, rules):
    """End a deal after a round of bud: the pot stays; folders owe one, or else everybody."""
    folders = everybody(table) & ~np.uint32(table["in_play"])
    for seat in range(table["num_players"]):
        # Owed units are paid when the next deal is dealt, and lapse if there is none (D-K01).
        table["owed"][seat] = (folders == 0) | has(folders, seat)
    table["end"] = End.BUD_ROUND
    settle(table, rules)


@kernel
def end_in_walk_over(table, rules):
    """Give the pot to the knocker after all others have folded; everybody owes one."""
    for seat in range(table["num_players"]):
        table["owed"][seat] = 1
    table["end"] = End.WALK_OVER
    # All of the pot, also what was carried on from earlier deals (D-K11).
    table["winner"] = table["knocker"]
    settle(table, rules)


@kernel
def end_in_showing(table, rules):
    """Let the seat that showed win with the strictly lowest card, else the lowest of the others."""
    # "Om den lägsta valören innehas av två spelare andra än den som först lade upp, vinner den av
    # dem [...] som sitter sist räknat medsols från den som vann det fjärde sticket" (D-K05, D-K06).
    shower, first = np.int64(table["shower"]), np.int64(table["won"][index(tricks_of(rules) - 1)])
    # Clockwise from the winner of the last trick, so that of equal cards the last one stays.
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
    # The pot itself is paid out by `settle`; this is the second one, from the shower.
    # The winner alone is paid, also if another card equals the shown one (D-K06).
    if not right:  # "ett belopp lika stort som hela innehållet i potten"
        pay_out(table, shower, -table["pot"])
        pay_out(table, winner, table["pot"])
    table["winner"] = winner
    _owe_after_showing(table, number == 2)
    table["end"] = End.SHOWING
    settle(table, rules)


@kernel
def _owe_after_showing(table, two):
    """Charge losers two; with two in the showing as if a bud round followed (D-K07, D-K08)."""
    for seat in range(table["num_players"]):
        loses = has(table["in_play"], seat) & (seat != table["winner"])
        table["owed"][seat] = 2 * loses + two
