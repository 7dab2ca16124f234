"""Tricks with Kille cards: what Kungsholmskille, Krypkille and Femkortskille have in common.

A player who can must head the highest card of the trick; an equal card counts as heading, and of
two equal highest cards the later one wins. Whoever cannot "creeps" under it with the lowest card
(or, as a game may have it, any card). The winner leads. All cards stay face up in front of their
players. Before the tricks a hand may be improved by discards.

A set of cards is a word with bit `2 * type + copy` for each card, so that the cards that may be
played are found with a shift, and the lowest card is the lowest bit.
"""

from itertools import combinations

import numpy as np

from kille_env.cards.features import put, start
from kille_env.cards.pack import KILLE_PACK, draw, take_pack
from kille_env.cards.seats import count, relative, seat_left_of
from kille_env.cards.sets import card_bit
from kille_env.core.jit import index, kernel

TYPES = len(KILLE_PACK.codes)
HAND = 5
NOT_YET = -1
NO_RANK = -1  # nothing has been played to the trick
PLAYS = tuple(f"play {code}" for code in KILLE_PACK.codes)

_SUBSETS = [slots for n in range(HAND + 1) for slots in combinations(range(HAND), n)]
SLOTS = np.array([sum(1 << slot for slot in slots) for slots in _SUBSETS], dtype=np.int64)
"""Discards as sets of slots: bit i is the i-th lowest card. Fewer cards come first."""
SIZES = np.array([len(slots) for slots in _SUBSETS], dtype=np.int64)
_PLACE = np.zeros(53, dtype=np.int64)  # where a single bit stands: 2 is a primitive root of 53
for _card in range(KILLE_PACK.size):
    _PLACE[(1 << _card) % 53] = _card
_FIRST_COPIES = np.uint64(sum(1 << 2 * kind for kind in range(TYPES)))
WHOLE_PACK = np.uint64((1 << KILLE_PACK.size) - 1)
_ONE, _THREE = np.uint64(1), np.uint64(3)


def discards(most: int) -> tuple[str, ...]:
    """Returns the names of the discards of up to `most` cards; "#1" is the lowest card in hand."""
    sets = [slots for slots in _SUBSETS if len(slots) <= most]
    return tuple(" ".join(["discard", *(f"#{slot + 1}" for slot in slots)]) for slots in sets)


def trick_fields(max_players: int, tricks: int) -> list[tuple]:
    """Returns the fields of a table at which tricks are played.

    Args:
        max_players: Most seats.
        tricks: Tricks in a deal.
    """
    return [
        ("hand", np.uint64, (max_players,)),  # by seat: set of cards
        ("dealt", np.uint64, (max_players,)),  # by seat: the cards that it was dealt
        ("drawn_cards", np.uint64, (max_players,)),  # by seat: the cards that it got later
        ("face_up", np.uint64),  # cards that everybody can see
        ("in_play", np.uint32),  # who plays for the tricks
        ("trick", np.int8),  # number of the trick, from 0
        ("highest", np.int8),  # highest rank of the trick
        ("holder", np.int8),  # who has played it
        ("lead", np.int8, (tricks,)),  # who led to each trick
        ("won", np.int8, (tricks,)),  # who won it
        ("played", np.int8, (tricks, max_players)),  # the card that each played to it
        ("at_least", np.int8, (max_players,)),  # what everybody knows: nobody's card is lower ...
        ("below", np.int8, (max_players,)),  # ... and all are lower than this type
    ]


def discard_fields(max_players: int) -> list[tuple]:
    """Returns the further fields of a table at which cards are exchanged before the tricks.

    Args:
        max_players: Most seats.
    """
    return [
        ("discarded", np.uint64, (max_players,)),  # by seat: the cards that it threw away
        ("exchanged", np.int8, (max_players,)),  # how many cards it has thrown away
    ]


# Sets of cards


@kernel
def lowest_card(cards):
    """The lowest card of a set that is not empty."""
    cards = np.uint64(cards)
    return _PLACE[index((cards & (~cards + _ONE)) % np.uint64(53))]


@kernel
def without_lowest(cards):
    """A set that is not empty without its lowest card."""
    cards = np.uint64(cards)
    return cards & (cards - _ONE)


