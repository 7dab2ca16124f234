"""A table of Knack: its pack, its record, its constants, and small questions about it.

A card is `9 * suit + rank`: suits clubs, diamonds, hearts, spades, ranks from the six (0) to the
ace (8). A set of cards is a word with bit `card` for each card, so that following suit is one mask;
a set of seats is a word with bit `seat`. The bets on the table are kept as piles of equal size:
`bet_sizes` in stakes of three units, ascending, and `bet_counts`, how many there are of each. A new
bet is one stake larger than the smallest, so that two sizes are alive besides those of a start.
"""

from enum import IntEnum

import numpy as np

from kille_env.core.jit import kernel
from kille_env.core.pack import Pack
from kille_env.core.spec import SINGLE_DEAL, member_names
from kille_env.core.table import table_dtype

MAX_PLAYERS = 11  # 3 * 11 + 1 cards of 36
TRICKS = 3


class Suit(IntEnum):
    """The suits, as cards are numbered."""

    CLUBS, DIAMONDS, HEARTS, SPADES = range(4)


class Rank(IntEnum):
    """The ranks, the lowest first."""

    SIX, SEVEN, EIGHT, NINE, TEN, JACK, QUEEN, KING, ACE = range(9)


RANKS = len(Rank)
SUITS = "".join(suit.name[0] for suit in Suit)
SUIT_NAMES = member_names(Suit)

KNACK_PACK = Pack(
    tuple(rank + suit for suit in SUITS for rank in "6789TJQKA"),
    1,
    tuple(f"{rank} of {suit}" for suit in SUIT_NAMES for rank in member_names(Rank)),
)
CARDS = KNACK_PACK.size


class Action(IntEnum):
    """What can be done; PLAY and PLAY_DOWN are the first of the actions that name a card."""

    KNOCK, FOLD, PLAY = range(3)
    PLAY_DOWN = PLAY + CARDS


ACTIONS = (
    "knock",
    "fold",
    *(f"play {code}" for code in KNACK_PACK.codes),
    *(f"play *{code}" for code in KNACK_PACK.codes),
)


class Phase(IntEnum):
    """What is to be decided."""

    DEAL, OVER, JOIN, PLAY = range(4)


class Strength(IntEnum):
    """How strong a card is in a trick, besides its rank; a card of no use has strength 0."""

    LED, FACE_DOWN, TRUMP = 10, 19, 20


Remainder = IntEnum("Remainder", "DRAW LEFT", start=0)  # the values of a switch
START_SIZES = 14  # different bets that a match can start with
MAX_SIZES = START_SIZES + 2

SUIT_OF = np.array([card // RANKS for card in range(CARDS)], dtype=np.int64)
RANK_OF = np.array([card % RANKS for card in range(CARDS)], dtype=np.int64)
ALL_CARDS = np.uint64((1 << CARDS) - 1)

TABLE = table_dtype(
    MAX_PLAYERS,
    CARDS,
    [
        ("shown", np.uint64),  # cards that were played open, and the card turned up
        ("void", np.uint64),  # by suit, P bits each: the seats that publicly lack it
        ("hand", np.uint64, (MAX_PLAYERS,)),  # by seat: set of cards; folded hands stay
        ("bet_sizes", np.int64, (MAX_SIZES,)),
        ("bet_counts", np.int64, (MAX_SIZES,)),
        ("shared", np.int64),  # bets that were shared at the end of the party
        ("left_on_table", np.int64),  # what could not be divided, and nobody drew
        ("joined", np.uint32),
        ("folded", np.uint32),
        ("played_for", np.int64),  # size of the running bet that this deal was played for
        ("num_sizes", np.int8),
        ("remainder_to", np.int8),  # who takes an indivisible remainder; -1 is drawn when needed
        ("remainder", np.int8),  # what it took
        ("next_dealer", np.int8),
        ("num_joined", np.int8),
        ("turn_up", np.int8),
        ("trump", np.int8),
        ("trick", np.int8),  # number of the trick, from 0
        ("trick_size", np.int8),  # cards in it
        ("led", np.int8),  # suit that is to be followed
        ("strength", np.int8),  # of the card that wins the trick so far
        ("holder", np.int8),  # who has played it
        ("face_down", np.int8),  # the card that was led face down, -1 none
        ("leaders", np.int8, (TRICKS,)),
        ("winners", np.int8, (TRICKS,)),
        ("tricks", np.int8, (MAX_PLAYERS,)),  # by seat
        ("cards", np.int8, (MAX_PLAYERS, 3)),  # by seat: the cards that it was dealt
        ("played", np.int8, (TRICKS, MAX_PLAYERS)),  # -1 none
    ],
)


@kernel
def of_suit(cards, suit):
    """The cards of a suit in a set of cards."""
    return np.uint64(cards) & (np.uint64(0x1FF) << np.uint64(RANKS * np.int64(suit)))


@kernel
def running_bet(table):
    """Size of the running bet, the smallest on the table: "lägst värderade"; 0 without bets."""
    return np.int64(table["bet_sizes"][0]) if table["num_sizes"] > 0 else np.int64(0)


@kernel
def deals_left(table, rules):
    """Deals of the party that are still to come."""
    deals = rules["deals"] if rules["deals"] > 0 else np.int64(table["num_players"])
    return (1 if rules["episode"] == SINGLE_DEAL else deals) - np.int64(table["deals"])
