"""Determinizer of the trick games: cards that a seat cannot hold, and hidden cards dealt anew.

The cards that a seat has not seen lie in other hands, among discards and hands thrown in, or in the
talon. The tricks tell everybody which cards a hand cannot hold (`excluded`): a seat that did not
head a trick could not; one that had to head with its lowest such card has none in between; one that
had to creep with its lowest card has none below it. The same holds for the rest of that hand.

Nobody else can tell which of a player's cards were dealt, and which came later.
"""

import numpy as np

from kille_env.cards.arrange import card_from, deal_places, relabel_cards, relabel_set
from kille_env.cards.sets import (
    card_bit,
    highest_card,
    how_many,
    in_cards,
    lowest_card,
    nth_card,
    without_lowest,
)
from kille_env.core.jit import index, kernel
from kille_env.core.rng import below

NOTHING = np.uint64(0)
_SIX, _SIX_BITS = np.uint64(6), np.uint64(63)


# Small numbers by seat, six bits each in a word


@kernel
def by_seat(word, seat):
    """Return the number of a seat."""
    return np.int64((np.uint64(word) >> (_SIX * np.uint64(seat))) & _SIX_BITS)


@kernel
def one_of_seat(seat):
    """Return 1 at the place of a seat, to be added."""
    return np.uint64(1) << (_SIX * np.uint64(seat))


# Hands


@kernel
def hidden_hand(table, viewer, seat):
    """Return the hand of a seat, or the empty set if it is the viewer's own."""
    return np.uint64(table["hand"][index(seat)]) if seat != viewer else NOTHING


@kernel
def plan_hands(table, viewer, free):
    """Return the order in which to deal the hidden hands, and bounds on each one's choice."""
    # A later hand finds at most so many cards: those that the hands before it cannot find
    # elsewhere, they take from its choice. The tighter the bounds, the fewer deals fail in
    # `try_hands`, so both directions are planned and the one with fewer ways is taken.
    lowest, highest = NOTHING, NOTHING
    for seat in range(np.int64(table["num_players"])):
        may = free & ~np.uint64(table["excluded"][index(seat)])
        if (hidden_hand(table, viewer, seat) != 0) & (may != 0):
            lowest |= one_of_seat(seat) * np.uint64(lowest_card(may))
            highest |= one_of_seat(seat) * np.uint64(highest_card(may))
    best, order, most = np.inf, NOTHING, NOTHING
    for direction in range(2):
        upward = direction == 0
        one_order, one_most, ways = _plan(table, viewer, free, lowest, highest, upward)
        if ways < best:
            best, order, most = ways, one_order, one_most
    return order, most


@kernel
def _plan(table, viewer, free, lowest, highest, upward):
    """Return a plan (see `plan_hands`), and the number of ways to deal that it counts."""
    # `lowest` and `highest` bound the cards of each seat; `upward` plans go by the highest.
    num_players, order, most = np.int64(table["num_players"]), NOTHING, NOTHING
    # Sorting by repeated minimum: kernels allocate nothing, and there are few seats. A seat without
    # a hidden hand comes last.
    last, reach, ways = np.int64(-1), NOTHING, 1.0
    for place in range(num_players):
        following = np.int64(1) << 30
        for seat in range(num_players):
            low, high = by_seat(lowest, seat), by_seat(highest, seat)
            rank = (high << 6 | (63 - low)) if upward else ((63 - low) << 6 | high)
            none = hidden_hand(table, viewer, seat) == 0
            rank = (rank << 4 | seat) + (np.int64(none) << 20)
            following = rank if (rank > last) & (rank < following) else following
        last = following
        seat = last & 15
        order |= one_of_seat(place) * np.uint64(seat)
        hand = how_many(hidden_hand(table, viewer, seat))
        may = free & ~np.uint64(table["excluded"][index(seat)])
        # The hands before it that can hold nothing beyond some card find room elsewhere only as far
        # as there are such cards; the rest of them must lie here.
        taken = np.int64(0)
        for before in range(place):
            end = by_seat(lowest if upward else highest, by_seat(order, before))
            held = np.int64(0)
            for other_place in range(place):
                other = by_seat(order, other_place)
                within = by_seat(lowest, other) >= end if upward else by_seat(highest, other) <= end
                held += how_many(hidden_hand(table, viewer, other)) if within else 0
            side = _cards_from(end) if upward else ~_cards_from(end + 1)
            taken = max(taken, held - how_many(reach & side & ~may))
        number = max(how_many(may) - taken, hand)
        most |= one_of_seat(seat) * np.uint64(number)
        for card in range(hand):
            ways *= number - card
        reach |= may if hand > 0 else NOTHING
    return order, most, ways


