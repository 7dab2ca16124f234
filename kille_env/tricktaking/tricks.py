"""Tricks with Kille cards, as Kungsholmskille, Krypkille and Femkortskille play them.

A player who can must head the highest card of the trick; an equal card counts as heading, and of
two equal highest cards the later one wins. A player who cannot "creeps" under it with the lowest
card (or, as a game may have it, any card). The winner leads. All cards stay face up in front of
their players. Before the tricks a hand may be improved by discards.

A set of cards is a word with bit `2 * type + copy` for each card, so that the cards that may be
played are found with a shift, and the lowest card is the lowest bit.
"""

from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np

from kille_env.cards.features import write_bits
from kille_env.cards.pack import KILLE_PACK, TYPES, draw, leave_out, take_pack
from kille_env.cards.seats import seat_left_of
from kille_env.cards.sets import card_bit, how_many, without_lowest
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Switch

HAND = 5
FIVE_TYPES, SIX_TYPES = "BL+L4+L8+L12+KI", "BL+L2+L5+L8+L11+KI"  # packs of small siblings
NOT_YET = -1
NO_RANK = -1  # nothing has been played to the trick
PLAYS = tuple(f"play {code}" for code in KILLE_PACK.codes)

_SUBSETS = [slots for n in range(HAND + 1) for slots in combinations(range(HAND), n)]
SLOTS = np.array([sum(1 << slot for slot in slots) for slots in _SUBSETS], dtype=np.int64)
"""Discards as sets of slots: bit i is the i-th lowest card. Fewer cards come first."""
SIZES = np.array([len(slots) for slots in _SUBSETS], dtype=np.int64)


def _discards_where(possible: Callable[[int, int], bool]) -> int:
    """Return the discards that are possible, by their slots and their size, as a set."""
    return sum(1 << i for i in range(len(SLOTS)) if possible(int(SLOTS[i]), int(SIZES[i])))


_LOWER_FIRST = np.array(
    [
        _discards_where(lambda slots, _, d=doubles: slots & d & ~(slots << 1) == 0)
        for doubles in range(1 << HAND)
    ],
    dtype=np.uint64,
)
"""Discards that have the upper of two equal cards only with the lower, by the upper slots."""
_UP_TO = np.array(
    [
        [
            _discards_where(lambda slots, size, m=most, h=hand: size <= m and slots < 1 << h)
            for most in range(-1, HAND + 1)
        ]
        for hand in range(HAND + 1)
    ],
    dtype=np.uint64,
)
"""By the cards in hand, and one more than may be discarded: discards of at most so many of them."""
FIRST_COPIES = np.uint64(sum(1 << 2 * kind for kind in range(TYPES)))
WHOLE_PACK = np.uint64((1 << KILLE_PACK.size) - 1)
_ONE = np.uint64(1)


def discards(most: int) -> tuple[str, ...]:
    """Return the names of the discards of up to `most` cards; "#1" is the lowest card in hand."""
    sets = [slots for slots in _SUBSETS if len(slots) <= most]
    return tuple(" ".join(["discard", *(f"#{slot + 1}" for slot in slots)]) for slots in sets)


def trick_fields(max_players: int, tricks: int) -> list[tuple]:
    """Return the fields of a table at which up to so many tricks are played in a deal."""
    return [
        ("hand", np.uint64, (max_players,)),  # by seat: set of cards
        ("dealt", np.uint64, (max_players,)),  # by seat: the cards that it was dealt
        ("drawn_cards", np.uint64, (max_players,)),  # by seat: the cards that it got later
        ("face_up", np.uint64),  # cards that nobody can hold: open ones, and those left out
        ("in_play", np.uint32),  # who plays for the tricks
        ("trick", np.int8),  # number of the trick, from 0
        ("highest", np.int8),  # highest rank of the trick
        ("holder", np.int8),  # who has played it
        ("lead", np.int8, (tricks,)),  # who led to each trick
        ("won", np.int8, (tricks,)),  # who won it
        ("played", np.int8, (tricks, max_players)),  # the card that each played to it
        ("at_least", np.int8, (max_players,)),  # everybody knows: no card is lower ...
        ("below", np.int8, (max_players,)),  # ... and all are lower than this type
        ("excluded", np.uint64, (max_players,)),  # by seat: cards that everybody knows it lacks
    ]


def discard_fields(max_players: int) -> list[tuple]:
    """Return the further fields of a table at which cards are exchanged before the tricks."""
    return [
        ("discarded", np.uint64, (max_players,)),  # by seat: the cards that it threw away
        ("exchanged", np.int8, (max_players,)),  # how many cards it has thrown away
    ]


def hand_switch(by_preset: Mapping[str, int], decision: str) -> Switch:
    """Return the switch `hand` of games that keep a last card; see `tricks_of`."""
    meaning = "how many cards everybody is dealt; all but the last of them are played in tricks"
    return Switch("hand", meaning, by_preset, minimum=2, maximum=HAND, decision=decision)


@kernel
def tricks_of(rules):
    """Return the number of tricks: one for each card of a hand but the last."""
    return rules["hand"] - 1


# Sets of cards


@kernel
def cards_below(kind):
    """Return the set of cards that are lower than a type."""
    return (_ONE << np.uint64(2 * kind)) - _ONE


@kernel
def lowest_of(cards):
    """Return the lowest card of a set, with its double if that is in the set."""
    cards = np.uint64(cards)
    low = cards & (~cards + _ONE)
    return cards & (low | ((low & FIRST_COPIES) << _ONE))


