"""A table of Krypkille: its record and its constants."""

from enum import IntEnum

import numpy as np

from kille_env.cards.pack import KILLE_PACK
from kille_env.core.table import table_dtype
from kille_env.tricktaking.tricks import HAND, PLAYS, discard_fields, discards, trick_fields

MAX_PLAYERS = 6
TRICKS = 4
DISCARDS = discards(HAND)


class Action(IntEnum):
    """What can be done; DISCARD and PLAY are the first of the actions that name cards."""

    DECLARE, PASS, DISCARD = range(3)
    PLAY = DISCARD + len(DISCARDS)


ACTIONS = ("declare", "pass", *DISCARDS, *PLAYS)


class Phase(IntEnum):
    """What is to be decided."""

    DEAL, OVER, DISCARD, LEAD, GUESS = range(5)


class TalonShortage(IntEnum):
    """What happens where the talon is too short for the discards, a switch."""

    RESHUFFLE, CAP = range(2)


class Worth(IntEnum):
    """What a card scores, the value of some switches."""

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
        ("shuffled_in", np.uint64),  # discards that have become talon again
        ("talons", np.int8),  # how many new talons they have become, two at most
        ("talon_of", np.int8, (MAX_PLAYERS,)),  # by seat: which of them its discards are in, 0 none
        (
            "drawn_from",
            np.int8,
            (3, MAX_PLAYERS),
        ),  # cards from the pack and each new one
        *trick_fields(MAX_PLAYERS, TRICKS),
        *discard_fields(MAX_PLAYERS),
    ],
    redrawn=HAND * MAX_PLAYERS,
)
