"""Determinizations of Krypkille: what a seat cannot tell from the deal as it is, as kernels.

A seat has seen the cards that it has held and those that were played. Followers have no choice, so
from every card of theirs everybody can tell which others they do not have. What was discarded is
hidden, but for one's own discards.

Where discards have been shuffled in again, more is hidden than where cards lie. A seat whose
discards were among them knows that each of these is still in the new talon, or was drawn from it,
no more: not by whom, and not which of two equal cards it is that somebody has played. And nobody
can tell who had discarded what others drew. All ways in which the cards can have come to where they
lie are equally likely.
"""

from typing import Any

import numpy as np

from kille_env.cards.arrange import card_from, deal_places, relabel_cards, relabel_set
from kille_env.cards.pack import left_out
from kille_env.cards.seats import seat_left_of
from kille_env.cards.sets import card_bit, how_many, in_cards, lowest_card, nth_card, without_lowest
from kille_env.core.jit import index, kernel
from kille_env.core.rng import below
from kille_env.core.spec import Rules
from kille_env.games.krypkille.rules import TRICKS, Action, Phase, who_is_out
from kille_env.tricktaking.hidden import (
    NOTHING,
    by_seat,
    deal_hidden,
    not_in_hands,
    one_of_seat,
    plan_hands,
    relabel_discards,
    relabel_tricks,
    share_draws,
    some_cards,
    try_hands,
)
from kille_env.tricktaking.saved import (
    Bounds,
    card_played,
    discard_bounds,
    discard_made,
    hands_fit,
    trick_bounds,
)
from kille_env.tricktaking.tricks import HAND, WHOLE_PACK

_FINE = 1 << 32  # in how many steps chances are drawn


@kernel
def resample(table, rules, seat, cards):
    """Draws a determinization that `seat` cannot tell from this table, each equally likely."""
    viewer, mine = np.int64(seat), np.uint64(0)
    discarded = np.uint64(table["discarded"][index(seat)])
    if discarded & np.uint64(table["shuffled_in"]) != 0:
        mine = discarded
        _deal_after_shuffle(table, rules, viewer, mine, cards)
    else:
        unseen = WHOLE_PACK & ~_open_to(table, viewer) & ~discarded
        deal_hidden(table, viewer, unseen, cards)
    if table["again_end"] == 0:
        share_draws(table, viewer)
    else:
        _share_after_shuffle(table, rules, viewer, _places_of(mine, cards))


@kernel
def relabel(table, rules, cards):
    """Puts `cards[c]` everywhere in the table where card c is."""
    relabel_tricks(table, cards)
    relabel_discards(table, cards)
    table["shuffled_in"] = relabel_set(table["shuffled_in"], cards)
    relabel_cards(table["again"][: table["again_end"]], cards)


@kernel
def _open_to(table, viewer):
    """The cards that a seat sees where they lie: its hand, what was played and what is left out."""
    return np.uint64(table["hand"][index(viewer)] | table["face_up"])


@kernel
def _places_of(some, cards):
    """The places where cards of a set lie in a determinization."""
    places = NOTHING
    for place in range(cards.shape[0]):
        places |= card_bit(place) if in_cards(some, cards[index(place)]) else NOTHING
    return places


@kernel
def _held_by(table, seat):
    """The cards that a seat has had in hand since its exchange."""
    held = np.uint64(table["hand"][index(seat)])
    for trick in range(table["played"].shape[0]):
        card = np.int64(table["played"][trick, index(seat)])
        held |= card_bit(card) if card >= 0 else NOTHING
    return held


@kernel
def _undrawn_again(table):
    """The cards that were shuffled in again and that nobody has drawn."""
    cards, size = NOTHING, table["deck"].shape[0]
    for place in range(np.int64(table["drawn"]) - size, np.int64(table["again_end"])):
        cards |= card_bit(np.int64(table["again"][index(place)]))
    return cards


# Where the cards lie, if the viewer's own discards are among them


@kernel
def _deal_after_shuffle(table, rules, viewer, mine, cards):
    """Deals the cards that a seat does not see, its own discards `mine` among them."""
    talon = table["talon_of"][index(viewer)]
    drawn = table["drawn_from"][index(talon)]
    # The first new talon is used up where there is a second one.
    undrawn = _undrawn_again(table) if talon == table["talons"] else NOTHING
    hidden, size = WHOLE_PACK & ~_open_to(table, viewer), rules["hand"]
    unclear, taken = _read_open_cards(table, viewer, mine)
    order, most = plan_hands(table, viewer, (hidden | unclear) & ~mine, drawn)
    done, places, free = False, hidden, NOTHING
    while not done:
        done, places, free = _try_own(
            table, size, viewer, mine, hidden, undrawn, drawn, taken, most, cards
        )
        if done:
            done, free = try_hands(table, viewer, places, free, order, most, cards)
    deal_places(table, not_in_hands(table, viewer, places), free, free, cards)