@kernel
def card_of_type(cards, kind):
    """Return a card of a type from a set that holds one; the copies look alike."""
    first = np.uint64(2 * kind)
    return np.int64(first + (_ONE - ((np.uint64(cards) >> first) & _ONE)))


# Dealing and discarding


@kernel
def clear_tricks(table, without):
    """Forget the last deal's hands and tricks; no seat can hold the cards that are left out."""
    table["in_play"] = 0
    table["trick"] = 0
    table["highest"] = NO_RANK
    table["holder"] = -1
    table["lead"][:] = -1
    table["won"][:] = -1
    table["played"][:] = -1
    table["face_up"] = without
    table["hand"][:] = 0
    table["dealt"][:] = 0
    table["drawn_cards"][:] = 0
    table["at_least"][:] = 0
    table["below"][:] = TYPES
    table["excluded"][:] = 0


@kernel
def clear_discards(table):
    """Forget the last deal's exchange."""
    table["discarded"][:] = 0
    table["exchanged"][:] = NOT_YET


@kernel
def deal_hands(table, first, number, without):
    """Take a pack without some cards and deal `number` each, one by one from `first` on."""
    take_pack(table)
    if without != 0:
        leave_out(table, without)
    seat = np.int64(first)
    for _ in range(number * how_many(table["in_play"])):
        table["hand"][index(seat)] |= card_bit(draw(table))
        seat = np.int64(seat_left_of(table, seat, table["in_play"]))
    # A loop, because assigning an array to a slice allocates in a kernel, in case the two overlap.
    for player in range(table["hand"].shape[0]):
        table["dealt"][player] = table["hand"][player]


@kernel
def draw_cards(table, seat, number):
    """Draw further cards from the pack for a seat."""
    for _ in range(number):
        table["drawn_cards"][index(seat)] |= card_bit(draw(table))
    table["hand"][index(seat)] |= table["drawn_cards"][index(seat)]


@kernel
def write_discards(hand, size, most, out, at, end):
    """Mark in the mask which discards are possible; equal cards make one action, not two."""
    doubles, slot, rest = np.int64(0), 0, np.uint64(hand)
    both = rest & (rest << _ONE) & ~FIRST_COPIES
    while both != 0 and most >= 0:
        # Throwing either of two equal cards away is the same action, and the mask has one of them.
        card = without_lowest(rest) ^ rest
        doubles |= np.int64(both & card != 0) << slot
        both &= ~card
        rest &= ~card
        slot += 1
    write_bits(
        _LOWER_FIRST[index(doubles)] & _UP_TO[index(size), index(most + 1)], end - at, out, at
    )


@kernel
def throw_away(table, seat, number):
    """Take a discard out of a hand; return how many cards that were."""
    chosen, slots, rest = np.uint64(0), SLOTS[index(number)], np.uint64(table["hand"][seat])
    while slots != 0:
        if slots & 1:
            chosen |= rest & (~rest + _ONE)
        rest = without_lowest(rest)
        slots >>= 1
    table["hand"][seat] &= ~chosen
    table["discarded"][seat] = chosen
    table["exchanged"][seat] = SIZES[index(number)]
    return SIZES[index(number)]


# Playing


@kernel
def lead_from(table, seat):
    """Let a seat lead to the next trick."""
    table["highest"] = NO_RANK
    table["lead"][index(table["trick"])] = seat
    table["seat"] = seat


@kernel
def playable(table, hand, heads_lowest, creeps_lowest):
    """Return the cards of a hand that may be played to the trick."""
    highest = np.int64(table["highest"])
    # Cards are numbered by rank, so those that head the trick are one shift away; an equal card
    # heads.
    able = hand & (WHOLE_PACK << np.uint64(2 * max(highest, 0)))
    if able == 0:
        return lowest_of(hand) if creeps_lowest & (hand != 0) else hand
    return lowest_of(able) if heads_lowest & (highest >= 0) else able


@kernel
def play_to_trick(table, card, tricks, heads_lowest, creeps_lowest):
    """Play a card of the seat to act; return whether the trick is complete."""
    # The next seat is to act then, or the winner of a complete trick, which leads to the next.
    seat, trick = index(table["seat"]), index(table["trick"])
    rank, highest = np.int64(card) >> 1, np.int64(table["highest"])
    lower, under = cards_below(rank), cards_below(max(highest, 0))
    table["hand"][seat] &= ~card_bit(card)
    table["face_up"] |= card_bit(card)
    table["played"][trick, seat] = card
    if rank >= highest:
        table["highest"] = rank
        table["holder"] = seat
        # A seat that had to head with its lowest card that can has none between the two.
        table["excluded"][seat] |= lower & ~under if heads_lowest & (highest >= 0) else np.uint64(0)
    else:
        # A seat that does not head the trick could not: all of its cards are below the highest.
        table["excluded"][seat] |= ~under | (lower if creeps_lowest else np.uint64(0))
        table["below"][seat] = min(highest, np.int64(table["below"][seat]))
        if creeps_lowest:
            table["at_least"][seat] = rank
    following = np.int64(seat_left_of(table, seat, table["in_play"]))
    table["seat"] = following
    complete = following == table["lead"][trick]
    if complete:
        table["won"][trick] = table["holder"]
        table["seat"] = table["holder"]
        table["trick"] += 1
        if table["trick"] < tricks:
            lead_from(table, table["holder"])
    return complete


@kernel
def seen(table, seat):
    """Return the cards that a seat has seen: held, open, or left out of the pack."""
    return np.uint64(table["dealt"][seat] | table["drawn_cards"][seat] | table["face_up"])
