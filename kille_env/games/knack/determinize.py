"""Determinizations of Knack: the cards laid out so that a seat cannot tell the difference.

A seat does not see the other hands, folded ones among them, the card that another player led face
down, nor what was not dealt. Of hidden cards it knows what they cannot be: whoever played a card
that the rules prefer others to had none of those.
"""

import numpy as np

from kille_env.cards.arrange import deal_places, relabel_cards, relabel_set
from kille_env.cards.sets import card_bit, how_many, in_cards
from kille_env.core.jit import index, kernel
from kille_env.core.rng import below
from kille_env.games.knack.observe import seen_by
from kille_env.games.knack.rules import ALL_CARDS, SUIT_OF, TRICKS, duties

NOTHING = np.uint64(0)


@kernel
def resample(table, rules, seat, cards):
    """Draw a determinization that `seat` cannot tell from this table, each equally likely."""
    unseen = ALL_CARDS & ~seen_by(table, seat)
    while not _try_determinization(table, rules, seat, unseen, cards):
        pass


@kernel
def _try_determinization(table, rules, viewer, unseen, cards):
    """Lay the unseen cards on their places; return whether the seat deems this possible."""
    # Set by set of cards that may lie at a place, it fills the places of that set, each with any
    # such card that is left. If every set lies in the next one, all determinizations are equally
    # likely. Where sets overlap, what was laid before may leave fewer cards to choose from than it
    # has to, so each of the determinizations behind it is too likely; in that proportion they are
    # thrown away.
    left, filled, reach = unseen, NOTHING, NOTHING
    may = _next_set(table, rules, viewer, unseen, filled)
    while may != unseen:
        here, inside = _places_of(table, rules, viewer, unseen, may)
        beyond = how_many(reach & ~may)  # at most so many of the cards laid are not of this set
        taken = max(how_many(filled) - beyond, how_many(inside & filled))
        most, free = how_many(may) - taken, how_many(may & left)
        for number in range(how_many(here)):
            if below(table, most - number) >= free - number:
                return False
        left = deal_places(table, here, left, may, cards)
        filled |= here
        reach |= may
        may = _next_set(table, rules, viewer, unseen, filled)
    deal_places(table, unseen & ~filled, left, unseen, cards)
    return True


@kernel
def _next_set(table, rules, viewer, unseen, filled):
    """Return the set of cards to place next; `unseen`, any card, is the last."""
    # A set goes before those that it lies in. Of two that overlap, that one does which has fewer
    # cards to spare: the less is thrown away.
    best = unseen
    for seat in range(int(table["num_players"])):
        may = may_hold(table, rules, seat) & unseen
        if hidden_of(table, viewer, seat) & ~filled != 0:
            lies_in, holds = may & ~best == 0, best & ~may == 0
            if lies_in or (
                not holds
                and _spare(table, rules, viewer, unseen, may)
                < _spare(table, rules, viewer, unseen, best)
            ):
                best = may
    return best


@kernel
def _spare(table, rules, viewer, unseen, may):
    """Return the number of cards of a set left over once all seats bound to it have theirs."""
    _, inside = _places_of(table, rules, viewer, unseen, may)
    return how_many(may) - how_many(inside)


@kernel
def _places_of(table, rules, viewer, unseen, may):
    """Return the places bound to exactly this set of cards, and to any set inside it."""
    here, inside = NOTHING, NOTHING
    for seat in range(int(table["num_players"])):
        its = may_hold(table, rules, seat) & unseen
        places = hidden_of(table, viewer, seat)
        here |= places if its == may else NOTHING
        inside |= places if its & ~may == 0 else NOTHING
    return here, inside


@kernel
def hidden_of(table, viewer, seat):
    """Return the cards of a seat that are hidden: its hand, and the card that it led face down."""
    down = np.int64(table["face_down"])
    led_it = (down >= 0) & (table["leaders"][1] == seat)
    hidden = np.uint64(table["hand"][index(seat)]) | (card_bit(max(down, 0)) if led_it else NOTHING)
    return hidden if seat != viewer else NOTHING


@kernel
def may_hold(table, rules, seat):
    """Return the possible hidden cards of a seat, by the rules and the cards that it has played."""
    # The last trick tells nothing: a seat that has played to it has no card left, and the card led
    # face down had left the hand before.
    may = ALL_CARDS
    for trick in range(TRICKS - 1):
        card = np.int64(table["played"][trick, index(seat)])
        if card >= 0:
            leader = np.int64(table["leaders"][trick])
            lead = np.int64(table["played"][trick, index(leader)])
            led = np.int64(table["trump"]) if lead == table["face_down"] else SUIT_OF[index(lead)]
            first, second = duties(table, rules, trick, seat == leader, led)
            second = second if not in_cards(second, card) else NOTHING
            may &= ~(first | second) if not in_cards(first, card) else ALL_CARDS
    return may


@kernel
def relabel(table, rules, cards):
    """Replace card c by `cards[c]` everywhere in the table; open cards are not moved."""
    for seat in range(int(table["num_players"])):
        relabel_cards(table["cards"][index(seat)], cards)
        table["hand"][index(seat)] = relabel_set(table["hand"][index(seat)], cards)
    if table["face_down"] >= 0:
        down = cards[index(table["face_down"])]
        table["played"][1, index(table["leaders"][1])] = down
        table["face_down"] = down
    relabel_cards(table["deck"], cards)
    # A start can fix the seat that takes a remainder at the end of the party; to the seats this is
    # still to come, so it is drawn again.
    table["remainder_to"] = -1
