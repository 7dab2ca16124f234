"""A table of Femkortskille: its record and its constants."""

from enum import IntEnum

import numpy as np

from kille_env.cards.pack import KILLE_PACK
from kille_env.core.table import table_dtype
from kille_env.tricktaking.pots import pot_fields
from kille_env.tricktaking.tricks import PLAYS, trick_fields

MAX_PLAYERS = 8
DEALT = 3
DRAWN = 2
TRICKS = DEALT + DRAWN


class Action(IntEnum):
    """What can be done; PLAY is the first of the actions that name a card."""

    KNOCK, CHECK, FOLD, PLAY = range(4)


ACTIONS = ("knock", "check", "fold", *PLAYS)


class Phase(IntEnum):
    """What is to be decided."""

    DEAL, OVER, SPEAK, PLAY = range(4)


class Said(IntEnum):
    """What a seat has said; it can check in the first round only."""

    NOTHING, FOLDED, KNOCKED, CHECKED = range(4)


class End(IntEnum):
    """How a deal has ended."""

    NONE, PLAYED, WALK_OVER, ALL_CHECKED = range(4)


class Follow(IntEnum):
    """What a player who cannot head the trick plays, a switch."""

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
