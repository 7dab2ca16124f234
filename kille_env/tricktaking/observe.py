"""Observations of hands, tricks and a pot: parts of layouts, and kernels that write them."""

import numpy as np

from kille_env.cards.features import (
    capped,
    digits,
    one_seat,
    put,
    seat_set,
    start,
    write_bits,
    write_counts,
)
from kille_env.cards.pack import TYPES
from kille_env.cards.seats import left_of, relative
from kille_env.cards.sets import lowest_card, without_lowest
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part
from kille_env.core.table import OVER
from kille_env.tricktaking.pots import deals_left
from kille_env.tricktaking.tricks import FIRST_COPIES, HAND, seen

_ONE = np.uint64(1)


def shared_parts(tricks: int, most: int, p: int, *names: str) -> tuple[Part, ...]:
    """Return some of the parts that trick games have in common, in the order of their names."""
    code = "1 blaren to 21 kille, 0 none"
    parts = (
        Part("hand", HAND * TYPES, "own cards from the lowest up, a one-hot of 21 each"),
        Part("seen", TYPES, "how many cards of each type it has seen, or are left out", 2),
        Part("highest", TYPES, "highest card of the trick so far (one-hot; zero when leading)"),
        Part("trick", tricks, "number of the trick (one-hot, from the first lead on)"),
        Part("deals_left", 8, "deals until the match ends or is cut off, at most 255, binary"),
        Part("dealer", p, "is the dealer"),
        Part("to_act", p, "is to act"),
        Part("exchanged", p, "0 has not exchanged yet, else 1 more than it discarded", most + 1),
        Part("leads", p, "led to this trick"),
        Part("holds", p, "has the highest card of this trick so far"),
        Part("on_table", p, f"its card in this trick: {code}", TYPES),
        Part("at_least", p, "everybody can tell: none of its cards is lower than this type", TYPES),
        Part("below", p, "everybody can tell: its cards are all lower than this type", TYPES),
        Part("played", tricks * p, f"its card in each trick: {code}", TYPES),
        Part("won", tricks * p, "won the trick"),
        # Only in information states
        Part("dealt", HAND, f"cards that the seat was dealt: {code}", TYPES),
        Part("discarded", most, "cards that it discarded, likewise", TYPES),
        Part("drawn", most, "cards that it got for them, likewise", TYPES),
        Part("led", tricks * p, "led to the trick"),
        Part("open_cards", p, "its last card, if it lies open: 1 blaren to 21 kille", TYPES),
        Part("deals", 4, "deals so far in this match, base 256, lowest digit first", 255),
        # Only in full states
        Part("hands", TYPES * p, "how many cards of each type every seat has (21 per seat)", 2),
        Part("discards", TYPES * p, "how many of each type it has discarded (21 per seat)", 2),
    )
    by_name = {part.name: part for part in parts}
    return tuple(by_name[name] for name in names)


# Sets of cards as features


@kernel
def write_types(cards, out, at):
    """Mark the types of a set, 21 features."""
    cards = np.uint64(cards)
    write_counts((cards | (cards >> _ONE)) & FIRST_COPIES, out, at)


@kernel
def write_slots(cards, out, at):
    """Write a hand as one-hot types, 21 features per card from the lowest up."""
    rest = np.uint64(cards)
    while rest != 0:
        out[index(at + (lowest_card(rest) >> 1))] = 1
        rest = without_lowest(rest)
        at += TYPES


@kernel
def write_codes(cards, out, at):
    """Write a set of cards as numbers from the lowest up: 1 blaren to 21 kille."""
    rest = np.uint64(cards)
    while rest != 0:
        out[at] = (lowest_card(rest) >> 1) + 1
        rest = without_lowest(rest)
        at += 1


@kernel
def write_hands(cards, viewer, num_players, out, part):
    """Write a set of cards of each seat as a part with 21 counts per seat."""
    for other in range(num_players):
        place = TYPES * relative(other, viewer, num_players)
        write_counts(cards[index(other)], out, start(part, num_players) + place)


