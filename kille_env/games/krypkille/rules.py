"""Krypkille's rules as kernels: begin, deal, legal_actions, apply."""

import numpy as np

from kille_env.cards.pack import draw_again, reshuffle, talon_left
from kille_env.cards.seats import bit, has, seat_left_of
from kille_env.cards.sets import card_bit, lowest_card
from kille_env.core.jit import index, kernel
from kille_env.core.table import new_deal, new_match
from kille_env.games.krypkille.settle import settle, still_in
from kille_env.games.krypkille.table import TRICKS, Action, Phase, TalonShortage
from kille_env.tricktaking.observe import write_types
from kille_env.tricktaking.tricks import (
    HAND,
    card_of_type,
    clear_discards,
    clear_tricks,
    deal_hands,
    lead_from,
    play_to_trick,
    playable,
    throw_away,
    write_discards,
)

# begin, deal


@kernel
def begin(table, rules, dealer):
    """Begins a match: nobody has any points."""
    new_match(table, dealer)
    table["next_dealer"] = table["dealer"]
    table["scores"][:] = 0
    table["winners"] = 0
    table["again"][:] = 0
    _clear_deal(table)


@kernel
def _clear_deal(table):
    clear_tricks(table)
    clear_discards(table)
    table["points"][:] = 0
    table["declarer"] = -1
    table["passed"] = 0
    table["again_end"] = 0
    table["shuffled_in"] = 0
    table["talons"] = 0
    table["talon_of"][:] = 0
    table["drawn_from"][:] = 0


@kernel
def deal(table, rules):
    """Deals five cards each, one by one, and asks the first player for discards (D-R07)."""
    new_deal(table)
    _clear_deal(table)
    players = still_in(table, rules)
    dealer = np.int64(table["next_dealer"])
    if not has(players, dealer):  # a match that starts with the dealer out
        dealer = seat_left_of(table, dealer, players)
    table["dealer"] = dealer
    table["in_play"] = players
    forehand = seat_left_of(table, dealer, players)
    deal_hands(table, forehand, HAND)
    table["phase"] = Phase.DISCARD
    table["seat"] = forehand


# legal_actions


@kernel
def legal_actions(table, rules, seat, out):
    """Marks what the seat to act may do; a leader may play anything."""
    phase, acts = table["phase"], seat == table["seat"]
    hand = np.uint64(table["hand"][index(seat)])
    guesses = acts & (phase == Phase.GUESS)
    most = np.int64(rules["max_discards"])
    if rules["talon_shortage"] == TalonShortage.CAP:
        most = min(most, talon_left(table))
    if not acts or phase != Phase.DISCARD:
        most = -1
    out[Action.DECLARE] = guesses
    out[Action.PASS] = guesses
    write_discards(hand, most, out, Action.DISCARD, Action.PLAY)
    write_types(hand if acts & (phase == Phase.LEAD) else np.uint64(0), out, Action.PLAY)


# apply


@kernel
def apply(table, rules, action):
    """Plays a legal action of the seat to act."""
    seat, phase = np.int64(table["seat"]), table["phase"]
    if phase == Phase.LEAD:
        _play_trick(table, seat, action - Action.PLAY)
    elif phase == Phase.GUESS:
        _guess(table, rules, seat, action)
    else:
        _discard(table, seat, action - Action.DISCARD)


@kernel
def _discard(table, seat, number):
    """Discards in turn, replaced at once; then the player on the dealer's left leads (D-R02)."""
    for _ in range(throw_away(table, seat, number)):
        if talon_left(table) == 0:
            _shuffle_discards(table, seat)
        table["drawn_from"][index(table["talons"]), index(seat)] += 1
        table["drawn_cards"][seat] |= card_bit(draw_again(table))
    table["hand"][seat] |= table["drawn_cards"][seat]
    forehand = seat_left_of(table, table["dealer"], table["in_play"])
    following = seat_left_of(table, seat, table["in_play"])
    table["seat"] = following
    if following == forehand:
        table["phase"] = Phase.LEAD
        lead_from(table, forehand)


@kernel
def _shuffle_discards(table, seat):
    """What others have discarded so far, and nobody has drawn again, is the new talon (D-R03)."""
    cards = np.uint64(0)
    table["talons"] += 1
    for other in range(table["num_players"]):
        if (other != seat) & (table["exchanged"][other] > 0) & (table["talon_of"][other] == 0):
            table["talon_of"][other] = table["talons"]
            cards |= table["discarded"][other]
    reshuffle(table, cards)
    table["shuffled_in"] |= cards


@kernel
def _play_trick(table, leader, kind):
    """A whole round: "only the lead has a proper choice to make" (D-R06).

    "If he has an equal or higher card he plays the lowest of them. If he does not, he plays the
    lowest card of the hand."
    """
    card = card_of_type(table["hand"][index(leader)], kind)
    while not play_to_trick(table, card, True, True):
        hand = np.uint64(table["hand"][index(table["seat"])])
        card = lowest_card(playable(table, hand, True, True))
    if table["trick"] == TRICKS:
        table["phase"] = Phase.GUESS


@kernel
def _guess(table, rules, seat, action):
    """Declare or pass, "until one player has declared, or all players have passed"."""
    if action == Action.DECLARE:
        table["declarer"] = seat
        settle(table, rules)
        return
    table["passed"] |= bit(seat)
    following = seat_left_of(table, seat, table["in_play"])
    table["seat"] = following
    if following == table["won"][TRICKS - 1]:
        settle(table, rules)
