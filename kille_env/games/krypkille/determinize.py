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

from kille_env.cards.arrange import deal_places, relabel_cards, relabel_set
from kille_env.cards.pack import left_out
from kille_env.cards.seats import seat_left_of
from kille_env.cards.sets import card_bit, how_many, in_cards, lowest_card, nth_card, without_lowest
from kille_env.core.jit import index, kernel
from kille_env.core.rng import below
from kille_env.core.spec import Rules
from kille_env.games.krypkille.rules import TRICKS, Action, Phase, who_is_out
from kille_env.tricktaking.hidden import (
    NOTHING,
    deal_hidden,
    not_in_hands,
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
from kille_env.tricktaking.tricks import HAND, NOT_YET, WHOLE_PACK, twins

_FINE = 1 << 32  # in how many steps chances are drawn


@kernel
def resample(table, rules, seat, cards):
    """Draws a determinization that `seat` cannot tell from this table, each equally likely."""
    viewer, mine = np.int64(seat), np.uint64(table["discarded"][index(seat)])
    hidden = WHOLE_PACK & ~np.uint64(table["hand"][index(seat)] | table["face_up"])
    if mine & np.uint64(table["shuffled_in"]) == 0:
        deal_hidden(table, viewer, hidden & ~mine, cards)
        mine = NOTHING
    else:
        # An open one is surely its discard if the viewer has had the other copy, too.
        known, played = mine | _held_by(table, viewer), np.uint64(table["face_up"])
        either = mine & ~twins(known) & (played | twins(played))
        most_likely = _chance(table, rules["hand"], viewer, mine & twins(known) & played)
        order, most = plan_hands(table, viewer, hidden)
        done = False
        while not done:
            free = _turn_copies(table, either, hidden, cards)
            done, free = try_hands(table, viewer, hidden, free, order, most, cards)
            if done:
                deal_places(table, not_in_hands(table, viewer, hidden), free, free, cards)
                chance = _chance(table, rules["hand"], viewer, _places_of(mine, cards))
                done = below(table, _FINE) < _FINE * chance / most_likely
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


# Where the viewer's own discards are, if they were shuffled in again


@kernel
def _turn_copies(table, either, hidden, cards):
    """Draws which copy of some types lies open; returns the cards that are then hidden, a set.

    Args:
        table: The table.
        either: A card of each type.
        hidden: The cards that are hidden now.
        cards: Where it is written which card lies where an open one of them lies now.
    """
    while either != 0:
        card = lowest_card(either)
        either = without_lowest(either)
        both = card_bit(card) | card_bit(card ^ 1)
        lying, turned = np.uint64(table["face_up"]) & both, below(table, 2)
        hidden ^= both if turned != 0 and lying != both else NOTHING
        while lying != 0:
            cards[index(lowest_card(lying))] = lowest_card(lying) ^ turned
            lying = without_lowest(lying)
    return hidden


@kernel
def _chance(table, size, viewer, places):
    """How likely cards of the new talon are at some places, if all of these were to be drawn.

    They lie in that talon still, or their holders have drawn them from it: of all ways in which
    a player can have got its `size` cards this is the share in which these are from there.
    """
    talon = table["talon_of"][index(viewer)]
    # The first new talon is used up where there is a second one.
    rest = places & ~(_undrawn_again(table) if talon == table["talons"] else NOTHING)
    chance = 1.0
    for seat in range(np.int64(table["num_players"])):
        held, drawn = _held_by(table, seat) & rest, table["drawn_from"][index(talon), index(seat)]
        rest &= ~held
        for number in range(how_many(held)):
            chance *= max(drawn - number, 0) / (size - number)
    return chance if rest == 0 else 0.0


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
    drawn_from = table["drawn_from"]
    own_first = mine if table["talon_of"][index(viewer)] == 1 else NOTHING
    own_second = mine & ~own_first
    players = np.uint32(table["in_play"])
    first, second = NOTHING, NOTHING
    begin = how_many(left_out(rules))
    position = begin + rules["hand"] * how_many(players)
    seat = np.int64(table["dealer"])
    for _ in range(how_many(players)):
        seat = np.int64(seat_left_of(table, seat, players))
        if table["exchanged"][index(seat)] == NOT_YET:
            break
        held = np.uint64(table["drawn_cards"][index(seat)])
        if seat != viewer:
            held = _held_by(table, seat)
        one = _some_with(table, held & ~own_second, own_first, drawn_from[1, index(seat)])
        other = _some_with(table, held & ~one, own_second, drawn_from[2, index(seat)])
        pack = some_cards(table, held & ~one & ~other, drawn_from[0, index(seat)])
        table["drawn_cards"][index(seat)] = one | other | pack
        first |= one
        second |= other
        position = _lay(table, pack, position)
        position = _lay(table, one, position)
        position = _lay(table, other, position)
    rest = _undrawn_again(table)
    first |= rest if table["talons"] == 1 else NOTHING
    second |= rest if table["talons"] == 2 else NOTHING
    table["shuffled_in"] = first | second
    _share_discards(table, begin, viewer, mine, first, second)


@kernel
def _some_with(table, cards, surely, number):
    """Draws so many cards of a set, those of another set that are in it among them."""
    sure = np.uint64(cards & surely)
    return sure | some_cards(table, cards & ~sure, number - how_many(sure))


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
def _share_discards(table, begin, viewer, mine, first, second):
    """Draws who had discarded the cards of the new talons, and so what everybody was dealt."""
    first &= ~mine
    second &= ~mine
    players = np.uint32(table["in_play"])
    number, seat = how_many(players), np.int64(table["dealer"])
    for place in range(number):
        seat = np.int64(seat_left_of(table, seat, players))
        thrown, talon = np.uint64(table["discarded"][index(seat)]), table["talon_of"][index(seat)]
        if talon != 0:
            rest = first if talon == 1 else second
            thrown = mine if seat == viewer else some_cards(table, rest, how_many(thrown))
            first &= ~thrown
            second &= ~thrown
            table["discarded"][index(seat)] = thrown
        kept = _held_by(table, seat) & ~np.uint64(table["drawn_cards"][index(seat)])
        dealt = kept | thrown
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
