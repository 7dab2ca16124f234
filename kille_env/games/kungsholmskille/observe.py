"""What a seat of Kungsholmskille sees: the compact observation, the information state, everything.

Seats are counted clockwise from the one that looks: entry 0 of a `[P]` part is that seat itself.
The layouts below say what each part means; the page of the game is made from them.
"""

import numpy as np

from kille_env.cards.features import binary, capped, digits, one_seat, put, start
from kille_env.cards.seats import has, relative
from kille_env.core.jit import index, kernel
from kille_env.core.spec import Part, lay_out, offsets
from kille_env.games.kungsholmskille.table import MOST_DISCARDS, TRICKS, Phase, Said
from kille_env.tricktaking.pots import deals_left
from kille_env.tricktaking.tricks import (
    HAND,
    TYPES,
    open_card,
    seen,
    write_codes,
    write_counts,
    write_hands,
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
        Part("exchanged", p, "0 has not exchanged yet, else 1 more than its number of discards", 3),
        Part("said_bud_again", p, "said bud after the exchange"),
        Part("knocked_again", p, "knocked after the exchange"),
        Part("said_bud_last", p, "said bud at the showing"),
        Part("leads", p, "led to this trick"),
        Part("holds", p, "has the highest card of this trick so far"),
        Part("on_table", p, "its card in this trick: 1 blaren to 21 kille, 0 none", TYPES),
        Part(
            "at_least", p, "none of its cards is lower than this type, as everybody can tell", TYPES
        ),
        Part("below", p, "all of its cards are lower than this type, as everybody can tell", TYPES),
        Part("played", TRICKS * p, "its card in each trick: 1 blaren to 21 kille, 0 none", TYPES),
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
        Part("exchanged", p, "0 has not exchanged yet, else 1 more than its number of discards", 3),
        Part("said2", p, "after the exchange: 1 bud, 2 knock", 2),
        Part("led", TRICKS * p, "led to the trick"),
        Part("played", TRICKS * p, "its card in the trick: 1 blaren to 21 kille, 0 none", TYPES),
        Part("showed", p, "at the showing: 1 bud, 2 show", 2),
        Part("open_cards", p, "its last card, if it lies open: 1 blaren to 21 kille", TYPES),
        Part("owed", 4 * p, "what it owes for the next deal, base 256, lowest digit first", 255),
        Part("pot", 6, "the pot in units, likewise", 255),
        Part("deals", 4, "deals so far in this match, likewise", 255),
    )


def full_state_parts(num_players: int) -> tuple[Part, ...]:
    """Returns the layout of the full-information state."""
    p = num_players
    return lay_out(
        *observation_parts(num_players),
        Part("hands", TYPES * p, "how many cards of each type every seat has (21 per seat)", 2),
        Part("discards", TYPES * p, "how many of each type it has discarded (21 per seat)", 2),
    )


OBS = offsets(observation_parts)
INFO = offsets(information_state_parts)
FULL = offsets(full_state_parts)


# observe


@kernel
def observe(table, rules, seat, out):
    """Writes the observation of a seat."""
    out[:] = 0
    p = np.int64(table["num_players"])
    phase, trick = np.int64(table["phase"]), np.int64(table["trick"])
    highest = np.int64(table["highest"])
    if phase >= Phase.BUD1:
        put(1, out, OBS.phase, p, phase - Phase.BUD1)
        put(phase >= Phase.PLAY, out, OBS.trick, p, min(trick, TRICKS - 1))
    if (phase == Phase.PLAY) & (highest >= 0):
        put(1, out, OBS.highest, p, highest)
    write_slots(table["hand"][index(seat)], out, start(OBS.hand, p))
    write_counts(seen(table, index(seat)), out, start(OBS.seen, p))
    # The pot and the deals left lie side by side and are written as one number.
    numbers = capped(table["pot"], 10) | capped(deals_left(table, rules), 8) << 10
    binary(numbers, 18, out, start(OBS.pot, p))
    _observe_players(table, np.int64(seat), out)


