"""What a seat of Femkortskille sees: the compact observation, the information state, everything.

Seats are counted clockwise from the one who looks: entry 0 of a `[P]` part is himself. A part's
meaning stands in its layout below, from which the page of the game is made.
"""

import numpy as np

from kille_env.cards.features import binary, capped, digits, one_seat
from kille_env.cards.seats import count, has, relative
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part, lay_out, width
from kille_env.games.femkortskille.table import (
    CHECKED,
    DEALT,
    DRAWN,
    PLAYING,
    SPEAKING,
    TRICKS,
)
from kille_env.tricktaking.pots import deals_left
from kille_env.tricktaking.tricks import (
    HAND,
    TYPES,
    seen,
    write_codes,
    write_counts,
    write_played,
    write_recalled,
    write_slots,
)

NUM_PHASES = 2


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the observation."""
    p = num_players
    return lay_out(
        Part("phase", NUM_PHASES, "what is decided: knock, check or fold; play (one-hot)"),
        Part("hand", HAND * TYPES, "own cards from the lowest up, a one-hot of 21 each"),
        Part("seen", TYPES, "how many cards of each type the seat has seen, its own included", 2),
        Part("highest", TYPES, "highest card of the trick so far (one-hot; zero when leading)"),
        Part("trick", TRICKS, "number of the trick (one-hot, from the first lead on)"),
        Part("pot", 10, "the pot in units, what a knocker can lose: at most 1023, binary"),
        Part("deals_left", 8, "deals until the match ends or is cut off, at most 255, binary"),
        Part("knockers", 1, "how many have knocked", p),
        Part("in_play", p, "has not folded"),
        Part("dealer", p, "is the dealer"),
        Part("to_act", p, "is to act"),
        Part("to_speak", p, "has neither knocked nor folded yet; zero in play"),
        Part("checked", p, "checked in his first turn"),
        Part("knocked", p, "has knocked"),
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
        Part("dealt", DEALT, "cards that the seat was dealt: 1 blaren to 21 kille, 0 none", TYPES),
        Part("drawn", DRAWN, "cards that it got when it had knocked, likewise", TYPES),
        Part("said1", p, "in the first round: 1 fold, 2 knock, 3 check", 3),
        Part("said2", p, "after a check: 1 fold, 2 knock", 2),
        Part("led", TRICKS * p, "led to the trick"),
        Part("played", TRICKS * p, "his card in the trick: 1 blaren to 21 kille, 0 none", TYPES),
        Part("pot", 6, "the pot in units, base 256, lowest digit first", 255),
        Part("deals", 4, "deals so far in this match, likewise", 255),
    )


def full_state_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the full-information state."""
    hands = "how many cards of each type every seat has (21 a seat)"
    return lay_out(*observation_parts(num_players), Part("hands", TYPES * num_players, hands, 2))


# Where the parts of the observation begin, read from its layout: a part of [P] begins P times its
# place among those parts behind the first of them.
_BEGINS = {part.name: part.offset for part in observation_parts(1)}
ALONE = ("phase", "hand", "seen", "highest", "trick", "pot", "deals_left", "knockers")
PHASE, HAND_AT, SEEN, HIGHEST, TRICK, POT, DEALS_LEFT, KNOCKERS = (_BEGINS[name] for name in ALONE)
SEATS = _BEGINS["in_play"]
SEAT_FEATURES = width(observation_parts(1)) - SEATS
(
    IN_PLAY,
    DEALER,
    TO_ACT,
    TO_SPEAK,
    HAS_CHECKED,
    HAS_KNOCKED,
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
    if phase >= SPEAKING:
        out[index(PHASE + phase - SPEAKING)] = 1
    if phase == PLAYING:
        out[index(TRICK + trick)] = 1
        if highest >= 0:
            out[index(HIGHEST + highest)] = 1
    write_slots(table["hand"][index(seat)], out, HAND_AT)
    write_counts(seen(table, index(seat)), out, SEEN)
    numbers = capped(table["pot"], 10) | capped(deals_left(table, rules), 8) << 10
    binary(numbers, 18, out, POT)
    out[KNOCKERS] = count(table["knockers"])
    _observe_players(table, np.int64(seat), out)


@kernel
def _observe_players(table, viewer, out):
    """Writes the parts that have an entry a seat; what it reads of a seat it reads first."""
    num_players, phase = np.int64(table["num_players"]), np.int64(table["phase"])
    in_play, knockers = np.uint32(table["in_play"]), np.uint32(table["knockers"])
    trick = index(min(np.int64(table["trick"]), TRICKS - 1))
    size, playing, speaking = index(num_players), phase == PLAYING, phase == SPEAKING
    leader = np.int64(table["lead"][trick]) if playing else np.int64(-1)
    holder = np.int64(table["holder"]) if playing & (table["highest"] >= 0) else np.int64(-1)
    acts, dealer = np.int64(table["seat"]), np.int64(table["dealer"])
    to_speak = np.uint32(in_play & ~knockers) if speaking else np.uint32(0)
    for other in range(num_players):
        this = index(other)
        said1 = table["said1"][this]
        at_least, below = table["at_least"][this], table["below"][this]
        on_table = (table["played"][trick, this] >> 1) + 1
        at = index(SEATS + relative(other, viewer, num_players))
        out[at + IN_PLAY * size] = has(in_play, other)
        out[at + DEALER * size] = other == dealer
        out[at + TO_ACT * size] = other == acts
        out[at + TO_SPEAK * size] = has(to_speak, other)
        out[at + HAS_CHECKED * size] = said1 == CHECKED
        out[at + HAS_KNOCKED * size] = has(knockers, other)
        out[at + LEADS * size] = other == leader
        out[at + HOLDS * size] = other == holder
        out[at + ON_TABLE * size] = on_table if playing else 0
        out[at + AT_LEAST * size] = at_least
        out[at + BELOW * size] = below
    if playing:
        tricks = np.int64(table["trick"]) + 1
        write_played(table, tricks, viewer, out, SEATS + PLAYED * size, SEATS + WON * size)


# information_state


@kernel
def information_state(table, rules, seat, out):
    """Writes what a seat knows, with perfect recall of the deal and the match's public summary."""
    out[:] = 0
    num_players = np.int64(table["num_players"])
    if table["phase"] >= SPEAKING:
        out[table["phase"] - SPEAKING] = 1
    at = NUM_PHASES
    at = one_seat(table["seat"], seat, num_players, out, at)
    at = one_seat(table["dealer"], seat, num_players, out, at)
    write_codes(table["dealt"][seat], out, at)
    write_codes(table["drawn_cards"][seat], out, at + DEALT)
    at += DEALT + DRAWN
    for other in range(num_players):
        here = at + relative(other, seat, num_players)
        out[here] = table["said1"][other]
        out[here + num_players] = table["said2"][other]
    at += 2 * num_players
    at = write_recalled(table, TRICKS, seat, out, at)
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
