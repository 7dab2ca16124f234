"""Observations of Krypkille: compact, with perfect recall, and of everything.

Seats are counted clockwise from the one that looks: entry 0 of a `[P]` part is that seat itself.
"""

from functools import partial

import numpy as np

from kille_env.cards.features import digits, one_seat, put, seat_set, start
from kille_env.cards.pack import KILLE_PACK, TYPES
from kille_env.cards.seats import has, left_of, relative
from kille_env.cards.sets import how_many, lowest_card
from kille_env.core.jit import index, kernel
from kille_env.core.spec import SINGLE_DEAL, Part, lay_out, offsets
from kille_env.games.krypkille.rules import TRICKS, Phase
from kille_env.tricktaking.observe import (
    open_card,
    recall_tricks,
    shared_parts,
    write_codes,
    write_counts,
    write_hands,
    write_phase,
    write_played,
    write_slots,
)
from kille_env.tricktaking.tricks import HAND, WHOLE_PACK, cards_below, seen, tricks_of

NUM_PHASES = 3
PACK = KILLE_PACK.size
FAR = 63  # points: more than any deal costs under the default rules
DEALS = 15
_shared = partial(shared_parts, TRICKS, HAND)


def observation_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the observation."""
    p = num_players
    return lay_out(
        Part("phase", NUM_PHASES, "what is decided: discard, lead, declare or pass (one-hot)"),
        *_shared(p, "hand"),
        Part(
            "known",
            TYPES,
            "how many cards of each type nobody else can have: own ones, played ones, own "
            "discards, and what the rules leave out",
            2,
        ),
        *_shared(p, "trick"),
        Part("lower", 1, "how many unknown cards are lower than the seat's lowest", PACK),
        Part("equal", 1, "how many unknown cards are as low", 2),
        Part("deals_left", 1, "deals until the cut-off, at most 15; single deal: 0", DEALS),
        Part("in_play", p, "is in"),
        *_shared(p, "dealer", "to_act", "exchanged"),
        Part("passed", p, "has passed"),
        Part("to_limit", p, "points until it is out, at most 63; single deal: 0", FAR),
        *_shared(p, "at_least", "below"),
        Part("may_hold", p, "of how many unknown cards it has one, after all that it played", PACK),
        Part("may_be_lower", p, "how many of these are lower than the seat's lowest card", PACK),
        *_shared(p, "played", "won"),
    )


def information_state_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the information state."""
    p = num_players
    return lay_out(
        Part("phase", NUM_PHASES, "as in the observation"),
        *_shared(p, "to_act", "dealer", "dealt", "discarded", "drawn", "exchanged"),
        *_shared(p, "led", "played"),
        Part("passed", p, "has passed"),
        Part("declared", p, "has declared"),
        *_shared(p, "open_cards"),
        Part("scores", 4 * p, "its points, base 256, lowest digit first", 255),
        *_shared(p, "deals"),
    )


def full_state_parts(num_players: int) -> tuple[Part, ...]:
    """Return the layout of the full-information state."""
    return lay_out(*observation_parts(num_players), *_shared(num_players, "hands", "discards"))


OBS = offsets(observation_parts)
INFO = offsets(information_state_parts)
FULL = offsets(full_state_parts)


@kernel
def observe(table, rules, seat, out):
    """Write the observation of a seat."""
    out[:] = 0
    p, trick = np.int64(table["num_players"]), np.int64(table["trick"])
    hand, mine = np.uint64(table["hand"][index(seat)]), seen(table, index(seat))
    lowest = lowest_card(hand) >> 1 if hand != 0 else np.int64(0)
    unknown, lower = WHOLE_PACK & ~mine, cards_below(lowest)
    write_phase(table, out, OBS.phase)
    write_slots(hand, out, start(OBS.hand, p))
    write_counts(mine, out, start(OBS.known, p))
    put(how_many(unknown & lower), out, OBS.lower, p, 0)
    put(how_many(unknown & cards_below(lowest + 1) & ~lower), out, OBS.equal, p, 0)
    if rules["episode"] != SINGLE_DEAL:
        left = min(DEALS, rules["max_deals"] - np.int64(table["deals"]))
        put(left, out, OBS.deals_left, p, 0)
    if table["phase"] >= Phase.LEAD:
        put(1, out, OBS.trick, p, min(trick, tricks_of(rules) - 1))
        write_played(table, trick, np.int64(seat), out, OBS)
    _observe_players(table, rules, np.int64(seat), unknown, lower, out)


@kernel
def _observe_players(table, rules, viewer, unknown, lower, out):
    """Write the parts that have an entry per seat."""
    p = np.int64(table["num_players"])
    in_play, passed = np.uint32(table["in_play"]), np.uint32(table["passed"])
    limit = np.int64(0) if rules["episode"] == SINGLE_DEAL else np.int64(rules["limit"])
    one_seat(table["dealer"], viewer, p, out, OBS.dealer)
    one_seat(table["seat"], viewer, p, out, OBS.to_act)
    # A seat's fields are read before anything is written: to the compiler `out` could be the table
    # itself, and each write would make it read the record again.
    this = index(viewer)
    for at in range(p):
        other = np.int64(this)
        plays = has(in_play, other)
        exchanged = table["exchanged"][this] + 1
        to_limit = max(0, min(FAR, limit - np.int64(table["scores"][this])))
        at_least, below = table["at_least"][this], table["below"][this]
        may = unknown & ~np.uint64(table["excluded"][this])
        if (other == viewer) | (not plays):
            may = np.uint64(0)
        may_hold, may_be_lower = how_many(may), how_many(may & lower)
        this = index(left_of(this, 1, p))
        put(plays, out, OBS.in_play, p, at)
        put(exchanged, out, OBS.exchanged, p, at)
        put(has(passed, other), out, OBS.passed, p, at)
        put(to_limit, out, OBS.to_limit, p, at)
        put(at_least, out, OBS.at_least, p, at)
        put(below, out, OBS.below, p, at)
        put(may_hold, out, OBS.may_hold, p, at)
        put(may_be_lower, out, OBS.may_be_lower, p, at)


@kernel
def information_state(table, rules, seat, out):
    """Write the knowledge of a seat, with perfect recall of the deal and a summary of the match."""
    recall_tricks(table, seat, out, INFO)
    p = np.int64(table["num_players"])
    write_codes(table["discarded"][seat], out, start(INFO.discarded, p))
    seat_set(table["passed"], seat, p, out, INFO.passed)
    one_seat(table["declarer"], seat, p, out, INFO.declared)
    for other in range(p):
        at = relative(other, seat, p)
        put(table["exchanged"][other] + 1, out, INFO.exchanged, p, at)
        put(open_card(table, other), out, INFO.open_cards, p, at)
        digits(np.int64(table["scores"][other]), 4, out, start(INFO.scores, p) + 4 * at)


@kernel
def full_state(table, rules, seat, out):
    """Write everything, seen from a seat."""
    p = np.int64(table["num_players"])
    observe(table, rules, seat, out[: start(FULL.hands, p)])
    write_hands(table["hand"], seat, p, out, FULL.hands)
    write_hands(table["discarded"], seat, p, out, FULL.discards)
