"""A table of Kungsholmskille: its record and its constants."""

import numpy as np

from kille_env.cards.pack import KILLE_PACK
from kille_env.core.table import table_dtype
from kille_env.tricktaking.pots import pot_fields
from kille_env.tricktaking.tricks import PLAYS, discard_fields, discards, trick_fields

MAX_PLAYERS = 6
TRICKS = 4
MOST_DISCARDS = 2
DISCARDS = discards(MOST_DISCARDS)

ACTIONS = ("bud", "knock", "stay", "fold", "show", *DISCARDS, *PLAYS)
BUD, KNOCK, STAY, FOLD, SHOW = range(5)
DISCARD = 5
PLAY = DISCARD + len(DISCARDS)

PHASES = ("deal", "over", "bud1", "fold", "exchange", "bud2", "play", "show")
BUD1, FOLDING, EXCHANGE, BUD2, PLAYING, SHOWING = range(2, 8)

SILENT, YIELDED, CLAIMED = range(3)  # what a seat has said in a round: nothing, bud/fold, the other
NO_END, SHOWN, BUD_ROUND, WALK_OVER = range(4)

LOWEST = 1  # the rules record's `forced_beat`

ANTE = 2  # "Före första given, sätter varje spelare en insats på två kronor i potten"

TABLE = table_dtype(
    MAX_PLAYERS,
    KILLE_PACK.size,
    [
        *pot_fields(MAX_PLAYERS),
        ("owed", np.int64, (MAX_PLAYERS,)),  # by seat: what he pays when the next deal is dealt
        ("forehand", np.int8),  # nearest player still in on the dealer's left
        ("knocker", np.int8),  # who asked for play before the folding
        ("said1", np.int8, (MAX_PLAYERS,)),  # by seat: nothing, bud or knock, before the exchange
        ("stayed", np.int8, (MAX_PLAYERS,)),  # by seat: not asked, folded or stayed
        ("said2", np.int8, (MAX_PLAYERS,)),  # by seat: nothing, bud or knock, after the exchange
        ("showed", np.int8, (MAX_PLAYERS,)),  # by seat: nothing, bud or show, at the showing
        ("end", np.int8),  # how the deal has ended
        ("shower", np.int8),  # who showed first
        *trick_fields(MAX_PLAYERS, TRICKS),
        *discard_fields(MAX_PLAYERS),
    ],
)
