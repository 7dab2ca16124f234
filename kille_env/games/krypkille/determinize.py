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
from kille_env.tricktaking.tricks import HAND, WHOLE_PACK, twins

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
