"""Determinizer of the trick games: cards that a seat cannot hold, and hidden cards dealt anew.

What others hold is hidden, and so is where the other cards are that a seat has not seen: discards,
hands that were thrown in, the talon. From the tricks everybody can tell what a player cannot have
in hand (`excluded`): who did not head a trick could not, who had to play the lowest card that does
has none in between, and who had to creep with the lowest card has none below it. That was so of the
hand of that moment, and so it is of what is left of it.

Nobody else can tell either which of a player's cards were dealt, and which came later.
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
    """The number of a seat."""
    return np.int64((np.uint64(word) >> (_SIX * np.uint64(seat))) & _SIX_BITS)


@kernel
def one_of_seat(seat):
    """A one for a seat, to be added."""
    return np.uint64(1) << (_SIX * np.uint64(seat))


# Hands


@kernel
def hidden_hand(table, viewer, seat):
    """The hand of a seat, unless it is the viewer's own."""
    return np.uint64(table["hand"][index(seat)]) if seat != viewer else NOTHING


@kernel
def plan_hands(table, viewer, free):
    """Return in which order to deal the hidden hands, and how many cards each can choose from.

    A hand that comes later finds at most as many as are written here: what the ones before it can
    not find elsewhere, they take from it. Hands are dealt by the highest card that they can hold,
    or from the other end by the lowest one: as it makes for fewer ways to deal cards of which some
    are none.
    """
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
    """Return a plan (see `plan_hands`), and how many ways to deal the cards that makes.

    `lowest` and `highest` say by seat which cards it can hold; `upward` plans go by the highest.
    """
    num_players, order, most = np.int64(table["num_players"]), NOTHING, NOTHING
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
    """All cards from one on."""
    return ~(card_bit(card) - np.uint64(1))


@kernel
def try_hands(table, viewer, places, free, order, most, cards):
    """Deal the hidden hands, or fails; of all ways to deal them, none succeeds more often.

    Each card is drawn as if the hand had as many to choose from as it can have at most; where it
    has fewer, the draw fails in that proportion.
    """
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
    """Those of some places that are in no hidden hand."""
    for seat in range(np.int64(table["num_players"])):
        places &= ~hidden_hand(table, viewer, seat)
    return places


@kernel
def deal_hidden(table, viewer, unseen, cards):
    """Deal the cards that a seat has not seen anew to the places where they are now.

    All arrangements in which nobody holds what it cannot hold are equally likely.
    """
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
    """Draw which cards others were dealt of those that they have held, and which they got later.

    The pack is put into that order too. Nothing else on the table tells the difference: not for a
    table where cards are drawn once more.
    """
    for seat in range(np.int64(table["num_players"])):
        dealt = np.uint64(table["dealt"][index(seat)])
        drawn = np.uint64(table["drawn_cards"][index(seat)])
        if seat != viewer and drawn != 0:
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


# Relabelling


@kernel
def relabel_tricks(table, cards):
    """Put `cards[c]` where card c is, in the fields that all trick games have.

    What everybody can see is of types, so open cards must keep theirs.
    """
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
    """Put `cards[c]` where card c is among the discards."""
    for seat in range(np.int64(table["num_players"])):
        table["discarded"][index(seat)] = relabel_set(table["discarded"][index(seat)], cards)