# What is at the table


@kernel
def write_phase(table, out, part):
    """Mark the phase."""
    if table["phase"] > OVER:
        put(1, out, part, np.int64(table["num_players"]), np.int64(table["phase"]) - OVER - 1)


@kernel
def write_cards(cards, viewer, num_players, out, part, trick):
    """Write the card of each seat, 1 blaren to 21 kille, 0 none, to a part with P for a trick."""
    first, seat = start(part, num_players) + trick * num_players, index(viewer)
    for at in range(num_players):
        out[index(first + at)] = (np.int64(cards[seat]) >> 1) + 1
        seat = index(left_of(seat, 1, num_players))


@kernel
def write_played(table, tricks, viewer, out, obs):
    """Write the cards of each seat in the first tricks, and their winners."""
    p = np.int64(table["num_players"])
    for number in range(tricks):
        write_cards(table["played"][index(number)], viewer, p, out, obs.played, number)
    for number in range(tricks):
        winner = np.int64(table["won"][index(number)])
        if winner >= 0:
            put(1, out, obs.won, p, number * p + relative(winner, viewer, p))


@kernel
def open_card(table, seat):
    """Return the last card of a seat if it lies open: 1 blaren to 21 kille, else 0."""
    shown = np.uint64(table["hand"][seat]) & np.uint64(table["face_up"])
    return (lowest_card(shown) >> 1) + 1 if shown != 0 else np.int64(0)


@kernel
def observe_pot_game(table, rules, viewer, play, tricks, out, obs):
    """Write the parts common to observations of games with tricks and a pot."""
    p, phase = np.int64(table["num_players"]), np.int64(table["phase"])
    highest = np.int64(table["highest"])
    trick = min(np.int64(table["trick"]), tricks - 1)
    out[:] = 0
    write_phase(table, out, obs.phase)
    write_slots(table["hand"][index(viewer)], out, start(obs.hand, p))
    write_counts(seen(table, index(viewer)), out, start(obs.seen, p))
    # The pot and the deals left lie side by side and are written as one number.
    numbers = capped(table["pot"], 10) | capped(deals_left(table, rules), 8) << 10
    write_bits(numbers, 18, out, start(obs.pot, p))
    seat_set(table["in_play"], viewer, p, out, obs.in_play)
    one_seat(table["dealer"], viewer, p, out, obs.dealer)
    one_seat(table["seat"], viewer, p, out, obs.to_act)
    seat = index(viewer)
    for at in range(p):
        at_least, below = table["at_least"][seat], table["below"][seat]
        put(at_least, out, obs.at_least, p, at)
        put(below, out, obs.below, p, at)
        seat = index(left_of(seat, 1, p))
    if phase == play:
        one_seat(table["lead"][index(trick)], viewer, p, out, obs.leads)
        write_cards(table["played"][index(trick)], viewer, p, out, obs.on_table, 0)
        if highest >= 0:
            one_seat(table["holder"], viewer, p, out, obs.holds)
            put(1, out, obs.highest, p, highest)
    if phase >= play:
        put(1, out, obs.trick, p, trick)
        write_played(table, trick + 1, viewer, out, obs)


# What has been at the table


@kernel
def recall_tricks(table, viewer, out, info):
    """Write the parts common to information states of all trick games."""
    p = np.int64(table["num_players"])
    out[:] = 0
    write_phase(table, out, info.phase)
    one_seat(table["seat"], viewer, p, out, info.to_act)
    one_seat(table["dealer"], viewer, p, out, info.dealer)
    write_codes(table["dealt"][viewer], out, start(info.dealt, p))
    write_codes(table["drawn_cards"][viewer], out, start(info.drawn, p))
    for number in range(table["played"].shape[0]):
        leader = np.int64(table["lead"][number])
        write_cards(table["played"][number], viewer, p, out, info.played, number)
        if leader >= 0:
            put(1, out, info.led, p, number * p + relative(leader, viewer, p))
    digits(np.int64(table["deals"]), 4, out, start(info.deals, p))
