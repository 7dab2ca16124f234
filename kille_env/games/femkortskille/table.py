"""A table of Femkortskille: its record and its constants."""

import numpy as np

from kille_env.cards.pack import KILLE_PACK
from kille_env.core.table import table_dtype
from kille_env.tricktaking.pots import pot_fields
from kille_env.tricktaking.tricks import PLAYS, trick_fields

MAX_PLAYERS = 8
DEALT = 3
DRAWN = 2
TRICKS = DEALT + DRAWN

ACTIONS = ("knock", "check", "fold", *PLAYS)
KNOCK, CHECK, FOLD, PLAY = range(4)

PHASES = ("deal", "over", "speak", "play")
SPEAKING, PLAYING = range(2, 4)

SILENT, FOLDED, KNOCKED, CHECKED = range(4)  # a seat's word; it can check in its first one only
NO_END, PLAYED, WALK_OVER, ALL_CHECKED = range(4)

LOWEST = 1  # the rules record's `follow`

TABLE = table_dtype(
    MAX_PLAYERS,
    KILLE_PACK.size,
    [
        *pot_fields(MAX_PLAYERS),
        ("forehand", np.int8),  # on the dealer's left
        ("said1", np.int8, (MAX_PLAYERS,)),  # by seat: its word in the first round
        ("said2", np.int8, (MAX_PLAYERS,)),  # by seat: its word after a check, once somebody knocks
        ("knockers", np.uint32),  # who has knocked
        ("end", np.int8),  # how the deal has ended
        *trick_fields(MAX_PLAYERS, TRICKS),
    ],
)
