"""A table of Byteskille: its record, its constants, and small questions about it.

Sets of seats, and of cards, are bit sets. What happened in a hand is in `events`, rows of six small
numbers `(kind, a, b, card_a, card_b, extra)`, -1 where a column says nothing:

    STAND         a is content
    EXCHANGE      a swaps with b: card_a went to b, card_b to a; extra: see below
    PASSED        a is sent past b, who shows card_b (inn or cavalier)
    GOK_STOOD     a meets b's gok, card_b: the round is over
    HUSAR         a meets b's husar, card_b: a is chopped
    SVIN          a meets b's svin, card_b: card_a is chopped, extra is the seat that it costs
    TALON_PASSED  a draws card_b, an inn or cavalier, which is laid aside
    TALON_GOK     a draws card_b, a gok: the round is over
    TALON_HUSAR   a draws card_b, a husar: a is chopped
    TALON_SVIN    a draws card_b, a svin: card_a is chopped, extra is the seat that it costs
    TALON_TAKEN   a lays card_a aside and takes card_b; extra: see below
    CALL          a calls with the gok card_a; b is 1 on a's own turn, 0 between turns
    ASK           a asks for better cards
    ANSWER        a answers, b is the action (YES, NO, DEFER)

`extra` of EXCHANGE and TALON_TAKEN: bits 0 and 1 are the rank of the two killes before it (1:
high), bit 2 says that a svin has undone it. A gok holder's waits are no events: that it was asked
follows from its card and the turns, and nobody else may know.
"""

from enum import IntEnum

import numpy as np

from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.sets import in_cards
from kille_env.core.jit import kernel
from kille_env.core.table import table_dtype

MAX_PLAYERS = 20
MAX_EVENTS = 32  # 20 turns, 4 inns and cavaliers, a question with two answers, a call: 28


class Action(IntEnum):
    """What can be done."""

    STAND, SWAP, CALL, WAIT, ASK, YES, NO, DEFER, BUY, DECLINE = range(10)


class Phase(IntEnum):
    """What is to be decided; GOK: whether a hidden gok is called, between turns."""

    DEAL, OVER, TURN, GOK, ANSWER_DEALER, ANSWER_THIRD, BUYIN = range(7)


class Event(IntEnum):
    """What has happened in a hand; see the top of this file."""

    STAND, EXCHANGE, PASSED, GOK_STOOD, HUSAR, SVIN = range(1, 7)
    TALON_PASSED, TALON_GOK, TALON_HUSAR, TALON_SVIN, TALON_TAKEN = range(7, 12)
    CALL, ASK, ANSWER = range(12, 15)


class Redeal(IntEnum):
    """Why the hand is dealt again."""

    NONE, QUESTION, KILLE = range(3)


class Occasion(IntEnum):
    """Which buying in is open."""

    NONE, FIRST, SECOND, AFTER_EACH = range(4)


UNDONE = 4


# The values of switches (`spec` says what they mean).

Ante = IntEnum("Ante", "POT DEAL", start=0)
KilleRank = IntEnum("KilleRank", "LOW HIGH", start=0)
HighKille = IntEnum("HighKille", "EQUAL_GOK ABOVE_GOK", start=0)
PigScope = IntEnum("PigScope", "CARD ALL", start=0)
GokCall = IntEnum("GokCall", "ANY_TIME OWN_TURN OFF", start=0)
Fraga = IntEnum("Fraga", "FORCED OFF", start=0)
NextDealer = IntEnum("NextDealer", "AFTER BEFORE", start=0)
TwoPlayer = IntEnum("TwoPlayer", "ORDINARY WIKI", start=0)
Reentry = IntEnum("Reentry", "SVENSK WIKI3 WIKI2 NONE", start=0)
Wiki2Second = IntEnum("Wiki2Second", "HALF FULL", start=0)

TABLE = table_dtype(
    MAX_PLAYERS,
    KILLE_PACK.size,
    [
        ("pot", np.int64),
        ("shown_pot", np.int64),  # the pot for the result: after buying in, before it is paid out
        ("opening_pot", np.int64),  # the pot when the buying in opened
        ("left_on_table", np.int64),  # what a split could not divide
        ("shown", np.uint64),  # cards that lie face up
        ("in_pot", np.uint32),  # who plays for the pot; after a showdown: who is left
        ("players", np.uint32),  # who was dealt a card
        ("stood", np.uint32),
        ("swapped", np.uint32),  # swapped with another player on its turn
        ("gave", np.uint32),  # had to give its card away
        ("drew", np.uint32),  # went to the talon
        ("untouched", np.uint32),  # holds the card that it was dealt
        ("open", np.uint32),  # its card lies face up
        ("chopped", np.uint32),
        ("out", np.uint32),  # eliminated by this hand
        ("left", np.uint32),  # still in after it, before buying in
        ("to_buy", np.uint32),  # who will still be asked to buy in
        ("declined", np.uint32),
        ("first_buyers", np.uint32),
        ("prepaid", np.uint32),  # who bought in for a price that covers the next ante
        ("redeals", np.int32),  # questions granted in this deal
        ("pots_won", np.int32),
        ("num_players_dealt", np.int8),
        ("turn", np.int8),  # index into order of the player whose turn to exchange it is
        ("gok_offset", np.int8),  # how far left of it sits the gok holder that is asked
        ("goks", np.int8),  # goks in hands
        ("high", np.uint8),  # bit k: copy k of the kille ranks high
        ("asked", np.int8),  # forehand has asked in this hand
        ("redeal", np.int8),  # why the hand is dealt again
        ("showdown", np.int8),  # the cards in hands lie open
        ("occasion", np.int8),  # the buying in that is open
        ("first_done", np.int8),
        ("second_done", np.int8),
        ("new_pot", np.int8),  # the next deal begins a pot
        ("next_dealer", np.int8),
        ("winner", np.int8),  # of the pot, by this hand
        ("num_laid_aside", np.int8),
        ("num_events", np.int8),
        ("laid_aside", np.int8, (8,)),  # cards that have left the talon or a hand
        ("held", np.uint64, (MAX_PLAYERS,)),  # by seat: the cards that it has held and can follow
        ("order", np.int8, (MAX_PLAYERS,)),  # seats of this hand, forehand first, dealer last
        ("hand", np.int8, (MAX_PLAYERS,)),  # by seat; -1 none
        ("dealt", np.int8, (MAX_PLAYERS,)),  # by seat: the card that it was dealt
        ("entries", np.int8, (MAX_PLAYERS,)),  # by seat: times that it bought in
        ("events", np.int8, (MAX_EVENTS, 6)),
    ],
)


@kernel
def card_type(card):
    """The type of a card, 0 (blaren) to 20 (kille)."""
    return np.int64(card) >> 1


@kernel
def is_high(table, card):
    """Whether a kille ranks high."""
    return (np.int64(table["high"]) >> (np.int64(card) & 1)) & 1 != 0


@kernel
def is_shown(table, card):
    """Whether a card lies face up."""
    return in_cards(table["shown"], card)