@kernel
def _observe_players(table, viewer, out):
    """Writes the parts that have an entry per seat; what it reads of a seat it reads first."""
    p, phase = np.int64(table["num_players"]), np.int64(table["phase"])
    in_play, trick = np.uint32(table["in_play"]), np.int64(table["trick"])
    playing = phase == Phase.PLAY
    leader = np.int64(table["lead"][index(min(trick, TRICKS - 1))]) if playing else np.int64(-1)
    holder = np.int64(table["holder"]) if playing & (table["highest"] >= 0) else np.int64(-1)
    acts, dealer = np.int64(table["seat"]), np.int64(table["dealer"])
    forehand = np.int64(table["forehand"])
    for other in range(p):
        this = index(other)
        said1, said2 = table["said1"][this], table["said2"][this]
        stayed, showed = table["stayed"][this], table["showed"][this]
        exchanged = table["exchanged"][this] + 1
        at_least, below = table["at_least"][this], table["below"][this]
        on_table = (table["played"][index(min(trick, TRICKS - 1)), this] >> 1) + 1
        at = relative(other, viewer, p)
        put(has(in_play, other), out, OBS.in_play, p, at)
        put(other == dealer, out, OBS.dealer, p, at)
        put(other == forehand, out, OBS.forehand, p, at)
        put(other == acts, out, OBS.to_act, p, at)
        put(said1 == Said.YIELDED, out, OBS.said_bud, p, at)
        put(said1 == Said.CLAIMED, out, OBS.knocked, p, at)
        put(stayed == Said.CLAIMED, out, OBS.stayed, p, at)
        put(exchanged, out, OBS.exchanged, p, at)
        put(said2 == Said.YIELDED, out, OBS.said_bud_again, p, at)
        put(said2 == Said.CLAIMED, out, OBS.knocked_again, p, at)
        put(showed == Said.YIELDED, out, OBS.said_bud_last, p, at)
        put(other == leader, out, OBS.leads, p, at)
        put(other == holder, out, OBS.holds, p, at)
        put(on_table if playing else 0, out, OBS.on_table, p, at)
        put(at_least, out, OBS.at_least, p, at)
        put(below, out, OBS.below, p, at)
    if phase >= Phase.PLAY:
        write_played(table, min(trick + 1, TRICKS), viewer, out, OBS.played, OBS.won)


# information_state


@kernel
def information_state(table, rules, seat, out):
    """Writes what a seat knows, with perfect recall of the deal and the match's public summary."""
    out[:] = 0
    p = np.int64(table["num_players"])
    if table["phase"] >= Phase.BUD1:
        put(1, out, INFO.phase, p, np.int64(table["phase"]) - Phase.BUD1)
    one_seat(table["seat"], seat, p, out, INFO.to_act)
    one_seat(table["dealer"], seat, p, out, INFO.dealer)
    write_codes(table["dealt"][seat], out, start(INFO.dealt, p))
    write_codes(table["discarded"][seat], out, start(INFO.discarded, p))
    write_codes(table["drawn_cards"][seat], out, start(INFO.drawn, p))
    for other in range(p):
        at = relative(other, seat, p)
        put(table["said1"][other], out, INFO.said1, p, at)
        put(table["stayed"][other], out, INFO.stayed, p, at)
        put(table["exchanged"][other] + 1, out, INFO.exchanged, p, at)
        put(table["said2"][other], out, INFO.said2, p, at)
        put(table["showed"][other], out, INFO.showed, p, at)
        put(open_card(table, other), out, INFO.open_cards, p, at)
        digits(np.int64(table["owed"][other]), 4, out, start(INFO.owed, p) + 4 * at)
    write_recalled(table, TRICKS, seat, out, INFO.led, INFO.played)
    digits(np.int64(table["pot"]), 6, out, start(INFO.pot, p))
    digits(np.int64(table["deals"]), 4, out, start(INFO.deals, p))


# full_state


@kernel
def full_state(table, rules, seat, out):
    """Writes everything, seen from a seat."""
    p = np.int64(table["num_players"])
    observe(table, rules, seat, out[: start(FULL.hands, p)])
    write_hands(table["hand"], seat, p, out, FULL.hands)
    write_hands(table["discarded"], seat, p, out, FULL.discards)