@kernel
def cards_below(kind):
    """All cards that are lower than a type."""
    return (_ONE << np.uint64(2 * kind)) - _ONE


@kernel
def heading(cards, rank):
    """The cards of a set that head a rank: as high or higher; all of them for `NO_RANK`."""
    return np.uint64(cards) & (WHOLE_PACK << np.uint64(2 * max(rank, 0)))


@kernel
def lowest_of(cards):
    """The lowest card of a set, and its double where that is in the set."""
    cards = np.uint64(cards)
    low = cards & (~cards + _ONE)
    return cards & (low | ((low & _FIRST_COPIES) << _ONE))


@kernel
def card_of_type(cards, kind):
    """A card of a type from a set that holds one; the copies look alike."""
    first = np.uint64(2 * kind)
    return np.int64(first + (_ONE - ((np.uint64(cards) >> first) & _ONE)))


@kernel
def write_types(cards, out, at):
    """Marks the types of a set, 21 features."""
    cards = np.uint64(cards)
    for kind in range(TYPES):
        out[index(at + kind)] = (cards >> np.uint64(2 * kind)) & _THREE != 0


@kernel
def write_counts(cards, out, at):
    """Writes how many cards of each type are in a set, 21 features from 0 to 2."""
    cards = np.uint64(cards)
    for kind in range(TYPES):
        pair = cards >> np.uint64(2 * kind)
        out[index(at + kind)] = (pair & _ONE) + ((pair >> _ONE) & _ONE)


@kernel
def write_slots(cards, out, at):
    """Writes a hand as one-hot types, 21 features per card from the lowest up."""
    rest = np.uint64(cards)
    while rest != 0:
        out[index(at + (lowest_card(rest) >> 1))] = 1
        rest = without_lowest(rest)
        at += TYPES


@kernel
def write_codes(cards, out, at):
    """Writes a set of cards as numbers from the lowest up: 1 blaren to 21 kille."""
    rest = np.uint64(cards)
    while rest != 0:
        out[at] = (lowest_card(rest) >> 1) + 1
        rest = without_lowest(rest)
        at += 1


# Dealing and discarding


@kernel
def clear_tricks(table):
    """Forgets the last deal's tricks."""
    table["trick"] = 0
    table["highest"] = NO_RANK
    table["holder"] = -1
    table["lead"][:] = -1
    table["won"][:] = -1
    table["played"][:] = -1
    table["face_up"] = 0
    table["hand"][:] = 0
    table["dealt"][:] = 0
    table["drawn_cards"][:] = 0
    table["at_least"][:] = 0
    table["below"][:] = TYPES


@kernel
def clear_discards(table):
    """Forgets the last deal's exchange."""
    table["discarded"][:] = 0
    table["exchanged"][:] = NOT_YET


@kernel
def write_discards(hand, most, out, at, size):
    """Marks which of the first `size` discards are possible; equal cards make one action, not two.

    Args:
        hand: The cards in hand, five.
        most: How many may be discarded.
        out: Mask.
        at: Where the discards begin in it.
        size: How many discards the game has.
    """
    doubles, slot, before, rest = 0, 0, -1, np.uint64(hand)
    while rest != 0:
        kind = lowest_card(rest) >> 1
        doubles |= (kind == before) << slot
        before = kind
        rest = without_lowest(rest)
        slot += 1
    for number in range(size):
        slots = SLOTS[index(number)]
        # Of two equal cards the lower slot goes first.
        out[index(at + number)] = (SIZES[index(number)] <= most) & (
            slots & doubles & ~(slots << 1) == 0
        )


@kernel
def chosen_cards(hand, number):
    """The cards of a hand that a discard throws away."""
    chosen, slots, rest = np.uint64(0), SLOTS[index(number)], np.uint64(hand)
    while slots != 0:
        if slots & 1:
            chosen |= rest & (~rest + _ONE)
        rest = without_lowest(rest)
        slots >>= 1
    return chosen


@kernel
def throw_away(table, seat, number):
    """Takes a discard out of a hand; returns how many cards that were."""
    chosen = chosen_cards(table["hand"][seat], number)
    table["hand"][seat] &= ~chosen
    table["discarded"][seat] = chosen
    table["exchanged"][seat] = SIZES[index(number)]
    return SIZES[index(number)]


# Playing


