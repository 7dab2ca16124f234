"""What a seat of Krypkille sees: the compact observation, the information state, everything.

Seats are counted clockwise from the one who looks: entry 0 of a `[P]` part is himself. A part's
meaning stands in its layout below, from which the page of the game is made.
"""

import numpy as np

from kille_env.cards.features import digits, one_seat, seat_set
from kille_env.cards.pack import KILLE_PACK
from kille_env.cards.seats import has, relative
from kille_env.cards.sets import how_many
from kille_env.core.jit import index, kernel
from kille_env.core.spec import SINGLE_DEAL, Part, lay_out, width
from kille_env.games.krypkille.table import DISCARDING, LEADING, TRICKS
from kille_env.tricktaking.tricks import (
    HAND,
    TYPES,
    WHOLE_PACK,
    cards_below,
    lowest_card,
    open_card,
    write_codes,
    write_counts,
    write_played,
    write_recalled,
    write_slots,
)

NUM_PHASES = 3
PACK = KILLE_PACK.size
FAR = 63  # points: more than any deal costs under the default rules
DEALS = 15


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the observation."""
    p = num_players
    return lay_out(
        Part("phase", NUM_PHASES, "what is decided: discard, lead, declare or pass (one-hot)"),
        Part("hand", HAND * TYPES, "own cards from the lowest up, a one-hot of 21 each"),
        Part(
            "known",
            TYPES,
            "how many cards of each type nobody else can have: own ones, played ones, and own "
            "discards unless they were shuffled in again",
            2,
        ),
        Part("trick", TRICKS, "number of the trick (one-hot, from the first lead on)"),
        Part("lower", 1, "how many unknown cards are lower than the seat's lowest", PACK),
        Part("equal", 1, "how many unknown cards are as low", 2),
        Part(
            "deals_left", 1, "deals until the match is cut off, at most 15; single deal: 0", DEALS
        ),
        Part("in_play", p, "is in"),
        Part("dealer", p, "is the dealer"),
        Part("to_act", p, "is to act"),
        Part("exchanged", p, "0 has not had his discards, else 1 more than their number", HAND + 1),
        Part("passed", p, "has passed"),
        Part("to_limit", p, "points until he is out, at most 63; single deal: 0", FAR),
        Part("at_least", p, "no card of his is lower than this type, as everybody can tell", TYPES),
        Part("below", p, "all of his cards are lower than this type, as everybody can tell", TYPES),
        Part("may_hold", p, "of how many unknown cards he has one, after all that he played", PACK),
        Part("may_be_lower", p, "how many of these are lower than the seat's lowest card", PACK),
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
        Part("discarded", HAND, "cards that it discarded, likewise", TYPES),
        Part("drawn", HAND, "cards that it got for them, likewise", TYPES),
        Part("exchanged", p, "0 has not had his discards, else 1 more than their number", HAND + 1),
        Part("led", TRICKS * p, "led to the trick"),
        Part("played", TRICKS * p, "his card in the trick: 1 blaren to 21 kille, 0 none", TYPES),
        Part("passed", p, "has passed"),
        Part("declared", p, "has declared"),
        Part("open_cards", p, "his last card, if it lies open: 1 blaren to 21 kille", TYPES),
        Part("scores", 4 * p, "his points, base 256, lowest digit first", 255),
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
ALONE = ("phase", "hand", "known", "trick", "lower", "equal", "deals_left")
PHASE, HAND_AT, KNOWN, TRICK, LOWER, EQUAL, DEALS_LEFT = (_BEGINS[name] for name in ALONE)
SEATS = _BEGINS["in_play"]
SEAT_FEATURES = width(observation_parts(1)) - SEATS
(
    IN_PLAY,
    DEALER,
    TO_ACT,
    EXCHANGED,
    PASSED,
    TO_LIMIT,
    AT_LEAST,
    BELOW,
    MAY_HOLD,
    MAY_BE_LOWER,
    PLAYED,
    WON,
) = (index(_BEGINS[part.name] - SEATS) for part in observation_parts(1)[len(ALONE) :])


@kernel
def known(table, seat):
    """The cards that nobody but this seat can have or draw any more, as far as it knows.

    Everybody can tell from the numbers of discards when they were shuffled into a new talon.
    """
    kept = np.uint64(table["discarded"][seat]) & ~np.uint64(table["shuffled_in"])
    return np.uint64(table["hand"][seat]) | kept | np.uint64(table["face_up"])


# observe


@kernel
def observe(table, rules, seat, out):
    """Writes the observation of a seat."""
    out[:] = 0
    phase, trick = np.int64(table["phase"]), np.int64(table["trick"])
    if phase >= DISCARDING:
        out[index(PHASE + phase - DISCARDING)] = 1
        out[index(TRICK + min(trick, TRICKS - 1))] = phase >= LEADING
    hand, mine = np.uint64(table["hand"][index(seat)]), known(table, index(seat))
    lowest = lowest_card(hand) >> 1 if hand != 0 else np.int64(0)
    unknown, lower = WHOLE_PACK & ~mine, cards_below(lowest)
    write_slots(hand, out, HAND_AT)
    write_counts(mine, out, KNOWN)
    out[LOWER] = how_many(unknown & lower)
    out[EQUAL] = how_many(unknown & cards_below(lowest + 1) & ~lower)
    if rules["episode"] != SINGLE_DEAL:
        out[DEALS_LEFT] = min(DEALS, rules["max_deals"] - np.int64(table["deals"]))
    _observe_players(table, rules, np.int64(seat), unknown, lower, out)


@kernel
def _observe_players(table, rules, viewer, unknown, lower, out):
    """Writes the parts that have an entry a seat; what it reads of a seat it reads first."""
    num_players, phase = np.int64(table["num_players"]), np.int64(table["phase"])
    in_play, passed = np.uint32(table["in_play"]), np.uint32(table["passed"])
    acts, dealer, size = np.int64(table["seat"]), np.int64(table["dealer"]), index(num_players)
    tricks = np.int64(table["trick"])
    limit = np.int64(0) if rules["episode"] == SINGLE_DEAL else np.int64(rules["limit"])
    for other in range(num_players):
        this = index(other)
        plays = has(in_play, other)
        exchanged = table["exchanged"][this] + 1
        to_limit = max(0, min(FAR, limit - np.int64(table["scores"][this])))
        at_least, below = table["at_least"][this], table["below"][this]
        may = unknown & ~np.uint64(table["excluded"][this])
        if (other == viewer) | (not plays):
            may = np.uint64(0)
        may_hold, may_be_lower = how_many(may), how_many(may & lower)
        at = index(SEATS + relative(other, viewer, num_players))
        out[at + IN_PLAY * size] = plays
        out[at + DEALER * size] = other == dealer
        out[at + TO_ACT * size] = other == acts
        out[at + EXCHANGED * size] = exchanged
        out[at + PASSED * size] = has(passed, other)
        out[at + TO_LIMIT * size] = to_limit
        out[at + AT_LEAST * size] = at_least
        out[at + BELOW * size] = below
        out[at + MAY_HOLD * size] = may_hold
        out[at + MAY_BE_LOWER * size] = may_be_lower
    if phase >= LEADING:
        write_played(table, tricks, viewer, out, SEATS + PLAYED * size, SEATS + WON * size)


# information_state


@kernel
def information_state(table, rules, seat, out):
    """Writes what a seat knows, with perfect recall of the deal and the match's public summary."""
    out[:] = 0
    num_players = np.int64(table["num_players"])
    if table["phase"] >= DISCARDING:
        out[table["phase"] - DISCARDING] = 1
    at = NUM_PHASES
    at = one_seat(table["seat"], seat, num_players, out, at)
    at = one_seat(table["dealer"], seat, num_players, out, at)
    write_codes(table["dealt"][seat], out, at)
    write_codes(table["discarded"][seat], out, at + HAND)
    write_codes(table["drawn_cards"][seat], out, at + 2 * HAND)
    at += 3 * HAND
    for other in range(num_players):
        out[at + relative(other, seat, num_players)] = table["exchanged"][other] + 1
    at += num_players
    at = write_recalled(table, TRICKS, seat, out, at)
    at = seat_set(table["passed"], seat, num_players, out, at)
    at = one_seat(table["declarer"], seat, num_players, out, at)
    for other in range(num_players):
        step = relative(other, seat, num_players)
        out[at + step] = open_card(table, other)
        digits(np.int64(table["scores"][other]), 4, out, at + num_players + 4 * step)
    digits(np.int64(table["deals"]), 4, out, at + 5 * num_players)


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
