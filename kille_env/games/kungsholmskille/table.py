"""A table of Kungsholmskille: its record and its constants."""

from enum import IntEnum

import numpy as np

from kille_env.cards.pack import KILLE_PACK
from kille_env.core.table import table_dtype
from kille_env.tricktaking.pots import pot_fields
from kille_env.tricktaking.tricks import PLAYS, discard_fields, discards, trick_fields

MAX_PLAYERS = 6
TRICKS = 4
MOST_DISCARDS = 2
DISCARDS = discards(MOST_DISCARDS)


class Action(IntEnum):
    """What can be done; DISCARD and PLAY are the first of the actions that name cards."""

    BUD, KNOCK, STAY, FOLD, SHOW, DISCARD = range(6)
    PLAY = DISCARD + len(DISCARDS)


ACTIONS = ("bud", "knock", "stay", "fold", "show", *DISCARDS, *PLAYS)


class Phase(IntEnum):
    """What is to be decided."""

    DEAL, OVER, BUD1, FOLD, EXCHANGE, BUD2, PLAY, SHOW = range(8)


class Said(IntEnum):
    """What a seat has said in a round: nothing; bud or fold; knock, stay or show."""

    NOTHING, YIELDED, CLAIMED = range(3)


class End(IntEnum):
    """How a deal has ended."""

    NONE, SHOWING, BUD_ROUND, WALK_OVER = range(4)


class ForcedBeat(IntEnum):
    """With which card a player who can head the trick has to do so, a switch."""

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
