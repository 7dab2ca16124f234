"""Femkortskille's rules as kernels: begin, deal, legal_actions, apply."""

import numpy as np

from kille_env.cards.pack import draw
from kille_env.cards.seats import bit, everybody, next_seat, seat_left_of
from kille_env.cards.sets import card_bit
from kille_env.core.jit import index, kernel
from kille_env.core.table import new_deal, new_match
from kille_env.games.femkortskille.settle import end_in_checks, end_in_play, end_in_walk_over
from kille_env.games.femkortskille.table import (
    DEALT,
    DRAWN,
    TRICKS,
    Action,
    End,
    Follow,
    Phase,
    Said,
)
from kille_env.tricktaking.pots import begin_pot, pay_into_pot
from kille_env.tricktaking.tricks import (
    card_of_type,
    clear_tricks,
    deal_hands,
    heading,
    lead_from,
    lowest_of,
    next_to_play,
    play_card,
    write_types,
)

# begin, deal


@kernel
def begin(table, rules, dealer):
    """Begins a match."""
    new_match(table, dealer)
    begin_pot(table)
    _clear_deal(table)


@kernel
def _clear_deal(table):
    clear_tricks(table)
    table["in_play"] = 0
    table["knockers"] = 0
    table["forehand"] = -1
    table["said1"][:] = Said.NOTHING
    table["said2"][:] = Said.NOTHING
    table["end"] = End.NONE
    table["winner"] = -1
    table["chips"][:] = 0


@kernel
def deal(table, rules):
    """Takes the antes, deals three cards each, one by one, and gives forehand the word."""
    table["dealer"] = table["next_dealer"]
    new_deal(table)
    _clear_deal(table)
    for seat in range(table["num_players"]):
        pay_into_pot(table, seat, rules["ante"])
    table["in_play"] = everybody(table)
    table["forehand"] = next_seat(table, table["dealer"])
    deal_hands(table, table["forehand"], DEALT)
    table["phase"] = Phase.SPEAK
    table["seat"] = table["forehand"]


# legal_actions


@kernel
def legal_actions(table, rules, seat, out):
    """Marks what the seat to act may do."""
    phase, acts = table["phase"], seat == table["seat"]
    speaks = acts & (phase == Phase.SPEAK)
    knocked = table["knockers"] != 0
    hand = np.uint64(table["hand"][index(seat)])
    playable = _playable(table, rules, hand) if acts & (phase == Phase.PLAY) else np.uint64(0)
    out[Action.KNOCK] = speaks
    out[Action.CHECK] = speaks & (not knocked)
    out[Action.FOLD] = speaks
    write_types(playable, out, Action.PLAY)


@kernel
def _playable(table, rules, hand):
    """The cards that may be played: those that head the trick, or else any (D-F07, D-F08)."""
    able = heading(hand, np.int64(table["highest"]))
    if able != 0:
        return able
    return lowest_of(hand) if rules["follow"] == Follow.LOWEST else hand


# apply


@kernel
def apply(table, rules, action):
    """Plays a legal action of the seat to act."""
    seat = np.int64(table["seat"])
    if table["phase"] == Phase.PLAY:
        _play(table, rules, seat, action - Action.PLAY)
    else:
        _speak(table, rules, seat, action)


@kernel
def _speak(table, rules, seat, action):
    """Knock, fold or check; who has checked speaks again once somebody has knocked (D-F03)."""
    first = table["said1"][seat] == Said.NOTHING
    word = Said.CHECKED
    word = Said.KNOCKED if action == Action.KNOCK else word
    word = Said.FOLDED if action == Action.FOLD else word
    if first:
        table["said1"][seat] = word
    else:
        table["said2"][seat] = word
    table["knockers"] |= bit(seat) if action == Action.KNOCK else np.uint32(0)
    table["in_play"] &= ~(bit(seat) if action == Action.FOLD else np.uint32(0))
    if first & (seat != table["dealer"]):
        table["seat"] = next_seat(table, seat)
        return
    undecided = np.uint32(table["in_play"] & ~table["knockers"])
    if table["knockers"] == 0:
        end_in_checks(table, rules)
    elif undecided != 0:
        table["seat"] = seat_left_of(table, table["dealer"], undecided)
    else:
        _begin_play(table, rules)


@kernel
def _begin_play(table, rules):
    """One knocker takes the pot; more of them get their last cards, and the eldest one leads."""
    eldest = seat_left_of(table, table["dealer"], table["in_play"])
    if table["in_play"] == bit(eldest):
        end_in_walk_over(table, rules, eldest)
        return
    seat = eldest
    while True:
        for _ in range(DRAWN):
            table["drawn_cards"][index(seat)] |= card_bit(draw(table))
        table["hand"][index(seat)] |= table["drawn_cards"][index(seat)]
        seat = seat_left_of(table, seat, table["in_play"])
        if seat == eldest:
            break
    table["phase"] = Phase.PLAY
    table["seat"] = eldest
    lead_from(table, eldest)


@kernel
def _play(table, rules, seat, kind):
    card = card_of_type(table["hand"][index(seat)], kind)
    play_card(table, seat, card, rules["follow"] == Follow.LOWEST)
    following = next_to_play(table, seat)
    if following < 0:
        following = np.int64(table["holder"])
        if table["trick"] == TRICKS:
            end_in_play(table, rules)
            return
        lead_from(table, following)
    table["seat"] = following