@kernel
def _read_open_cards(table, viewer, mine):
    """Returns cards that may be open or hidden, and by seat how many of `mine` it surely played.

    An open card is surely one of these if the viewer has discarded or held the other copy, too. If
    not, it may be either copy.
    """
    known, played = mine | _held_by(table, viewer), np.uint64(table["face_up"])
    unclear, taken, rest = NOTHING, NOTHING, mine
    while rest != 0:
        card = lowest_card(rest)
        rest = without_lowest(rest)
        if not in_cards(known, card ^ 1):
            unclear |= card_bit(card ^ 1)
        elif in_cards(played, card):
            taken += one_of_seat(_holder_of(table, card))
    return unclear, taken


@kernel
def _holder_of(table, card):
    """Who has a card in hand or has played it, -1 nobody."""
    holder = np.int64(-1)
    for seat in range(np.int64(table["num_players"])):
        holder = np.int64(seat) if in_cards(_held_by(table, seat), card) else holder
    return holder


@kernel
def _try_own(table, size, viewer, mine, hidden, undrawn, drawn, taken, most, cards):
    """Draws where a seat's own discards are; fails so that all outcomes are equally likely.

    Each of them may come to every place at which a card of the new talon can be; the chances of a
    place are in proportion to the ways in which, at most, the rest can then be dealt. With every
    one that has found its place the sum of these gets smaller, so the draw fails in that
    proportion.

    Returns:
        Whether it has succeeded, the places that are left, and the cards that are free.
    """
    known, played = mine | _held_by(table, viewer), np.uint64(table["face_up"])
    places, free, before, rest = hidden, hidden & ~mine, taken, mine
    while rest != 0:
        card = lowest_card(rest)
        rest = without_lowest(rest)
        twin, sure = card ^ 1, in_cards(known, card ^ 1)
        if sure and in_cards(played, card):
            continue
        copies = NOTHING if sure else played & (card_bit(card) | card_bit(twin))
        most_ways, _ = _ways(
            table, size, viewer, card, copies, hidden, undrawn, drawn, before, most, np.inf
        )
        pick = most_ways * (below(table, _FINE) / _FINE)
        _, place = _ways(
            table, size, viewer, card, copies, places, undrawn, drawn, taken, most, pick
        )
        if place < 0:
            return False, places, free
        if in_cards(undrawn, place):
            place = card_from(table, undrawn & places)
        else:
            taken += one_of_seat(_holder_of(table, place))
        places &= ~card_bit(place)
        cards[index(place)] = card
        if copies != 0:
            open_twin = copies & ~card_bit(place)
            free |= card_bit(twin)
            if open_twin != 0:
                free &= ~card_bit(twin)
                cards[index(lowest_card(open_twin))] = twin
    return True, places, free


@kernel
def _ways(table, size, viewer, card, copies, places, undrawn, drawn, taken, most, pick):
    """Adds up the chances of the places where a card of the new talon can be.

    Args:
        table: The table.
        size: How many cards everybody was dealt.
        viewer: Whose discard the card is.
        card: The card.
        copies: The open cards that may be it.
        places: The hidden places that are left.
        undrawn: Those in the talon.
        drawn: [P] how many cards each seat has drawn from that talon.
        taken: By seat, how many of these have been found.
        most: From `plan_hands`.
        pick: A random number, less than the largest possible sum.

    Returns:
        The sum, and the place at which the sum exceeds `pick`, -1 nowhere.
    """
    total, place = 0.0, np.int64(-1)
    both_open = copies & (copies - np.uint64(copies != 0)) != 0
    for seat in range(np.int64(table["num_players"])):
        found = by_seat(taken, seat)
        chance = (drawn[index(seat)] - found) / (size - found) if found < size else 0.0
        if seat == viewer or chance <= 0.0:
            continue
        rest = copies & _held_by(table, seat)
        while rest != 0:
            total += chance
            place = lowest_card(rest) if place < 0 and pick < total else place
            rest = without_lowest(rest)
        here = np.uint64(table["hand"][index(seat)]) & places
        if here != 0 and not in_cards(table["excluded"][index(seat)], card) and not both_open:
            number = how_many(here)
            total += chance * number / (by_seat(most, seat) - number + 1)
            place = lowest_card(here) if place < 0 and pick < total else place
    left = undrawn & places
    if left != 0 and not both_open:
        total += how_many(left) / how_many(not_in_hands(table, viewer, places))
        place = lowest_card(left) if place < 0 and pick < total else place
    return total, place


