"""Krypkille's rules as kernels: begin, deal, legal_actions, apply."""

import numpy as np

from kille_env.cards.pack import draw_again, reshuffle, talon_left
from kille_env.cards.seats import bit, has, seat_left_of
from kille_env.cards.sets import card_bit
from kille_env.core.jit import index, kernel
from kille_env.core.table import new_deal, new_match
from kille_env.games.krypkille.settle import settle, still_in
from kille_env.games.krypkille.table import DISCARDS, TRICKS, Action, Phase, TalonShortage
from kille_env.tricktaking.tricks import (
    HAND,
    card_of_type,
    cards_below,
    clear_discards,
    clear_tricks,
    deal_hands,
    heading,
    lead_from,
    lowest_card,
    next_to_play,
    play_card,
    throw_away,
    write_discards,
    write_types,
)

NUM_DISCARDS = len(DISCARDS)

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
    table["in_play"] = 0
    table["points"][:] = 0
    table["declarer"] = -1
    table["passed"] = 0
    table["again_end"] = 0
    table["shuffled_in"] = 0
    table["excluded"][:] = 0


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
    discards = acts & (phase == Phase.DISCARD)
    out[Action.DECLARE] = guesses
    out[Action.PASS] = guesses
    if discards:
        most = np.int64(rules["max_discards"])
        if rules["talon_shortage"] == TalonShortage.CAP:
            most = min(most, talon_left(table))
        write_discards(hand, most, out, Action.DISCARD, NUM_DISCARDS)
    else:
        out[Action.DISCARD : Action.DISCARD + NUM_DISCARDS] = 0
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
    for other in range(table["num_players"]):
        if other != seat:
            cards |= table["discarded"][other]
    cards &= ~np.uint64(table["shuffled_in"])
    reshuffle(table, cards)
    table["shuffled_in"] |= cards


@kernel
def _play_trick(table, leader, kind):
    """A whole round: "only the lead has a proper choice to make" (D-R06)."""
    seat, card = leader, card_of_type(table["hand"][index(leader)], kind)
    while True:
        play_card(table, seat, card, True)
        seat = next_to_play(table, seat)
        if seat < 0:
            break
        card = _forced_card(table, seat)
    winner = np.int64(table["holder"])
    table["seat"] = winner
    if table["trick"] == TRICKS:
        table["phase"] = Phase.GUESS
    else:
        lead_from(table, winner)


@kernel
def _forced_card(table, seat):
    """The card that a follower plays; everybody learns which cards it cannot have.

    "If he has an equal or higher card he plays the lowest of them. If he does not, he plays the
    lowest card of the hand."
    """
    hand, highest = np.uint64(table["hand"][index(seat)]), np.int64(table["highest"])
    able = heading(hand, highest)
    heads = able != 0
    card = lowest_card(able if heads else hand)
    lower, under = cards_below(card >> 1), cards_below(highest)
    table["excluded"][index(seat)] |= lower & ~under if heads else lower | ~under
    return card


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
