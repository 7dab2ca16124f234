"""What a seat of Kungsholmskille sees: the compact observation, the information state, everything.

Seats are counted clockwise from the one who looks: entry 0 of a `[P]` part is himself. A part's
meaning stands in its layout below, from which the page of the game is made.
"""

import numpy as np

from kille_env.cards.features import binary, capped, digits, one_seat
from kille_env.cards.seats import has, relative
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part, lay_out, width
from kille_env.games.kungsholmskille.table import (
    BUD1,
    CLAIMED,
    MOST_DISCARDS,
    PLAYING,
    TRICKS,
    YIELDED,
)
from kille_env.tricktaking.pots import deals_left
from kille_env.tricktaking.tricks import (
    HAND,
    TYPES,
    open_card,
    seen,
    write_codes,
    write_counts,
    write_played,
    write_recalled,
    write_slots,
)

NUM_PHASES = 6


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the observation."""
    p = num_players
    return lay_out(
        Part(
            "phase",
            NUM_PHASES,
            "what is decided: bud or knock, stay or fold, exchange, bud or knock again, play, bud "
            "or show (one-hot)",
        ),
        Part("hand", HAND * TYPES, "own cards from the lowest up, a one-hot of 21 each"),
        Part("seen", TYPES, "how many cards of each type the seat has seen, its own included", 2),
        Part("highest", TYPES, "highest card of the trick so far (one-hot; zero when leading)"),
        Part("trick", TRICKS, "number of the trick (one-hot, from the first lead on)"),
        Part("pot", 10, "the pot in units, at most 1023, binary"),
        Part("deals_left", 8, "deals until the match ends or is cut off, at most 255, binary"),
        Part("in_play", p, "has not folded"),
        Part("dealer", p, "is the dealer"),
        Part("forehand", p, "is forehand"),
        Part("to_act", p, "is to act"),
        Part("said_bud", p, "said bud before the exchange"),
        Part("knocked", p, "knocked before the exchange"),
        Part("stayed", p, "stayed when somebody had knocked"),
        Part("exchanged", p, "0 has not had his exchange, else 1 more than his discards", 3),
        Part("said_bud_again", p, "said bud after the exchange"),
        Part("knocked_again", p, "knocked after the exchange"),
        Part("said_bud_last", p, "said bud at the showing"),
        Part("leads", p, "led to this trick"),
        Part("holds", p, "has the highest card of this trick so far"),
        Part("on_table", p, "his card in this trick: 1 blaren to 21 kille, 0 none", TYPES),
        Part("at_least", p, "no card of his is lower than this type, as everybody can tell", TYPES),
        Part("below", p, "all of his cards are lower than this type, as everybody can tell", TYPES),
        Part("played", TRICKS * p, "his card in each trick: 1 blaren to 21 kille, 0 none", TYPES),
        Part("won", TRICKS * p, "won the trick"),
    )


def information_state_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the information state."""
    p = num_players
    return lay_out(
        Part("phase", NUM_PHASES, "as in the observation"),
        Part("to_act", p, "is to act"),
        Part("dealer", p, "is the dealer"),
        Part("dealt", HAND, "cards that the seat was dealt: 1 blaren to 21 kille, 0 none", TYPES),
        Part("discarded", MOST_DISCARDS, "cards that it discarded, likewise", TYPES),
        Part("drawn", MOST_DISCARDS, "cards that it got for them, likewise", TYPES),
        Part("said1", p, "before the exchange: 1 bud, 2 knock", 2),
        Part("stayed", p, "then: 1 folded, 2 stayed", 2),
        Part("exchanged", p, "0 has not had his exchange, else 1 more than his discards", 3),
        Part("said2", p, "after the exchange: 1 bud, 2 knock", 2),
        Part("led", TRICKS * p, "led to the trick"),
        Part("played", TRICKS * p, "his card in the trick: 1 blaren to 21 kille, 0 none", TYPES),
        Part("showed", p, "at the showing: 1 bud, 2 show", 2),
        Part("open_cards", p, "his last card, if it lies open: 1 blaren to 21 kille", TYPES),
        Part("owed", 4 * p, "what he owes for the next deal, base 256, lowest digit first", 255),
        Part("pot", 6, "the pot in units, likewise", 255),
        Part("deals", 4, "deals so far in this match, likewise", 255),
    )