# How they came there, which nobody else can tell


@kernel
def _share_after_shuffle(table, rules, viewer, mine):
    """Draws from where everybody has got their cards, and whose discards had become the new talons.

    Args:
        table: The table.
        rules: The rules.
        viewer: Who knows what it was dealt, discarded and drew.
        mine: The places where its discards are, if they were shuffled in, a set.
    """
    players, own_draws = np.uint32(table["in_play"]), np.uint64(table["drawn_cards"][index(viewer)])
    begin = how_many(left_out(rules))
    position = begin + rules["hand"] * how_many(players)
    table["drawn_cards"][:] = 0
    table["shuffled_in"] = 0
    for talon in range(table["talons"] + 1):  # 0 is the pack
        sure = mine if talon == table["talon_of"][index(viewer)] else NOTHING
        cards = _undrawn_again(table) if (talon > 0) & (talon == table["talons"]) else NOTHING
        seat = np.int64(table["dealer"])
        for _ in range(how_many(players)):
            seat = np.int64(seat_left_of(table, seat, players))
            held = own_draws if seat == viewer else _held_by(table, seat)
            may = held & ~np.uint64(table["drawn_cards"][index(seat)]) & ~(mine & ~sure)
            number = table["drawn_from"][index(talon), index(seat)] - how_many(may & sure)
            drawn = (may & sure) | some_cards(table, may & ~sure, number)
            position = _lay(table, drawn, position)
            table["drawn_cards"][index(seat)] |= drawn
            cards |= drawn
        if talon > 0:
            table["shuffled_in"] |= cards
            _share_discards(table, viewer, talon, cards, mine)
    _deal_again(table, begin)


@kernel
def _lay(table, cards, position):
    """Writes cards as the ones that were drawn from a position on; returns the next one."""
    size, rest = table["deck"].shape[0], np.uint64(cards)
    while rest != 0:
        if position < size:
            table["deck"][index(position)] = lowest_card(rest)
        else:
            table["again"][index(position - size)] = lowest_card(rest)
        rest = without_lowest(rest)
        position += 1
    return position


@kernel
def _share_discards(table, viewer, talon, cards, mine):
    """Draws who had discarded the cards of a new talon, all but the viewer's own, `mine`."""
    cards &= ~mine
    for seat in range(np.int64(table["num_players"])):
        if table["talon_of"][index(seat)] == talon:
            number = how_many(table["discarded"][index(seat)])
            thrown = mine if seat == viewer else some_cards(table, cards, number)
            table["discarded"][index(seat)] = thrown
            cards &= ~thrown


@kernel
def _deal_again(table, begin):
    """Writes what everybody was dealt, given what each has got and discarded since."""
    players, seat = np.uint32(table["in_play"]), np.int64(table["dealer"])
    number = how_many(players)
    for place in range(number):
        seat = np.int64(seat_left_of(table, seat, players))
        kept = _held_by(table, seat) & ~np.uint64(table["drawn_cards"][index(seat)])
        dealt = kept | np.uint64(table["discarded"][index(seat)])
        table["dealt"][index(seat)] = dealt
        for turn in range(how_many(dealt)):
            table["deck"][index(begin + place + turn * number)] = nth_card(dealt, turn)


# Saved tables: bounds of their fields, and the actions of a hand


def bounds(num_players: int) -> Bounds:
    """Returns the bounds of the fields of a table."""
    seat = (-1, num_players - 1)
    return {
        **trick_bounds(num_players, TRICKS),
        **discard_bounds(),
        "next_dealer": seat,
        "declarer": seat,
        "talons": (0, 2),
        "talon_of": (0, 2),
        "drawn_from": (0, HAND),
    }


def can_go_on(table: Any, rules: Rules) -> bool:
    """Returns whether at least two seats are in where cards are to be dealt, or have been.

    No hand may be larger than its places either, see `hands_fit`.
    """
    if not hands_fit(table):
        return False
    if table["phase"] == Phase.OVER:
        return True
    dealt = table["phase"] != Phase.DEAL or table["next_dealer"] >= 0
    return bool(dealt) and int(table["num_players"]) - len(who_is_out(table, rules)) >= 2


def action_before(table: Any, saved: Any) -> int:
    """Returns what the seat to act did on the way to a saved table."""
    if table["phase"] == Phase.LEAD:
        return card_played(table, saved, Action.PLAY)
    if table["phase"] == Phase.DISCARD:
        return discard_made(table, saved, Action.DISCARD)
    return Action.PASS if int(saved["passed"]) >> int(table["seat"]) & 1 else -1
