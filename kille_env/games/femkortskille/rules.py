"""Femkortskille's record of a table and its rules as kernels, from the deal to the payment."""

from enum import IntEnum

import numpy as np

from kille_env.cards.pack import KILLE_PACK, left_out
from kille_env.cards.seats import bit, everybody, has, next_seat, seat_left_of
from kille_env.cards.sets import how_many
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
    PLAYS,
    card_of_type,
    clear_tricks,
    deal_hands,
    draw_cards,
    lead_from,
    play_to_trick,
    playable,
    trick_fields,
)

MAX_PLAYERS = 8
DEALT, DRAWN = 3, 2  # at most
TRICKS = DEALT + DRAWN


class Action(IntEnum):
    """The actions; PLAY is the first of those that name a card."""

    KNOCK, CHECK, FOLD, PLAY = range(4)


ACTIONS = ("knock", "check", "fold", *PLAYS)


class Phase(IntEnum):
    """The phases of a deal."""

    DEAL, OVER, SPEAK, PLAY = range(4)


class Said(IntEnum):
    """The words of a seat; it can check in the first round only."""

    NOTHING, FOLDED, KNOCKED, CHECKED = range(4)


class End(IntEnum):
    """How a deal has ended."""

    NONE, PLAYED, WALK_OVER, ALL_CHECKED = range(4)


class Follow(IntEnum):
    """The cards that may be played if none heads the trick, a switch."""

    ANY, LOWEST = range(2)


TABLE = table_dtype(
    MAX_PLAYERS,
    KILLE_PACK.size,
    [
        *pot_fields(MAX_PLAYERS),
        ("forehand", np.int8),  # on the dealer's left
        ("said1", np.int8, (MAX_PLAYERS,)),  # by seat: its word in the first round
        ("said2", np.int8, (MAX_PLAYERS,)),  # by seat: its word after a check, once somebody knocks
        ("knockers", np.uint32),  # who has knocked
        *trick_fields(MAX_PLAYERS, TRICKS),
    ],
)


@kernel
def tricks_of(rules):
    """Return the number of tricks: one for each card that a knocker gets."""
    return rules["hand"] + rules["draws"]


# begin, deal


@kernel
def begin(table, rules, dealer):
    """Begin a match."""
    new_match(table, dealer)
    begin_pot(table)
    _clear_deal(table, rules)


@kernel
def _clear_deal(table, rules):
    clear_tricks(table, left_out(rules))
    clear_pot(table)
    table["knockers"] = 0
    table["forehand"] = -1
    table["said1"][:] = Said.NOTHING
    table["said2"][:] = Said.NOTHING


@kernel
def deal(table, rules):
    """Take the antes, deal the hands card by card, and give forehand the word."""
    table["dealer"] = table["next_dealer"]
    new_deal(table)
    _clear_deal(table, rules)
    for seat in range(table["num_players"]):
        pay_into_pot(table, seat, rules["ante"])
    table["in_play"] = everybody(table)
    table["forehand"] = next_seat(table, table["dealer"])
    deal_hands(table, table["forehand"], rules["hand"], left_out(rules))
    table["phase"] = Phase.SPEAK
    table["seat"] = table["forehand"]


# legal_actions


@kernel
def legal_actions(table, rules, seat, out):
    """Mark the legal actions of the seat to act."""
    phase, acts = table["phase"], seat == table["seat"]
    speaks = acts & (phase == Phase.SPEAK)
    hand = np.uint64(table["hand"][index(seat)]) if acts & (phase == Phase.PLAY) else np.uint64(0)
    out[index(Action.KNOCK)] = speaks
    out[index(Action.CHECK)] = speaks & (table["knockers"] == 0)
    out[index(Action.FOLD)] = speaks
    # Who can must head the trick with any card that does; else any card goes (D-F07, D-F08).
    cards = playable(table, hand, False, rules["follow"] == Follow.LOWEST)
    write_types(cards, out, Action.PLAY)


# apply


@kernel
def apply(table, rules, action):
    """Play a legal action of the seat to act."""
    seat = np.int64(table["seat"])
    if table["phase"] == Phase.SPEAK:
        _speak(table, rules, seat, action)
        return
    card = card_of_type(table["hand"][index(seat)], action - Action.PLAY)
    tricks = tricks_of(rules)
    play_to_trick(table, card, tricks, False, rules["follow"] == Follow.LOWEST)
    if table["trick"] == tricks:
        end_in_play(table, rules)


@kernel
def _speak(table, rules, seat, action):
    """Knock, fold or check; a seat that has checked speaks again after a knock (D-F03)."""
    first = table["said1"][seat] == Said.NOTHING
    word = Said.CHECKED
    word = Said.KNOCKED if action == Action.KNOCK else word
    word = Said.FOLDED if action == Action.FOLD else word
    if first:
        table["said1"][seat] = word
    else:
        table["said2"][seat] = word
    table["knockers"] |= bit(seat) if action == Action.KNOCK else np.uint32(0)
    table["in_play"] &= ~(bit(seat) if action == Action.FOLD else np.uint32(0))
    # All speak once, from forehand, before a seat that has checked is asked again (D-F03).
    if first & (seat != table["dealer"]):
        table["seat"] = next_seat(table, seat)
        return
    # After a knock, the seats that checked are asked again; without one, nobody is.
    undecided = np.uint32(table["in_play"] & ~table["knockers"])
    if table["knockers"] == 0:
        end_in_checks(table, rules)
    # Asked even if the answer changes nothing: a seat that has checked may still knock (D-F04).
    elif undecided != 0:
        table["seat"] = seat_left_of(table, table["dealer"], undecided)
    else:
        _begin_play(table, rules)


@kernel
def _begin_play(table, rules):
    """Give the pot to a single knocker, or deal the last cards and let the eldest one lead."""
    eldest = seat_left_of(table, table["dealer"], table["in_play"])
    # A single knocker gets no more cards (D-F06).
    if table["in_play"] == bit(eldest):
        end_in_walk_over(table, rules, eldest)
        return
    seat = eldest
    for _ in range(how_many(table["in_play"])):
        draw_cards(table, seat, rules["draws"])
        seat = seat_left_of(table, seat, table["in_play"])
    table["phase"] = Phase.PLAY
    lead_from(table, eldest)


# How a deal ends


@kernel
def end_in_checks(table, rules):
    """End a deal without a knock: the pot stays."""
    # The pot stays for the next deal, in which a seat that has folded is in again (D-F05).
    table["end"] = End.ALL_CHECKED
    settle(table, rules)


@kernel
def end_in_walk_over(table, rules, winner):
    """Give the pot to a single knocker without play."""
    table["end"] = End.WALK_OVER
    table["winner"] = winner
    settle(table, rules)


@kernel
def end_in_play(table, rules):
    """Give the last trick's winner the pot, and as much again from every other knocker."""
    winner, pot = np.int64(table["holder"]), table["pot"]
    # The winner is a knocker, too: it pays one pot here and gets it back with the others' below.
    for seat in range(table["num_players"]):
        pay_out(table, seat, -pot * has(table["knockers"], seat))
    pay_out(table, winner, pot * how_many(table["knockers"]))
    table["end"] = End.PLAYED
    table["winner"] = winner
    settle(table, rules)