def full_state_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the full-information state."""
    p = num_players
    return lay_out(
        *observation_parts(num_players),
        Part("hands", TYPES * p, "how many cards of each type every seat has (21 a seat)", 2),
        Part("discards", TYPES * p, "how many of each type it has discarded (21 a seat)", 2),
    )


# Where the parts of the observation begin, read from its layout: a part of [P] begins P times its
# place among those parts behind the first of them.
_BEGINS = {part.name: part.offset for part in observation_parts(1)}
ALONE = ("phase", "hand", "seen", "highest", "trick", "pot", "deals_left")
PHASE, HAND_AT, SEEN, HIGHEST, TRICK, POT, DEALS_LEFT = (_BEGINS[name] for name in ALONE)
SEATS = _BEGINS["in_play"]
SEAT_FEATURES = width(observation_parts(1)) - SEATS
(
    IN_PLAY,
    DEALER,
    FOREHAND,
    TO_ACT,
    SAID_BUD,
    KNOCKED,
    STAYED,
    EXCHANGED,
    SAID_BUD_AGAIN,
    KNOCKED_AGAIN,
    SAID_BUD_LAST,
    LEADS,
    HOLDS,
    ON_TABLE,
    AT_LEAST,
    BELOW,
    PLAYED,
    WON,
) = (index(_BEGINS[part.name] - SEATS) for part in observation_parts(1)[len(ALONE) :])


# observe


@kernel
def observe(table, rules, seat, out):
    """Writes the observation of a seat."""
    out[:] = 0
    phase, trick = np.int64(table["phase"]), np.int64(table["trick"])
    highest = np.int64(table["highest"])
    if phase >= BUD1:
        out[index(PHASE + phase - BUD1)] = 1
        out[index(TRICK + min(trick, TRICKS - 1))] = phase >= PLAYING
    if (phase == PLAYING) & (highest >= 0):
        out[index(HIGHEST + highest)] = 1
    write_slots(table["hand"][index(seat)], out, HAND_AT)
    write_counts(seen(table, index(seat)), out, SEEN)
    numbers = capped(table["pot"], 10) | capped(deals_left(table, rules), 8) << 10
    binary(numbers, 18, out, POT)
    _observe_players(table, np.int64(seat), out)


@kernel
def _observe_players(table, viewer, out):
    """Writes the parts that have an entry a seat; what it reads of a seat it reads first."""
    num_players, phase = np.int64(table["num_players"]), np.int64(table["phase"])
    in_play, trick = np.uint32(table["in_play"]), np.int64(table["trick"])
    size, playing = index(num_players), phase == PLAYING
    leader = np.int64(table["lead"][index(min(trick, TRICKS - 1))]) if playing else np.int64(-1)
    holder = np.int64(table["holder"]) if playing & (table["highest"] >= 0) else np.int64(-1)
    acts, dealer = np.int64(table["seat"]), np.int64(table["dealer"])
    forehand = np.int64(table["forehand"])
    for other in range(num_players):
        this = index(other)
        said1, said2 = table["said1"][this], table["said2"][this]
        stayed, showed = table["stayed"][this], table["showed"][this]
        exchanged = table["exchanged"][this] + 1
        at_least, below = table["at_least"][this], table["below"][this]
        on_table = (table["played"][index(min(trick, TRICKS - 1)), this] >> 1) + 1
        at = index(SEATS + relative(other, viewer, num_players))
        out[at + IN_PLAY * size] = has(in_play, other)
        out[at + DEALER * size] = other == dealer
        out[at + FOREHAND * size] = other == forehand
        out[at + TO_ACT * size] = other == acts
        out[at + SAID_BUD * size] = said1 == YIELDED
        out[at + KNOCKED * size] = said1 == CLAIMED
        out[at + STAYED * size] = stayed == CLAIMED
        out[at + EXCHANGED * size] = exchanged
        out[at + SAID_BUD_AGAIN * size] = said2 == YIELDED
        out[at + KNOCKED_AGAIN * size] = said2 == CLAIMED
        out[at + SAID_BUD_LAST * size] = showed == YIELDED
        out[at + LEADS * size] = other == leader
        out[at + HOLDS * size] = other == holder
        out[at + ON_TABLE * size] = on_table if playing else 0
        out[at + AT_LEAST * size] = at_least
        out[at + BELOW * size] = below
    if phase >= PLAYING:
        tricks = min(trick + 1, TRICKS)
        write_played(table, tricks, viewer, out, SEATS + PLAYED * size, SEATS + WON * size)


# information_state


@kernel
def information_state(table, rules, seat, out):
    """Writes what a seat knows, with perfect recall of the deal and the match's public summary."""
    out[:] = 0
    num_players = np.int64(table["num_players"])
    if table["phase"] >= BUD1:
        out[table["phase"] - BUD1] = 1
    at = NUM_PHASES
    at = one_seat(table["seat"], seat, num_players, out, at)
    at = one_seat(table["dealer"], seat, num_players, out, at)
    write_codes(table["dealt"][seat], out, at)
    write_codes(table["discarded"][seat], out, at + HAND)
    write_codes(table["drawn_cards"][seat], out, at + HAND + MOST_DISCARDS)
    at += HAND + 2 * MOST_DISCARDS
    for other in range(num_players):
        here = at + relative(other, seat, num_players)
        out[here] = table["said1"][other]
        out[here + num_players] = table["stayed"][other]
        out[here + 2 * num_players] = table["exchanged"][other] + 1
        out[here + 3 * num_players] = table["said2"][other]
    at += 4 * num_players
    at = write_recalled(table, TRICKS, seat, out, at)
    for other in range(num_players):
        here = at + relative(other, seat, num_players)
        out[here] = table["showed"][other]
        out[here + num_players] = open_card(table, other)
        digits(np.int64(table["owed"][other]), 4, out, at + 2 * num_players + 4 * (here - at))
    at += 6 * num_players
    digits(np.int64(table["pot"]), 6, out, at)
    digits(np.int64(table["deals"]), 4, out, at + 6)


# full_state


@kernel
def full_state(table, rules, seat, out):
    """Writes everything, seen from a seat."""
    num_players = np.int64(table["num_players"])
    hands = SEATS + SEAT_FEATURES * num_players
    observe(table, rules, seat, out[:hands])
    for other in range(num_players):
        at = hands + TYPES * relative(other, seat, num_players)
        write_counts(table["hand"][other], out, at)
        write_counts(table["discarded"][other], out, at + TYPES * num_players)