@kernel
def deal_hands(table, first, number):
    """Takes a whole pack and deals it to those in play, one by one from `first` on.

    Args:
        table: The table, its `in_play` set.
        first: Who gets the first card.
        number: Cards each.
    """
    take_pack(table)
    seat = np.int64(first)
    for _ in range(number * count(table["in_play"])):
        table["hand"][index(seat)] |= card_bit(draw(table))
        seat = np.int64(seat_left_of(table, seat, table["in_play"]))
    for player in range(table["hand"].shape[0]):
        table["dealt"][player] = table["hand"][player]


@kernel
def lead_from(table, seat):
    """Somebody leads to the next trick."""
    table["highest"] = NO_RANK
    table["lead"][index(table["trick"])] = seat


@kernel
def play_card(table, seat, card, creeps):
    """Lays a card to the trick, and notes what everybody learns from it.

    A seat that does not head the trick cannot: all of its cards are below the highest.

    Args:
        table: The table.
        seat: Who plays.
        card: The card.
        creeps: Whether a card that does not head must be its lowest.
    """
    rank, highest = np.int64(card) >> 1, np.int64(table["highest"])
    table["hand"][index(seat)] &= ~card_bit(card)
    table["face_up"] |= card_bit(card)
    table["played"][index(table["trick"]), index(seat)] = card
    if rank >= highest:
        table["highest"] = rank
        table["holder"] = seat
    else:
        if creeps:
            table["at_least"][index(seat)] = rank
        table["below"][index(seat)] = min(highest, np.int64(table["below"][index(seat)]))


@kernel
def open_card(table, seat):
    """The last card of a seat, if it lies open: 1 blaren to 21 kille, else 0."""
    shown = np.uint64(table["hand"][seat]) & np.uint64(table["face_up"])
    return (lowest_card(shown) >> 1) + 1 if shown != 0 else np.int64(0)


@kernel
def next_to_play(table, seat):
    """The next player of the trick, or -1 if it is complete; then the trick is booked as won."""
    trick = index(table["trick"])
    following = seat_left_of(table, seat, table["in_play"])
    if following == table["lead"][trick]:
        table["won"][trick] = table["holder"]
        table["trick"] += 1
        return np.int64(-1)
    return np.int64(following)


# What a seat sees of it


@kernel
def seen(table, seat):
    """The cards that a seat has seen in this deal: all that it has held, and open ones."""
    return np.uint64(table["dealt"][seat] | table["drawn_cards"][seat] | table["face_up"])


@kernel
def write_played(table, tricks, viewer, out, played, won):
    """Writes who has played what to the first tricks, and who has won them.

    Args:
        table: The table.
        tricks: How many tricks.
        viewer: Who looks.
        out: Features.
        played: The part that has a card per trick and seat, 1 blaren to 21 kille.
        won: The part that marks the winner of each trick.
    """
    num_players = np.int64(table["num_players"])
    for number in range(tricks):
        winner = np.int64(table["won"][index(number)])
        for other in range(num_players):
            code = (table["played"][index(number), index(other)] >> 1) + 1
            place = number * num_players + relative(other, viewer, num_players)
            put(code, out, played, num_players, place)
            put(other == winner, out, won, num_players, place)


@kernel
def write_recalled(table, tricks, viewer, out, led, played):
    """Writes who led to each trick and what was played to it, for an information state.

    Args:
        table: The table.
        tricks: Tricks in a deal.
        viewer: Who looks.
        out: Features.
        led: The part that marks who led to each trick.
        played: The part that has a card per trick and seat.
    """
    num_players = np.int64(table["num_players"])
    for number in range(tricks):
        leader = np.int64(table["lead"][number])
        first = number * num_players
        if leader >= 0:
            place = first + relative(leader, viewer, num_players)
            put(1, out, led, num_players, place)
        for other in range(num_players):
            code = (np.int64(table["played"][number, other]) >> 1) + 1
            place = first + relative(other, viewer, num_players)
            put(code, out, played, num_players, place)


@kernel
def write_hands(cards, viewer, num_players, out, part):
    """Writes a set of cards of each seat as a part with 21 counts per seat."""
    for other in range(num_players):
        place = TYPES * relative(other, viewer, num_players)
        write_counts(cards[index(other)], out, start(part, num_players) + place)