@kernel
def _cards_from(card):
    """Return the set of all cards from one on."""
    return ~(card_bit(card) - np.uint64(1))


@kernel
def try_hands(table, viewer, places, free, order, most, cards):
    """Deal the hidden hands or fail; return whether it succeeded, and the cards left over."""
    # How many cards a hand finds depends on the hands before it, so plain drawing would favor
    # deals in which it finds few. Each card is drawn from as many as there can be at most, and a
    # draw beyond the real ones fails: every deal is left equally likely.
    for place in range(np.int64(table["num_players"])):
        seat = by_seat(order, place)
        here = hidden_hand(table, viewer, seat) & places
        choice = free & ~np.uint64(table["excluded"][index(seat)])
        at_most, number = by_seat(most, seat), how_many(choice)
        while here != 0:
            skipped = below(table, at_most)
            if skipped >= number:
                return False, free
            card = nth_card(choice, skipped)
            choice &= ~card_bit(card)
            free &= ~card_bit(card)
            cards[index(lowest_card(here))] = card
            here = without_lowest(here)
            at_most -= 1
            number -= 1
    return True, free


@kernel
def not_in_hands(table, viewer, places):
    """Return the places that are in no hidden hand."""
    for seat in range(np.int64(table["num_players"])):
        places &= ~hidden_hand(table, viewer, seat)
    return places


@kernel
def deal_hidden(table, viewer, unseen, cards):
    """Deal the cards that a seat has not seen anew, all possible arrangements equally likely."""
    order, most = plan_hands(table, viewer, unseen)
    done, free = False, NOTHING
    while not done:
        done, free = try_hands(table, viewer, unseen, unseen, order, most, cards)
    deal_places(table, not_in_hands(table, viewer, unseen), free, free, cards)


# What nobody else can tell of a player's own cards


@kernel
def some_cards(table, cards, number):
    """Draw so many cards of a set, every choice of them equally likely."""
    rest = np.uint64(cards)
    for _ in range(number):
        rest &= ~card_bit(card_from(table, rest))
    return np.uint64(cards) & ~rest


@kernel
def share_draws(table, viewer):
    """Draw anew which of the others' cards were dealt and which came later; reorder the pack."""
    for seat in range(np.int64(table["num_players"])):
        dealt = np.uint64(table["dealt"][index(seat)])
        drawn = np.uint64(table["drawn_cards"][index(seat)])
        if seat != viewer and drawn != 0:
            # A seat draws once, after its discards: cards that it threw away were dealt to it.
            kept = np.uint64(table["hand"][index(seat)] | table["face_up"]) & (dealt | drawn)
            later = some_cards(table, kept, how_many(drawn))
            _exchange_places(table, dealt & later, drawn & ~later)
            table["drawn_cards"][index(seat)] = later
            table["dealt"][index(seat)] = (dealt | drawn) & ~later


@kernel
def _exchange_places(table, some, others):
    """Exchange two sets of equally many cards in the order of the pack."""
    first, second = some, others
    for position in range(np.int64(table["drawn"])):
        card = np.int64(table["deck"][index(position)])
        if in_cards(some, card):
            table["deck"][index(position)] = lowest_card(second)
            second = without_lowest(second)
        elif in_cards(others, card):
            table["deck"][index(position)] = lowest_card(first)
            first = without_lowest(first)


# Relabeling


@kernel
def relabel_tricks(table, cards):
    """Replace card c by `cards[c]` in the fields that all trick games have."""
    # `at_least`, `below` and `excluded` stay: they follow from open cards, which keep their types.
    for seat in range(np.int64(table["num_players"])):
        table["hand"][index(seat)] = relabel_set(table["hand"][index(seat)], cards)
        table["dealt"][index(seat)] = relabel_set(table["dealt"][index(seat)], cards)
        table["drawn_cards"][index(seat)] = relabel_set(table["drawn_cards"][index(seat)], cards)
    table["face_up"] = relabel_set(table["face_up"], cards)
    for trick in range(table["played"].shape[0]):
        relabel_cards(table["played"][trick], cards)
    relabel_cards(table["deck"], cards)


@kernel
def relabel_discards(table, cards):
    """Replace card c by `cards[c]` among the discards."""
    for seat in range(np.int64(table["num_players"])):
        table["discarded"][index(seat)] = relabel_set(table["discarded"][index(seat)], cards)
